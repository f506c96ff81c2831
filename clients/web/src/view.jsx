// The 3-D view with its tools: display settings, picking, dragging, the legend.

import { useEffect, useRef, useState } from 'preact/hooks';
import { MAPS, bodyColour } from './colormap.js';
import { Drag } from './drag.js';
import { FIELDS } from './fields.js';
import { changesOf, follow } from './follow.js';
import { takeHold } from './handle.js';
import { number, quantity } from './format.js';
import { PHONE, useMedia, useOn } from './hooks.js';
import { OthersBar, Panes, useCompanions, useGhosts } from './others.jsx';
import { Pace, shadowsFit } from './pace.js';
import { sentenceOf } from './panel.jsx';
import { PLAYING } from './player.js';
import { route } from './route.js';
import { MeasureBar } from './measurebar.jsx';
import { SectionBar, needSection } from './sectionbar.jsx';
import { theme } from './theme.js';
import { View3D } from './view3d.js';
import { Tools, chosen } from './viewtools.jsx';
import { who } from './who.js';

// Pixels that a click may move, and within which a pin is gripped. A finger rolls, and covers what it touches.
const MOUSE = { click: 4, grip: 9 },
    FINGER = { click: 12, grip: 22 };
const handOf = ({ pointerType }) => (pointerType === 'touch' ? FINGER : MOUSE);
const NOTE_MS = 400,
    TELL_MS = 250,
    SAID_MS = 8000;

// Global vertices of an element: tetrahedra come first, then the sheet triangles, which are a body's last triangles.
async function cornersOf(model, body, element) {
    const owner = model.topology.bodies[body];
    const triangle = element - owner.tets;
    if (triangle >= 0) {
        const first = owner.triangles.length - 3 * (owner.sheet_triangles - triangle);
        return [...owner.triangles.slice(first, first + 3)];
    }
    const tets = await model.tets();
    const before = model.topology.bodies.slice(0, body).reduce((sum, one) => sum + one.tets, 0);
    return [...tets.slice(4 * (before + element), 4 * (before + element) + 4)];
}

// Mark where a session failed: a vertex, or an element's corners. Inner ones are sent only then.
async function highlight(view, model, again) {
    const { body, vertex, element } = model.session.failure;
    const owner = model.topology?.bodies[body];
    if (!owner) return;
    const corners =
        element !== null ? await cornersOf(model, body, element) : vertex !== null ? [owner.first_vertex + vertex] : [];
    if (model.closed) return;
    if (corners.some((corner) => view.surface.indexOf(corner) < 0)) model.needWhole('failure');
    if (element !== null) view.setOutline(corners);
    else if (corners.length) view.setPicked(view.surface.indexOf(corners[0]));
    again();
}

function Axes({ view }) {
    const ref = useRef(null);
    useEffect(() => {
        const draw = () => {
            const { camera } = view.stage;
            if (!ref.current) return; // removed from the page; the effect's cleanup comes after the next picture
            camera.updateMatrixWorld();
            const e = camera.matrixWorldInverse.elements;
            const arms = [0, 1, 2].map((axis) => [axis, 18 * e[4 * axis], -18 * e[4 * axis + 1]]);
            arms.forEach(([axis, x, y]) => {
                const [line, text] = ref.current.children[axis].children;
                line.setAttribute('x2', x);
                line.setAttribute('y2', y);
                text.setAttribute('x', 1.35 * x);
                text.setAttribute('y', 1.35 * y + 4);
            });
        };
        view.onTurn = draw;
        draw();
        return () => (view.onTurn = null);
    }, [view]);
    return (
        <svg class="axes" viewBox="-28 -28 56 56" aria-hidden="true" ref={ref}>
            {['x', 'y', 'z'].map((name) => (
                <g key={name} class={`axis-${name}`}>
                    <line x1="0" y1="0" />
                    <text text-anchor="middle">{name}</text>
                </g>
            ))}
        </svg>
    );
}

// A number field that keeps the text being typed, even while new frames arrive.
function RangeEnd({ label, value, onSet }) {
    const [draft, setDraft] = useState(null);
    const take = () => {
        if (draft !== null && draft.trim() !== '' && Number.isFinite(Number(draft))) onSet(Number(draft));
        setDraft(null);
    };
    return (
        <input
            aria-label={label}
            value={draft ?? number(value).replace('−', '-')}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onBlur={take}
            onKeyDown={(event) => event.key === 'Enter' && take()}
        />
    );
}

