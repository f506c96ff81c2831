// One session as the page sees it: the document, geometry, metrics and frames, all from one stream. Emits 'session',
// 'tick' (twice a second, if numbers changed), 'failure' (to be shown), 'link', 'ready', 'gone'.

import { ApiError, Unreachable, api } from './api.js';
import { Emitter } from './emitter.js';
import { FrameStore } from './frames.js';
import { MetricsTable } from './metrics.js';
import { Player } from './player.js';
import { FRAME, GAP, METRICS, STATE, frameOf, jsonOf } from './records.js';
import { Stream, readRecords } from './stream.js';

const TICK_MS = 500;
const AGAIN_MS = 1000; // after the daemon did not reply
const CONTROLS_PAGE = 200;
const MANY_FRAMES = 20000; // beyond this, only every n-th frame's metrics of the past are read
const FINE_VERTICES = 20000; // up to this, frames come in single precision, otherwise quantised
const MAX_FPS = 60;
export const OVER = ['succeeded', 'failed', 'rejected', 'cancelled'];

export const basePath = (id) => `/v1/sessions/${encodeURIComponent(id)}`;

// {topology, surface, drawn}: `drawn` lists the vertices that are sent, null if all are.
async function readTopology(base) {
    const topology = await api.get(`${base}/topology`);
    const surface = await api.array(`${base}/topology?array=surface`);
    return { topology, surface: surface.length < topology.vertices ? surface : null };
}

export class SessionModel extends Emitter {
    session = null;
    topology = null;
    surface = null;
    scene = null;
    controls = [];
    metrics = new MetricsTable();
    player = new Player();
    link = { live: true };
    gaps = [];
    closed = false;
    #stream = null;
    #dirty = false;
    #timer = 0;
    #whole = false;
    #needs = new Set(); // reasons for needing inner vertices
    #ticks = 0;
    #told = 0; // number of documents from the stream or the list
    #first = null;
    #seen = null;
    #tets = null;

    constructor(id) {
        super();
        this.id = id;
        this.base = basePath(id);
        this.frames = new FrameStore((from, to) => `${this.base}/frames?from=${from}&to=${to}&${this.form}`);
        this.frames.on('frame', (frame) => this.#judgeRate(frame));
        this.#open();
    }

    close() {
        this.closed = true;
        this.#stream?.stop();
        this.frames.clear();
        clearInterval(this.#timer);
    }

    // Simulated seconds between frames; null until known.
    get frameSeconds() {
        return this.topology ? this.player.frameSeconds : null;
    }

    // The simulated time of a frame, and the last frame whose time is not after a given one; between thinned metrics,
    // frames are an interval apart.
    timeOf(frame) {
        return this.metrics.timeOf(frame, this.player.frameSeconds);
    }

    frameAt(time) {
        const frame = this.metrics.frameAt(time, this.player.frameSeconds);
        return Math.max(this.player.first, Math.min(this.player.newest, frame));
    }

    get over() {
        return OVER.includes(this.session?.state);
    }

    // The requested form of frames: only what the picture needs.
    get form() {
        const quantised = this.topology && this.topology.vertices > FINE_VERTICES;
        const part = this.surface && !this.#whole ? 'surface' : 'all';
        const contacts = this.scene?.output?.fields?.includes('contacts') ? ',contacts' : '';
        return `dtype=${quantised ? 'u16' : 'f32'}&vertices=${part}&fields=position${contacts}`;
    }

    // Sets whether `reason`, such as stress, needs inner vertices, too; a change reads the frames again.
    needWhole(reason, needed = true) {
        this.#needs[needed ? 'add' : 'delete'](reason);
        const whole = this.#needs.size > 0;
        if (whole === this.#whole || !this.surface) return;
        this.#whole = whole;
        this.#first = null;
        this.frames.clear();
        this.#stream?.restart();
        this.emit('form');
    }

    // Frame 0, the reference of displacements; null until it is here, announced by 'first'.
    get first() {
        if (!this.#first && this.topology) {
            this.#first = { frame: null };
            this.#readFirst(this.#first);
        }
        return this.#first?.frame ?? null;
    }

    async #readFirst(place) {
        try {
            await readRecords(`${this.base}/frames/0?${this.form}`, (record) => {
                if (record.type === FRAME) place.frame = frameOf(record);
            });
            this.emit('first');
        } catch {
            // Retention has removed it: anything that needs it stays plain.
        }
    }

    // The tetrahedra as global vertices, four each; read when first requested.
    tets() {
        this.#tets ??= api.array(`${this.base}/topology?array=tets`);
        return this.#tets;
    }

    // Shows the failure's place in the picture: its frame, and a mark.
    showFailure() {
        const { failure } = this.session;
        if (failure.frame != null) this.player.seek(failure.frame);
        this.emit('failure', failure);
    }

    get drawn() {
        return this.#whole ? null : this.surface;
    }

    // The reply, however long the daemon is unavailable or busy.
    async #await(ask) {
        for (;;) {
            try {
                const answer = await ask();
                if (!this.link.live) this.#status({ live: true });
                return answer;
            } catch (error) {
                const busy = error instanceof ApiError && [429, 503].includes(error.status);
                if (this.closed || !(busy || error instanceof Unreachable)) throw error;
                if (!busy) this.#status({ live: false });
                await new Promise((done) => setTimeout(done, AGAIN_MS));
            }
        }
    }

    async #open() {
        try {
            this.#take(await this.#await(() => api.get(this.base)));
            while (!this.closed && !this.topology) await this.#prepare();
        } catch (error) {
            if (!this.closed) this.emit('gone', error);
        }
    }

