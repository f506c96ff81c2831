// Contacts of bodies with obstacles, found from positions, and the force on each obstacle.

import {
    ArrowHelper,
    BufferAttribute,
    BufferGeometry,
    DynamicDrawUsage,
    Points,
    PointsMaterial,
    Vector3,
} from 'three';
import { distanceOf } from './distance.js';

const NEAR = 0.004; // of the bodies' size: vertices closer than this are in contact
const MOST = 20000;
const COLOUR = 0xc2255c;

export class Contacts {
    #visible = false;

    constructor(obstacles, size) {
        this.obstacles = obstacles;
        this.size = size;
        const geometry = new BufferGeometry();
        geometry.setAttribute(
            'position',
            new BufferAttribute(new Float32Array(3 * MOST), 3).setUsage(DynamicDrawUsage),
        );
        this.points = new Points(
            geometry,
            new PointsMaterial({ color: COLOUR, size: 4, sizeAttenuation: false }),
        );
        this.points.frustumCulled = this.points.visible = false;
        this.arrows = obstacles.map(() => {
            const arrow = new ArrowHelper(new Vector3(0, 1, 0), new Vector3(), 1, COLOUR);
            arrow.visible = false;
            return arrow;
        });
        this.centres = obstacles.map(() => null);
        this.distances = obstacles.map(({ given, surface }) => {
            const margin = given.margin ?? 0; // a body resting on the obstacle keeps this distance
            const distance = distanceOf(given, surface, NEAR * size + margin);
            return (x, y, z) => distance(x, y, z) - margin;
        });
    }

    get things() {
        return [this.points, ...this.arrows];
    }

    setVisible(visible) {
        this.#visible = visible;
        this.points.visible = visible;
        if (!visible) this.arrows.forEach((arrow) => (arrow.visible = false));
    }

    update(surface, time) {
        const at = this.points.geometry.getAttribute('position');
        let count = 0;
        this.obstacles.forEach((one, k) => {
            this.centres[k] = null;
            const begin = count;
            if (this.#visible) {
                count = this.#collect(surface, this.distances[k], one.track, time, at.array, count);
            }
            if (count > begin) this.centres[k] = meanOf(at.array, begin, count);
        });
        this.points.geometry.setDrawRange(0, count);
        at.needsUpdate = count > 0;
        this.count = count;
    }

    #collect(surface, distance, track, time, out, count) {
        const back = track.moves ? track.matrixAt(time).invert() : null;
        const { positions } = surface,
            near = NEAR * this.size,
            p = new Vector3();
        for (let i = 0; i < positions.length && count < MOST; i += 3) {
            p.set(positions[i], positions[i + 1], positions[i + 2]);
            if (back) p.applyMatrix4(back);
            if (distance(p.x, p.y, p.z) > near) continue;
            for (let c = 0; c < 3; c++) out[3 * count + c] = positions[i + c];
            count++;
        }
        return count;
    }

    // `forceOf(name)`: the force on an obstacle in N as [x, y, z], or null. `most`: the force of the longest arrow.
    setForces(forceOf, most) {
        this.obstacles.forEach(({ given }, k) => {
            const force = this.#visible && this.centres[k] ? forceOf(given.name) : null;
            const length = force ? (0.35 * this.size * Math.hypot(...force)) / most : 0;
            const arrow = this.arrows[k];
            arrow.visible = length > 0.01 * this.size;
            if (!arrow.visible) return;
            arrow.position.copy(this.centres[k]);
            arrow.setDirection(new Vector3(...force).normalize());
            arrow.setLength(length, Math.min(0.3 * length, 0.06 * this.size), 0.03 * this.size);
        });
    }
}

function meanOf(list, begin, end) {
    const sum = new Vector3();
    for (let i = begin; i < end; i++) sum.add(new Vector3(list[3 * i], list[3 * i + 1], list[3 * i + 2]));
    return sum.divideScalar(end - begin);
}
