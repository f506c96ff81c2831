// Dragging a pin, an obstacle or a handle of a running session: sends each control once the previous one is answered,
// at most 20 a second.

import { Vector3 } from 'three';
import { api } from './api.js';
import { springOf } from './handle.js';
import { axisOf } from './obstacles.js';

const EACH_MS = 50;
const REACH_S = 0.05; // simulated time until it reaches the pointer
const PATIENCE = 40; // polls until an earlier control is in effect

export class Drag {
    #from = null; // null: being requested
    #rotate = null;
    #moved = false;
    #wanted = null; // the next control to send
    #busy = false;
    #ended = false;
    #timer = 0;
    #last = null; // {at, time} of a handle
    #speed = new Vector3();

    // `grip`: of View3D.grip. `say(message)` shows errors.
    constructor(model, view, grip, say) {
        Object.assign(this, { model, view, grip, say });
        this.begin = grip.point.clone();
        this.pointer = this.begin;
        if (grip.kind !== 'handle') {
            this.#findPose();
            return;
        }
        const { body } = view.surface.ownerOf(grip.index);
        this.spring = springOf(model.scene, view, body);
        // The vertex moves even while the pointer rests, so the spring's force changes.
        this.#timer = setInterval(() => this.#pull(), 2 * EACH_MS);
    }

    // The present displacement of the thing from its place in the scene; its rotation is kept. Earlier controls, by any
    // user, are in effect or queued.
    async #findPose() {
        const { model, view, grip } = this;
        const kind = grip.kind === 'pin' ? 'pins' : 'obstacles';
        const waits = ({ frame, control }) =>
            frame === null && control[kind]?.some(({ name }) => name === grip.name);
        for (let i = 0; i < PATIENCE; i++) {
            await model.readControls();
            if (!model.controls.some(waits)) break;
            await new Promise((done) => setTimeout(done, EACH_MS));
        }
        if (model.closed) return;
        const { shift, turn } = view.poseOf(grip);
        const { axis, degrees } = axisOf(turn);
        this.#rotate = degrees === 0 ? null : { axis: rounded(axis), degrees: +degrees.toPrecision(6) };
        this.#from = shift;
        if (this.#moved) this.#bring();
    }

    // Move the thing to the pointer.
    #bring() {
        const translate = rounded(this.pointer.clone().sub(this.begin).add(this.#from));
        const keyframe = { time: REACH_S, translate, ...(this.#rotate ? { rotate: this.#rotate } : {}) };
        const change = { name: this.grip.name, motion: { keyframes: [keyframe] } };
        this.#send({ [this.grip.kind === 'pin' ? 'pins' : 'obstacles']: [change] });
    }

    move(x, y) {
        if (this.#ended) return;
        this.pointer = this.view.onPlane(x, y, this.begin);
        if (this.grip.kind === 'handle') {
            this.#pull();
            return;
        }
        this.#moved = true;
        if (this.#from) this.#bring();
    }

    #pull() {
        const at = new Vector3().fromArray(this.view.surface.positions, 3 * this.grip.index);
        const { stiffness, damping, most } = this.spring,
            { time } = this.view.shown;
        const before = this.#last ?? { at, time };
        if (time !== before.time) {
            this.#speed = at
                .clone()
                .sub(before.at)
                .divideScalar(time - before.time);
            this.#last = { at, time };
        }
        this.#last ??= before;
        const force = this.pointer.clone().sub(at).multiplyScalar(stiffness);
        force.addScaledVector(this.#speed, -damping).clampLength(0, most);
        this.#send({ forces: [{ name: this.grip.name, force: rounded(force) }] });
    }

    // A thing stays where it was moved; a handle is released.
    end() {
        clearInterval(this.#timer);
        if (this.grip.kind === 'handle' && !this.#ended) {
            this.#send({ forces: [{ name: this.grip.name, force: [0, 0, 0] }] });
        }
        this.#ended = true;
    }

    async #send(control) {
        this.#wanted = control ?? this.#wanted;
        if (this.#busy || !this.#wanted) return;
        this.#busy = true;
        const now = this.#wanted;
        this.#wanted = null;
        try {
            await api.post(`${this.model.base}/controls`, now);
        } catch (error) {
            clearInterval(this.#timer);
            this.#ended = true;
            this.#wanted = null;
            this.say(`“${this.grip.name}” cannot be moved: ${error.message}`);
        }
        setTimeout(() => {
            this.#busy = false;
            this.#send();
        }, EACH_MS);
    }
}

const rounded = (vector) => vector.toArray().map((x) => +x.toPrecision(6));
