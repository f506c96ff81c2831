// A stream of records that reconnects by itself: after a break with a growing pause, and after the tab was hidden, when
// nothing is requested.

import { ApiError, api } from './api.js';
import { END, HEARTBEAT, RecordDecoder, jsonOf } from './records.js';

const SILENCE_MS = 40000; // a heartbeat comes at least every 15 s
const PAUSES_MS = [250, 500, 1000, 2000, 4000, 8000];

// Reads records until the reply ends. Resolves to the `end` record's document, or null if it broke off.
export async function readRecords(path, onRecord, signal, onAlive = () => {}) {
    const reply = await api.request('GET', path, { accept: 'application/vnd.pliant.frames', signal });
    let end = null;
    const decoder = new RecordDecoder((record) => {
        if (record.type === END) end = jsonOf(record);
        else if (record.type !== HEARTBEAT) onRecord(record);
    });
    const reader = reply.body.getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return end;
        onAlive();
        decoder.push(value);
    }
}

export class Stream {
    #path;
    #onRecord;
    #onStatus;
    #abort = null;
    #stopped = false;
    #failures = 0;
    #timer = 0;
    #alive = 0;
    #visibility = () => (document.hidden ? this.#cut() : this.#connect());

    // `path()` returns the address of each try, so that it continues where the last one broke off. `onStatus` gets
    // {live}, {live: false, message} and {ended}.
    constructor({ path, onRecord, onStatus }) {
        this.#path = path;
        this.#onRecord = onRecord;
        this.#onStatus = onStatus;
        document.addEventListener('visibilitychange', this.#visibility);
        this.#connect();
    }

    stop() {
        this.#stopped = true;
        document.removeEventListener('visibilitychange', this.#visibility);
        this.#cut();
    }

    // Requests again, because another form of frames is wanted, or the session continues.
    restart() {
        this.#stopped = false;
        this.#cut();
        this.#connect();
    }

    #cut() {
        clearTimeout(this.#timer);
        clearInterval(this.#alive);
        this.#abort?.abort();
        this.#abort = null;
    }

    async #connect() {
        if (this.#stopped || this.#abort || document.hidden) return;
        clearTimeout(this.#timer);
        const abort = (this.#abort = new AbortController());
        let heard = Date.now();
        this.#alive = setInterval(() => {
            if (Date.now() - heard > SILENCE_MS) abort.abort();
        }, 5000);
        let end = null,
            message = 'The stream was interrupted.';
        try {
            end = await readRecords(this.#path(), this.#onRecord, abort.signal, () => {
                heard = Date.now();
                if (this.#failures > 0 || !this.told) this.#onStatus({ live: true });
                this.told = true;
                this.#failures = 0;
            });
        } catch (error) {
            message = error.message;
            if (error instanceof ApiError && error.status < 500 && error.status !== 429) {
                end = { reason: 'refused', message, code: error.code };
            }
        }
        if (this.#abort !== abort) return; // cancelled here, to reconnect at the right time
        clearInterval(this.#alive);
        this.#abort = null;
        if (end && end.reason !== 'shutdown') {
            this.#stopped = true;
            this.#onStatus({ ended: end });
            return;
        }
        this.told = false;
        const pause = PAUSES_MS[Math.min(this.#failures++, PAUSES_MS.length - 1)];
        this.#onStatus({ live: false, message });
        this.#timer = setTimeout(() => this.#connect(), pause * (0.75 + Math.random() / 2));
    }
}
