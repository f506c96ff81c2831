// The frame to show: the newest (live), a chosen one, or a sequence being played. Independent of the solver.

import { Emitter } from './emitter.js';

export const LIVE = 'live',
    PAUSED = 'paused',
    PLAYING = 'playing';
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

// Emits 'change' when the state of the controls changed, 'frame' when another frame must be shown.
export class Player extends Emitter {
    mode = LIVE;
    first = 0;
    newest = 0;
    frame = 0;
    loop = true;
    speed = 1;
    frameSeconds = 1 / 60; // simulated, between frames
    preview = null; // a frame that the pointer is on
    #clock = 0;
    #fraction = 0;
    #once = false; // plays up to the newest frame and then follows it

    // True if the user has not chosen a frame.
    get follows() {
        return this.mode === LIVE || this.#once;
    }

    get shown() {
        return this.preview ?? this.frame;
    }

    setNewest(number) {
        if (number <= this.newest && this.newest > 0) return;
        this.newest = number;
        if (this.mode === LIVE) this.#goto(number);
        else this.emit('change');
    }

    live() {
        this.mode = LIVE;
        this.#once = false;
        this.#goto(this.newest);
    }

    seek(number) {
        if (this.mode === LIVE) this.mode = PAUSED;
        this.#once = false;
        this.#fraction = 0;
        this.#goto(Math.max(this.first, Math.min(this.newest, Math.round(number))));
    }

    step(count) {
        this.mode = PAUSED;
        this.seek(this.frame + count);
    }

    // Stay at a frame, regardless of other requests meanwhile.
    hold(number) {
        if (this.mode !== PAUSED || this.frame !== number) this.step(number - this.frame);
        this.setPreview(null);
    }

    // A frame chosen by another player, which may be playing.
    join(number, playing) {
        this.mode = playing ? PLAYING : PAUSED;
        this.#goto(number);
    }

    // Play everything once.
    playThrough() {
        this.seek(this.first);
        this.toggle();
        this.#once = true;
    }

    toggle() {
        this.#once = false;
        if (this.mode === PLAYING) this.mode = PAUSED;
        else {
            if (this.frame >= this.newest) this.frame = this.first;
            this.mode = PLAYING;
            this.#clock = 0;
            this.#fraction = 0;
        }
        this.emit('change');
    }

    setSpeed(speed) {
        this.speed = speed;
        this.emit('change');
    }

    setLoop(loop) {
        this.loop = loop;
        this.emit('change');
    }

    setPreview(number) {
        if (number === this.preview) return;
        this.preview = number;
        this.emit('frame', this.shown);
    }

    // Called for each picture of the screen; `ready` tells whether a frame can be shown already.
    advance(now, ready) {
        const elapsed = this.#clock ? Math.min(now - this.#clock, 100) / 1000 : 0;
        this.#clock = now;
        if (this.mode !== PLAYING || !ready(this.frame)) return;
        this.#fraction += (elapsed * this.speed) / this.frameSeconds;
        let steps = Math.floor(this.#fraction);
        if (steps === 0) return;
        this.#fraction -= steps;
        let next = this.frame + steps;
        if (next > this.newest) {
            if (this.#once) {
                this.live();
                return;
            }
            if (!this.loop && this.frame === this.newest) {
                this.mode = PAUSED;
                this.emit('change');
                return;
            }
            next = this.loop ? this.first : this.newest;
        }
        this.#goto(next);
    }

    #goto(number) {
        const changed = number !== this.frame;
        this.frame = number;
        if (changed) this.emit('frame', this.shown);
        this.emit('change');
    }
}
