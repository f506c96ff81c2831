// The contents of the table of runs: its columns, the parameters in which runs differ, groups, CSV; and the scene and
// the last frame of each run, read a few at a time.

import { ApiError, api } from './api.js';
import { Emitter } from './emitter.js';
import { OVER, basePath } from './model.js';

const AT_ONCE = 3,
    TELL_MS = 300,
    PAUSE_MS = 1500;
const PARAMETERS_MOST = 8;
// Parts of a scene that do not affect how it runs.
const NOT_COMPARED = ['pliant', 'name', 'labels', 'metadata', 'webhook', 'expect', 'output'];

// The values of a document by path, "materials.rubber.young"; named things are identified by name.
export function leavesOf(value, path = '', out = {}) {
    if (value === null || typeof value !== 'object') out[path] = value;
    else if (Array.isArray(value) && value.every((item) => typeof item === 'number')) {
        if (value.length <= 4) out[path] = value.join(', ');
    } else {
        for (const [key, item] of Object.entries(value)) {
            const name = Array.isArray(value) ? (item?.name ?? key) : key;
            if (path === '' && NOT_COMPARED.includes(key)) continue;
            if (!(Array.isArray(value) && key === 'name')) leavesOf(item, path ? `${path}.${name}` : name, out);
        }
    }
    return out;
}

async function lastRow(session) {
    const { frame } = session.progress ?? {};
    if (frame == null || !OVER.includes(session.state)) return null;
    let row = null;
    await api.lines(`${basePath(session.id)}/metrics?from=${frame}&to=${frame}`, (line) => {
        if (!line.event) row = line;
    });
    return row;
}

async function sceneOf(session) {
    try {
        return leavesOf(await api.get(`${basePath(session.id)}/scene?form=effective`));
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) return {}; // it was rejected
        throw error;
    }
}

// Emits 'change' while details arrive: {leaves, last} of a session.
export class Details extends Emitter {
    left = 0; // number still to be read
    #known = new Map(); // ID: {state, leaves, last}
    #wanted = [];
    #busy = 0;
    #timer = 0;
    #stopped = false;

    of({ id }) {
        return this.#known.get(id) ?? null;
    }

    // Requests these sessions, in that order; earlier requests are dropped.
    want(sessions) {
        this.#wanted = sessions.filter(({ id, state }) => this.#known.get(id)?.state !== state);
        this.left = this.#wanted.length;
        while (this.#busy < AT_ONCE && this.#wanted.length) this.#work();
    }

    stop() {
        this.#stopped = true;
        clearTimeout(this.#timer);
    }

    async #work() {
        this.#busy++;
        for (let session; !this.#stopped && (session = this.#wanted.shift()); ) await this.#read(session);
        this.#busy--;
    }

    async #read(session) {
        try {
            const before = this.#known.get(session.id);
            const leaves = before?.leaves ?? (await sceneOf(session));
            this.#known.set(session.id, { state: session.state, leaves, last: await lastRow(session) });
        } catch (error) {
            const passes = !(error instanceof ApiError) || [429, 503].includes(error.status);
            if (passes) await new Promise((done) => setTimeout(done, PAUSE_MS));
            if (passes && !this.#stopped) this.#wanted.push(session);
            else this.#known.set(session.id, { state: session.state, leaves: {}, last: null });
        }
        this.left = this.#wanted.length;
        this.#timer ||= setTimeout(() => {
            this.#timer = 0;
            this.emit('change');
        }, TELL_MS);
    }
}

const seconds = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;
const scene = (path) => (_, details) => details?.leaves[path] ?? null;
const last = (read) => (_, details) => (details?.last ? (read(details.last) ?? null) : null);
const sum = (session, key) => session.bodies?.reduce((all, body) => all + (body[key] ?? 0), 0) || null;

