// The page: the user, the open session, and the frame around it.

import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import { api, onUnauthorized } from './api.js';
import { readOther } from './compare.js';
import { Gallery } from './gallery.jsx';
import { useAnswer, useOn } from './hooks.js';
import { Help, useHelp, useKeys } from './keys.jsx';
import { lazy, listed } from './lazy.jsx';
import { SessionList } from './list.jsx';
import { Login, enter, logout, watchAddress } from './login.jsx';
import { SessionModel, basePath } from './model.js';
import { NAMED, PAGES } from './pages.js';
import { Panel } from './panel.jsx';
import { pictureStore } from './picturestore.js';
import { route } from './route.js';
import { Sessions } from './sessions.js';
import { theme } from './theme.js';
import { Timeline } from './timeline.jsx';
import { who } from './who.js';
import './style.css';
import './touch.css';

const navigate = (place) => route.go(place);
const OTHERS = 3;
// Nine tenths of the code; the list does not wait for it.
const View = lazy(() => import('./view.jsx').then((part) => part.View), 'view');
const Charts = lazy(() => import('./charts.jsx').then((part) => part.Charts), 'charts');

function Header({ sessions, user, page, onHelp }) {
    useOn(sessions, 'change');
    useOn(theme, 'change');
    const running = sessions?.count('running') ?? 0,
        queued = sessions?.count('queued') ?? 0;
    const leave = async () => {
        await logout();
        await pictureStore.clear();
        location.reload();
    };
    return (
        <header>
            <a class="brand" href="#/sessions">
                Pliant
            </a>
            {sessions && (
                <nav aria-label="Pages">
                    <a href="#/sessions" aria-current={page === 'sessions' ? 'page' : undefined}>
                        sessions
                    </a>
                    {NAMED.map((name) => (
                        <a key={name} href={`#/${name}`} aria-current={page === name ? 'page' : undefined}>
                            {name}
                        </a>
                    ))}
                </nav>
            )}
            <span class="space" />
            {sessions && (
                <span class="numbers counts">
                    <span class="running">▶ {running}</span> running, {queued} queued
                </span>
            )}
            <a class="docs" href="/docs/">
                docs
            </a>
            <button type="button" onClick={onHelp} title="Keys (?)" aria-label="Keys">
                ?
            </button>
            <button
                type="button"
                onClick={() => theme.toggle()}
                title="Light or dark"
                aria-label={theme.name === 'dark' ? 'Light colours' : 'Dark colours'}
            >
                {theme.name === 'dark' ? '☀' : '☾'}
            </button>
            <span class="user">{user ?? 'share link'}</span>
            {user && (
                <button type="button" onClick={leave} class="out">
                    log out
                </button>
            )}
        </header>
    );
}

// Warns that the view is out of date; disappears by itself.
function Banner({ sessions, model }) {
    useOn(sessions, 'change');
    useOn(model, 'link');
    const cut = sessions ? !sessions.reachable : model && !model.link.live;
    return (
        <div role="status">
            {cut && (
                <p class="banner">The daemon does not answer; what is shown may be old. Trying again …</p>
            )}
        </div>
    );
}

function useOthers(ids, id) {
    const wanted = ids.filter((other) => other !== id).slice(0, OTHERS);
    const { value } = useAnswer(
        async (signal) =>
            Promise.all(
                wanted.map((other) =>
                    readOther(other, signal).catch((error) => ({ id: other, name: other.slice(0, 8), error })),
                ),
            ),
        [wanted.join()],
    );
    return value ?? [];
}

const SHORT_S = 60,
    SMALL_BYTES = 64 << 20,
    VERTEX_BYTES = 12;

