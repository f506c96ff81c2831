// Dragging a pin or an obstacle of a running session: controls that are sent as fast as they are
// answered, 20 a second at most.

import { Vector3 } from 'three';
import { api } from './api.js';

const EACH_MS = 50;
const REACH_S = 0.05; // simulated, until it is where the pointer was

export class Drag {
    #from = null;
    #wanted = null;
    #busy = false;
    #ended = false;

    // `grip`: of View3D.grip. `say(message)` tells what goes wrong.
    constructor(model, view, grip, say) {
        Object.assign(this, { model, view, grip, say });
        this.begin = grip.point.clone();
        this.#from = this.#shiftNow();
    }

    // Where the thing is already, counted from the scene's place. Of a pin that has not turned.
    #shiftNow() {
        const { view, grip } = this;
        if (grip.kind === 'obstacle') {
            const { track } = view.obstacles.find(({ given }) => given.name === grip.name);
            return track.poseAt(view.shown.time).shift;
        }
        const { positions, rest } = view.surface;
        if (!rest) return new Vector3();
        const at = [0, 1, 2].map((c) => positions[3 * grip.index + c] - rest[3 * grip.index + c]);
        return new Vector3(...at);
    }

    move(x, y) {
        if (this.#ended) return;
        const point = this.view.onPlane(x, y, this.begin);
        this.#wanted = point.sub(this.begin).add(this.#from);
        this.#send();
    }

    end() {
        this.#ended = true;
        this.#send();
    }

    async #send() {
        if (this.#busy || !this.#wanted) return;
        this.#busy = true;
        const translate = this.#wanted.toArray().map((x) => +x.toPrecision(6));
        this.#wanted = null;
        const list = this.grip.kind === 'pin' ? 'pins' : 'obstacles';
        const change = { name: this.grip.name, motion: { keyframes: [{ time: REACH_S, translate }] } };
        try {
            await api.post(`${this.model.base}/controls`, { [list]: [change] });
            this.say(null);
        } catch (error) {
            this.#ended = true;
            this.#wanted = null;
            this.say(`“${this.grip.name}” can not be moved: ${error.message}`);
        }
        setTimeout(
            () => {
                this.#busy = false;
                this.#send();
            },
            this.#ended ? 0 : EACH_MS,
        );
    }
}
