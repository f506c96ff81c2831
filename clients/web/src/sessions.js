// The sessions that the user can see, kept up to date: a list by pages, then the daemon's events. The progress of
// running ones is requested once a second, while the page is visible.

import { Unreachable, api } from './api.js';
import { Emitter } from './emitter.js';
import { listed } from './lazy.jsx';

const PROGRESS_MS = 1000;
const FIRST = 50, // more than fit on a screen; these are shown before the others are requested
    PAGE = 500,
    MOST = 1000;
const WAIT_S = 25;

// After the page's next picture; a hidden page has none.
const drawn = () =>
    new Promise((done) => (document.hidden ? done() : requestAnimationFrame(() => setTimeout(done))));
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

// Emits 'change'. `reachable` is false while the daemon does not reply.
export class Sessions extends Emitter {
    items = []; // the newest first
    begun = false; // the newest are here
    loaded = false; // all are
    reachable = true;
    more = false;
    #byId = new Map();
    #rank = new Map(); // by ID: greater for a newer session, because `created` has no fractions of a second
    #newest = 0;
    #begun = new Map(); // by ID: the first progress seen, {frame, time}
    #clock = 0; // counts updates by events and the open session
    #toldAt = new Map(); // by ID: the clock at its last update
    #model = null; // the session that is open
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

    // Simulated seconds between two frames of a session, null while unknown. A branch has its own start time, so
    // dividing its time by its frames is meaningless.
    frameSeconds(id) {
        if (this.#model?.id === id && this.#model.frameSeconds !== null) return this.#model.frameSeconds;
        const begun = this.#begun.get(id),
            { frame, time } = this.get(id)?.progress ?? {};
        return begun && frame > begun.frame ? (time - begun.time) / (frame - begun.frame) : null;
    }

    // Shares each document of the open session with its model, in both directions, so that list and panel never differ.
    // Returns a function that ends it.
    share(model) {
        this.#model = model;
        const offs = [
            model.on('session', (session) => {
                const known = this.get(session.id);
                if (!known || known === session) return;
                this.#told(session);
                this.#publish();
            }),
            model.on('ready', () => this.#publish()),
        ];
        return () => {
            offs.forEach((off) => off());
            if (this.#model === model) this.#model = null;
        };
    }

    #told(session) {
        this.#toldAt.set(session.id, ++this.#clock);
        this.#put(session);
    }

    #put(session) {
        const { id, progress } = session;
        if (!this.#rank.has(id)) this.#rank.set(id, ++this.#newest);
        if (progress?.frame != null && !this.#begun.has(id)) this.#begun.set(id, progress);
        this.#byId.set(id, session);
    }

    // Merges a list that was requested at `clock`: updates since then are newer.
    #take(sessions, clock) {
        sessions.filter(({ id }) => !(this.#toldAt.get(id) > clock)).forEach((session) => this.#put(session));
    }

    #publish() {
        this.items = [...this.#byId.values()].sort((a, b) =>
            a.created === b.created
                ? this.#rank.get(b.id) - this.#rank.get(a.id)
                : a.created < b.created
                  ? 1
                  : -1,
        );
        const open = this.get(this.#model?.id);
        if (open) this.#model.learn(open);
        this.emit('change');
    }

    async #readAll() {
        const found = new Map(),
            clock = this.#clock;
        let cursor = '';
        do {
            const limit = Math.min(found.size ? PAGE : FIRST, MOST - found.size);
            const page = await api.get(`/v1/sessions?limit=${limit}${cursor}`, { signal: this.#abort.signal });
            page.items.forEach((session) => found.set(session.id, session));
            cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
            if (!this.begun) await this.#begin(page.items, clock, !cursor);
        } while (cursor && found.size < MOST);
        this.more = Boolean(cursor);
        this.#order([...found.keys()]);
        for (const id of this.#byId.keys()) if (!found.has(id)) this.#byId.delete(id);
        this.#take([...found.values()], clock);
        this.loaded = true;
        this.#publish();
    }

    #order(ids) {
        ids.reverse().forEach((id) => this.#rank.set(id, ++this.#newest));
    }

    // Shows the newest sessions, and lets the page draw them before anything else.
    async #begin(sessions, clock, all) {
        this.#order(sessions.map(({ id }) => id));
        this.#take(sessions, clock);
        this.begun = true;
        this.loaded = all;
        this.#publish();
        await drawn();
        listed();
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
                news.items.forEach((event) => this.#hear(event));
                if (news.items.length) this.#publish();
                this.#reach(true);
                failures = 0;
            } catch (error) {
                if (error.name === 'AbortError') return;
                if (error instanceof Unreachable || error.status >= 500) this.#reach(false);
                since = null;
                listed(); // nothing waits for a list that does not come
                await pause(Math.min(8000, 500 * 2 ** failures++));
            }
        }
    }

    #hear({ event, session }) {
        this.#told(session);
        if (event !== 'deleted') return;
        this.#byId.delete(session.id);
        this.#begun.delete(session.id);
        if (session.id === this.#model?.id) this.#model.leave();
    }

    #reach(reachable) {
        if (reachable === this.reachable) return;
        this.reachable = reachable;
        this.emit('change');
    }

    // Progress causes no event, because there would be too many. An update by an event meanwhile is newer.
    async #progress() {
        while (!this.#abort.signal.aborted) {
            await pause(PROGRESS_MS);
            await shown();
            if (this.count('running') + this.count('queued') === 0) continue;
            try {
                for (const state of ['running', 'queued']) {
                    if (this.count(state) === 0) continue;
                    const clock = this.#clock;
                    const { items } = await api.get(`/v1/sessions?state=${state}&limit=${PAGE}`);
                    this.#take(items, clock);
                }
                this.#publish();
            } catch {
                // The loop of events notices, and shows it.
            }
        }
    }
}
