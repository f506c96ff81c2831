// Mesh files of the user's machine: uploaded once, named by their contents, added to a scene as bodies.

import { api } from './api.js';
import { appendAt, read } from './jsontext.js';

const ENDINGS = {
    msh: 'gmsh',
    mesh: 'medit',
    obj: 'obj',
    vtk: 'vtk',
    vtu: 'vtu',
    inp: 'abaqus',
    veg: 'vega',
    stl: 'stl',
    ply: 'ply',
};

const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, '0')).join('');

async function sha256(bytes) {
    if (!crypto.subtle)
        throw new Error('this browser computes no SHA-256 here: open the page by https or as 127.0.0.1');
    return hex(await crypto.subtle.digest('SHA-256', bytes));
}

async function send(file) {
    const bytes = await file.arrayBuffer();
    const hash = await sha256(bytes);
    const reply = await api.request('PUT', `/v1/meshes/${hash}`, {
        body: bytes,
        headers: { 'Content-Type': 'application/octet-stream' },
    });
    return { hash: `sha256:${hash}`, report: await reply.json() };
}

const parts = (name) => /^(.*?)(?:\.([^.]*))?$/.exec(name).slice(1);
const count = (n, word) => (n ? `${n.toLocaleString('en')} ${word}` : null);

// Groups files that belong together: TetGen's .node and .ele of the same name.
function bodiesOf(files) {
    const bodies = new Map();
    for (const file of files) {
        const [stem, ending = ''] = parts(file.name);
        const lower = ending.toLowerCase();
        const pair = lower === 'node' || lower === 'ele';
        const key = pair ? `${stem}.node` : file.name;
        bodies.set(key, { ...bodies.get(key), stem, [pair ? lower : 'file']: file, ending: lower });
    }
    return [...bodies.values()];
}

async function meshOf(body, formats) {
    if (body.node || body.ele) {
        if (!body.node || !body.ele) throw new Error(`${body.stem}: TetGen's .node and .ele are needed together`);
        const [node, ele] = [await send(body.node), await send(body.ele)];
        return { mesh: { upload: { node: node.hash, ele: ele.hash } }, report: ele.report };
    }
    const format = ENDINGS[body.ending];
    if (!format || !formats.includes(format)) {
        throw new Error(
            `${body.file.name}: unsupported file type; supported: ${formats.join(', ')}`,
        );
    }
    const { hash, report } = await send(body.file);
    return { mesh: { upload: hash, format }, report };
}

// The text with a body added for each file, and a sentence about each.
export async function withMeshes(text, files, formats) {
    const said = [];
    let now = text;
    for (const body of bodiesOf(files)) {
        try {
            const { mesh, report } = await meshOf(body, formats);
            const materials = Object.keys(read(now).value?.materials ?? {});
            now = appendAt(now, '/bodies', {
                name: body.stem,
                mesh,
                ...(materials.length ? { material: materials[0] } : {}),
            });
            const counts = [
                count(report.vertices, 'vertices'),
                count(report.tets, 'tetrahedra'),
                count(report.triangles, 'triangles'),
            ].filter(Boolean);
            said.push(`${body.stem}: ${counts.join(', ') || 'sent'}; it was added as the last body.`);
        } catch (error) {
            const first = error.faults?.[0];
            said.push(`${error.message}${first ? ` (${first.got}; ${first.expected})` : ''}.`);
        }
    }
    return { text: now, said };
}
