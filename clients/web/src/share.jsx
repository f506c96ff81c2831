// Sharing a session: the address of the present view, a link for people without a login, access by curl and Python, its
// data as files, a picture and a film of the view.

import { useEffect, useState } from 'preact/hooks';
import { api } from './api.js';
import { ago } from './format.js';
import { useAnswer, useOn } from './hooks.js';
import { save } from './save.js';
import { who } from './who.js';

const DAYS = [1, 7, 30, 365];
function Copied({ label, text, rows = 1 }) {
    const [done, setDone] = useState(false);
    useEffect(() => setDone(false), [text]);
    const copy = async (event) => {
        const field = event.currentTarget.parentElement.querySelector('textarea');
        field.select();
        try {
            await navigator.clipboard.writeText(text);
            setDone(true);
        } catch {
            setDone(document.execCommand('copy'));
        }
    };
    return (
        <div class="copied">
            <textarea readOnly rows={rows} wrap={rows > 2 ? 'off' : 'soft'} aria-label={label} value={text} />
            <button type="button" onClick={copy}>
                {done ? 'copied' : `copy ${label}`}
            </button>
        </div>
    );
}

function Links({ base }) {
    const [days, setDays] = useState(7);
    const [made, setMade] = useState(null);
    const [said, setSaid] = useState(null);
    const { value } = useAnswer(
        (signal) => api.get(`${base}/links`, { signal }).catch(() => null),
        [base, made],
    );
    const attempt = async (action) => {
        setSaid(null);
        try {
            await action();
        } catch (error) {
            setSaid(error.message);
        }
    };
    const make = () =>
        attempt(async () => setMade(await api.post(`${base}/links`, { expires_in: 86400 * days })));
    const revoke = (id) =>
        attempt(async () => {
            await api.delete(`${base}/links/${id}`);
            setMade({});
        });
    return (
        <>
            <p>
                <label>
                    for{' '}
                    <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
                        {DAYS.map((n) => (
                            <option key={n} value={n}>
                                {n} {n === 1 ? 'day' : 'days'}
                            </option>
                        ))}
                    </select>
                </label>{' '}
                <button type="button" onClick={make}>
                    make a share link
                </button>
            </p>
            <p class="faint">Anyone who has it sees this session with its scene, and nothing else.</p>
            {made?.url && <Copied label="share link" text={here(made.url)} rows={2} />}
            {said && (
                <p class="trouble" role="alert">
                    {said}
                </p>
            )}
            <ul class="links">
                {(value?.items ?? []).map((link) => (
                    <li key={link.id}>
                        made {ago(link.created)},{' '}
                        {link.expires ? `valid until ${link.expires.slice(0, 10)}` : 'for ever'}{' '}
                        <button type="button" onClick={() => revoke(link.id)}>
                            revoke
                        </button>
                    </li>
                ))}
            </ul>
        </>
    );
}

// The daemon reports its own address; behind a proxy, clients know it by another.
const here = (url) => `${location.origin}${url.slice(url.indexOf('/', url.indexOf('//') + 2))}`;

