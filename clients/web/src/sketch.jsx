// A scene that has not run, as a drawing: the outlines of its generated bodies and of its obstacles, seen from above at
// an angle.

import { SHAPES, ball, circle, corners, moved, plus, tube } from './shapes.js';

const AZIMUTH = 0.6,
    ELEVATION = 0.35;
const CA = Math.cos(AZIMUTH),
    SA = Math.sin(AZIMUTH),
    CE = Math.cos(ELEVATION),
    SE = Math.sin(ELEVATION);

// Directions to the right and down, and towards the viewer.
const seen = ([x, y, z]) => [CA * x + SA * z, -CE * y + SE * (CA * z - SA * x)];

const nearness = ([x, y, z]) => CE * (CA * z - SA * x) + SE * y;

// Shapes are {hull: points} to fill (for a box, with its edges), or {line: points, width} to stroke.
const MESHES = {
    box: ({ size = [1, 1, 1] }) => [{ hull: corners(size), box: true }],
    sphere: ({ radius = 0.5 }) => [{ hull: ball(radius) }],
    cloth: ({ size = [1, 1] }) => [{ hull: corners([size[0], size[1], 0]) }],
    rope: ({ length = 1, direction = [1, 0, 0] }) => [
        {
            line: [-0.5, 0.5].map((part) =>
                direction.map((d) => (part * length * d) / Math.hypot(...direction)),
            ),
            width: 0,
        },
    ],
    cylinder: ({ radius = 0.5, length = 2 }) => [{ hull: tube(radius, length) }],
    torus: ({ radius = 0.5, tube: width = 0.2 }) => [
        {
            line: circle(33, (t) => [radius * Math.cos(t * 1.032), radius * Math.sin(t * 1.032), 0]),
            width: 2 * width,
        },
    ],
    helix: ({ radius = 0.5, tube: width = 0.1, pitch = 1, turns = 3, strands = 1 }) =>
        Array.from({ length: strands }, (_, strand) => ({
            line: Array.from({ length: 24 * turns + 1 }, (__, i) => {
                const t = (2 * Math.PI * i) / 24 + (2 * Math.PI * strand) / strands;
                return [radius * Math.cos(t), radius * Math.sin(t), pitch * (i / 24 - turns / 2)];
            }),
            width: 2 * width,
        })),
};

// Rodrigues' rotation formula.
function turned({ axis = [0, 0, 1], degrees = 0 } = {}) {
    const length = Math.hypot(...axis) || 1;
    const [x, y, z] = axis.map((v) => v / length);
    const angle = (degrees * Math.PI) / 180,
        c = Math.cos(angle),
        s = Math.sin(angle);
    return (v) => {
        const dot = (1 - c) * (x * v[0] + y * v[1] + z * v[2]);
        return [
            c * v[0] + s * (y * v[2] - z * v[1]) + dot * x,
            c * v[1] + s * (z * v[0] - x * v[2]) + dot * y,
            c * v[2] + s * (x * v[1] - y * v[0]) + dot * z,
        ];
    };
}

// A mesh given inline, flat or by vertex and edge: its edges as lines, otherwise its points as one shape.
function written(mesh) {
    const vertices = mesh.vertices.flat(),
        edges = mesh.edges?.flat();
    const points = Array.from({ length: vertices.length / 3 }, (_, i) => vertices.slice(3 * i, 3 * i + 3));
    if (!edges) return [{ hull: points }];
    return Array.from({ length: edges.length / 2 }, (_, i) => ({
        line: [points[edges[2 * i]], points[edges[2 * i + 1]]],
        width: 0,
    }));
}

function shapesOf(body) {
    const mesh = body.mesh ?? {};
    const kind = Object.keys(mesh).find((key) => MESHES[key]);
    const shapes = kind ? MESHES[kind](mesh[kind]) : mesh.vertices?.length ? written(mesh) : [];
    const { scale = 1, rotate, translate } = body.transform ?? {};
    const by = Array.isArray(scale) ? scale : [scale, scale, scale];
    const turn = turned(rotate),
        move = plus(translate);
    return moved(shapes, (v) => move(turn(v.map((x, i) => x * by[i]))));
}

// The three edges of a box that meet in its nearest corner; corners are numbered by their signs' bits.
function edgesOf(points) {
    const near = points.map(nearness);
    const first = near.indexOf(Math.max(...near));
    return [1, 2, 4].map((bit) => [points[first], points[first ^ bit]].map(seen));
}

// Convex hull by the monotone chain algorithm.
function hullOf(points) {
    const sorted = points.map(seen).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const half = (list) => {
        const chain = [];
        for (const p of list) {
            while (chain.length > 1) {
                const [a, b] = chain.slice(-2);
                if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
                chain.pop();
            }
            chain.push(p);
        }
        return chain.slice(0, -1);
    };
    return [...half(sorted), ...half([...sorted].reverse())];
}

const path = (points) => `M${points.map((p) => p.map((x) => x.toFixed(3)).join(' ')).join('L')}`;

export function Sketch({ scene }) {
    const bodies = (scene.bodies ?? []).flatMap(shapesOf);
    const obstacles = (scene.obstacles ?? []).flatMap((obstacle) => {
        const kind = Object.keys(obstacle).find((key) => SHAPES[key]);
        return kind ? SHAPES[kind].outline(obstacle[kind]) : [];
    });
    const drawn = [
        ...obstacles.map((shape) => ({ ...shape, kind: 'obstacle' })),
        ...bodies.map((shape) => ({ ...shape, kind: 'body' })),
    ].map((shape) => ({ ...shape, points: shape.hull ? hullOf(shape.hull) : shape.line.map(seen) }));
    const all = drawn.flatMap(({ points, width = 0 }) =>
        points.flatMap(([x, y]) => [
            [x - width / 2, y - width / 2],
            [x + width / 2, y + width / 2],
        ]),
    );
    if (!all.length) return <svg class="sketch" viewBox="0 0 4 3" aria-hidden="true" />;
    const [xs, ys] = [0, 1].map((i) => all.map((p) => p[i]));
    const low = [Math.min(...xs), Math.min(...ys)],
        high = [Math.max(...xs), Math.max(...ys)];
    const size = Math.max((high[0] - low[0]) / 4, (high[1] - low[1]) / 3, 1e-6) * 1.15;
    const frame = [(low[0] + high[0]) / 2 - 2 * size, (low[1] + high[1]) / 2 - 1.5 * size, 4 * size, 3 * size];
    return (
        <svg class="sketch" viewBox={frame.join(' ')} aria-hidden="true">
            {drawn.map(({ kind, hull, box, points, width }, i) =>
                hull ? (
                    <path
                        key={i}
                        class={kind}
                        d={[`${path(points)}Z`, ...(box ? edgesOf(hull).map(path) : [])].join('')}
                        stroke-width={size * 0.03}
                    />
                ) : (
                    <path
                        key={i}
                        class={`${kind} along`}
                        d={path(points)}
                        stroke-width={Math.max(width, size * 0.06)}
                    />
                ),
            )}
        </svg>
    );
}
