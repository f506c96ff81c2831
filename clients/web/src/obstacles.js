// Obstacles as shapes to draw, and where their motions have brought them.

import {
    BoxGeometry,
    BufferAttribute,
    BufferGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    Matrix4,
    PlaneGeometry,
    Quaternion,
    SphereGeometry,
    TorusGeometry,
    Vector3,
} from 'three';

export const KINDS = ['plane', 'sphere', 'box', 'cylinder', 'capsule', 'torus', 'heightfield', 'mesh'];
export const kindOf = (obstacle) => KINDS.find((kind) => obstacle[kind]) ?? null;
const vector = (list, standard = [0, 0, 0]) => new Vector3(...(list ?? standard));

function turned(geometry, from, axis, center) {
    const turn = new Quaternion().setFromUnitVectors(from, vector(axis, [0, 1, 0]).normalize());
    const place = new Matrix4().compose(vector(center), turn, new Vector3(1, 1, 1));
    return geometry.applyMatrix4(place);
}

function placed(geometry, { rotate, center, translate }) {
    const axis = vector(rotate?.axis, [0, 0, 1]).normalize();
    const turn = new Quaternion().setFromAxisAngle(axis, ((rotate?.degrees ?? 0) * Math.PI) / 180);
    return geometry.applyMatrix4(
        new Matrix4().compose(vector(center ?? translate), turn, new Vector3(1, 1, 1)),
    );
}

function fromLists(vertices, triangles) {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(vertices), 3));
    geometry.setIndex(new BufferAttribute(new Uint32Array(triangles), 1));
    return geometry;
}

function heightfield(shape) {
    const { heights, spacing = 1 } = shape;
    const rows = heights.length,
        columns = heights[0].length;
    const vertices = [],
        triangles = [];
    heights.forEach((row, r) =>
        row.forEach((height, c) => {
            vertices.push((c - (columns - 1) / 2) * spacing, height, (r - (rows - 1) / 2) * spacing);
            if (r + 1 === rows || c + 1 === columns) return;
            const a = r * columns + c,
                b = a + 1,
                d = a + columns;
            triangles.push(a, d, b, b, d, d + 1);
        }),
    );
    return placed(fromLists(vertices, triangles), shape);
}

function mesh(shape) {
    const { vertices = [], triangles = [], transform = {} } = shape;
    const geometry = fromLists(vertices.flat(), triangles.flat());
    geometry.scale(...(transform.scale ?? [1, 1, 1]));
    return placed(geometry, transform);
}

// Null for what this page can not draw. `size` is how far a plane reaches.
export function obstacleGeometry(obstacle, size) {
    const y = new Vector3(0, 1, 0),
        z = new Vector3(0, 0, 1);
    const shape = obstacle[kindOf(obstacle)];
    switch (kindOf(obstacle)) {
        case 'plane': {
            const normal = vector(shape.normal, [0, 1, 0]).normalize();
            return turned(
                new PlaneGeometry(size, size),
                z,
                normal.toArray(),
                normal
                    .clone()
                    .multiplyScalar(shape.offset ?? 0)
                    .toArray(),
            );
        }
        case 'sphere':
            return new SphereGeometry(shape.radius, 48, 32).translate(...(shape.center ?? [0, 0, 0]));
        case 'box':
            return placed(new BoxGeometry(...(shape.size ?? [1, 1, 1])), shape);
        case 'cylinder':
            return turned(
                new CylinderGeometry(shape.radius, shape.radius, shape.height ?? 100 * shape.radius, 48),
                y,
                shape.axis,
                shape.center,
            );
        case 'capsule':
            return turned(
                new CapsuleGeometry(shape.radius, shape.height ?? 1, 16, 32),
                y,
                shape.axis,
                shape.center,
            );
        case 'torus':
            return turned(new TorusGeometry(shape.radius, shape.tube, 24, 64), z, shape.axis, shape.center);
        case 'heightfield':
            return heightfield(shape);
        case 'mesh':
            return mesh(shape);
        default:
            return null;
    }
}

function centreOf(obstacle, geometry) {
    const shape = obstacle[kindOf(obstacle)];
    if (shape.center) return vector(shape.center);
    if (obstacle.plane)
        return vector(shape.normal, [0, 1, 0])
            .normalize()
            .multiplyScalar(shape.offset ?? 0);
    geometry.computeBoundingBox();
    return geometry.boundingBox.getCenter(new Vector3());
}