function curlOf(base) {
    return [
        `export SERVER=${location.origin} TOKEN=...   # pliant token create, or the state directory's file token`,
        `curl -H "Authorization: Bearer $TOKEN" $SERVER${base}/scene -o scene.json`,
        `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
        '     --data-binary @scene.json $SERVER/v1/sessions',
        `curl -N -H "Authorization: Bearer $TOKEN" '$SERVER${base}/metrics?follow=1'`.replaceAll("'", '"'),
    ].join('\n');
}

function pythonOf(id) {
    return [
        'import pliant',
        '',
        `client = pliant.Client("${location.origin}", token="...")`,
        `session = client.session("${id}")`,
        'for frame in session.frames():',
        '    print(frame.number, frame.time, frame.positions.shape)',
    ].join('\n');
}

// Formats with a line of their own. The daemon lists the others, but not for a share link.
const SHOWN = ['npz', 'vtu', 'glb', 'pc2', 'obj'];

function Downloads({ model }) {
    const { base, id, player } = model;
    const [body, setBody] = useState('');
    const [surface, setSurface] = useState(false);
    useOn(model.player, 'change');
    const { value } = useAnswer(
        async (signal) => (who.guest ? null : api.get('/v1/capabilities', { signal }).catch(() => null)),
        [],
    );
    const others = (value?.exports ?? []).filter((format) => !SHOWN.includes(format.name));
    const name = id.slice(0, 8);
    const file = (path, ending, label) => (
        <li>
            <a href={`${base}${path}`} download={`${name}${ending}`}>
                {label}
            </a>
        </li>
    );
    const probes = model.metrics.names.some((one) => one.startsWith('probes/'));
    const bodies = model.topology?.bodies ?? [];
    const part = `${body ? `&body=${encodeURIComponent(body)}` : ''}${surface ? '&vertices=surface' : ''}`;
    return (
        <ul class="files">
            {file('/scene', '.json', 'scene, as posted')}
            {file('/scene?form=effective', '-effective.json', 'scene with every default')}
            {file('/metrics', '.ndjson', 'metrics: one line of JSON per frame')}
            {probes && file('/probes', '.csv', 'probes as CSV')}
            {file(`/frames/${player.shown}`, `-${player.shown}.frames`, `frame ${player.shown} as a record`)}
            {file('/frames', '.frames', 'every frame as records')}
            {file('/topology?array=triangles', '-triangles.npy', 'triangles, for numpy')}
            {file('/log', '.log', "the worker's log")}
            <li class="part">
                for other programs:{' '}
                <select
                    aria-label="Body to export"
                    value={body}
                    onChange={(event) => setBody(event.currentTarget.value)}
                >
                    <option value="">all bodies</option>
                    {bodies.map(({ name }) => (
                        <option key={name} value={name}>
                            {name}
                        </option>
                    ))}
                </select>{' '}
                <label class="choice" title="Triangles and ropes, without the interior">
                    <input
                        type="checkbox"
                        checked={surface}
                        onChange={(event) => setSurface(event.currentTarget.checked)}
                    />{' '}
                    surface only
                </label>
            </li>
            {file(`/export?format=npz${part}`, '.npz', 'the run for numpy (.npz)')}
            {file(`/export?format=vtu${part}`, '.zip', 'the run for ParaView (.vtu and .pvd)')}
            {file(`/export?format=glb${part}`, '.glb', 'the moving surface (.glb), for short runs')}
            {file(`/export?format=pc2${part}`, '.pc2', "vertices for Blender's Mesh Cache (.pc2)")}
            {file(`/export?format=obj&frame=first${part}`, '.obj', 'the mesh that they move (.obj)')}
            {others.map((format) =>
                file(
                    `/export?format=${format.name}${format.bodies ? part : ''}`,
                    format.series ? '.zip' : `.${format.name}`,
                    `the run as .${format.name}${format.series ? ', one file per frame' : ''}`,
                ),
            )}
        </ul>
    );
}

// The view from the first frame to the newest, at the player's speed.
function Film({ model, view }) {
    const { player } = model;
    const [go, setGo] = useState(null);
    const [said, setSaid] = useState('');
    useOn(player, 'change');
    useEffect(() => () => go && (go.on = false), [go]);
    const start = async () => {
        const begun = { on: true };
        setGo(begun);
        setSaid('');
        try {
            const { makeFilm } = await import('./film.js');
            const film = await makeFilm(model, view, begun);
            if (film) save(film, `${model.id.slice(0, 8)}.webm`);
            else if (begun.on) setSaid(' None of its frames can be shown.');
        } catch (error) {
            setSaid(` ${error.message}`);
        }
        setGo(null);
    };
    if (go) {
        return (
            <button type="button" onClick={() => (go.on = false)}>
                end the film at frame {player.frame}
            </button>
        );
    }
    return (
        <>
            <button
                type="button"
                disabled={!view.shown || player.newest <= player.first}
                onClick={start}
                title="From the first frame to the newest, as shown, 30 frames per second; WebM"
            >
                film
            </button>
            {said && <span class="bad">{said}</span>}
        </>
    );
}

function Pictures({ model, tools }) {
    const view = tools?.current;
    if (!view?.stage) return null;
    const shoot = async () =>
        save(await view.screenshot(), `${model.id.slice(0, 8)}-${model.player.shown}.png`);
    return (
        <p>
            <button type="button" onClick={shoot}>
                picture (PNG)
            </button>{' '}
            <Film model={model} view={view} />
        </p>
    );
}

// model: the session (model.js); tools.current: the view, if any.
export function Share({ model, tools }) {
    const [address, setAddress] = useState(location.href);
    useEffect(() => {
        const timer = setInterval(() => setAddress(location.href), 500);
        return () => clearInterval(timer);
    }, []);
    return (
        <div class="share">
            <h2>Address</h2>
            <p class="faint">Session, frame and camera as they are now, for everyone who can see the session.</p>
            <Copied label="address" text={address} rows={2} />
            {who.manages(model.session) && (
                <>
                    <h2>Share link</h2>
                    <Links base={model.base} />
                </>
            )}
            <h2>View</h2>
            <Pictures model={model} tools={tools} />
            <h2>Files</h2>
            <Downloads model={model} />
            {!who.guest && (
                <>
                    <h2>From a terminal</h2>
                    <Copied label="as curl" text={curlOf(model.base)} rows={5} />
                    <Copied label="as a film" text={`pliant export ${model.id} --out film.mp4`} rows={2} />
                    <Copied label="as Python" text={pythonOf(model.id)} rows={6} />
                </>
            )}
        </div>
    );
}
