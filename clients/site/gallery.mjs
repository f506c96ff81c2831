// The gallery: a page for each group of clients/web/src/showcase.js, with every scene of clients/scenes: a film (or,
// for readers who ask for less motion, a picture), what it shows, its numbers, and how to run it. Films and the
// numbers of their runs are made by draw-films.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { groupsOf } from '../web/src/showcase.js';

const GROUP = 'Gallery';
const FILM = { width: 240, height: 180 };

const code = (text) => `\`${text}\``;
const slugOf = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
const nameOfPage = (group) => `gallery-${slugOf(group.title)}`;
const count = (n, one, many = `${one}s`) => `${n === 0 ? 'no' : n.toLocaleString('en')} ${n === 1 ? one : many}`;
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function scenesOf(root) {
    const folder = join(root, 'clients/scenes');
    return readdirSync(folder)
        .filter((file) => file.endsWith('.json'))
        .sort()
        .map((file) => ({
            name: basename(file, '.json'),
            scene: JSON.parse(readFileSync(join(folder, file), 'utf8')),
        }));
}

// What clients/scenes/README.md says of each scene: {name: text}. A row may name several: `a`, `b_*`, `c_1` to `_4`.
export function textsOf(root, names) {
    const page = readFileSync(join(root, 'clients/scenes/README.md'), 'utf8');
    const texts = {};
    for (const [, cell, text] of page.matchAll(/^\| (`.*?) \| (.*) \|$/gm)) {
        let stem = '';
        for (const [, word] of cell.matchAll(/`([^`]+)`/g)) {
            const pattern = word.startsWith('_') ? `${stem}*` : word;
            stem = word.replace(/_[^_]*$/, '_');
            const fits = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
            for (const name of names.filter((one) => fits.test(one))) texts[name] ??= text;
        }
    }
    return texts;
}

function filmsOf(root) {
    const path = join(root, 'clients/site/films/films.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

// Markdown that links to a scene's place in the gallery.
export function sceneLink(root) {
    const places = new Map(
        groupsOf(scenesOf(root)).flatMap((group) => group.items.map(({ name }) => [name, nameOfPage(group)])),
    );
    return (name) => `[${code(name)}](${places.get(name)}.md#${name})`;
}

// ---- a scene ----

function figure({ name, title }, hasFilm, hasPicture) {
    const size = `width="${FILM.width}" height="${FILM.height}"`;
    const still = `<source media="(prefers-reduced-motion: reduce)" srcset="scene-${name}.webp">\n`;
    const shown = hasFilm ? `film-${name}.webp` : `scene-${name}.webp`;
    const image = `<img loading="lazy" decoding="async" src="${shown}" ${size} alt="${escaped(title)}">`;
    return `<figure class="scene" id="${name}">
<picture>
${hasFilm && hasPicture ? still : ''}${image}
</picture>
</figure>`;
}

const seconds = (s) => `${Number(s.toPrecision(3))} s`;

function sizes({ scene }, film) {
    const [method, integrator] = [scene.solver?.method ?? 'auto', scene.time?.integrator ?? 'backward_euler'];
    const solved = [
        `method [${code(method)}](reference-solver.md#solver.method)`,
        `integrator [${code(integrator)}](reference-time.md#time.integrator)`,
    ];
    const size = film
        ? [count(film.vertices, 'vertex', 'vertices'), count(film.tets, 'tetrahedron', 'tetrahedra')]
        : [];
    return `- ${capital([...size, ...solved].join(', '))}`;
}

// Of the run that the film shows.
function runs(film) {
    if (!film) return [];
    const quick = film.form === 'quick';
    const of = `${count(film.frames, 'frame')} of ${seconds(film.simulated)}${quick ? ', the quick form' : ''}`;
    const touch = [film.contact && 'bodies touch', film.obstacles && 'obstacles touched'].filter(Boolean);
    return [
        `- Run: ${of}, in ${seconds(film.seconds)} on one core, ${count(film.unconverged, 'unconverged step')}; ` +
            `contact: ${touch.join(', ') || 'no'}`,
        `- Film: ${count(film.film.pictures, 'picture')}, ${seconds(film.simulated)} in ${seconds(film.film.ms / 1e3)}`,
    ];
}

function checks({ scene }) {
    const names = (scene.expect ?? []).map(({ name, quantity }) => name ?? quantity);
    return names.length ? [`- ${code('pliant check')} tests: ${names.map(escaped).join('; ')}`] : [];
}

function commands({ name, scene }) {
    const file = `clients/scenes/${name}.json`;
    const lines = [`build/pliant run ${file} --out ${name}`, `build/pliant submit ${file}`];
    if (scene.metadata?.quick) lines.splice(1, 0, `build/pliant run ${file} --quick --out ${name}`);
    return `Run this:\n\n${lines.map((line) => `    ${line}`).join('\n')}`;
}

function entry(item, { texts, films, root }) {
    const film = films[item.name];
    const hasFilm = film && existsSync(join(root, 'clients/site/films', `${item.name}.webp`));
    const hasPicture = existsSync(join(root, 'clients/web/pictures', `${item.name}.webp`));
    const text = (texts[item.name] ?? '').replace(/^ours: /, '');
    return [
        `## ${item.title || item.name}`,
        hasFilm || hasPicture ? figure(item, hasFilm, hasPicture) : `<div id="${item.name}"></div>`,
        `${code(item.name)}${text ? `: ${text}.` : ''}`,
        [sizes(item, film), ...runs(film), ...checks(item)].join('\n'),
        commands(item),
    ].join('\n\n');
}

// ---- pages ----

const overview = (groups) => `Every scene of ${code('clients/scenes')}: the examples of the papers that the methods are
from, and a few of our own. Each is a test of its own results. A film shows one run, drawn by
${code('pliant export')}; beside it are its numbers, and the commands that repeat it. Times are processor seconds of
one core. A film of the quick form, which ${code('--quick')} runs, is shorter or coarser than the scene; vertices and
tetrahedra are always those of the whole scene. Where your system asks for less motion, pictures stand in place of the
films.

${groups
    .map(
        (group) => `## [${group.title}](${nameOfPage(group)}.md)

${group.items.map(({ name, title }) => `- [${title || name}](${nameOfPage(group)}.md#${name})`).join('\n')}`,
    )
    .join('\n\n')}
`;

export async function pages({ root }) {
    const scenes = scenesOf(root);
    const context = { root, films: filmsOf(root) };
    context.texts = textsOf(
        root,
        scenes.map(({ name }) => name),
    );
    const groups = groupsOf(scenes);
    const asset = (kind, folder, { name }) => ({
        name: `${kind}-${name}.webp`,
        path: join(root, folder, `${name}.webp`),
    });
    const assets = scenes.flatMap((item) => [
        asset('film', 'clients/site/films', item),
        asset('scene', 'clients/web/pictures', item),
    ]);
    const made = groups.map((group) => ({
        name: nameOfPage(group),
        title: `Gallery: ${group.title.charAt(0).toLowerCase()}${group.title.slice(1)}`,
        group: GROUP,
        markdown: `${group.items.map((item) => entry(item, context)).join('\n\n')}\n`,
    }));
    return {
        pages: [{ name: 'gallery', title: 'Gallery', group: GROUP, markdown: overview(groups) }, ...made],
        assets: assets.filter(({ path }) => existsSync(path)),
    };
}
