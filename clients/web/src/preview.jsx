// The scene that is being edited in 3-D: bodies at rest, pins and obstacles, as the daemon's check found them.

import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from './theme.js';
import { View3D } from './view3d.js';

// A frame of numbers that the check returned.
const frameOf = ({ positions }) => ({
    number: 0,
    time: 0,
    count: positions.length / 3,
    position: { values: positions, box: null },
    contacts: null,
});

function show(view, { topology, surface, positions }, scene) {
    view.wantedView = view.stage.turned ? view.stage.view : null;
    view.setSession(topology, Int32Array.from(surface), scene);
    view.show(frameOf({ positions: Float32Array.from(positions) }), null, null);
}

const TURN = Math.PI / 24,
    ZOOM = 1.1;
// The keys are those of a session's view.
const MOVES = {
    4: (stage) => stage.turn(-TURN, 0),
    6: (stage) => stage.turn(TURN, 0),
    8: (stage) => stage.turn(0, TURN),
    2: (stage) => stage.turn(0, -TURN),
    '+': (stage) => stage.zoom(ZOOM),
    '-': (stage) => stage.zoom(1 / ZOOM),
};

// `drawn`: {geometry, scene} of the last scene without faults, or null; `note`: why it may differ from the text.
export function Preview({ drawn, note }) {
    const canvas = useRef(null);
    const [view, setView] = useState(null);
    const [trouble, setTrouble] = useState(null);
    useEffect(() => {
        let made;
        try {
            made = new View3D(canvas.current, { beforeDraw() {}, onCamera() {}, changes: () => [] });
        } catch {
            setTrouble('This browser has no WebGL 2, which the preview needs.');
            return undefined;
        }
        const colours = () => {
            made.stage.setColours(theme.colour('view'), theme.colour('grid'));
            made.setInk(theme.colour('text'));
        };
        colours();
        made.setContacts(false);
        setView(made);
        const off = theme.on('change', colours);
        return () => {
            off();
            made.destroy();
        };
    }, []);
    const geometry = drawn?.geometry;
    useEffect(() => {
        if (view && geometry) show(view, geometry, drawn.scene);
    }, [view, drawn]);
    const large = drawn && !geometry ? 'The scene is too large for a preview.' : null;
    const names = geometry?.topology.bodies.map(({ name }) => name).join(', ');
    return (
        <section class="preview" aria-label="Preview">
            <canvas
                ref={canvas}
                tabIndex={0}
                role="application"
                aria-label={names ? `The scene before it runs: ${names}` : 'No preview yet'}
                onKeyDown={(event) => view && MOVES[event.key]?.(view.stage)}
            />
            <p class="note" role="status">
                {trouble ?? note ?? large}
            </p>
        </section>
    );
}
