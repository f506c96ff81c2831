// A plane that cuts the picture: nothing beyond it is drawn, and tetrahedra are closed at the cut, in the colours of
// the field or of their body.

import {
    BufferAttribute,
    BufferGeometry,
    DoubleSide,
    DynamicDrawUsage,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    MeshLambertMaterial,
    Plane,
    Vector3,
} from 'three';
import { colourValues } from './colormap.js';
import { Cut } from './cut.js';
import { FIELDS } from './fields.js';

const AXES = ['x', 'y', 'z'];
const DIGITS = 4;
const rounded = (x) => +x.toPrecision(DIGITS);

export class Section {
    on = false;
    axis = 'z'; // 'x', 'y', 'z', or 'view': a direction of the camera
    flipped = false;
    place = 0; // along the normal, m
    obstacles = false; // whether obstacles are cut, too
    #normal = new Vector3(0, 0, 1); // before it is flipped
    #plane = new Plane();
    #cut = null;
    #values = new Float32Array(0);
    #lit = null; // the cut's surface
    #edges = null;

    constructor(view) {
        this.view = view;
    }

    // As a word in the address: "z,0.25", "-z,0.25,obstacles", or three numbers of a direction and the place.
    get text() {
        if (!this.on) return null;
        const direction =
            this.axis === 'view'
                ? this.#normal.toArray().map(rounded)
                : [`${this.flipped ? '-' : ''}${this.axis}`];
        return [...direction, rounded(this.place), ...(this.obstacles ? ['obstacles'] : [])].join(',');
    }

    set text(text) {
        const words = (text ?? '').split(',');
        this.obstacles = words.at(-1) === 'obstacles';
        if (this.obstacles) words.pop();
        const place = Number(words.pop());
        const named = /^(-?)([xyz])$/.exec(words.join());
        const numbers = words.map(Number);
        this.on = Number.isFinite(place) && (named !== null || (numbers.length === 3 && Math.hypot(...numbers) > 0));
        if (!this.on) return;
        this.place = place;
        this.axis = named ? named[2] : 'view';
        this.flipped = named?.[1] === '-';
        if (named) this.#point();
        else this.#normal.set(...numbers).normalize();
    }

    flip() {
        if (this.axis !== 'view') {
            this.flipped = !this.flipped;
            return;
        }
        this.#normal.negate();
        this.place = -this.place;
    }

    // Removes the half nearer to the camera, along the axis that the camera looks along most.
    begin() {
        const back = this.#back();
        this.on = true;
        const most = AXES.map((_, k) => Math.abs(back.getComponent(k)));
        this.choose(AXES[most.indexOf(Math.max(...most))]);
    }

    choose(axis) {
        const back = this.#back();
        this.axis = axis;
        if (axis === 'view') this.#normal.copy(back);
        else this.#point();
        this.flipped = this.#normal.dot(back) < 0;
        const [low, high] = this.#extent();
        this.place = rounded((low + high) / 2);
    }

