// Another session shown in the picture of the open one. It has no stream, because a browser keeps few connections to a
// host; a running session is polled instead.

import { ApiError, api } from './api.js';
import { KEPT_BYTES } from './frames.js';
import { number } from './format.js';
import { SessionModel } from './model.js';
import { PLAYING } from './player.js';

const LOOK_MS = 1500, // for a running session
    LATER_MS = 6000; // check whether an ended session still exists
const seconds = (time) => `${number(time, 4)} s`;

// Also emits 'tick' when it has new data.
export class Companion extends SessionModel {
    gone = null; // why it cannot be read
    #timer = 0;
    #complete = false; // all metrics have been read

    constructor(id, name) {
        super(id);
        this.name = name;
        this.on('gone', (error) => this.#leave(error.message));
        this.on('trouble', (error) => {
            if (error instanceof ApiError && error.status === 404) this.#leave('it was removed');
        });
    }

    #leave(why) {
        this.gone = why;
        this.emit('tick');
    }

    close() {
        super.close();
        clearTimeout(this.#timer);
    }

    async follow() {
        const { over } = this;
        if (!document.hidden) await this.#look(over);
        if (!this.gone && !this.closed) {
            this.#timer = setTimeout(() => this.follow(), over ? LATER_MS : LOOK_MS);
        }
    }

    async #look(over) {
        try {
            const path = `${this.base}/metrics?from=${this.metrics.last + 1}`;
            if (!this.#complete) await api.lines(path, (line) => line.event || this.metrics.push(line));
            this.#complete = over;
        } catch {
            // The document shows whether the session still exists.
        }
        await this.refresh();
        this.emit('tick');
    }

    get end() {
        return this.timeOf(this.player.newest);
    }

    // {frame, words}: the frame at a simulated time; `frame` is null if there is nothing to draw.
    at(time) {
        const none = (words) => ({ frame: null, words });
        if (this.gone) return none(`cannot be shown: ${this.gone}`);
        if (!this.topology) return none('is loading');
        if (this.session.progress?.frame == null) return none(this.over ? 'has no frames' : 'has no frame yet');
        const frame = this.frameAt(time);
        const why = this.frames.whyMissing(frame);
        if (why) return none(`frame ${frame} cannot be shown: ${why}`);
        const { end } = this,
            each = this.player.frameSeconds,
            begin = this.timeOf(this.player.first);
        if (time > end + 0.999 * each) {
            return { frame, words: this.over ? `stays at its last frame, ${seconds(end)}` : `is at ${seconds(end)}` };
        }
        if (time < begin - 0.001 * each) return { frame, words: `begins at ${seconds(begin)}` };
        return { frame, words: `at ${seconds(this.timeOf(frame))}` };
    }

    // Shows the frame of that time and returns it, or null if it is missing; `leader` is the player to follow.
    join(time, leader) {
        const { frame } = this.at(time);
        if (frame !== null) this.player.join(frame, leader.mode === PLAYING);
        return frame;
    }
}

// The frames kept for all sessions in a picture take as many bytes as those of one session alone.
export function shareMemory(models) {
    for (const { frames } of models) frames.setLimit(KEPT_BYTES / models.length);
}
