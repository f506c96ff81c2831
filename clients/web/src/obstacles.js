// Obstacles as shapes to draw, at the positions given by their motions. Their triangles are the topology document's, at
// time 0; only a plane, which is infinite, is generated here.

import {
    BufferAttribute,
    BufferGeometry,
    DoubleSide,
    Matrix4,
    MeshLambertMaterial,
    PlaneGeometry,
    Quaternion,
    Vector3,
} from 'three';
import { toCreasedNormals } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

const CREASE = (50 * Math.PI) / 180; // faces that meet at a larger angle keep their own normals
const vector = (list, standard = [0, 0, 0]) => new Vector3(...(list ?? standard));

function planeGeometry({ normal, offset = 0 }, size) {
    const up = vector(normal, [0, 1, 0]).normalize();
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up);
    const place = new Matrix4().compose(up.multiplyScalar(offset), turn, new Vector3(1, 1, 1));
    return new PlaneGeometry(size, size).applyMatrix4(place);
}

// Null for an obstacle without triangles, from a session that was checked before they were written. `surface`: its
// entry of the topology's obstacle_surfaces; `size`: half the extent drawn of a plane.
export function obstacleGeometry(obstacle, surface, size) {
    if (obstacle.plane) return planeGeometry(obstacle.plane, size);
    if (!surface) return null;
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(surface.vertices), 3));
    geometry.setIndex(new BufferAttribute(new Uint32Array(surface.triangles), 1));
    return toCreasedNormals(geometry, CREASE);
}

const COLOUR = 0x7f8fa6;
const PLANE_OFFSET = 4; // units of polygonOffset, more than the bodies' own

// A shape is treated as `behind` m farther away, because a cloth of flat triangles on a round obstacle lies inside it
// between its vertices.
export function obstacleMaterial(obstacle, behind) {
    const plane = Boolean(obstacle.plane);
    const material = new MeshLambertMaterial({
        color: COLOUR,
        transparent: true,
        opacity: plane ? 0.12 : 0.35,
        side: DoubleSide,
        depthWrite: false,
        polygonOffset: plane,
        polygonOffsetFactor: 2,
        polygonOffsetUnits: PLANE_OFFSET,
    });
    if (plane) return material;
    material.onBeforeCompile = (shader) => {
        shader.uniforms.behind = { value: behind };
        shader.vertexShader = `uniform float behind;\n${shader.vertexShader}`.replace(
            '#include <project_vertex>',
            `#include <project_vertex>
            float facing = abs(dot(normalize(transformedNormal), normalize(mvPosition.xyz)));
            float away = behind / max(0.25, facing);
            vec4 pushed = projectionMatrix * (mvPosition - vec4(0.0, 0.0, away, 0.0));
            if (gl_Position.w > 2.0 * away) gl_Position.z = pushed.z / pushed.w * gl_Position.w;`,
        );
    };
    return material;
}

// The centre of rotation of a motion that names no point.
function centreOf({ plane }, surface) {
    if (!plane) return vector(surface?.center);
    return vector(plane.normal, [0, 1, 0])
        .normalize()
        .multiplyScalar(plane.offset ?? 0);
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

// Between rotations about one axis the angle changes linearly, so that 720 degrees are two turns; otherwise the
// shortest rotation (engine/scene/motion.h).
function turnBetween(a, b, s) {
    const still = a.degrees === 0 || b.degrees === 0;
    if (!still && a.axis.distanceTo(b.axis) > 1e-12) {
        const from = quaternion(a.axis.toArray(), a.degrees);
        return from.slerp(quaternion(b.axis.toArray(), b.degrees), s);
    }
    const { axis } = a.degrees !== 0 ? a : b;
    return quaternion(axis.toArray(), a.degrees + s * (b.degrees - a.degrees));
}

// {shift, turn} of keyframes at a time; before the first they start at `from`.
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

// The motion of an obstacle or a pin over time: the scene's own, then each one set by a control. `changes`: [{time,
// motion}], ascending. `surface`: an obstacle's triangles, null for a pin.
export class Track {
    constructor({ motion, ...shape }, surface, changes = []) {
        this.origin = motion?.origin ? vector(motion.origin) : centreOf(shape, surface);
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

    // The position at a time or, later, the position that the last control's keyframes lead to.
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
