// Contacts between bodies or of a body with itself, as reported by the worker: each is a point, with its force as a
// line into the second body. They lie between surfaces, so they are drawn on top.

import {
    BufferAttribute,
    BufferGeometry,
    DynamicDrawUsage,
    LineBasicMaterial,
    LineSegments,
    Points,
    PointsMaterial,
} from 'three';

const MOST = 20000;
const LONGEST = 0.25; // of the bodies' size: length for the greatest force so far

function geometryOf(corners) {
    const geometry = new BufferGeometry();
    geometry.setAttribute(
        'position',
        new BufferAttribute(new Float32Array(3 * corners * MOST), 3).setUsage(DynamicDrawUsage),
    );
    geometry.setDrawRange(0, 0);
    return geometry;
}

export class Touches {
    count = 0;
    #mostForce = 0;

    // `ink`: a colour that differs from the ground and every body.
    constructor(size, ink) {
        this.size = size;
        const over = { color: ink, depthTest: false, transparent: true };
        this.points = new Points(
            geometryOf(1),
            new PointsMaterial({ ...over, size: 5, sizeAttenuation: false }),
        );
        this.lines = new LineSegments(geometryOf(2), new LineBasicMaterial(over));
        for (const thing of this.things) {
            thing.frustumCulled = false;
            thing.renderOrder = 1;
        }
    }

    get things() {
        return [this.points, this.lines];
    }

    setInk(ink) {
        for (const { material } of this.things) material.color.set(ink);
    }

    setVisible(visible) {
        for (const thing of this.things) thing.visible = visible;
    }

    // `contacts`: of a frame (records.js), or undefined if the session does not store them.
    update(contacts) {
        this.count = Math.min(contacts?.count ?? 0, MOST);
        const values = contacts?.values;
        for (let i = 0; i < this.count; i++) {
            const force = Math.hypot(...values.subarray(7 * i + 3, 7 * i + 6));
            this.#mostForce = Math.max(this.#mostForce, force);
        }
        const at = this.points.geometry.getAttribute('position'),
            ends = this.lines.geometry.getAttribute('position');
        const scale = this.#mostForce > 0 ? (LONGEST * this.size) / this.#mostForce : 0;
        for (let i = 0; i < this.count; i++) {
            for (let c = 0; c < 3; c++) {
                const place = values[7 * i + c];
                at.array[3 * i + c] = ends.array[6 * i + c] = place;
                ends.array[6 * i + 3 + c] = place + scale * values[7 * i + 3 + c];
            }
        }
        this.points.geometry.setDrawRange(0, this.count);
        this.lines.geometry.setDrawRange(0, 2 * this.count);
        at.needsUpdate = ends.needsUpdate = this.count > 0;
    }
}
