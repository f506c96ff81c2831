// Compared sessions in the view: ghosts over its bodies, or a separate picture for each; all at the same simulated
// time.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Companion, shareMemory } from './companion.js';
import { FIELDS } from './fields.js';
import { changesOf, follow } from './follow.js';
import { number } from './format.js';
import { GHOSTS, Ghost } from './ghost.js';
import { hrefOf } from './route.js';
import { needSection, needTets } from './sectionbar.jsx';
import { theme } from './theme.js';
import { View3D, widened } from './view3d.js';

export const SHOWN = { off: 'curves only', ghost: 'ghosted', beside: 'side by side' };

// The sessions of `compared`, [{id, name}], beside `model`, read while they are shown. `again` is called when they
// change.
export function useCompanions(model, compared, shown, again) {
    const kept = useRef(new Map());
    const wanted = shown === 'off' ? '' : compared.map(({ id }) => id).join();
    const [list, setList] = useState([]);
    useEffect(() => {
        const { current } = kept;
        const now = new Set(wanted ? wanted.split(',') : []);
        for (const [id, { companion, offs }] of current) {
            if (now.has(id)) continue;
            offs.forEach((off) => off());
            companion.close();
            current.delete(id);
        }
        for (const id of now) {
            if (current.has(id)) continue;
            const { name } = compared.find((one) => one.id === id);
            const companion = new Companion(id, name);
            const offs = ['tick', 'session', 'ready'].map((event) => companion.on(event, again));
            current.set(id, { companion, offs });
        }
        const companions = [...now].map((id) => current.get(id).companion);
        shareMemory([model, ...companions]);
        setList(companions);
    }, [model, wanted]);
    useEffect(
        () => () => {
            kept.current.forEach(({ companion }) => companion.close());
            kept.current.clear();
        },
        [model],
    );
    return list;
}

// Draws them over the bodies of `view`.
export function useGhosts(view, model, companions, shown) {
    useEffect(() => {
        if (!view || shown !== 'ghost') return undefined;
        const ghosts = companions.map((one, k) => new Ghost(view, one, GHOSTS[k % GHOSTS.length]));
        view.ghosts = ghosts;
        view.onFrame = () => {
            ghosts.forEach((ghost) => ghost.follow(view.shown.time, model.player));
            view.stage.canvas.dataset.ghosts = ghosts.map((ghost) => ghost.shown ?? '–').join();
        };
        return () => {
            view.onFrame = null;
            view.ghosts = [];
            ghosts.forEach((ghost) => ghost.dispose());
            view.stage.canvas.dataset.ghosts = '';
        };
    }, [view, companions, shown]);
}

// The user's settings of the view, for a view of another session.
function takeOver(made, companion, view) {
    if (made.field !== view.field) {
        made.setField(view.field);
        made.stale = true;
        if (FIELDS[view.field].tets) needTets(made, companion, 'stress').catch(() => {});
    }
    if (made.flat !== view.flat) made.setFlat(view.flat);
    if (made.shade.on !== view.shade.on) made.setShade(view.shade.on);
    if (made.wires !== view.wires) made.setWireframe(view.wires);
    if (made.contactsShown !== view.contactsShown) {
        made.setContacts(view.contactsShown);
        made.stale = true;
    }
    if (made.section.text !== view.section.text) {
        made.section.text = view.section.text;
        needSection(made, companion);
    }
}

// One colour range for all.
function shareRange(made, view) {
    const { found } = made;
    if (view.field === 'none' || made.field !== view.field || !view.seen || !found || made.painted) return;
    if (!view.range && (found[0] < view.seen[0] || found[1] > view.seen[1])) {
        view.seen = widened(view.seen, found);
        view.stale = true;
    }
    if (made.range?.join() === view.seen.join()) return;
    made.range = [...view.seen];
    made.recolour();
}

function Pane({ view, model, companion }) {
    const canvas = useRef(null);
    const [trouble, setTrouble] = useState(null);
    useEffect(() => {
        let made = null,
            turning = false;
        const beforeDraw = () => {
            if (!made) return;
            if (!turning) made.stage.copyCamera(view.stage);
            if (!view.shown || !made.surface) return;
            if (companion.join(view.shown.time, model.player) === null) return;
            takeOver(made, companion, view);
            follow(made, companion, () => {});
            shareRange(made, view);
        };
        try {
            made = new View3D(canvas.current, {
                beforeDraw,
                changes: (kind, name) => changesOf(companion, kind, name),
                onCamera: () => turning && view.stage.copyCamera(made.stage),
            });
        } catch {
            setTrouble('This browser allows no more WebGL views.');
            return undefined;
        }
        const { orbit } = made.stage;
        orbit.addEventListener('start', () => (turning = view.stage.turned = true));
        orbit.addEventListener('end', () => (turning = false));
        const colours = () => made.setTheme(theme);
        colours();
        const prepare = () => {
            const { topology, drawn, scene } = companion;
            if (topology) made.setSession(topology, drawn, scene);
        };
        const offs = [
            theme.on('change', colours),
            companion.on('ready', prepare),
            companion.on('form', prepare),
            companion.on('first', () => (made.stale = true)),
        ];
        prepare();
        return () => {
            offs.forEach((off) => off());
            made.destroy();
        };
    }, [companion]);
    return (
        <div class="pane">
            <canvas ref={canvas} role="img" aria-label={`The bodies of ${companion.name}`} />
            <b class="name">{companion.name}</b>
            {trouble && <p class="over">{trouble}</p>}
        </div>
    );
}

export function Panes({ view, model, companions }) {
    return companions.map((companion) => (
        <Pane key={companion.id} view={view} model={model} companion={companion} />
    ));
}

// The controls: how they are shown, their names, and their progress.
export function OthersBar({ view, model, companions, shown, onShow }) {
    const time = view.shown?.time;
    const end = model.timeOf(model.player.newest);
    return (
        <div class="viewbar" role="group" aria-label="Compared sessions">
            <b>compared</b>
            {Object.entries(SHOWN).map(([key, label]) => (
                <button type="button" key={key} aria-pressed={shown === key} onClick={() => onShow(key)}>
                    {label}
                </button>
            ))}
            {companions.length > 0 && (
                <ul class="runs numbers" aria-label="Sessions in the view">
                    {companions.map((companion, k) => (
                        <li key={companion.id}>
                            {shown === 'ghost' && <i style={{ background: GHOSTS[k % GHOSTS.length] }} />}
                            <b>{companion.name}</b>{' '}
                            <span class={companion.gone ? 'bad' : 'faint'}>
                                {time === undefined ? '' : companion.at(time).words}
                            </span>{' '}
                            {!companion.gone && companion.end > end + companion.player.frameSeconds && (
                                <a href={hrefOf(companion.id)}>goes on until {number(companion.end, 4)} s</a>
                            )}
                        </li>
                    ))}
                </ul>
            )}
        </div>
    );
}
