// Frames of a session: recent ones, and those that were requested. The newest request wins.

import { ApiError, Unreachable } from './api.js';
import { Emitter } from './emitter.js';
import { FRAME, GAP, frameOf, jsonOf } from './records.js';
import { readRecords } from './stream.js';

export const KEPT_BYTES = 256 << 20; // of all sessions in a picture
const AHEAD_BYTES = 24 << 20;
const AHEAD_FRAMES = 240;
const AGAIN_MS = 1000; // after the daemon did not reply, or the reply broke off

// True if another try may succeed: network errors are TypeErrors once a reply has begun.
const passes = (error) =>
    error instanceof Unreachable ||
    error instanceof TypeError ||
    (error instanceof ApiError && [429, 503].includes(error.status));

// Emits 'frame' for each frame that arrives, and 'missing' with the number of an unavailable one.
export class FrameStore extends Emitter {
    #path;
    #cache = new Map(); // by number, least recently used first
    #bytes = 0;
    #missing = new Map();
    #load = null; // {from, to, next, abort}
    #wish = null;

    limit = KEPT_BYTES;

    // `path(from, to)` is the address of a run of frames.
    constructor(path) {
        super();
        this.#path = path;
    }

    clear() {
        this.#load?.abort.abort();
        this.#load = this.#wish = null;
        this.#cache.clear();
        this.#missing.clear();
        this.#bytes = 0;
    }

    has(number) {
        return this.#cache.has(number);
    }

    whyMissing(number) {
        return this.#missing.get(number) ?? null;
    }

    get(number) {
        const frame = this.#cache.get(number);
        if (!frame) return null;
        this.#cache.delete(number);
        this.#cache.set(number, frame);
        return frame;
    }

    put(frame) {
        const old = this.#cache.get(frame.number);
        if (old) this.#bytes -= old.bytes;
        this.#cache.delete(frame.number);
        this.#cache.set(frame.number, frame);
        this.#bytes += frame.bytes;
        this.#missing.delete(frame.number);
        this.#forget();
        this.emit('frame', frame);
    }

    // Sets another limit on the bytes kept.
    setLimit(bytes) {
        this.limit = bytes;
        this.#forget();
    }

    #forget() {
        while (this.#bytes > this.limit && this.#cache.size > 2) {
            const [number, oldest] = this.#cache.entries().next().value;
            this.#cache.delete(number);
            this.#bytes -= oldest.bytes;
        }
    }

    // Request a frame, and `ahead` (true: many) after it up to `last`, for playing.
    want(number, ahead = false, last = number) {
        if (ahead) {
            const size = this.#cache.size ? this.#bytes / this.#cache.size : 1 << 20;
            const count = Math.max(8, Math.min(AHEAD_FRAMES, Math.floor(AHEAD_BYTES / size)));
            const end = Math.min(last, number + count);
            let first = number;
            while (first <= end && (this.#cache.has(first) || this.#missing.has(first))) first++;
            const near = first <= number + count / 2;
            if (first > end || (!near && this.#cache.has(number))) return;
            this.#ask(first, end);
        } else if (!this.#cache.has(number) && !this.#missing.has(number)) this.#ask(number, number);
    }

    #ask(from, to) {
        const load = this.#load;
        if (load && from >= load.next && from <= Math.min(load.to, load.next + 30)) return;
        this.#wish = { from, to };
        if (load && load.to > load.from + 1) load.abort.abort();
        if (!load) this.#fetch();
    }

    async #fetch() {
        while (this.#wish) {
            const load = { ...this.#wish, next: this.#wish.from, abort: new AbortController() };
            this.#wish = null;
            this.#load = load;
            try {
                await readRecords(
                    this.#path(load.from, load.to),
                    (record) => {
                        if (load !== this.#load) return;
                        if (record.type === FRAME) {
                            load.next = record.frame + 1;
                            this.put(frameOf(record));
                        } else if (record.type === GAP) this.#gap(jsonOf(record), load);
                    },
                    load.abort.signal,
                );
            } catch (error) {
                if (load !== this.#load) return;
                if (passes(error)) {
                    await new Promise((done) => setTimeout(done, AGAIN_MS));
                    const rest = load.next <= load.to ? { from: load.next, to: load.to } : null;
                    if (load === this.#load) this.#wish ??= rest;
                } else if (error.name !== 'AbortError') this.#refused(load, error);
            }
            if (load !== this.#load) return; // cleared meanwhile
        }
        this.#load = null;
    }

    #gap({ from, to, reason }, load) {
        const end = Math.min(to ?? from, load.to);
        for (let number = Math.max(from, load.from); number <= end; number++) {
            this.#mark(number, reason === 'pruned' ? 'retention has removed it' : 'it is damaged');
        }
    }

    #refused(load, error) {
        const end = error.firstAvailable ? Math.min(load.to, error.firstAvailable - 1) : load.from;
        for (let number = load.from; number <= end; number++) this.#mark(number, error.message);
    }

    #mark(number, why) {
        this.#missing.set(number, why);
        this.emit('missing', number);
    }
}
