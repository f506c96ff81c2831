// Dragging a vertex: a branch of the session, in real time, with a force on the vertex and its neighbours that pulls
// towards the pointer like a spring.

import { api } from './api.js';

export const HANDLE = 'handle';
const GRAVITY = 9.81;
const LASTS_S = 600; // simulated; ends a forgotten branch
const WEIGHTS = 2; // multiple of the body's weight that it pulls with at a distance of the body's size
const SOFTNESS = 0.1; // of Young's modulus times an edge, N/m: so that it does not tear out an element

// The forces of a scene that are such handles: [{name, body, vertex}].
export const handlesOf = (scene) =>
    (scene?.forces ?? [])
        .filter(({ name, point }) => name.startsWith(HANDLE) && point?.select?.indices?.length)
        .map(({ name, point }) => ({
            name,
            body: point.body ?? scene.bodies[0].name,
            vertex: point.select.indices[0],
        }));

// The drawn vertices that share an edge with a vertex.
function around(surface, index) {
    const found = [];
    const { sides } = surface;
    for (let i = 0; i < sides.length; i += 2) {
        if (sides[i] === index) found.push(sides[i + 1]);
        else if (sides[i + 1] === index) found.push(sides[i]);
    }
    return found;
}

// Branch at the shown frame; resolves to the new session's document.
export async function takeHold(model, view, index) {
    const { surface } = view;
    const posted = await api.get(`${model.base}/scene?form=posted`);
    const forces = posted.forces ?? [];
    const { body, vertex } = surface.ownerOf(index);
    const near = around(surface, index).map((i) => surface.ownerOf(i).vertex);
    let name = HANDLE;
    for (let k = 2; forces.some((force) => force.name === name); k++) name = `${HANDLE} ${k}`;
    const point = { body: body.name, select: { indices: [vertex, ...near] }, force: [0, 0, 0] };
    const scene = {
        name: `${model.session.name}, held`.slice(-120),
        time: { pace: 'realtime', steps: null, duration: view.shown.time + LASTS_S },
        forces: [...forces, { name, point }],
        expect: null,
    };
    return api.post(`${model.base}/branch`, { frame: view.shown.number, scene });
}

// Volume inside a body's triangles, or the area of a sheet's.
function contentOf(surface, body) {
    const { positions: x } = surface;
    let volume = 0,
        area = 0;
    const of = (vertex) => {
        const i = 3 * surface.indexOf(vertex);
        return [x[i], x[i + 1], x[i + 2]];
    };
    for (let t = 0; t < body.triangles.length; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) => of(body.triangles[t + k]));
        const u = b.map((v, k) => v - a[k]),
            w = c.map((v, k) => v - a[k]);
        const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
        volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
        area += Math.hypot(...n) / 2;
    }
    return { volume: Math.abs(volume), area };
}

// The spring between the pointer and a handle on `body`: {stiffness in N/m, damping in N s/m, most in N}. Soft and
// damped, because the pointer's force is delayed by a control and a frame.
export function springOf(scene, view, body) {
    const given = scene.bodies.find(({ name }) => name === body.name);
    const {
        density = 1000,
        thickness = 1e-3,
        area: section = 1e-4,
        young = 1e5,
    } = scene.materials[given.material] ?? {};
    const { volume, area } = contentOf(view.surface, body);
    const mass = density * (body.tets > 0 ? volume : area > 0 ? area * thickness : view.size * section);
    const edge = view.size / Math.max(2, Math.cbrt(body.vertices));
    const width = body.tets > 0 ? edge : area > 0 ? thickness : Math.sqrt(section);
    const stiffness = Math.min((WEIGHTS * mass * GRAVITY) / view.size, SOFTNESS * young * width);
    return { stiffness, damping: Math.sqrt((stiffness * mass) / 6), most: 1.5 * mass * GRAVITY };
}
