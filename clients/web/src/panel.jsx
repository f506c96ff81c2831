// The panel beside the view: the session's state and actions, its numbers, scene and log.

import { useEffect, useState } from 'preact/hooks';
import { api } from './api.js';
import { differences } from './compare.js';
import { FailureBox } from './failure.jsx';
import { STATES, ago, duration, number, quantity, secondsLeft } from './format.js';
import { useAnswer, useOn } from './hooks.js';
import { lineOf } from './list.jsx';
import { SHARE } from './pages.js';
import { who } from './who.js';

function Actions({ model, navigate }) {
    const [said, setSaid] = useState(null);
    const [busy, setBusy] = useState(false);
    const { session, base, player } = model;
    const act = async (path, body) => {
        setBusy(true);
        setSaid(null);
        try {
            const reply = await api.post(`${base}${path}`, body);
            await model.refresh();
            return reply;
        } catch (error) {
            setSaid(sentenceOf(error));
            return null;
        } finally {
            setBusy(false);
        }
    };
    const branch = async () => {
        const name = `${session.name} from frame ${player.frame}`;
        const made = await act('/branch', { frame: player.frame, scene: { name } });
        if (made?.id) navigate(`/sessions/${made.id}`);
    };
    const remove = async () => {
        if (!confirm(`Remove “${session.name}” with all its frames? This cannot be undone.`)) return;
        try {
            await api.delete(base);
            navigate('/sessions');
        } catch (error) {
            setSaid(sentenceOf(error));
        }
    };
    const { state, desired } = session;
    const live = !model.over;
    const manages = who.manages(session);
    const goes = ['running', 'queued', 'checking'].includes(state) && desired !== 'paused';
    const button = (label, title, action) => (
        <button type="button" disabled={busy} title={title} onClick={action}>
            {label}
        </button>
    );
    return (
        <div class="actions">
            {live &&
                manages &&
                goes &&
                button('pause', 'Stop at a checkpoint; its cores are free', () => act('/pause'))}
            {live &&
                manages &&
                !goes &&
                button('resume', 'Queue it again; it continues from its checkpoint', () => act('/resume'))}
            {live &&
                manages &&
                state === 'paused' &&
                button('step', 'Run one more frame, then pause', () => act('/step?frames=1'))}
            {live && manages && button('cancel', 'Cancel it; its frames are kept', () => act('/cancel'))}
            {who.submits &&
                session.progress?.frame != null &&
                button('branch', `A new session that starts at frame ${player.frame} of this one`, branch)}
            {!who.guest &&
                button('edit', 'Open its scene, to change it and run it again', () =>
                    navigate(`/scenes?session=${model.id}`),
                )}
            {!live && manages && button('remove', 'Remove it with its frames', remove)}
            {said && (
                <p class="trouble" role="alert">
                    {said}
                </p>
            )}
        </div>
    );
}

// The failure and every fault, as sentences.
export function sentenceOf(error) {
    const faults = (error.faults ?? [])
        .slice(0, 5)
        .map((fault) =>
            [
                fault.pointer,
                fault.got && `is ${fault.got}`,
                fault.expected && `should be ${fault.expected}`,
                fault.hint,
            ]
                .filter(Boolean)
                .join(' '),
        );
    return [error.message, ...faults].join('\n');
}

function Row({ label, children, title }) {
    return (
        <tr title={title}>
            <th scope="row">{label}</th>
            <td class="numbers">{children}</td>
        </tr>
    );
}

// Warnings to read before trusting the results.
function Warnings({ session }) {
    if (!session.warnings?.length) return null;
    return (
        <ul class="warnings" aria-label="Warnings">
            {session.warnings.map(({ code, detail }, i) => (
                <li key={i}>
                    <b>⚠ {code.replaceAll('_', ' ')}</b> {detail}
                </li>
            ))}
        </ul>
    );
}