// {key, label, title, value(session, details), kind}; kinds other than numbers: text, state, time, seconds.
export const COLUMNS = [
    { key: 'name', label: 'name', kind: 'text', value: ({ name, id }) => name || id.slice(0, 8) },
    { key: 'labels', label: 'labels', kind: 'text', value: (session) => labelsOf(session).join(', ') },
    { key: 'state', label: 'state', kind: 'state', value: ({ state }) => state },
    { key: 'created', label: 'submitted', kind: 'time', value: ({ created }) => created },
    {
        key: 'took',
        label: 'took',
        title: 'from submission to its end, including waiting',
        kind: 'seconds',
        value: ({ state, created, since }) => (OVER.includes(state) ? seconds(created, since) : null),
    },
    { key: 'frames', label: 'frames', value: ({ progress }) => progress?.frame ?? null },
    { key: 'time', label: 'time [s]', title: 'simulated', value: ({ progress }) => progress?.time ?? null },
    { key: 'vertices', label: 'vertices', value: (session) => sum(session, 'vertices') },
    { key: 'tets', label: 'tetrahedra', value: (session) => sum(session, 'tets') },
    { key: 'method', label: 'method', kind: 'text', value: scene('solver.method') },
    { key: 'integrator', label: 'integrator', kind: 'text', value: scene('time.integrator') },
    { key: 'step', label: 'step [s]', value: scene('time.step') },
    {
        key: 'unconverged',
        label: 'unconverged',
        title: 'frames',
        value: ({ state, warnings = [] }) =>
            warnings.find(({ code }) => code === 'unconverged')?.count ?? (OVER.includes(state) ? 0 : null),
    },
    {
        key: 'residual',
        label: 'last residual',
        title: 'primal residual, or gradient norm, of the last frame',
        value: last((row) => row.primal_residual ?? row.gradient_norm),
    },
    { key: 'iterations', label: 'last iterations', value: last((row) => row.iterations) },
    { key: 'ms', label: 'last frame [ms]', value: last((row) => row.ms?.step) },
    { key: 'kinetic', label: 'kinetic [J]', title: 'in the last frame', value: last((row) => row.energy?.kinetic) },
    { key: 'elastic', label: 'elastic [J]', title: 'in the last frame', value: last((row) => row.energy?.elastic) },
];
const SHOWN = ['solver.method', 'time.integrator', 'time.step'];

// Columns of the parameters in which these runs differ, the first few. All runs must have the parameter: a body in only
// some of them would otherwise add a column for each of its keys.
export function differing(all) {
    const known = all.filter((details) => details && Object.keys(details.leaves).length);
    const paths = new Set(known.flatMap(({ leaves }) => Object.keys(leaves)));
    const differ = [...paths].filter(
        (path) =>
            !SHOWN.includes(path) &&
            known.every(({ leaves }) => path in leaves) &&
            new Set(known.map(({ leaves }) => leaves[path])).size > 1,
    );
    return differ.slice(0, PARAMETERS_MOST).map((path) => ({
        key: `scene.${path}`,
        label: path,
        title: 'differs between these runs',
        kind: known.every(({ leaves }) => typeof leaves[path] === 'number') ? 'number' : 'text',
        value: scene(path),
    }));
}

export const labelsOf = ({ labels = {} }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`);

const AGES = [
    [3600, 'the last hour'],
    [86400, 'the last day'],
    [7 * 86400, 'the last week'],
    [Infinity, 'older'],
];

// The name of a session's group; `by`: 'age', or 'label.KEY'.
export function groupOf(session, by, now = Date.now()) {
    if (by === 'age') return AGES.find(([most]) => (now - Date.parse(session.created)) / 1000 < most)[1];
    const key = by.slice('label.'.length);
    const value = session.labels?.[key];
    return value === undefined ? `without ${key}` : `${key}=${value}`;
}

// Rows are {session, values}; unknown values come last in either order.
export function sorted(rows, index, down) {
    const known = (row) => row.values[index] !== null && row.values[index] !== undefined && row.values[index] !== '';
    const way = down ? -1 : 1;
    const compare = (a, b) => {
        const [x, y] = [a.values[index], b.values[index]];
        return way * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
    };
    return [...rows.filter(known).sort(compare), ...rows.filter((row) => !known(row))];
}

// Prevents a spreadsheet from reading a text as a formula.
function cell(value) {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(columns, rows) {
    const head = ['id', ...columns.map(({ label }) => label)];
    const lines = rows.map(({ session, values }) => [session.id, ...values].map(cell).join(','));
    return `${head.map(cell).join(',')}\n${lines.join('\n')}\n`;
}
