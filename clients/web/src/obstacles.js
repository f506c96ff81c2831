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

// Of a shape that says how it is turned, and where.
export function placeOf({ rotate, center, translate }) {
    const turn = quaternion(rotate?.axis, rotate?.degrees ?? 0);
    return new Matrix4().compose(vector(center ?? translate), turn, new Vector3(1, 1, 1));
}

const placed = (geometry, shape) => geometry.applyMatrix4(placeOf(shape));

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

// {axis, degrees} of a quaternion.
export function axisOf(turn) {
    const { x, y, z, w } = turn.w < 0 ? new Quaternion(-turn.x, -turn.y, -turn.z, -turn.w) : turn;
    const sine = Math.hypot(x, y, z);
    const axis = sine > 0 ? new Vector3(x, y, z).divideScalar(sine) : new Vector3(0, 0, 1);
    return { axis, degrees: (2 * Math.atan2(sine, w) * 180) / Math.PI };
}

// Between rotations about one axis the angle grows evenly, so that 720 degrees are two turns; else the
// shortest way (engine/scene/motion.h).
function turnBetween(a, b, s) {
    const still = a.degrees === 0 || b.degrees === 0;
    if (!still && a.axis.distanceTo(b.axis) > 1e-12) {
        const from = quaternion(a.axis.toArray(), a.degrees);
        return from.slerp(quaternion(b.axis.toArray(), b.degrees), s);
    }
    const { axis } = a.degrees !== 0 ? a : b;
    return quaternion(axis.toArray(), a.degrees + s * (b.degrees - a.degrees));
}

// {shift, turn} of keyframes at a time; before the first they start from `from`.
function keyed(motion, time, from) {
    const poses = motion.keyframes.map((k) => ({
        time: k.time,
        shift: vector(k.translate),
        axis: vector(k.rotate?.axis, [0, 0, 1]).normalize(),
        degrees: k.rotate?.degrees ?? 0,
    }));
    if (poses[0].time > 0) poses.unshift({ time: 0, shift: from.shift, ...axisOf(from.turn) });
    const next = poses.findIndex((pose) => pose.time > time);
    const b = poses[next < 0 ? poses.length - 1 : next],
        a = next > 0 ? poses[next - 1] : b;
    let s = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0;
    if (motion.interpolation === 'smooth') s = s * s * (3 - 2 * s);
    return { shift: a.shift.clone().lerp(b.shift, s), turn: turnBetween(a, b, s) };
}

function advanced(motion, time, from) {
    if (motion.keyframes?.length) return keyed(motion, time, from);
    const turn = quaternion(motion.axis, (motion.degrees_per_second ?? 0) * time).multiply(from.turn);
    return { shift: vector(motion.velocity).multiplyScalar(time).add(from.shift), turn };
}

// What a motion of an obstacle or a pin is over time: the scene's own, and then each that a control gave it.
// `changes`: [{time, motion}], ascending. `geometry`: of an obstacle; where a pin turns about is not asked.
export class Track {
    constructor({ motion, ...shape }, geometry, changes = []) {
        if (geometry) this.origin = motion?.origin ? vector(motion.origin) : centreOf(shape, geometry);
        this.parts = motion ? [{ time: 0, motion }] : [];
        this.parts.push(...changes);
        this.changed = changes.length > 0;
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

    // Where it is at a time or, after that, where the keyframes of the last control bring it.
    poseAhead(time) {
        if (!this.changed) return this.poseAt(time);
        const { time: begun, motion } = this.parts.at(-1);
        return this.poseAt(Math.max(time, begun + (motion.keyframes?.at(-1)?.time ?? 0)));
    }

    matrixAt(time, out = new Matrix4()) {
        const { shift, turn } = this.poseAt(time);
        const place = this.origin.clone().negate().applyQuaternion(turn).add(this.origin).add(shift);
        return out.compose(place, turn, new Vector3(1, 1, 1));
    }
}