const NAMES = 8;

// The colour of each body.
function Names({ bodies }) {
    if (bodies.length < 2) return null;
    return (
        <ul class="legend names" aria-label="Colours of the bodies">
            {bodies.slice(0, NAMES).map(({ name }, k) => (
                <li key={name}>
                    <i style={{ background: bodyColour(k).css }} />
                    {name}
                </li>
            ))}
            {bodies.length > NAMES && <li class="faint">and {bodies.length - NAMES} more</li>}
        </ul>
    );
}

function Legend({ view, onChange }) {
    const field = FIELDS[view.field];
    if (view.field === 'none') return <Names bodies={view.surface?.bodies ?? []} />;
    if (!view.seen) return null;
    const [low, high] = view.range ?? view.seen;
    const set = (index) => (value) => {
        view.range = [low, high];
        view.range[index] = value;
        onChange();
    };
    const lock = () => {
        view.seen = view.range ? view.found : view.seen;
        view.range = view.range ? null : view.seen;
        onChange();
    };
    const gradient = `linear-gradient(to right, ${MAPS[field.map].stops.join(', ')})`;
    return (
        <div class="legend">
            <span>
                {field.label} [{field.unit}]
            </span>
            <div class="ramp" style={{ background: gradient }} />
            <div class="ends numbers">
                <RangeEnd label="least" value={low} onSet={set(0)} />
                <button
                    type="button"
                    onClick={lock}
                    aria-pressed={Boolean(view.range)}
                    title="Keep this range fixed"
                >
                    {view.range ? 'locked' : 'lock'}
                </button>
                <RangeEnd label="greatest" value={high} onSet={set(1)} />
            </div>
        </div>
    );
}

function Picked({ view, model, onClose, say }) {
    if (view.picked === null || !view.surface) return null;
    const { body, vertex } = view.surface.ownerOf(view.picked);
    const at = view.surface.positions.subarray(3 * view.picked, 3 * view.picked + 3);
    const pin = view.pins.find(({ index }) => index === view.picked);
    const { rest } = view.surface;
    const moved = rest ? Math.hypot(...[0, 1, 2].map((c) => at[c] - rest[3 * view.picked + c])) : null;
    const field = FIELDS[view.field];
    const dragged = model.session?.state === 'running' && who.manages(model.session);
    const hold = async () => {
        try {
            const { id } = await takeHold(model, view, view.picked);
            route.go({ page: 'sessions', id });
        } catch (error) {
            say(sentenceOf(error));
        }
    };
    return (
        <div class="picked numbers" role="status">
            <button type="button" class="close" onClick={onClose} aria-label="Close">
                ✕
            </button>
            <b>
                {body?.name}, vertex {vertex}
            </b>
            <span>
                x {number(at[0], 5)}&ensp;y {number(at[1], 5)}&ensp;z {number(at[2], 5)} m
            </span>
            {moved !== null && <span>moved {quantity(moved, 'm')} since frame 0</span>}
            {view.field !== 'none' && view.seen && (
                <span>
                    {field.label} {quantity(view.values[view.picked], field.unit)}
                </span>
            )}
            {pin && (
                <span>
                    held by {pin.kind} “{pin.name}”{dragged ? ': drag it' : ''}
                </span>
            )}
            {!pin && body && who.submits && (
                <button
                    type="button"
                    onClick={hold}
                    title="A branch from this frame on, in real time, whose vertex follows the pointer"
                >
                    grab it
                </button>
            )}
        </div>
    );
}

