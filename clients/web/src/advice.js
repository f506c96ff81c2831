// Changes of the scene that follow a failure's advice. Its sentences name keys of the scene, as in "a smaller
// time.step"; each known key becomes one change.

import { number, quantity } from './format.js';

const MOST_ITERATIONS = 10000;

// Half the step, and twice as many steps per frame, so that frames keep their times.
function halfStep({ time, output }) {
    const { step, steps } = time;
    const change = {
        time: { step: +(step / 2).toPrecision(6), ...(steps ? { steps: 2 * steps, duration: null } : {}) },
        output: { every: 2 * (output?.every ?? 1) },
    };
    return { label: `a step of ${quantity(change.time.step, 's')}`, change };
}

function moreIterations({ solver }) {
    const iterations = Math.min(4 * solver.iterations, MOST_ITERATIONS);
    if (iterations === solver.iterations) return null;
    return { label: `${iterations} iterations`, change: { solver: { iterations } } };
}

function largerTolerance({ solver }) {
    const tolerance = Math.min(+(10 * solver.tolerance).toPrecision(6), 1);
    if (!(tolerance > solver.tolerance)) return null;
    return { label: `tolerance ${number(tolerance)}`, change: { solver: { tolerance } } };
}

function largerWeights({ solver }) {
    const scale = +(2 * solver.weight_scale).toPrecision(6);
    return { label: 'weights × 2', change: { solver: { weight_scale: scale } } };
}

// The advice of an intersection contains the number, because the scene lacks the default distance of surfaces.
function thickerContact(scene, { failure }) {
    const thickness = Number(/contact\.thickness of ([\d.e+-]+) m/.exec(failure.advice)[1]);
    if (!(thickness > 0)) return null;
    return { label: `contact ${quantity(thickness, 'm')} thick`, change: { contact: { thickness } } };
}

function twice(key, unit) {
    return ({ resources = {} }, session) => {
        const had = resources[key] || session.resources?.[key];
        if (!had) return null;
        const value = 2 * had;
        const label = `${quantity(value, unit)} of ${key.replace('_', ' ')}`;
        return { label, change: { resources: { [key]: value } } };
    };
}

const KNOWN = [
    [/\btime\.step\b|\bsmaller time step\b/, halfStep],
    [/\bsolver\.iterations\b|\bmore solver iterations\b/, moreIterations],
    [/\blarger solver\.tolerance\b/, largerTolerance],
    [/\bsolver\.weight_scale\b/, largerWeights],
    [/"method": "auto"/, () => ({ label: 'method auto', change: { solver: { method: 'auto', iterations: null } } })],
    [/"method": "admm"/, () => ({ label: 'method admm', change: { solver: { method: 'admm' } } })],
    [/\bcontact\.thickness of [\d.e+-]+ m\b/, thickerContact],
    [
        /"check": false/,
        () => ({ label: 'no contact check', change: { contact: { check: false } } }),
    ],
    [
        /"on_not_converged": "continue"/,
        () => ({ label: 'continue without convergence', change: { solver: { on_not_converged: 'continue' } } }),
    ],
    [/\bresources\.memory\b/, twice('memory', 'B')],
    [/\bresources\.time_limit\b/, twice('time_limit', 's')],
    [
        /\boutput\.every\b/,
        ({ output }) => ({ label: 'half as many frames', change: { output: { every: 2 * (output?.every ?? 1) } } }),
    ],
];

// [{label, change}]: merge patches of the scene (RFC 7396). `scene`: with every default.
export function changesOf(session, scene) {
    const advice = session.failure?.advice ?? '';
    return KNOWN.filter(([words]) => words.test(advice))
        .map(([, make]) => make(scene, session))
        .filter(Boolean);
}