// The numbers of the shown frame.
function Values({ model }) {
    useOn(model.player, 'change frame');
    const { metrics, session, player, topology, picture } = model;
    const row = metrics.rowOf(player.shown);
    const at = (name) => (row < 0 ? null : metrics.at(name, row));
    const probes = metrics.names.filter((name) => name.startsWith('probes/'));
    const residual =
        ['primal_residual', 'gradient_norm'].find((name) => at(name) !== null) ?? 'primal_residual';
    return (
        <table class="values">
            <tbody>
                <Row label="frame">
                    {player.shown}
                    {session.progress?.frames ? ` of ${session.progress.frames}` : ''}
                </Row>
                <Row label="time">{number(at('time'), 4)} s</Row>
                <Row label="iterations">
                    {number(at('iterations'))}
                    {at('unconverged') > 0 ? ' (not converged)' : ''}
                </Row>
                <Row label="time per frame">{number(at('ms/step'))} ms</Row>
                <Row label={residual.replace('_', ' ')}>{number(at(residual))}</Row>
                <Row label="inverted">
                    <span class={at('inverted') > 0 ? 'bad' : ''}>{number(at('inverted'))}</span>
                </Row>
                <Row label="contacts">{number(at('contacts'))}</Row>
                {at('contact/pairs') !== null && (
                    <>
                        <Row label="pairs in contact">{number(at('contact/pairs'))}</Row>
                        <Row label="smallest gap">{quantity(at('contact/gap'), 'm')}</Row>
                    </>
                )}
                <Row label="largest stretch">{number(at('max_stretch'))}</Row>
                <Row label="kinetic energy">{quantity(at('energy/kinetic'), 'J')}</Row>
                <Row label="elastic energy">{quantity(at('energy/elastic'), 'J')}</Row>
                {probes.map((name) => (
                    <Row key={name} label={name.slice(7)}>
                        {number(at(name), 4)}
                    </Row>
                ))}
                <Row label="vertices">{topology?.vertices?.toLocaleString('en') ?? '–'}</Row>
                <Row label="submitted" title={session.created}>
                    {ago(session.created)}
                </Row>
                <Row label="by">{session.owner}</Row>
                {picture && (
                    <Row
                        label="picture"
                        title="to decode a frame and fill the buffers, and to give the drawing to the card"
                    >
                        {number(picture.decode, 2)} + {number(picture.draw, 2)} ms
                    </Row>
                )}
            </tbody>
        </table>
    );
}

function SceneText({ model }) {
    const [form, setForm] = useState('effective');
    const { value, error } = useAnswer(
        (signal) => api.get(`${model.base}/scene?form=${form}`, { signal }),
        [model, form],
    );
    return (
        <div class="scene">
            <label>
                as{' '}
                <select value={form} onChange={(event) => setForm(event.currentTarget.value)}>
                    <option value="effective">computed, with every default</option>
                    <option value="posted">posted</option>
                </select>
            </label>
            <pre tabIndex={0}>{error ? error.message : value ? JSON.stringify(value, shortened, 2) : '…'}</pre>
        </div>
    );
}

const LONG = 200;
const shortened = (_, value) =>
    Array.isArray(value) && value.length > LONG ? [...value.slice(0, 3), `… ${value.length} in all`] : value;

function Log({ model }) {
    const { value, error } = useAnswer(
        (signal) => api.text(`${model.base}/log`, { signal }),
        [model, model.session.state],
    );
    return (
        <pre class="log" tabIndex={0}>
            {error ? error.message : value || 'The worker has written nothing.'}
        </pre>
    );
}

const MOST = 100;

// "/materials/rubber/young" is the key materials.rubber.young, which may be broken after its dots.
const Key = ({ path }) => {
    const [first, ...others] = path.slice(1).split('/');
    return [first, ...others.map((part) => [<wbr key={part} />, `.${part}`])];
};

function Differences({ list, all }) {
    return (
        <table aria-label="How the scenes differ">
            <thead>
                <tr>
                    <th scope="col">key</th>
                    <th scope="col">here</th>
                    <th scope="col">there</th>
                </tr>
            </thead>
            <tbody>
                {list.map(({ path, a, b }) => (
                    <tr key={path}>
                        <th scope="row"><Key path={path} /></th>
                        <td class="numbers">{shortText(a)}</td>
                        <td class="numbers">{shortText(b)}</td>
                    </tr>
                ))}
            </tbody>
            {all > list.length && <caption>the first {list.length} of {all}</caption>}
        </table>
    );
}

