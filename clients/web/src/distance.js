// The distance of a point outside an obstacle, in the obstacle's coordinates, for drawn contacts.

import { Matrix4, Quaternion, Vector3 } from 'three';

import { length, roundDistance, SHAPES } from './shapes.js';

const CELLS_MOST = 4e6; // of a surface's grid, all triangles together

const vector = (list, standard = [0, 0, 0]) => new Vector3(...(list ?? standard));

// The rotation and position of a shape.
function placeOf({ rotate, center }) {
    const axis = vector(rotate?.axis, [0, 0, 1]).normalize();
    const turn = new Quaternion().setFromAxisAngle(axis, ((rotate?.degrees ?? 0) * Math.PI) / 180);
    return new Matrix4().compose(vector(center), turn, new Vector3(1, 1, 1));
}

// The same function for points before `place` was applied.
function before(place, distance) {
    const back = place.clone().invert(),
        p = new Vector3();
    return (x, y, z) => {
        p.set(x, y, z).applyMatrix4(back);
        return distance(p.x, p.y, p.z);
    };
}

function boxDistance({ size = [1, 1, 1], rounding: r = 0 }) {
    const [a, b, c] = size.map((edge) => edge / 2 - r);
    return (x, y, z) => {
        const dx = Math.abs(x) - a,
            dy = Math.abs(y) - b,
            dz = Math.abs(z) - c;
        const out = length(Math.max(dx, 0), Math.max(dy, 0), Math.max(dz, 0));
        return out + Math.min(Math.max(dx, dy, dz), 0) - r;
    };
}

// Distance to the plane of the triangle below or above; there is nothing outside the field.
function fieldDistance({ heights, spacing = 1 }) {
    const rows = heights.length,
        columns = heights[0].length;
    return (x, y, z) => {
        const u = x / spacing + (columns - 1) / 2,
            v = z / spacing + (rows - 1) / 2;
        if (!(u >= 0 && v >= 0 && u <= columns - 1 && v <= rows - 1)) return Infinity;
        const c = Math.min(Math.floor(u), columns - 2),
            r = Math.min(Math.floor(v), rows - 2);
        const s = u - c,
            t = v - r;
        const a = heights[r][c],
            b = heights[r][c + 1],
            d = heights[r + 1][c],
            e = heights[r + 1][c + 1];
        const first = s + t <= 1;
        const along = first ? b - a : e - d,
            across = first ? d - a : e - b;
        const height = first ? a + along * s + across * t : e - along * (1 - s) - across * (1 - t);
        return (y - height) / length(along / spacing, 1, across / spacing);
    };
}

// The squared distance of (px, py, pz) from a triangle of `at` whose corners begin at a, b and c (Ericson 2005, 5.1.5:
// the region of the plane above which the point lies tells the nearest feature).
function squaredDistance(at, a, b, c, px, py, pz) {
    const ux = at[b] - at[a],
        uy = at[b + 1] - at[a + 1],
        uz = at[b + 2] - at[a + 2];
    const vx = at[c] - at[a],
        vy = at[c + 1] - at[a + 1],
        vz = at[c + 2] - at[a + 2];
    const wx = px - at[a],
        wy = py - at[a + 1],
        wz = pz - at[a + 2];
    const uu = ux * ux + uy * uy + uz * uz,
        uv = ux * vx + uy * vy + uz * vz,
        vv = vx * vx + vy * vy + vz * vz;
    const d1 = ux * wx + uy * wy + uz * wz,
        d2 = vx * wx + vy * wy + vz * wz;
    const d3 = d1 - uu,
        d4 = d2 - uv,
        d5 = d1 - uv,
        d6 = d2 - vv;
    const va = d3 * d6 - d5 * d4,
        vb = d5 * d2 - d1 * d6,
        vc = d1 * d4 - d3 * d2;
    let s = 0,
        t = 0;
    if (d1 <= 0 && d2 <= 0) s = t = 0;
    else if (d3 >= 0 && d4 <= d3) s = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0) s = d1 / (d1 - d3);
    else if (d6 >= 0 && d5 <= d6) t = 1;
    else if (vb <= 0 && d2 >= 0 && d6 <= 0) t = d2 / (d2 - d6);
    else if (va <= 0 && d4 >= d3 && d5 >= d6) {
        t = (d4 - d3) / (d4 - d3 + (d5 - d6));
        s = 1 - t;
    } else {
        s = vb / (va + vb + vc);
        t = vc / (va + vb + vc);
    }
    const x = wx - s * ux - t * vx,
        y = wy - s * uy - t * vy,
        z = wz - s * uz - t * vz;
    return x * x + y * y + z * z;
}