    // The geometry is known once the session was checked.
    async #prepare() {
        if (this.session.state === 'rejected') {
            this.topology = { vertices: 0, bodies: [], obstacles: [], pins: [] };
            this.emit('ready');
            return;
        }
        if (this.session.state === 'checking') {
            this.#take(await this.#await(() => api.get(`${this.base}?wait=20`)));
            return;
        }
        const [what, scene] = await this.#await(() =>
            Promise.all([readTopology(this.base), api.get(`${this.base}/scene?form=effective`)]),
        );
        if (this.closed) return;
        Object.assign(this, what, { scene });
        this.player.frameSeconds = (scene.time.step ?? 1 / 60) * (scene.output?.every ?? 1);
        this.emit('ready');
        await this.#readPast();
        if (!this.closed) this.follow();
    }

    // The past of a very long run, thinned; the stream then begins with new frames.
    async #readPast() {
        const newest = this.session.progress?.frame ?? 0;
        if (newest < MANY_FRAMES) return;
        const every = Math.ceil(newest / (MANY_FRAMES / 4));
        await this.#await(() =>
            api.lines(`${this.base}/metrics?every=${every}`, (line) => {
                if (!line.event) this.metrics.push(line);
            }),
        );
    }

    follow() {
        this.#timer = setInterval(() => this.#tick(), TICK_MS);
        this.#stream = new Stream({
            path: () => `${this.base}/stream?from=${this.metrics.last + 1}&max_fps=${MAX_FPS}&${this.form}`,
            onRecord: (record) => this.#record(record),
            onStatus: (status) => this.#status(status),
        });
    }

    #record(record) {
        this.#dirty = true;
        if (record.type === FRAME) {
            const frame = frameOf(record);
            this.frames.put(frame);
            this.player.setNewest(frame.number);
        } else if (record.type === METRICS) {
            const line = jsonOf(record);
            if (line.control && line.control !== this.lastControl) this.#sawControl(line);
            this.metrics.push(line);
        } else if (record.type === STATE) {
            this.#told++;
            this.#take(jsonOf(record));
        }
        else if (record.type === GAP) this.gaps.push(jsonOf(record));
    }

    #sawControl(line) {
        this.lastControl = line.control;
        clearTimeout(this.controlTimer);
        this.controlTimer = setTimeout(() => this.readControls(), 300);
    }

    async readControls() {
        try {
            const items = [];
            let cursor = '';
            do {
                const page = await api.get(`${this.base}/controls?limit=${CONTROLS_PAGE}${cursor}`);
                items.push(...page.items);
                cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
            } while (cursor && items.length < 20000);
            this.controls = items;
            this.emit('controls');
        } catch {
            // The frames read before are shown.
        }
    }

    #status(status) {
        if (status.ended) {
            this.link = { live: true, ended: status.ended };
            if (status.ended.reason === 'deleted') this.leave();
            if (!this.closed) this.refresh();
        } else this.link = status;
        this.emit('link', this.link);
        this.#dirty = true;
    }

    // Reads the document again, for example after a request that changes it.
    async refresh() {
        try {
            const told = this.#told;
            const session = await api.get(this.base);
            if (told === this.#told) this.#take(session); // otherwise the stream's document is newer
            if (this.link.ended && !this.over) {
                this.link = { live: true };
                this.#stream?.restart();
            }
        } catch (error) {
            this.emit('trouble', error);
        }
    }

    // The document from the list of sessions, which may be newer than the one read here.
    learn(session) {
        if (!this.session || this.closed || session === this.session) return;
        this.#told++;
        this.#take(session);
    }

    leave() {
        this.emit('gone', new Error('This session was deleted.'));
    }

    #take(session) {
        this.session = session;
        // While frames stream in, the newest available one is shown.
        const frame = session.progress?.frame;
        if (frame != null && (!this.#stream || this.over)) this.player.setNewest(frame);
        this.emit('session', session);
    }

    // From frames themselves, because a branch has its own start time.
    #judgeRate({ number, time }) {
        const seen = (this.#seen ??= { number, time });
        if (number !== seen.number) this.player.frameSeconds = (time - seen.time) / (number - seen.number);
    }

    #tick() {
        if (!this.#dirty) return;
        this.#dirty = false;
        this.emit('tick');
        // The stream's records do not contain progress, so it is requested once a second.
        this.#ticks++;
        if (!this.over && this.#ticks % 2 === 0 && !document.hidden) this.refresh();
    }
}