    // Direction from the target to the camera.
    #back() {
        return this.view.stage.camera.getWorldDirection(new Vector3()).negate();
    }

    #point() {
        this.#normal.fromArray(AXES.map((name) => Number(name === this.axis)));
    }

    // The bodies' extent along the normal, in the picture and in the region that the view was fitted to.
    #extent() {
        const { surface, stage } = this.view;
        surface.measure();
        let low = Infinity,
            high = -Infinity;
        for (let k = 0; k < 8; k++) {
            const pick = (least, most) => this.#normal.dot({
                x: (k & 1 ? most : least)[0],
                y: (k & 2 ? most : least)[1],
                z: (k & 4 ? most : least)[2],
            });
            const now = pick(surface.low, surface.high);
            low = Math.min(low, now);
            high = Math.max(high, now);
            if (this.axis === 'view') continue;
            const fitted = pick(stage.box.min.toArray(), stage.box.max.toArray());
            low = Math.min(low, fitted);
            high = Math.max(high, fitted);
        }
        return [low, high];
    }

    get range() {
        const [low, high] = this.#extent();
        return [Math.min(low, this.place), Math.max(high, this.place)];
    }

    // ---- in the picture -----------------------------------------------------------------------

    // Call it when a session's bodies were made: `add` puts objects into its picture.
    make(add) {
        this.#cut = null;
        const geometry = new BufferGeometry();
        const material = { vertexColors: true, side: DoubleSide, flatShading: true };
        this.#lit = add(new Mesh(geometry, new MeshLambertMaterial(material)));
        this.#lit.castShadow = this.#lit.receiveShadow = true;
        const lines = new LineBasicMaterial({ color: 0x101418, transparent: true, opacity: 0.5 });
        this.#edges = add(new LineSegments(new BufferGeometry(), lines));
        for (const thing of this.things) thing.frustumCulled = thing.visible = false;
    }

    get things() {
        return [this.#lit, this.#edges];
    }

    // True if the object hit by a ray is in the picture, and not cut away.
    shows({ object, point }) {
        if (object === this.#lit) return this.#lit.visible;
        return !object.material.clippingPlanes || this.keeps(point);
    }

    // True if a point is in the part that is kept.
    keeps(point) {
        return !this.on || this.#plane.distanceToPoint(point) >= 0;
    }

    // A point of a triangle of the cut, as the vertices of its corners' edges with weights.
    cornersOf(triangle, weights) {
        const { ends, share } = this.#cut;
        return triangle.flatMap((n, k) => [
            { index: ends[2 * n], weight: weights[k] * (1 - share[n]) },
            { index: ends[2 * n + 1], weight: weights[k] * share[n] },
        ]);
    }

    get positions() {
        return this.#cut.position;
    }

    get surface() {
        return this.#lit;
    }

    // Called after positions or settings have changed.
    update() {
        if (!this.#lit) return;
        const { view } = this;
        const normal = this.#normal.clone();
        const place = this.flipped ? -this.place : this.place;
        if (this.flipped) normal.negate();
        this.#plane.normal.copy(normal).negate();
        this.#plane.constant = place;
        view.stage.renderer.localClippingEnabled = true;
        this.#clip();
        const { surface, tets } = view;
        const solid = this.on && tets?.length > 0 && !surface.global && view.shown !== null;
        this.#lit.visible = solid;
        this.#edges.visible = solid && view.wires;
        view.stage.canvas.dataset.cut = 0;
        if (!solid) return;
        if (this.#cut?.tets !== tets) this.#cut = new Cut(tets);
        this.#cut.update(surface.positions, normal.toArray(), place);
        this.#fill();
        this.colour();
    }

    #clip() {
        const { view } = this;
        const solid = new Set(view.obstacles.map(({ mesh }) => mesh));
        const never = new Set([...this.things, ...view.marks]);
        for (const thing of [...view.things, ...view.ghosts.flatMap(({ things }) => things)]) {
            const cuts = this.on && !never.has(thing) && (this.obstacles || !solid.has(thing));
            thing.traverse(({ material }) => {
                if (!material) return;
                material.clippingPlanes = cuts ? [this.#plane] : null;
                material.clipShadows = cuts;
            });
        }
    }

    // Copies the cut's numbers into buffers, which grow as needed.
    #fill() {
        const cut = this.#cut,
            { geometry } = this.#lit;
        if (geometry.getAttribute('position')?.array !== cut.position) {
            geometry.dispose();
            this.#edges.geometry.dispose();
            const attribute = (array, size) => new BufferAttribute(array, size).setUsage(DynamicDrawUsage);
            const position = attribute(cut.position, 3);
            geometry.setAttribute('position', position);
            geometry.setAttribute('color', attribute(new Float32Array(cut.position.length), 3));
            geometry.setIndex(attribute(cut.index, 1));
            this.#edges.geometry.setAttribute('position', position);
            this.#edges.geometry.setIndex(attribute(cut.sides, 1));
            this.#values = new Float32Array(cut.share.length);
        }
        geometry.getAttribute('position').needsUpdate = true;
        geometry.index.needsUpdate = this.#edges.geometry.index.needsUpdate = true;
        geometry.setDrawRange(0, 3 * cut.triangles);
        geometry.boundingSphere = geometry.boundingBox = null;
        this.#edges.geometry.setDrawRange(0, 2 * cut.corners);
        this.view.stage.canvas.dataset.cut = cut.triangles;
    }

    colour() {
        if (!this.#lit?.visible) return;
        const { view } = this;
        const colours = this.#lit.geometry.getAttribute('color');
        if (view.painted || !view.seen) this.#cut.interpolate(view.colours, 3, colours.array);
        else {
            const { map } = FIELDS[view.field];
            this.#cut.interpolate(view.values, 1, this.#values);
            colourValues(this.#values.subarray(0, this.#cut.corners), view.seen[0], view.seen[1], map, colours.array);
        }
        colours.needsUpdate = true;
    }
}
