// One scene as a form and as text side by side, checked by the daemon while it is edited.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from './api.js';
import { store, stored } from './draft.js';
import { Form } from './form.jsx';
import { duration, number, quantity } from './format.js';
import { submit } from './gallery.jsx';
import { PHONE, useAnswer, useMedia } from './hooks.js';
import { lineOfPointer, patched, placeOfPointer, pretty, read, removeAt, setAt } from './jsontext.js';
import { lazy } from './lazy.jsx';
import { withMeshes } from './meshfiles.js';
import { SceneText } from './scenetext.jsx';
import { about } from './schema.js';

const Preview = lazy(() => import('./preview.jsx').then((part) => part.Preview), 'preview');

const WAIT_MS = 350,
    QUEUE_MS = 3000;
const EMPTY = {
    pliant: 1,
    name: 'a new scene',
    time: { step: 0.01, duration: 2 },
    solver: { method: 'auto' },
    materials: { rubber: { model: 'neo_hookean', young: 100000, poisson: 0.45, density: 1000 } },
    bodies: [
        {
            name: 'box',
            mesh: { box: { size: [1, 1, 1], cells: [8, 8, 8] } },
            material: 'rubber',
            transform: { translate: [0, 2, 0] },
        },
    ],
    obstacles: [{ name: 'floor', plane: { normal: [0, 1, 0], offset: 0 }, friction: 0.3 }],
};

// The initial contents: {text, origin}.
async function begin({ session, gallery, change }, signal) {
    if (session) {
        const text = await api.text(`/v1/sessions/${encodeURIComponent(session)}/scene`, { signal });
        const scene = read(text).value;
        const laid = text.trim().includes('\n') || !scene ? text : pretty(scene);
        return {
            text: change ? patched(laid, JSON.parse(change)) : laid,
            origin: scene?.name || session.slice(0, 8),
        };
    }
    if (gallery) {
        const scene = await api.get(`/v1/gallery/${encodeURIComponent(gallery)}`, { signal });
        return { text: pretty(scene), origin: scene.name };
    }
    return { text: stored() ?? pretty(EMPTY), origin: null };
}

// The position of each fault in the text, as a sentence.
function placed(faults, text, places) {
    return faults.map((fault) => {
        const said = /line (\d+)/.exec(fault.pointer === '' ? fault.got : '');
        const line = said ? Number(said[1]) : places ? lineOfPointer(text, places, fault.pointer) : 1;
        const words = [
            fault.code.replaceAll('_', ' '),
            fault.got && `: ${fault.got}`,
            fault.expected && `; ${fault.expected} expected`,
            fault.hint && `; ${fault.hint}`,
        ]
            .filter(Boolean)
            .join('');
        return { ...fault, ...(places && !said ? placeOfPointer(places, fault.pointer) : {}), line, words };
    });
}

// The daemon's check of a text, a moment after its last change: {faults, estimate, warnings, remarks, busy, drawn};
// `drawn` is {geometry, scene} of the last text without faults.
function useVerdict(text) {
    const [verdict, setVerdict] = useState({ faults: [], busy: true });
    useEffect(() => {
        if (text === null) return undefined;
        const { error, places, value } = read(text);
        if (error) {
            const fault = { pointer: '', line: error.line, from: error.at, words: error.message };
            setVerdict(({ drawn }) => ({ faults: [fault], drawn }));
            return undefined;
        }
        const abort = new AbortController();
        setVerdict((before) => ({ ...before, busy: true }));
        const timer = setTimeout(async () => {
            try {
                const { geometry, ...found } = await api.post('/v1/validate?geometry=true', text, {
                    signal: abort.signal,
                });
                setVerdict({ ...found, faults: [], drawn: { geometry, scene: value } });
            } catch (problem) {
                if (problem.name === 'AbortError') return;
                const faults = placed(problem.faults ?? [], text, places);
                setVerdict(({ drawn }) => ({ faults, trouble: faults.length ? null : problem.message, drawn }));
            }
        }, WAIT_MS);
        return () => {
            clearTimeout(timer);
            abort.abort();
        };
    }, [text]);
    return verdict;
}