function Compared({ model, others, onCompare }) {
    if (!others.length) {
        return (
            <p class="empty">
                Select sessions in the list and press “compare”: their curves are drawn beside these, and the
                differences of their scenes are listed here.
            </p>
        );
    }
    return others.map((other, i) => {
        const list = model.scene && other.scene ? differences(unnamed(model.scene), unnamed(other.scene)) : [];
        return (
            <div key={other.id} class="difference">
                <p>
                    <b>
                        {other.error ? '' : `${i + 2}: `}
                        {other.name}
                    </b>{' '}
                    <button type="button" onClick={() => onCompare(other.id)}>
                        stop comparing
                    </button>
                </p>
                {other.error && <p class="bad">It cannot be read: {other.error.message}</p>}
                {list.length === 0 && !other.error && <p class="empty">Its scene is the same.</p>}
                {list.length > 0 && <Differences list={list.slice(0, MOST)} all={list.length} />}
            </div>
        );
    });
}

const rounded = (_, value) => (typeof value === 'number' ? +value.toPrecision(6) : value);
const unnamed = ({ name, ...scene }) => scene;

// A word without quotes, numbers with six digits.
function shortText(value) {
    if (value === undefined) return '–';
    return typeof value === 'string' ? value : JSON.stringify(value, rounded).replaceAll(',', ', ').slice(0, 120);
}

// One stop of the tab key; arrow keys move within it.
function Tabs({ tabs, chosen, onChoose }) {
    const keys = Object.keys(tabs);
    const move = (event) => {
        const at = keys.indexOf(chosen);
        const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: keys.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = (to + keys.length) % keys.length;
        onChoose(keys[next]);
        event.currentTarget.children[next].focus();
    };
    return (
        <div class="tabs" role="tablist" aria-label="About the session" onKeyDown={move}>
            {keys.map((key) => (
                <button
                    type="button"
                    role="tab"
                    key={key}
                    aria-selected={chosen === key}
                    aria-controls="tab"
                    tabIndex={chosen === key ? 0 : -1}
                    onClick={() => onChoose(key)}
                >
                    {tabs[key]}
                </button>
            ))}
        </div>
    );
}

const SAID = { succeeded: 'succeeded', failed: 'failed' };

export function Panel({ model, navigate, others, onCompare, tools }) {
    useOn(model, 'session tick ready link');
    useOn(who, 'change');
    const [tab, setTab] = useState('values');
    useEffect(() => {
        if (others.length) setTab('compared');
    }, [others.length]);
    const { session, scene } = model;
    const name = session?.name || model.id;
    useEffect(() => {
        document.title = `${name} · Pliant`;
        return () => (document.title = 'Pliant');
    }, [name]);
    if (!session) return <aside class="panel" aria-label="Session" />;
    const left = secondsLeft(session, model.frameSeconds);
    const tabs = {
        values: 'values',
        scene: 'scene',
        log: 'log',
        ...(who.guest ? {} : { compared: 'compared' }),
        ...(SHARE ? { share: 'share' } : {}),
    };
    return (
        <aside class="panel" aria-label="Session">
            <h1>{name}</h1>
            <p class="hidden" role="status">
                {name} {SAID[session.state] ?? `is ${session.state}`}
            </p>
            <p
                class={`state ${session.state === 'succeeded' && session.warnings?.length ? 'warned' : session.state}`}
            >
                <span class="sign">{STATES[session.state]}</span> <b>{session.state}</b>
                <span class="numbers">
                    {' '}
                    {lineOf(session, model.frameSeconds).replace(session.state, '').replace(/^ · /, '')}
                </span>
            </p>
            {left !== null && <p class="left numbers">{duration(left)} left</p>}
            {session.message && session.state !== 'failed' && <p class="faint">{session.message}</p>}
            {scene && (
                <p class="faint numbers">
                    {scene.solver.method.replaceAll('_', ' ')}, {scene.solver.iterations} iterations at most,
                    tolerance {number(scene.solver.tolerance)}, step {quantity(scene.time.step, 's')}
                </p>
            )}
            <FailureBox model={model} navigate={navigate} />
            <Warnings session={session} />
            <Actions model={model} navigate={navigate} />
            <Tabs tabs={tabs} chosen={tab} onChoose={setTab} />
            <div class="tab" role="tabpanel" id="tab" aria-label={tabs[tab]}>
                {tab === 'values' && <Values model={model} />}
                {tab === 'scene' && <SceneText model={model} />}
                {tab === 'log' && <Log model={model} />}
                {tab === 'compared' && <Compared model={model} others={others} onCompare={onCompare} />}
                {tab === 'share' && <SHARE model={model} tools={tools} />}
            </div>
        </aside>
    );
}
