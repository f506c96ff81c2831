// Sessions whose curves are drawn beside those of the open one, and differences between scenes.

import { api } from './api.js';
import { MetricsTable } from './metrics.js';
import { basePath } from './model.js';

const ROWS = 5000;

// {id, name, table, scene} of a session: its present metrics, thinned if there are many.
export async function readOther(id, signal) {
    const base = basePath(id);
    const session = await api.get(base, { signal });
    const every = Math.max(1, Math.ceil((session.progress?.frame ?? 0) / ROWS));
    const table = new MetricsTable();
    await api.lines(`${base}/metrics?every=${every}`, (line) => line.event || table.push(line), { signal });
    const scene = await api.get(`${base}/scene?form=effective`, { signal });
    return { id, name: session.name || id.slice(0, 8), state: session.state, table, scene };
}

const simple = (value) => value === null || typeof value !== 'object';
const named = (list) => list.length > 0 && list.every((item) => typeof item?.name === 'string');

// Differences between two documents: [{path, a, b}]; a missing value is undefined. Lists of named things are compared
// by name.
export function differences(a, b, path = '', out = []) {
    if (simple(a) || simple(b) || Array.isArray(a) !== Array.isArray(b)) {
        if (!Object.is(a, b) && JSON.stringify(a) !== JSON.stringify(b)) out.push({ path: path || '/', a, b });
    } else if (Array.isArray(a) && named(a) && named(b)) {
        const of = (list) => Object.fromEntries(list.map((item) => [item.name, item]));
        differences(of(a), of(b), path, out);
    } else if (Array.isArray(a)) {
        if (JSON.stringify(a) !== JSON.stringify(b)) out.push({ path, a, b });
    } else {
        for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
            differences(a[key], b[key], `${path}/${key}`, out);
    }
    return out;
}