const quaternion = (axis, degrees) =>
    new Quaternion().setFromAxisAngle(vector(axis, [0, 0, 1]).normalize(), (degrees * Math.PI) / 180);

// {shift, turn} of keyframes at a time; before the first they start from `from`.
function keyed(motion, time, from) {
    const frames = motion.keyframes;
    const poses = frames.map((k) => ({
        time: k.time,
        shift: vector(k.translate),
        turn: quaternion(k.rotate?.axis, k.rotate?.degrees ?? 0),
    }));
    if (poses[0].time > 0) poses.unshift({ time: 0, ...from });
    const next = poses.findIndex((pose) => pose.time > time);
    if (next === 0) return poses[0];
    if (next < 0) return poses[poses.length - 1];
    const a = poses[next - 1],
        b = poses[next];
    let s = (time - a.time) / (b.time - a.time);
    if (motion.interpolation === 'smooth') s = s * s * (3 - 2 * s);
    return { shift: a.shift.clone().lerp(b.shift, s), turn: a.turn.clone().slerp(b.turn, s) };
}

function advanced(motion, time, from) {
    if (motion.keyframes?.length) return keyed(motion, time, from);
    const turn = quaternion(motion.axis, (motion.degrees_per_second ?? 0) * time).multiply(from.turn);
    return { shift: vector(motion.velocity).multiplyScalar(time).add(from.shift), turn };
}

// What an obstacle's motion is over time: the scene's own, and then each that a control gave it.
// `changes`: [{time, motion}], ascending.
export class Track {
    constructor(obstacle, geometry, changes = []) {
        const motion = obstacle.motion;
        this.origin = motion?.origin ? vector(motion.origin) : centreOf(obstacle, geometry);
        this.parts = motion ? [{ time: 0, motion }] : [];
        this.parts.push(...changes);
    }

    get moves() {
        return this.parts.length > 0;
    }

    poseAt(time) {
        let pose = { shift: new Vector3(), turn: new Quaternion() };
        this.parts.forEach((part, i) => {
            const until = Math.min(time, this.parts[i + 1]?.time ?? Infinity);
            if (until >= part.time) pose = advanced(part.motion, until - part.time, pose);
        });
        return pose;
    }

    matrixAt(time, out = new Matrix4()) {
        const { shift, turn } = this.poseAt(time);
        const place = this.origin.clone().negate().applyQuaternion(turn).add(this.origin).add(shift);
        return out.compose(place, turn, new Vector3(1, 1, 1));
    }
}

// Of an obstacle in its own place: how far (x, y, z) is outside of it. Null for the shapes that are not
// asked.
export function distanceOf(obstacle) {
    const kind = kindOf(obstacle),
        s = obstacle[kind];
    const [cx, cy, cz] = s.center ?? [0, 0, 0];
    const sign = s.inside ? -1 : 1;
    if (kind === 'plane') {
        const { x: a, y: b, z: c } = vector(s.normal, [0, 1, 0]).normalize(),
            offset = s.offset ?? 0;
        return (x, y, z) => a * x + b * y + c * z - offset;
    }
    if (kind === 'sphere') return (x, y, z) => sign * (length(x - cx, y - cy, z - cz) - s.radius);
    if (!['cylinder', 'capsule', 'torus'].includes(kind)) return null;
    const { x: ax, y: ay, z: az } = vector(s.axis, [0, 1, 0]).normalize();
    const half = (s.height ?? (kind === 'capsule' ? 1 : 100 * s.radius)) / 2;
    const shape = {
        torus: (out, along) => length(out - s.radius, along, 0) - s.tube,
        capsule: (out, along) => length(out, Math.max(0, Math.abs(along) - half), 0) - s.radius,
        cylinder: (out, along) => Math.max(out - s.radius, Math.abs(along) - half),
    }[kind];
    return (x, y, z) => {
        const along = (x - cx) * ax + (y - cy) * ay + (z - cz) * az;
        const out = (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 - along * along;
        return sign * shape(Math.sqrt(Math.max(0, out)), along);
    };
}

const length = (x, y, z) => Math.sqrt(x * x + y * y + z * z);
