// The sessions that one may see, as they change: a list by pages, then the daemon's events; how far
// running ones are is asked for once a second, while the page is seen.

import { Unreachable, api } from './api.js';
import { Emitter } from './emitter.js';

const PROGRESS_MS = 1000;
const PAGE = 200,
    MOST = 1000;
const WAIT_S = 25;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const shown = () =>
    new Promise((done) => {
        if (!document.hidden) done();
        else {
            document.addEventListener('visibilitychange', function listen() {
                document.removeEventListener('visibilitychange', listen);
                done(shown());
            });
        }
    });

// Emits 'change'. `reachable` is false while the daemon does not answer.
export class Sessions extends Emitter {
    items = [];
    loaded = false;
    reachable = true;
    more = false;
    #byId = new Map();
    #told = new Set(); // ids that events told of since progress was asked for
    #abort = new AbortController();

    constructor() {
        super();
        this.#follow();
        this.#progress();
    }

    stop() {
        this.#abort.abort();
    }

    get(id) {
        return this.#byId.get(id) ?? null;
    }

    count(state) {
        return this.items.filter((session) => session.state === state).length;
    }

    #publish() {
        this.items = [...this.#byId.values()].sort((a, b) =>
            a.created < b.created ? 1 : a.created > b.created ? -1 : a.id < b.id ? -1 : 1,
        );
        this.emit('change');
    }

    async #readAll() {
        const found = new Map();
        let cursor = '';
        do {
            const page = await api.get(`/v1/sessions?limit=${PAGE}${cursor}`, { signal: this.#abort.signal });
            page.items.forEach((session) => found.set(session.id, session));
            cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
        } while (cursor && found.size < MOST);
        this.more = Boolean(cursor);
        this.#byId = found;
        this.loaded = true;
        this.#publish();
    }

    async #follow() {
        let since = null,
            failures = 0;
        while (!this.#abort.signal.aborted) {
            await shown();
            try {
                if (since === null) {
                    since = (await api.get('/v1/events', { signal: this.#abort.signal })).next;
                    await this.#readAll();
                    this.#reach(true);
                }
                const news = await api.get(`/v1/events?since=${since}&wait=${WAIT_S}`, {
                    signal: this.#abort.signal,
                });
                since = news.missed ? null : news.next;
                news.items.forEach((event) => this.#take(event));
                this.#reach(true);
                failures = 0;
            } catch (error) {
                if (error.name === 'AbortError') return;
                if (error instanceof Unreachable || error.status >= 500) this.#reach(false);
                since = null;
                await pause(Math.min(8000, 500 * 2 ** failures++));
            }
        }
    }

    #take({ event, session }) {
        this.#told.add(session.id);
        if (event === 'deleted') this.#byId.delete(session.id);
        else this.#byId.set(session.id, session);
        this.#publish();
    }

    #reach(reachable) {
        if (reachable === this.reachable) return;
        this.reachable = reachable;
        this.emit('change');
    }

    // Progress is no event: it would be too many. What an event told meanwhile is newer.
    async #progress() {
        while (!this.#abort.signal.aborted) {
            await pause(PROGRESS_MS);
            await shown();
            if (this.count('running') + this.count('queued') === 0) continue;
            try {
                for (const state of ['running', 'queued']) {
                    if (this.count(state) === 0) continue;
                    this.#told.clear();
                    const { items } = await api.get(`/v1/sessions?state=${state}&limit=${PAGE}`);
                    items
                        .filter(({ id }) => !this.#told.has(id))
                        .forEach((session) => this.#byId.set(session.id, session));
                }
                this.#publish();
            } catch {
                // The events' loop notices, and says so.
            }
        }
    }
}
