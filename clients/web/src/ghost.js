// The bodies of another session, translucent over those of the open one.

import {
    BufferAttribute,
    BufferGeometry,
    DoubleSide,
    DynamicDrawUsage,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    MeshLambertMaterial,
} from 'three';
import { PLAYING } from './player.js';
import { copyField } from './records.js';
import { Surface } from './surface.js';

export const GHOSTS = ['#7a62b8', '#d35284', '#57a65b'];
const OPACITY = 0.45;

export class Ghost {
    things = [];
    shown = null; // number of the frame shown
    #form = null; // form of the frames that its buffers fit

    constructor(view, companion, colour) {
        Object.assign(this, { view, stage: view.stage, companion, colour });
    }

    #build() {
        this.dispose();
        const { companion, colour } = this;
        this.#form = companion.form;
        this.surface = new Surface(companion.topology, companion.drawn);
        this.positions = new BufferAttribute(this.surface.positions, 3).setUsage(DynamicDrawUsage);
        const geometryOf = (index) => {
            const geometry = new BufferGeometry();
            geometry.setAttribute('position', this.positions);
            geometry.setIndex(new BufferAttribute(index, 1));
            return geometry;
        };
        const look = { color: colour, transparent: true, opacity: OPACITY, depthWrite: false };
        const faces = new MeshLambertMaterial({ ...look, side: DoubleSide, flatShading: true });
        this.things = [
            new Mesh(geometryOf(this.surface.triangles), faces),
            new LineSegments(geometryOf(this.surface.edges), new LineBasicMaterial(look)),
        ];
        for (const thing of this.things) {
            thing.frustumCulled = false;
            this.stage.scene.add(thing);
        }
        this.view.setSection();
    }

    // Shows the frame at that time once it is available.
    follow(time, leader) {
        const { companion } = this;
        const number = companion.join(time, leader);
        const frame = number === null ? null : companion.frames.get(number);
        if (number !== null && leader.mode === PLAYING) companion.frames.want(number, true, companion.player.newest);
        else if (number !== null && !frame) companion.frames.want(number);
        const none = number === null;
        if (none === (this.shown !== null)) for (const thing of this.things) thing.visible = !none;
        if (none) this.shown = null;
        if (!frame || (number === this.shown && this.#form === companion.form)) return;
        if (this.#form !== companion.form) this.#build();
        if (frame.count !== this.surface.count) return;
        copyField(frame.position, this.surface.positions);
        this.positions.needsUpdate = true;
        for (const thing of this.things) thing.visible = true;
        this.shown = number;
        this.stage.touch();
    }

    dispose() {
        for (const thing of this.things) {
            this.stage.scene.remove(thing);
            thing.geometry.dispose();
            thing.material.dispose();
        }
        this.things = [];
        this.stage.touch();
    }
}