function boxOf(at) {
    const min = vector(null, [Infinity, Infinity, Infinity]),
        max = min.clone().negate(),
        p = new Vector3();
    for (let i = 0; i < at.length; i += 3) {
        p.fromArray(at, i);
        min.min(p);
        max.max(p);
    }
    return { min, max };
}

// Triangles by the grid cells that they come closer to than `near`. A point farther from all of them has distance
// Infinity, and points inside count as outside.
function surfaceDistance({ vertices: at, triangles: corners }, near) {
    const { min, max } = boxOf(at);
    const size = max.clone().sub(min).length() || 1;
    // Cells are about as large as a triangle: few triangles per cell, and few cells per triangle.
    const cell = Math.max(2 * near, size / Math.sqrt(corners.length / 3 + 1));
    const cells = new Map();
    const key = (i, j, k) => (i * 65536 + j) * 65536 + k;
    const place = (x, axis) => Math.floor((x - min[axis] + near) / cell) + 1;
    const span = (t, axis, c) => {
        const of = [0, 1, 2].map((k) => at[3 * corners[t + k] + c]);
        return [place(Math.min(...of) - near, axis), place(Math.max(...of) + near, axis)];
    };
    let filled = 0;
    for (let t = 0; t < corners.length && filled < CELLS_MOST; t += 3) {
        const [x, y, z] = [span(t, 'x', 0), span(t, 'y', 1), span(t, 'z', 2)];
        for (let i = x[0]; i <= x[1]; i++)
            for (let j = y[0]; j <= y[1]; j++)
                for (let k = z[0]; k <= z[1]; k++, filled++) {
                    const list = cells.get(key(i, j, k));
                    if (list) list.push(t);
                    else cells.set(key(i, j, k), [t]);
                }
    }
    return (x, y, z) => {
        const at3 = [place(x, 'x'), place(y, 'y'), place(z, 'z')];
        const list = at3.every((i) => i > 0 && i < 65536) ? cells.get(key(...at3)) : null;
        if (!list) return Infinity;
        let least = Infinity;
        for (const t of list) {
            const square = squaredDistance(at, 3 * corners[t], 3 * corners[t + 1], 3 * corners[t + 2], x, y, z);
            if (square < least) least = square;
        }
        return Math.sqrt(least);
    };
}

// Formulas for shapes without rotational symmetry; those of the others are in shapes.js.
const FORMULAS = {
    plane: ({ normal, offset = 0 }) => {
        const { x: a, y: b, z: c } = vector(normal, [0, 1, 0]).normalize();
        return (x, y, z) => a * x + b * y + c * z - offset;
    },
    box: (shape) => before(placeOf(shape), boxDistance(shape)),
    heightfield: (shape) => before(placeOf(shape), fieldDistance(shape)),
};

// Shapes with a formula use it; all others use their triangles. `surface`: the obstacle's entry of the topology's
// obstacle_surfaces; `near`: larger distances need not be distinguished.
export function distanceOf(obstacle, surface, near) {
    const kind = Object.keys(obstacle).find((name) => FORMULAS[name] || SHAPES[name]?.distance);
    if (!kind) return surfaceDistance(surface, near);
    const distance = FORMULAS[kind]?.(obstacle[kind]) ?? roundDistance(kind, obstacle[kind]);
    return obstacle[kind].inside ? (x, y, z) => -distance(x, y, z) : distance;
}
