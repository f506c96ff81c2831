// Small pictures of sessions' last frames: only for visible sessions, one at a time, while the page is idle.

import { useEffect, useRef } from 'preact/hooks';
import { ApiError, api } from './api.js';
import { seen } from './lazy.jsx';
import { OVER, basePath } from './model.js';
import { FRAME, copyField, frameOf } from './records.js';
import { readRecords } from './stream.js';
import { bodyColour } from './colormap.js';
import { pictureStore } from './picturestore.js';
import { GREY, thumbOf } from './thumb.js';

const WIDTH = 128,
    HEIGHT = 96;
const WITH_MESH = 30000, // vertices; beyond this the triangles would be megabytes, and points are dense
    MOST = 300000;
const AGAIN_MS = 10000; // for a running session
const PAUSE_MS = 3000; // after a rejection, or without a reply
const KEPT = 300;

const idle = () =>
    new Promise((done) => (globalThis.requestIdleCallback ?? setTimeout)(done, { timeout: 500 }));

async function positionsOf(session, vertices) {
    let frame = null;
    const form = `dtype=u16&fields=position&vertices=${vertices}`;
    await readRecords(`${basePath(session.id)}/frames/${session.progress.frame}?${form}`, (record) => {
        if (record.type === FRAME) frame = frameOf(record);
    });
    return copyField(frame.position, new Float32Array(3 * frame.count));
}

// Obstacles at their positions; moving ones, and those seen from inside, are left out.
function obstaclesOf({ obstacles = [], obstacle_surfaces: surfaces = [] }) {
    return surfaces
        .filter((surface, k) => surface && !surface.inside && !obstacles[k].motion)
        .map(({ vertices, triangles }) => ({ positions: vertices, triangles, colour: GREY, fits: false }));
}

// The up axis according to a floor, else y.
function upOf({ obstacles = [] }) {
    const normal = obstacles.find(({ plane }) => plane)?.plane.normal ?? [0, 1, 0];
    return normal.findIndex((part) => Math.abs(part) === Math.max(...normal.map(Math.abs)));
}

async function draw(session) {
    const count = session.bodies.reduce((sum, { vertices }) => sum + vertices, 0);
    if (count === 0 || count > MOST) return null;
    if (count > WITH_MESH) {
        const positions = await positionsOf(session, 'surface');
        return thumbOf([{ positions, colour: bodyColour(0).bytes, fits: true }], 1, WIDTH, HEIGHT);
    }
    const topology = await api.get(`${basePath(session.id)}/topology`);
    const positions = await positionsOf(session, 'all');
    const bodies = topology.bodies.map((body, k) => {
        const { first_vertex: first, vertices, triangles, edges } = body;
        return {
            positions: positions.subarray(3 * first, 3 * (first + vertices)),
            triangles: triangles.map((vertex) => vertex - first),
            edges: edges?.map((vertex) => vertex - first),
            colour: bodyColour(k).bytes,
            fits: true,
        };
    });
    return thumbOf([...bodies, ...obstaclesOf(topology)], upOf(topology), WIDTH, HEIGHT);
}

class Thumbs {
    #wanted = new Map(); // canvas: session
    #inSight = new Set();
    #kept = new Map(); // ID: {frame, at, pixels}, the least recently drawn first
    #busy = false;
    #observer = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) this.#inSight.add(target);
            else this.#inSight.delete(target);
        }
        this.#work();
    });

    constructor() {
        document.addEventListener('visibilitychange', () => this.#work());
    }

    want(canvas, session) {
        this.#wanted.set(canvas, session);
        this.#observer.observe(canvas);
        this.#paint(canvas, this.#kept.get(session.id));
        this.#work();
    }

    forget(canvas) {
        this.#observer.unobserve(canvas);
        this.#wanted.delete(canvas);
        this.#inSight.delete(canvas);
    }

    #paint(canvas, kept) {
        if (!kept?.pixels || canvas.dataset.frame === `${kept.frame}`) return;
        canvas.getContext('2d').putImageData(new ImageData(kept.pixels, WIDTH, HEIGHT), 0, 0);
        canvas.dataset.frame = kept.frame;
    }

    #lacks({ id, state, progress }) {
        const kept = this.#kept.get(id);
        if (!kept || kept.frame === progress.frame) return !kept;
        return OVER.includes(state) || Date.now() - kept.at > AGAIN_MS;
    }

    async #work() {
        if (this.#busy) return;
        this.#busy = true;
        await seen;
        for (;;) {
            const canvas = [...this.#inSight].find((one) => this.#lacks(this.#wanted.get(one)));
            if (!canvas || document.hidden) break;
            await idle();
            if (this.#wanted.has(canvas)) await this.#make(canvas, this.#wanted.get(canvas));
        }
        this.#busy = false;
    }

    async #make(canvas, session) {
        const kept = { frame: session.progress.frame, at: Date.now(), pixels: null };
        try {
            const before = this.#kept.has(session.id) ? null : await pictureStore.get(session.id);
            kept.pixels = before?.frame === kept.frame ? before.pixels : await draw(session);
            if (kept.pixels && kept.pixels !== before?.pixels)
                pictureStore.put(session.id, kept.frame, kept.pixels);
        } catch (error) {
            if (!(error instanceof ApiError) || [429, 503].includes(error.status)) {
                kept.frame = null; // to be tried again
                await new Promise((done) => setTimeout(done, PAUSE_MS));
            }
        }
        this.#kept.delete(session.id);
        this.#kept.set(session.id, kept);
        if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value);
        this.#paint(canvas, kept);
    }
}

const thumbs = new Thumbs();

// Nothing for a session without a frame.
export function Thumb({ session }) {
    const { id, state, progress } = session;
    const canvas = useRef(null);
    const frame = progress?.frame ?? null;
    useEffect(() => canvas.current && thumbs.want(canvas.current, session), [id, state, frame]);
    useEffect(() => {
        const made = canvas.current;
        return () => made && thumbs.forget(made);
    }, [frame === null]);
    if (frame === null) return null;
    return <canvas ref={canvas} class="thumb" width={WIDTH} height={HEIGHT} aria-hidden="true" />;
}