// A finished run plays if it is short, quick to read, and wanted.
function playsByItself({ session, over, player, surface, topology }) {
    if (!over || session.state !== 'succeeded' || session.retention?.last > 0) return false;
    const frames = player.newest - player.first;
    const bytes = frames * VERTEX_BYTES * (surface?.length ?? topology.vertices);
    const short = frames > 0 && frames * player.frameSeconds < SHORT_S && bytes < SMALL_BYTES;
    return short && !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

function Session({ id, sessions, current, tools, compared, onCompare, listed }) {
    const [model, setModel] = useState(null);
    const [gone, setGone] = useState(null);
    const all = useOthers(compared, id);
    const others = all.filter(({ error }) => !error);
    const nameOf = (other) =>
        (sessions?.get(other) ?? all.find((one) => one.id === other))?.name || other.slice(0, 8);
    const shown = compared
        .filter((other) => other !== id)
        .slice(0, OTHERS)
        .map((other) => ({ id: other, name: nameOf(other) }));
    useEffect(() => {
        const made = new SessionModel(id);
        // The frame in the address, also after a change to another address of the same session.
        let wanted = NaN;
        const want = () => (wanted = route.now.id === id ? Number(route.now.query.frame ?? NaN) : NaN);
        const seek = () => Number.isInteger(wanted) && made.player.seek(wanted);
        want();
        const offs = [
            made.on('gone', setGone),
            sessions?.share(made) ?? (() => {}),
            made.on('ready', () => seek() || (playsByItself(made) && made.player.playThrough())),
            route.on('change', () => {
                want();
                if (made.topology) seek();
            }),
        ];
        current.current = made;
        setGone(null);
        setModel(made);
        return () => {
            offs.forEach((off) => off());
            made.close();
            current.current = null;
        };
    }, [id]);
    if (gone) {
        return (
            <div class="nothing">
                <p role="alert">{gone.message}</p>
                <p>
                    <a href="#/sessions">All sessions</a>
                </p>
            </div>
        );
    }
    if (!model || model.id !== id) return null;
    return (
        <>
            <div class="middle">
                {listed && (
                    <a class="back" href="#/sessions">
                        ‹ All sessions
                    </a>
                )}
                <View model={model} tools={tools} compared={shown} key={id} />
                <Timeline model={model} />
            </div>
            <Panel model={model} navigate={navigate} others={all} onCompare={onCompare} tools={tools} />
            <Charts model={model} others={others} key={id} />
        </>
    );
}

// Wide pages open the running or newest session, so that a waiting user sees it without a click.
function openFirst(sessions) {
    const { page, id } = route.asked;
    if (id || page !== 'sessions' || !matchMedia('(min-width: 44rem)').matches) return;
    const first = sessions.items.find(({ state }) => state === 'running') ?? sessions.items[0];
    if (first) route.replace({ page: 'sessions', id: first.id });
}

function Nothing({ sessions }) {
    useOn(sessions, 'change');
    useEffect(() => {
        if (sessions?.loaded) openFirst(sessions);
    }, [sessions, sessions?.loaded, sessions?.items.length > 0]);
    if (!sessions?.loaded) return null; // a share link has one session and no list
    if (sessions.items.length === 0) {
        return (
            <div class="scenes">
                <h1>Run a first scene</h1>
                <p>
                    No session yet: “run” starts one of these scenes, and shows it while it is computed. Or, from a
                    terminal: <code>pliant submit scene.json</code>
                </p>
                <Gallery navigate={navigate} />
            </div>
        );
    }
    return (
        <div class="nothing">
            <p>Choose a session to see it move.</p>
        </div>
    );
}

// True if no session exists yet; the gallery then fills the page.
function useEmpty(sessions) {
    const [empty, setEmpty] = useState(false);
    useEffect(() => {
        const look = () => setEmpty(sessions.loaded && sessions.items.length === 0);
        if (sessions) look();
        return sessions?.on('change', look);
    }, [sessions]);
    return empty;
}

function Page({ sessions, user, link }) {
    useOn(route, 'change');
    const [compared, setCompared] = useState([]);
    const [help, setHelp] = useHelp();
    const current = useRef(null),
        tools = useRef(null);
    useKeys(
        () => current.current,
        () => tools.current,
        () => setHelp(true),
    );
    const { page, id, query } = route.now;
    const empty = useEmpty(sessions) && !id;
    const Other = PAGES[page];
    // Guests see one session and no other page.
    useEffect(() => {
        if (link && (Other || !id)) route.replace({ page: 'sessions', id: link });
    }, [link, page, id]);
    const compare = (other) =>
        setCompared(
            compared.includes(other)
                ? compared.filter((one) => one !== other)
                : [...compared, other].slice(-OTHERS),
        );
    const compareAll = (ids) => {
        const open = id ?? ids[0];
        setCompared(ids.filter((other) => other !== open).slice(0, OTHERS));
        if (!id) navigate(`/sessions/${open}`);
    };
    return (
        <>
            <Header sessions={sessions} user={user} page={page} onHelp={() => setHelp(true)} />
            <Banner sessions={sessions} model={current.current} />
            {Other && sessions ? (
                <main class="page other">
                    <Other {...{ api, navigate, sessions }} session={sessions.get(query.session)} />
                </main>
            ) : (
                <main class={`page sessions${id ? ' open' : ''}${sessions ? '' : ' alone'}${empty ? ' first' : ''}`}>
                    {!id && !empty && <h1 class="hidden">Sessions</h1>}
                    {sessions && !empty && <SessionList sessions={sessions} id={id} onCompare={compareAll} />}
                    {id ? (
                        <Session
                            id={id}
                            {...{ sessions, current, tools, compared }}
                            onCompare={compare}
                            listed={!!sessions}
                        />
                    ) : (
                        <Nothing sessions={sessions} />
                    )}
                </main>
            )}
            {help && <Help onClose={() => setHelp(false)} />}
        </>
    );
}

// A guest with a share link sees its session and nothing else.
async function linked(entered) {
    if (entered.link) return entered.link.id;
    const { id } = route.now;
    if (entered.user || !id) return null;
    return fetch(basePath(id)).then(
        (reply) => (reply.ok ? id : null),
        () => null,
    );
}

function App({ entered, link }) {
    const [user, setUser] = useState(entered.user ?? null);
    const [sessions, setSessions] = useState(null);
    useEffect(() => {
        if (!user) return undefined;
        who.enter(user);
        pictureStore.enter(user);
        onUnauthorized(() => {
            pictureStore.clear();
            setUser(null);
        });
        const made = new Sessions();
        setSessions(made);
        return () => made.stop();
    }, [user]);
    if (user) return sessions && <Page sessions={sessions} user={user} />;
    if (link) return <Page sessions={null} user={null} link={link} />;
    return <Login refused={entered.refused} onDone={setUser} />;
}

watchAddress();
const entered = await enter();
const link = await linked(entered);
if (link) {
    who.enter(null);
    listed(); // a guest has no list
}
if (link && route.now.id !== link) route.go({ page: 'sessions', id: link });
render(<App entered={entered} link={link} />, document.getElementById('app'));