export function View({ model, tools, compared }) {
    const canvas = useRef(null);
    const [view, setView] = useState(null);
    const [, redraw] = useState(0);
    const [trouble, setTrouble] = useState(null);
    const again = () => redraw((n) => n + 1);
    const timer = useRef(0);
    // An error message, shown for a while.
    const say = (message) => {
        clearTimeout(timer.current);
        setTrouble(message);
        timer.current = setTimeout(() => setTrouble(null), SAID_MS);
    };
    useEffect(() => () => clearTimeout(timer.current), []);
    useOn(model, 'tick session form first');
    useOn(model.player, 'change');

    useEffect(() => {
        let made = null,
            marked = false,
            noted = 0,
            told = 0;
        // Elements beside the picture are updated four times a second.
        const tell = () => {
            if (!told)
                told = setTimeout(() => {
                    told = 0;
                    again();
                }, TELL_MS);
        };
        const note = () => {
            clearTimeout(noted);
            noted = setTimeout(
                () =>
                    made.furnished && // there is no camera before
                    route.note(model.id, {
                        camera: made.stage.view.join(','),
                        section: made.section.text,
                        frame: model.player.follows ? null : model.player.frame,
                    }),
                NOTE_MS,
            );
        };
        // Shadows that the user has not asked for are switched off if pictures come too slowly.
        const pace = new Pace();
        const watchPace = (now) => {
            if (!made?.shade.on || chosen.shadow !== null || model.player.mode !== PLAYING) pace.rest();
            else if (pace.add(now)) {
                made.setShade(false);
                again();
            }
        };
        try {
            made = new View3D(canvas.current, {
                beforeDraw: (now) => {
                    watchPace(now);
                    model.player.advance(
                        now,
                        (k) => model.frames.has(k) || model.frames.whyMissing(k) !== null,
                    );
                    if (made?.surface) follow(made, model, tell);
                    if (made?.shown) made.onFrame?.();
                },
                changes: (kind, name) => changesOf(model, kind, name),
                onCamera: () => {
                    made?.onTurn?.();
                    if (made?.furnished) note();
                },
            });
        } catch {
            setTrouble(
                'This browser has no WebGL 2, which the 3-D view needs. The curves and the list work without it.',
            );
            return undefined;
        }
        const colours = () => made.setTheme(theme);
        colours();
        made.setContacts(chosen.contacts);
        // As in the address, also after a change to another address of the same session.
        const goThere = () => {
            const { id, query } = route.now;
            if (id !== model.id || !model.topology) return;
            const camera = query.camera?.split(',').map(Number);
            if (made.furnished) made.stage.view = camera;
            else made.wantedView = camera;
            made.section.text = query.section;
            needSection(made, model);
            again();
        };
        const prepare = () => {
            if (!model.topology) return;
            if (made.furnished) made.wantedView = made.stage.view;
            else goThere();
            made.setSession(model.topology, model.drawn, model.scene);
            made.setShade(chosen.shadow ?? shadowsFit(made.stage.card, made.surface.triangles.length / 3));
            mark();
            again();
        };
        // The place of a failure is marked as soon as it is known, until something else is picked.
        const mark = () => {
            if (!made.surface || !model.session?.failure) return;
            marked = true;
            highlight(made, model, again);
        };
        const offs = [
            theme.on('change', colours),
            route.on('change', goThere),
            model.on('ready', prepare),
            model.on('form', prepare),
            model.on('failure', mark),
            model.on('session', () => marked || mark()),
            model.on('controls', () => made.followChanges()),
            model.on('first', () => {
                made.stale = true;
                made.include(model.first);
            }),
            model.player.on('frame', note),
            // The last frame of a finished run is framed from the start.
            model.frames.on('frame', (frame) => {
                if (model.over && frame.number === model.player.newest) made.include(frame);
            }),
        ];
        prepare();
        made.note = note;
        tools.current = made;
        setView(made);
        return () => {
            clearTimeout(noted);
            clearTimeout(told);
            offs.forEach((off) => off());
            made.destroy();
            if (tools.current === made) tools.current = null;
        };
    }, [model]);

    const [shown, setShown] = useState(chosen.others);
    const companions = useCompanions(model, compared, shown, again);
    useGhosts(view, model, companions, shown);
    const beside = shown === 'beside' && view?.surface ? companions : [];

    useEffect(() => (view ? pointer(view, model, canvas.current, again, say) : undefined), [view]);

    const phone = useMedia(PHONE);
    const picked = view && (
        <Picked
            view={view}
            model={model}
            say={say}
            onClose={() => {
                view.setPicked(null);
                again();
            }}
        />
    );

    const why = model.frames.whyMissing(model.player.shown);
    const waits = model.topology && !view?.shown && model.session?.progress?.frame == null;
    return (
        <>
            <section class={`view with-${beside.length}`} aria-label="3-D view">
                <h2 class="hidden">View</h2>
                <div class={`panes of-${beside.length + 1}`}>
                    <div class="pane">
                        <canvas
                            ref={canvas}
                            tabIndex={0}
                            role="application"
                            aria-label="The bodies; drag to turn, wheel to zoom"
                            onKeyDown={(event) => {
                                if (event.key !== 'Enter' || !view) return;
                                pointAt(view, canvas.current.clientWidth / 2, canvas.current.clientHeight / 2);
                                again();
                            }}
                        />
                        {beside.length > 0 && <b class="name">{model.session?.name}</b>}
                    </div>
                    <Panes view={view} model={model} companions={beside} />
                </div>
                <div class="above">
                    {view?.surface && <Tools view={view} model={model} again={again} />}
                    {!phone && picked}
                </div>
                {view && <Axes view={view} />}
                {view?.shown && (
                    <span class="scale numbers">
                        grid {quantity(view.stage.gridStep, 'm')}
                        {view.missing > 0 && `; ${view.missing} obstacles not drawn (checked by an older version)`}
                    </span>
                )}
                {view && (
                    <Legend
                        view={view}
                        onChange={() => {
                            view.recolour();
                            again();
                        }}
                    />
                )}
                {waits && !trouble && <p class="over">The first frame appears here as soon as it is computed.</p>}
                {why && (
                    <p class="over">
                        Frame {model.player.shown} cannot be shown: {why}.
                    </p>
                )}
                {trouble && (
                    <p class="over" role="alert">
                        {trouble}
                    </p>
                )}
            </section>
            {phone && picked}
            {view && compared.length > 0 && (
                <OthersBar
                    {...{ view, model, companions, shown }}
                    onShow={(how) => {
                        chosen.others = how;
                        setShown(how);
                    }}
                />
            )}
            {view?.measure.on && view.surface && <MeasureBar view={view} again={again} />}
            {view?.section.on && view.surface && <SectionBar view={view} model={model} again={again} />}
        </>
    );
}

