// The distance between two picked points: points of bodies, which move with their vertices, or of obstacles.

import {
    BufferAttribute,
    BufferGeometry,
    CanvasTexture,
    LineBasicMaterial,
    LineSegments,
    Points,
    PointsMaterial,
    SRGBColorSpace,
    Sprite,
    SpriteMaterial,
    Vector3,
} from 'three';
import { quantity } from './format.js';

const SNAP_PX = 12; // a vertex closer than this is picked
const LABEL = [256, 64]; // pixels of the label's picture
const LABEL_PX = 26; // its height in the view

export class Measure {
    on = false;
    ends = []; // {name, parts: [{vertex, weight}]}, vertices of all, or {name, obstacle, at}
    #things = [];
    #drawn = null; // the label's present text

    constructor(view) {
        this.view = view;
    }

    // ---- measuring ----------------------------------------------------------------------------

    // Adds an end at the point hit by `hit` (View3D.hitAt), at that position of the canvas; a third end starts over.
    add(hit, x, y) {
        if (this.ends.length === 2) this.ends = [];
        if (hit) this.ends.push(this.#endOf(hit, x, y));
        this.update();
    }

    clear() {
        this.ends = [];
        this.update();
    }

    #endOf({ obstacle, point, corners }, x, y) {
        if (obstacle) {
            const at = point.clone().applyMatrix4(obstacle.mesh.matrix.clone().invert());
            return { name: obstacle.given.name, obstacle: obstacle.given.name, at };
        }
        const { view } = this,
            { surface, stage } = view;
        const near = corners
            .map(({ index }) => ({ index, away: stage.pixelsFrom(view.pointOf(index), x, y) }))
            .reduce((best, one) => (one.away < best.away ? one : best));
        const meant = near.away < SNAP_PX ? [{ index: near.index, weight: 1 }] : corners;
        const { body, vertex } = surface.ownerOf(near.index);
        return {
            name: `${body?.name}${meant.length === 1 ? `, vertex ${vertex}` : ''}`,
            parts: meant.map(({ index, weight }) => ({ vertex: surface.ownerOf(index).global, weight })),
        };
    }

    // The position of an end in the picture; null if unknown.
    #placeOf({ parts, obstacle, at }) {
        const { view } = this,
            { surface } = view;
        if (obstacle) {
            const mesh = view.obstacles.find(({ given }) => given.name === obstacle)?.mesh;
            return mesh ? at.clone().applyMatrix4(mesh.matrix) : null;
        }
        const sum = new Vector3();
        for (const { vertex, weight } of parts) {
            const index = surface.indexOf(vertex);
            if (index < 0) return null;
            sum.addScaledVector(view.pointOf(index), weight);
        }
        return sum;
    }

    get places() {
        const places = this.view.shown ? this.ends.map((end) => this.#placeOf(end)) : [];
        return places.includes(null) ? [] : places;
    }

    // {distance, delta: [x, y, z]} in m, or null until two ends are known.
    get result() {
        const [from, to] = this.places;
        return to ? { distance: from.distanceTo(to), delta: to.clone().sub(from).toArray() } : null;
    }

    // ---- in the picture -----------------------------------------------------------------------

    make(add) {
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new BufferAttribute(new Float32Array(6), 3));
        const over = { depthTest: false, transparent: true };
        const line = new LineSegments(geometry, new LineBasicMaterial(over));
        const dots = new Points(geometry, new PointsMaterial({ ...over, size: 8, sizeAttenuation: false }));
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = LABEL;
        const map = new CanvasTexture(canvas);
        map.colorSpace = SRGBColorSpace;
        const look = { ...over, map, sizeAttenuation: false };
        const label = new Sprite(new SpriteMaterial(look));
        label.center.set(0.5, -0.2);
        this.#things = [line, dots, label].map(add);
        for (const thing of this.#things) {
            thing.frustumCulled = thing.visible = false;
            thing.renderOrder = 2;
        }
        this.#drawn = null;
    }

    get things() {
        return this.#things;
    }

    // Called after positions, ends or colours have changed.
    update() {
        if (!this.#things.length) return;
        const { view } = this,
            { canvas } = view.stage;
        const [line, dots, label] = this.#things;
        const [from, to] = this.on ? this.places : [];
        dots.visible = Boolean(from);
        line.visible = label.visible = Boolean(to);
        view.stage.touch();
        canvas.dataset.distance = to ? from.distanceTo(to) : '';
        if (!from) return;
        const at = line.geometry.getAttribute('position');
        from.toArray(at.array, 0);
        (to ?? from).toArray(at.array, 3);
        at.needsUpdate = true;
        for (const { material } of [line, dots]) material.color.set(view.ink);
        if (to) this.#write(label, from, to);
    }

    #write(label, from, to) {
        const { ink, stage } = this.view;
        const text = quantity(from.distanceTo(to), 'm');
        label.position.copy(from).add(to).divideScalar(2);
        this.size();
        if (this.#drawn === text + ink) return;
        this.#drawn = text + ink;
        const { map } = label.material;
        const context = map.image.getContext('2d');
        const [width, height] = LABEL;
        context.clearRect(0, 0, width, height);
        context.font = '40px system-ui, sans-serif';
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        const half = context.measureText(text).width / 2 + 12;
        context.fillStyle = stage.background.getStyle();
        context.fillRect(width / 2 - half, 0, 2 * half, height);
        context.fillStyle = ink;
        context.fillText(text, width / 2, height / 2);
        map.needsUpdate = true;
    }

    // The label has the same size in every view.
    size() {
        const label = this.#things[2];
        if (!label?.visible) return;
        const height = LABEL_PX * this.view.stage.pixel;
        label.scale.set((height * LABEL[0]) / LABEL[1], height, 1);
    }
}
