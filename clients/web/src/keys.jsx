// What the keyboard does, and the page that says so.

import { useEffect, useState } from 'preact/hooks';

const KEYS = [
    ['space', 'play or pause'],
    ['← →', 'one frame back, one on (with shift: ten)'],
    ['Home End', 'first frame, newest frame'],
    ['L', 'follow the newest frame'],
    ['F', 'bring all into view'],
    ['W', 'edges of the mesh'],
    ['/', 'filter the sessions'],
    ['↑ ↓', 'in the list: another session (with shift: select)'],
    ['X', 'in the list: select (Ctrl-A: all; Delete: remove)'],
    ['?', 'this page'],
    ['Esc', 'close what is open'],
];

const typing = (target) =>
    target.closest?.('input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]');

// `model()` and `view()` are what is looked at, or null.
export function useKeys(model, view, openHelp) {
    useEffect(() => {
        const listen = (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
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
    const [open, setOpen] = useState(false);
    useEffect(() => {
        const listen = (event) => event.key === 'Escape' && setOpen(false);
        addEventListener('keydown', listen);
        return () => removeEventListener('keydown', listen);
    }, []);
    return [open, setOpen];
}

export function Help({ onClose }) {
    return (
        <div class="veil" onClick={onClose}>
            <div
                class="sheet"
                role="dialog"
                aria-modal="true"
                aria-label="Keys"
                onClick={(event) => event.stopPropagation()}
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
                    In the view: drag turns, wheel zooms, the right button (or two fingers) shifts; a click
                    tells a vertex's values. While a session runs, drag one of its pins (orange), or with shift
                    an obstacle, to move it.
                </p>
                <button type="button" onClick={onClose} autofocus>
                    close
                </button>
            </div>
        </div>
    );
}
