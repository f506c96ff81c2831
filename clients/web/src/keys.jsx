// Keyboard commands, and the page that lists them.

import { useEffect, useRef, useState } from 'preact/hooks';
import { marksOf } from './timeline.jsx';

const KEYS = [
    ['space', 'play or pause'],
    ['← →', 'one frame back or forward (with shift: ten)'],
    ['Home End', 'first frame, newest frame'],
    ['[ ]', 'previous or next mark on the timeline'],
    ['L', 'follow the newest frame'],
    ['F', 'bring everything into view'],
    ['W', 'edges of the mesh'],
    ['S', 'light with shadows'],
    ['C', 'cut the bodies by a plane; arrows then move it'],
    ['M', 'measure the distance between two picked places'],
    ['4 6 8 2', 'turn the view'],
    ['+ −', 'zoom'],
    ['Enter', 'in the view: values of the vertex at its centre, or an end of a distance'],
    ['/', 'filter the sessions'],
    ['↑ ↓', 'in the list: previous or next session (with shift: select)'],
    ['X', 'in the list: select (Ctrl-A: all; Delete: remove)'],
    ['Ctrl-Space', 'in the text of a scene: completions (F8: next fault; Ctrl-F: find; Tab: leave)'],
    ['?', 'this page'],
    ['Esc', 'close what is open, such as a section or a distance'],
];

const TURN = Math.PI / 24,
    ZOOM = 1.1;

// Move to the next or the previous mark of the timeline.
function jump(model, way) {
    if (!model) return false;
    const { frame } = model.player;
    const frames = marksOf(model)
        .map((mark) => mark.frame)
        .filter((at) => (at - frame) * way > 0);
    if (!frames.length) return false;
    return model.player.seek(way > 0 ? Math.min(...frames) : Math.max(...frames));
}

// Closes a tool of the view; false where none is open.
function closeTool(view) {
    if (view?.measure.on) return view.toggleMeasure();
    return view?.section.on ? view.toggleSection() : false;
}

// Also if it is in a shadow root, like the text of a scene.
const typing = (event) =>
    event
        .composedPath()[0]
        .closest?.('input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]');

// `model()` and `view()` return the open session and view, or null.
export function useKeys(model, view, openHelp) {
    useEffect(() => {
        const listen = (event) => {
            if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
            if (typing(event)) return;
            const player = model()?.player;
            const size = event.shiftKey ? 10 : 1;
            const actions = {
                ' ': () => (event.target.closest?.('button, a, summary') ? false : player?.toggle()),
                ArrowLeft: () => player?.step(-size),
                ArrowRight: () => player?.step(size),
                Home: () => player?.seek(0),
                End: () => player?.live(),
                l: () => player?.live(),
                f: () => view()?.fit(),
                w: () => view()?.toggleWires?.(),
                s: () => view()?.toggleShadow?.(),
                c: () => view()?.toggleSection?.(),
                m: () => view()?.toggleMeasure?.(),
                Escape: () => !document.querySelector('dialog[open]') && closeTool(view()),
                '[': () => jump(model(), -1),
                ']': () => jump(model(), 1),
                4: () => view()?.stage.turn(-TURN, 0),
                6: () => view()?.stage.turn(TURN, 0),
                8: () => view()?.stage.turn(0, TURN),
                2: () => view()?.stage.turn(0, -TURN),
                '+': () => view()?.stage.zoom(ZOOM),
                '-': () => view()?.stage.zoom(1 / ZOOM),
                '/': () => document.getElementById('filter')?.focus(),
                '?': openHelp,
            };
            const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
            if (!action || action() === false) return;
            event.preventDefault();
        };
        addEventListener('keydown', listen);
        return () => removeEventListener('keydown', listen);
    }, []);
}

export function useHelp() {
    return useState(false);
}

// A modal dialog: the browser keeps the focus in it, and Escape closes it.
export function Help({ onClose }) {
    const dialog = useRef(null);
    useEffect(() => {
        dialog.current.showModal();
        dialog.current.scrollTop = 0; // the focus is on the button at its end
    }, []);
    return (
        <dialog
            class="sheet"
            aria-label="Keys"
            ref={dialog}
            onClose={onClose}
            onClick={(event) => event.target === dialog.current && onClose()}
        >
            <h1>Keys</h1>
            <table>
                <tbody>
                    {KEYS.map(([key, what]) => (
                        <tr key={key}>
                            <th scope="row">
                                <kbd>{key}</kbd>
                            </th>
                            <td>{what}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p>
                In the view: drag turns, wheel zooms, the right button (or two fingers) shifts; a click tells a
                vertex's values. While a session runs, drag one of its pins (blue), or with shift an obstacle, to
                move it. The <a href="/docs/">documentation</a> describes the rest.
            </p>
            <button type="button" onClick={onClose} autofocus>
                close
            </button>
        </dialog>
    );
}