// Sessions that would run before one submitted now.
function useQueue() {
    const [seen, setSeen] = useState(null);
    useEffect(() => {
        let timer = 0,
            over = false;
        const look = async () => {
            const answers = document.hidden
                ? null
                : await Promise.all([api.get('/v1/queue?limit=1'), api.get('/v1/devices')]).catch(() => null);
            if (over) return;
            if (answers) setSeen({ queue: answers[0], devices: answers[1].items });
            timer = setTimeout(look, QUEUE_MS);
        };
        look();
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, []);
    return seen;
}

function waits(seen, cores) {
    if (!seen) return '';
    const cpu = seen.devices.find(({ device }) => device === 'cpu');
    const free = cpu.cores - cpu.cores_used;
    if (seen.queue.queued > 0)
        return `${seen.queue.queued} ${seen.queue.queued === 1 ? 'session waits' : 'sessions wait'} before it`;
    if (free >= cores) return 'starts at once';
    return `waits: ${cpu.cores_used} of ${cpu.cores} cores are in use`;
}

function Estimate({ verdict, scene }) {
    const seen = useQueue();
    const { estimate, faults, trouble, busy } = verdict;
    const cores = parseInt(scene?.resources?.cores ?? 1, 10);
    let words = 'is being checked …';
    if (trouble) words = trouble;
    else if (faults.length) words = `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`;
    else if (estimate) {
        const all = estimate.setup_seconds + estimate.frames * estimate.seconds_per_frame;
        words = [
            estimate.frames
                ? `about ${duration(Math.max(1, all))} for ${estimate.frames} frames`
                : 'without an end',
            `${number(1000 * estimate.seconds_per_frame, 2)} ms per frame`,
            `${quantity(estimate.memory_bytes, 'B')} of memory`,
            estimate.frames ? `${quantity(estimate.frames * estimate.frame_bytes, 'B')} of frames` : null,
            waits(seen, cores),
        ]
            .filter(Boolean)
            .join(' · ');
    }
    return (
        <p
            class={`estimate numbers${faults.length || trouble ? ' bad' : ''}${busy ? ' faint' : ''}`}
            role="status"
        >
            {words}
        </p>
    );
}

function Faults({ faults, warnings = [], remarks = [], onGo }) {
    return (
        <ul class="faults" id="faults">
            {faults.map((fault, i) => (
                <li key={i}>
                    <button type="button" onClick={() => onGo(fault.line)}>
                        line {fault.line}
                    </button>{' '}
                    {fault.pointer && <code>{fault.pointer}</code>} {fault.words}
                </li>
            ))}
            {warnings.map(({ code, detail }, i) => (
                <li key={`w${i}`} class="warning">
                    <b>{code.replaceAll('_', ' ')}</b> {detail}
                </li>
            ))}
            {remarks.map((remark, i) => (
                <li key={`r${i}`}>{remark}</li>
            ))}
        </ul>
    );
}

// Describes the key at the cursor; hovering with the pointer shows the same.
function About({ subject }) {
    const phone = useMedia(PHONE);
    const hint = phone ? 'Tap a key to read about it.' : 'Ctrl-Space lists what fits here; Tab leaves the text.';
    if (!subject) return <p class="about faint">{hint}</p>;
    const { description, facts } = about(subject.schemas);
    return (
        <p class="about">
            <code>{subject.path.join('.')}</code> {description} {facts && <span class="faint">({facts})</span>}
        </p>
    );
}

function Submit({ text, verdict, navigate, onFaults }) {
    const [group, setGroup] = useState('');
    const [said, setSaid] = useState(null);
    const [busy, setBusy] = useState(false);
    const me = useAnswer((signal) => api.get('/v1/me', { signal }), []).value;
    const groups = me?.groups ?? [];
    const run = async () => {
        setBusy(true);
        setSaid(null);
        try {
            navigate(`/sessions/${(await submit(text, group)).id}`);
        } catch (error) {
            onFaults(error.faults ?? []);
            setSaid(error.message);
            setBusy(false);
        }
    };
    const may = !me || me.scopes.includes('submit');
    return (
        <div class="submit">
            <button
                type="button"
                class="main"
                disabled={busy || !may || verdict.faults.length > 0}
                onClick={run}
            >
                submit
            </button>
            {groups.length > 0 && (
                <label>
                    for{' '}
                    <select value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
                        <option value="">myself</option>
                        {groups.map(({ name }) => (
                            <option key={name} value={name}>
                                the group {name}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {!may && <span class="faint">Your login can view, but not submit.</span>}
            {said && (
                <span class="bad" role="alert">
                    {said}
                </span>
            )}
        </div>
    );
}

// Why the preview may show another scene than the text.
function noteOf({ faults, trouble, drawn }) {
    if (!faults.length && !trouble) return null;
    return drawn ? 'This is the last scene without faults.' : 'It is drawn when the scene has no faults.';
}

export function Editor({ query, navigate }) {
    const start = useAnswer((signal) => begin(query, signal), [query.session, query.gallery, query.change]);
    const capabilities = useAnswer((signal) => api.get('/v1/capabilities', { signal }), []).value;
    const schema = useAnswer((signal) => api.get('/v1/schema/scene', { signal }), []).value;
    const [text, setText] = useState(null);
    const [said, setSaid] = useState([]);
    const [over, setOver] = useState(false);
    const [refused, setRefused] = useState([]);
    const [subject, setSubject] = useState(null);
    const area = useRef(null),
        files = useRef(null);
    const verdict = useVerdict(text);
    useEffect(() => start.value && setText(start.value.text), [start.value]);
    const change = (now) => {
        setText(now);
        setRefused([]);
        store(now);
    };
    const faults = useMemo(
        () => (verdict.faults.length || text === null ? verdict.faults : placed(refused, text, read(text).places)),
        [verdict.faults, refused],
    );
    if (start.error)
        return (
            <p class="nothing trouble" role="alert">
                {start.error.message}
            </p>
        );
    if (text === null || !capabilities) return null;
    const scene = read(text).value;
    const take = async (list) => {
        setSaid([`${list.length === 1 ? list[0].name : `${list.length} files`} …`]);
        const done = await withMeshes(area.current.text(), [...list], capabilities.mesh_formats);
        change(done.text);
        setSaid(done.said);
    };
    const drop = (event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer.files.length) take(event.dataTransfer.files);
    };
    return (
        <section
            class={`editor${over ? ' over' : ''}`}
            aria-label="Scene editor"
            onDragOver={(event) => {
                event.preventDefault();
                setOver(true);
            }}
            onDragLeave={(event) => event.currentTarget.contains(event.relatedTarget) || setOver(false)}
            onDrop={drop}
        >
            <div class="head">
                <a href="#/scenes">gallery</a>
                <h1>{query.session ? `“${start.value?.origin ?? ''}” again` : scene?.name || 'a scene'}</h1>
                <button type="button" onClick={() => files.current.click()}>
                    add mesh files
                </button>
                <input
                    type="file"
                    multiple
                    hidden
                    ref={files}
                    aria-label="Mesh files"
                    onChange={(event) => {
                        take([...event.currentTarget.files]);
                        event.currentTarget.value = '';
                    }}
                />
                <span class="faint">or drop them here: {capabilities.mesh_formats.join(', ')}</span>
            </div>
            {said.length > 0 && (
                <p class="meshes" role="status">
                    {said.map((line, i) => (
                        <span key={i}>
                            {line}
                            <br />
                        </span>
                    ))}
                </p>
            )}
            <div class="sides">
                <Preview drawn={verdict.drawn} note={noteOf(verdict)} />
                {scene ? (
                    <Form
                        scene={scene}
                        parameters={capabilities.parameters}
                        faults={faults}
                        onChange={(pointer, value) =>
                            change(value === undefined ? removeAt(text, pointer) : setAt(text, pointer, value))
                        }
                    />
                ) : (
                    <p class="form faint">The form returns when the text is valid JSON again.</p>
                )}
                <div class="json">
                    <SceneText
                        {...{ text, faults, schema, scene }}
                        onChange={change}
                        onSubject={setSubject}
                        tools={area}
                    />
                    <About subject={subject} />
                    <Faults
                        faults={faults}
                        warnings={verdict.warnings}
                        remarks={verdict.remarks}
                        onGo={(line) => area.current.goTo(line)}
                    />
                </div>
            </div>
            <div class="foot">
                <Submit text={text} verdict={verdict} navigate={navigate} onFaults={setRefused} />
                <Estimate verdict={verdict} scene={scene} />
            </div>
        </section>
    );
}
