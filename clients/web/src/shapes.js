// The shapes of obstacles: outlines for sketches of scenes, and distances for contacts.

export const length = (x, y, z) => Math.sqrt(x * x + y * y + z * z);

export const circle = (n, point) => Array.from({ length: n }, (_, i) => point((2 * Math.PI * i) / n));
export const corners = ([x, y, z]) =>
    [-1, 1].flatMap((a) => [-1, 1].flatMap((b) => [-1, 1].map((c) => [(a * x) / 2, (b * y) / 2, (c * z) / 2])));
export const ball = (r) =>
    [-0.95, -0.8, -0.5, 0, 0.5, 0.8, 0.95].flatMap((h) =>
        circle(28, (t) => {
            const ring = r * Math.sqrt(1 - h * h);
            return [ring * Math.cos(t), r * h, ring * Math.sin(t)];
        }),
    );
export const tube = (r, length) =>
    [-length / 2, length / 2].flatMap((x) => circle(20, (t) => [x, r * Math.cos(t), r * Math.sin(t)]));

// Rotates a point so that the x direction becomes the axis.
function along(axis) {
    const length = Math.hypot(...axis) || 1;
    const [a, b, c] = axis.map((v) => v / length);
    const [p, q, r] = Math.abs(a) < 0.9 ? [0, c, -b] : [-c, 0, a];
    const s = Math.hypot(p, q, r);
    const side = [p / s, q / s, r / s];
    const third = [b * side[2] - c * side[1], c * side[0] - a * side[2], a * side[1] - b * side[0]];
    return (v) => [0, 1, 2].map((i) => v[0] * [a, b, c][i] + v[1] * side[i] + v[2] * third[i]);
}

export const moved = (shapes, change) =>
    shapes.map((shape) => ({
        ...shape,
        ...(shape.hull ? { hull: shape.hull.map(change) } : { line: shape.line.map(change) }),
    }));
export const plus =
    (offset = [0, 0, 0]) =>
    (v) =>
        v.map((x, i) => x + offset[i]);

const standing = (shape, { center, axis = [0, 1, 0] }) => moved(moved([shape], along(axis)), plus(center));

// For each shape `outline`, as in sketch.jsx; for rotationally symmetric shapes `distance`, computed from the distance
// from the axis, the height above the centre along it, the shape and half its height. Planes and heightfields have no
// outline; formulas of other shapes are in distance.js.
export const SHAPES = {
    sphere: {
        outline: ({ center, radius = 0.5 }) => moved([{ hull: ball(radius) }], plus(center)),
        distance: (out, y, { radius }) => length(out, y, 0) - radius,
    },
    box: {
        outline: ({ center, size = [1, 1, 1] }) => moved([{ hull: corners(size), box: true }], plus(center)),
    },
    cylinder: {
        outline: (s) => standing({ hull: tube(s.radius ?? 0.5, s.height ?? 4) }, s),
        height: ({ radius }) => 100 * radius,
        distance: (out, y, { radius }, half) => Math.max(out - radius, Math.abs(y) - half),
    },
    capsule: {
        outline: (s) => standing({ hull: tube(s.radius ?? 0.5, (s.height ?? 1) + (s.radius ?? 0.5)) }, s),
        distance: (out, y, { radius }, half) => length(out, Math.max(0, Math.abs(y) - half), 0) - radius,
    },
    cone: {
        outline: (s) => {
            const height = s.height ?? 1;
            return standing({ hull: [...tube(s.radius ?? 0.5, height).slice(0, 20), [height / 2, 0, 0]] }, s);
        },
        distance: (out, y, { radius }, half) => {
            const flank = (2 * half * (out - radius) + radius * (y + half)) / length(2 * half, radius, 0);
            return Math.max(flank, -y - half);
        },
    },
    torus: {
        outline: (s) => {
            const radius = s.radius ?? 0.5;
            const ring = circle(33, (t) => [0, radius * Math.cos(t * 1.032), radius * Math.sin(t * 1.032)]);
            return standing({ line: ring, width: 2 * (s.tube ?? 0.2) }, s);
        },
        distance: (out, y, { radius, tube: width }) => length(out - radius, y, 0) - width,
    },
};

// A function of points, from a `distance` of SHAPES.
export function roundDistance(kind, shape) {
    const { distance, height } = SHAPES[kind];
    const [cx, cy, cz] = shape.center ?? [0, 0, 0];
    const axis = shape.axis ?? [0, 1, 0];
    const [ax, ay, az] = axis.map((a) => a / (length(...axis) || 1));
    const half = (shape.height ?? height?.(shape) ?? 1) / 2;
    return (x, y, z) => {
        const along = (x - cx) * ax + (y - cy) * ay + (z - cz) * az;
        const out = (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 - along * along;
        return distance(Math.sqrt(Math.max(0, out)), along, shape, half);
    };
}