// Picks a vertex, or an end of a distance.
function pointAt(view, x, y) {
    if (view.measure.on) {
        view.measure.add(view.hitAt(x, y), x, y);
        return;
    }
    view.setPicked(view.pick(x, y));
    view.stale = true; // the panel then shows how far the vertex moved
}

// Clicks pick a vertex; a drag that begins on a pin or an obstacle of a running session moves it.
function pointer(view, model, canvas, again, say) {
    let begun = null, // where the pointer went down; null: no click any more
        drag = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    const clicks = (event) =>
        begun && Math.hypot(event.clientX - begun[0], event.clientY - begun[1]) < handOf(event).click;
    const down = (event) => {
        if (event.button !== 0) return;
        // A second finger zooms and shifts, so the first one does not pick.
        begun = event.isPrimary ? [event.clientX, event.clientY] : null;
        if (!event.isPrimary) return;
        if (model.session?.state !== 'running' || model.player.mode !== 'live') return;
        if (!who.manages(model.session)) return;
        const grip = view.grip(...place(event), handOf(event).grip);
        if (!grip || (grip.kind === 'obstacle' && !event.shiftKey)) return;
        view.stage.orbit.enabled = false;
        canvas.setPointerCapture(event.pointerId);
        drag = new Drag(model, view, grip, say);
    };
    const move = (event) => {
        if (!event.isPrimary || clicks(event)) return;
        begun = null;
        drag?.move(...place(event));
    };
    const up = (event) => {
        if (!event.isPrimary) return;
        drag?.end();
        view.stage.orbit.enabled = true;
        if (clicks(event)) {
            pointAt(view, ...place(event));
            again();
        }
        begun = drag = null;
    };
    const listeners = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up };
    // Before the orbit controls, which listen to the same canvas.
    for (const [name, listener] of Object.entries(listeners)) canvas.addEventListener(name, listener, true);
    return () => {
        for (const [name, listener] of Object.entries(listeners))
            canvas.removeEventListener(name, listener, true);
    };
}
