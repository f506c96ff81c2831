// The scene reference: every key of a scene, from the tables that judge scenes. build/print-schema prints them; a key
// or table that is added there is on a page without a change here.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const GROUP = 'Reference';
const EXAMPLES = 3; // scenes that a key names

// A page: its name and title, the tables that it begins with, and its introduction. What these tables lead to and no
// page begins with is on the first page that leads there.
const PAGES = [
    {
        name: 'reference',
        title: 'Scene reference',
        tables: ['scene'],
        text:
            'A scene is one JSON object. [A scene](scene.md) explains its parts with examples; these pages list ' +
            'every key with type, unit, default and range.',
    },
    {
        name: 'reference-time',
        title: 'Keys of time',
        tables: ['time'],
        text: 'Steps, and the integrator that takes them. [Methods and integrators](methods.md) compares integrators.',
    },
    {
        name: 'reference-solver',
        title: 'Keys of the solver',
        tables: ['solver'],
        text:
            'The method that solves each step, and when it stops. [Methods and integrators](methods.md) says which ' +
            'to take, [typical scenes](typical-scenes.md) how the defaults do.',
    },
    {
        name: 'reference-materials',
        title: 'Keys of materials',
        tables: ['material'],
        text:
            'What bodies are made of: energy, mass, friction, bending, strain limits, fibers and damping. ' +
            '[Materials](materials.md) says what each model is good for.',
    },
    {
        name: 'reference-bodies',
        title: 'Keys of bodies and meshes',
        tables: ['body', 'mesh', 'initial'],
        text:
            'Deformable bodies: mesh, material, placement and state at time 0. [Meshes of your own](meshes.md) has ' +
            'the file formats, and the key `file` by which `pliant` and Python upload a file.',
    },
    {
        name: 'reference-pins',
        title: 'Keys of pins, attachments and motions',
        tables: ['pin', 'attachment', 'select', 'motion'],
        text:
            'Vertices that are held, moved or pulled by springs; how vertices are selected; how pins and obstacles ' +
            'move. [A scene](scene.md) has examples.',
    },
    {
        name: 'reference-obstacles',
        title: 'Keys of obstacles',
        tables: ['obstacle'],
        text:
            'Rigid shapes that bodies collide with. [The margin of an obstacle](scene.md#the-margin-of-an-obstacle) ' +
            'says how to keep triangles out of round shapes.',
    },
    {
        name: 'reference-forces',
        title: 'Keys of forces',
        tables: ['force'],
        text: 'Wind, point loads and pressure. [A scene](scene.md#bodies) has a flag in the wind.',
    },
    {
        name: 'reference-contact',
        title: 'Keys of contact',
        tables: ['contact'],
        text: 'Contact between bodies, and of a body with itself. [Contact](scene.md#contact) explains how it acts.',
    },
    {
        name: 'reference-output',
        title: 'Keys of output, probes and expectations',
        tables: ['output', 'probe', 'expect'],
        text:
            'What a run stores, which numbers it records with each frame, and what its results must be. ' +
            '[A run in other programs](exports.md) says what files hold.',
    },
    {
        name: 'reference-resources',
        title: 'Keys of resources',
        tables: ['resources'],
        text:
            'Cores, memory and time of a run, and its place in the queue. ' +
            '[The command line](command-line.md#the-queue-the-machine-and-usage) shows the queue.',
    },
    {
        name: 'reference-control',
        title: 'Keys of changes to a session',
        tables: ['control', 'notes'],
        text:
            'What a request may change while a session runs. ' +
            '[Steering a running session](scene.md#steering-a-running-session) has examples.',
    },
];

// ---- the tables ----

function printed(build) {
    const { status, stdout, stderr, error } = spawnSync(join(build, 'print-schema'), { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${join(build, 'print-schema')}: ${error?.message ?? stderr}`);
    return JSON.parse(stdout);
}

const PRINTED_ELSEWHERE = {
    notes: 'Changes by PATCH /v1/sessions/{id}. Keys that are left out stay as they are.',
};

// {name: {name, doc, rules, keys: [{key, ...}]}}, a table's rules as the schema has them.
function tablesOf({ capabilities, schema }) {
    return new Map(
        Object.entries(capabilities.parameters).map(([name, keys]) => {
            const { description, properties = {}, ...rules } = schema.$defs[name] ?? {};
            const rows = Object.entries(keys).map(([key, row]) => ({ ...row, key, shape: properties[key] ?? {} }));
            return [name, { name, doc: description ?? PRINTED_ELSEWHERE[name] ?? '', rules, keys: rows }];
        }),
    );
}

// Which page each table is on, in the order of the page.
function placed(tables) {
    const roots = new Set(PAGES.flatMap((page) => page.tables));
    const place = new Map();
    const take = (name, page) => {
        if (place.has(name) || !tables.has(name)) return;
        place.set(name, page);
        for (const { table } of tables.get(name).keys) if (table && !roots.has(table)) take(table, page);
    };
    for (const page of PAGES) for (const name of page.tables) take(name, page);
    for (const name of tables.keys()) take(name, PAGES[0]);
    return place;
}

// Where each table stands: paths such as bodies[].mesh.box, from the root of its document.
function pathsOf(tables) {
    const paths = new Map([...tables.keys()].map((name) => [name, []]));
    const walk = (name, path) => {
        for (const { key, table, type } of tables.get(name).keys) {
            if (!table || !tables.has(table)) continue;
            const below = `${path}${path && '.'}${key}${{ array: '[]', map: '.NAME' }[type] ?? ''}`;
            paths.get(table).push(below);
            walk(table, below);
        }
    };
    walk('scene', '');
    return paths;
}

// Scenes of the gallery by the keys that they give: {table.key: [name]}.
function usesOf(tables, root) {
    const uses = new Map();
    const walk = (table, value, scene) => {
        if (value === null || typeof value !== 'object') return;
        for (const row of tables.get(table).keys) {
            if (!Object.hasOwn(value, row.key)) continue;
            const found = uses.get(`${table}.${row.key}`) ?? [];
            if (!found.includes(scene)) found.push(scene);
            uses.set(`${table}.${row.key}`, found);
            const below = value[row.key];
            if (!row.table) continue;
            const members = row.type === 'array' || row.type === 'map' ? Object.values(below) : [below];
            for (const member of members) walk(row.table, member, scene);
        }
    };
    const folder = join(root, 'clients/scenes');
    for (const file of readdirSync(folder).sort()) {
        if (file.endsWith('.json')) {
            walk('scene', JSON.parse(readFileSync(join(folder, file), 'utf8')), basename(file, '.json'));
        }
    }
    return uses;
}

// ---- text ----

const code = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);
const listed = (words, last = 'or') =>
    words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;

// Markdown that shows the text as it is; what it has in backticks, and names with underscores, as code.
function plain(text, names) {
    return text
        .split(/(`[^`]+`|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b)/)
        .map((part, i) => {
            if (i % 2 && (part.startsWith('`') || names.has(part))) return part.startsWith('`') ? part : code(part);
            return part.replace(/[\\*_[\]<>&|~#]/g, (sign) => `\\${sign}`);
        })
        .join('');
}

function number(x) {
    if (x === 0 || !Number.isFinite(x)) return String(x);
    const [size, inverse] = [Math.abs(x), Math.round(1 / x)];
    if (size < 1 && String(x).length > 8 && Math.abs(inverse * x - 1) < 1e-12) return `1/${inverse}`;
    if (size >= 1e6 || size < 1e-3) {
        const short = x.toExponential().replace('e+', 'e');
        if (short.length < 9) return short;
    }
    return Number.isInteger(x) ? x.toLocaleString('en') : String(x);
}

const valueText = (value) =>
    Array.isArray(value)
        ? `[${value.map(number).join(', ')}]`
        : typeof value === 'number'
          ? number(value)
          : JSON.stringify(value);

const ITEMS = /^(?:array of|one of): (.*)$/;

// The words that a value may be.
function wordsOf({ type, choices }) {
    const named = ITEMS.exec(type);
    return choices ?? (named ? named[1].split(', ') : []);
}

// A description whose sentences begin with the words that a value may be, such as "free: as fast as possible.", as
// paragraphs and items: [{text, label}]. An item ends with its sentence.
export function partsOf(description, words) {
    const word = `(?:${words.map((one) => one.replace(/[+]/g, '\\+')).join('|')})`;
    const label = new RegExp(`(^|[.;] )(${word}(?:(?:, | and )${word})*(?: \\([^)]*\\))?): `, 'g');
    const marks = words.length ? [...description.matchAll(label)] : [];
    const parts = [];
    const add = (text, found) => text.trim() && parts.push({ text: text.trim(), label: found });
    add(description.slice(0, marks.length ? marks[0].index + marks[0][1].length : undefined));
    marks.forEach((mark, i) => {
        const next = marks[i + 1];
        const text = description.slice(mark.index + mark[0].length, next ? next.index + next[1].length : undefined);
        const end = new RegExp(`(?<! )\\. (?=[A-Z]|[a-z]+_|${word}\\b)`).exec(text);
        add(end ? text.slice(0, end.index + 1) : text, mark[2]);
        if (end) add(text.slice(end.index + 1));
    });
    return parts;
}

function describe(row, names) {
    const words = wordsOf(row);
    const labels = (text) => text.replace(/[a-z_+-][\w+-]*/g, (word) => (words.includes(word) ? code(word) : word));
    const item = (label, text) => `- ${labels(label)}: ${plain(text.replace(/;$/, '.'), names)}`;
    return partsOf(row.description, words)
        .map(({ label, text }) => (label ? item(label, text) : `\n${plain(text, names)}\n`))
        .join('\n')
        .trim();
}

function linkTo(table, context) {
    const page = context.place.get(table);
    return `[${code(table)}](${page.name}.md#${table.toLowerCase().replace(/[^a-z0-9_-]/g, '')})`;
}

// What a value is, in words.
function typeText(row, context) {
    const { type, table, choices, refers, direction, shape } = row;
    const words = (choices ?? []).map(code);
    const refered = refers ? `of ${code(refers)}` : '';
    const many = shape.maxItems ?? row.default?.length;
    switch (type) {
        case 'choice':
            return words.length === 1 ? words[0] : `one of ${words.join(', ')}`;
        case 'boolean':
            return listed(['true', 'false', ...words]);
        case 'vector':
            return `${many ?? 3} numbers${direction ? ', a direction of any length above 0' : ''}`;
        case 'integers':
            return `${many ?? 3} integers`;
        case 'object':
            return table ? listed([`object ${linkTo(table, context)}`, ...words]) : 'object';
        case 'array':
            return `array of ${linkTo(table, context)}`;
        case 'map':
            return `object of ${linkTo(table, context)} by name`;
        case 'reference':
            return `name ${refered}`;
        default:
            return /^["[{]|^\d/.test(type) ? code(type) : plain(type, context.names);
    }
}

function rangeText(row) {
    const least = row.exclusive_minimum === undefined ? row.minimum : row.exclusive_minimum;
    const each = row.type === 'vector' || row.type === 'integers' ? ' each' : '';
    if (row.max_items !== undefined) return `${number(row.min_items)} to ${number(row.max_items)} members`;
    if (row.max_bytes !== undefined) return `${number(row.min_bytes)} to ${number(row.max_bytes)} bytes`;
    if (row.maximum === undefined || row.direction) return '';
    const { maxItems, maxProperties } = row.shape;
    if ([maxItems, maxProperties].includes(row.maximum)) return `at most ${number(row.maximum)} members`;
    if (row.exclusive_minimum !== undefined) return `above ${number(least)}, at most ${number(row.maximum)}${each}`;
    return `${number(least)} to ${number(row.maximum)}${each}`;
}

function defaultText(row, context) {
    if (row.required) return '**required**';
    if (row.default_text !== undefined) return `default: ${plain(row.default_text, context.names)}`;
    if (row.default === null || row.default === undefined) return '';
    return `default ${code(valueText(row.default).replace(/^"(.*)"$/, '$1'))}`;
}

const unitText = ({ unit }) => (unit && unit !== '1' ? `unit: ${unit.replaceAll('*', '\\*')}` : '');

function keyText(table, row, context) {
    const id = `${table.name}.${row.key}`;
    const facts = [typeText(row, context), unitText(row), defaultText(row, context), rangeText(row)];
    const scenes = context.uses.get(id) ?? [];
    const examples = scenes.slice(0, EXAMPLES).map((scene) => context.sceneLink(scene));
    const more = scenes.length > EXAMPLES ? ` and ${scenes.length - EXAMPLES} more` : '';
    return [
        `<dt id="${id}">`,
        `**[${code(row.key)}](#${id})** · ${facts.filter(Boolean).join(' · ')}`,
        '</dt>\n<dd>',
        describe(row, context.names),
        ...(scenes.length && scenes.length < context.scenes ? [`Used in ${examples.join(', ')}${more}.`] : []),
        '</dd>',
    ].join('\n\n');
}

// What binds keys of a table together, as the schema says it.
function rulesText({ rules, keys }) {
    const lines = [];
    const names = (words, last) => listed(words.map(code), last);
    if (rules.oneOf) lines.push(`Exactly one of ${names(rules.oneOf.flatMap(({ required }) => required))}.`);
    if (rules.anyOf) lines.push(`At least one of ${names(rules.anyOf.flatMap(({ required }) => required))}.`);
    if (rules.not?.required) lines.push(`Not both ${names(rules.not.required, 'and')}.`);
    for (const [key, needed] of Object.entries(rules.dependentRequired ?? {})) {
        lines.push(`${code(key)} only with ${names(needed, 'and')}.`);
    }
    for (const [key, { properties }] of Object.entries(rules.dependentSchemas ?? {})) {
        lines.push(`With ${code(key)}: no ${names(Object.keys(properties))}.`);
    }
    const needed = keys.filter(({ required }) => required).map(({ key }) => key);
    if (needed.length) lines.push(`Required: ${names(needed, 'and')}.`);
    return lines.join(' ');
}

function tableText(table, context) {
    const paths = context.paths.get(table.name);
    const where = paths.length ? `Path: ${listed([...new Set(paths)].map(code), 'and')}.` : '';
    return [
        `## ${code(table.name)}`,
        `${plain(table.doc, context.names)} ${where}`.trim(),
        rulesText(table),
        '<dl class="keys">',
        ...table.keys.map((row) => keyText(table, row, context)),
        '</dl>',
    ]
        .filter(Boolean)
        .join('\n\n');
}

// ---- pages ----

// Which methods support what.
function supportText({ carries, materials, obstacle_methods: obstacles }) {
    const yes = (is) => (is ? 'yes' : 'no');
    const rows = Object.entries(carries).map(([method, one]) => {
        const models = one.materials.length === materials.length ? 'all' : one.materials.map(code).join(', ') || 'none';
        const ways = ['hard', 'energy'].filter((way) => obstacles[way].includes(method)).map(code);
        return [
            code(method),
            models,
            ways.join(', ') || 'none',
            yes(one.hard_constraints),
            yes(one.inextensible_edges),
            yes(one.contact),
        ];
    });
    const head = ['method', 'materials', 'obstacles', 'hard constraints', 'inextensible edges', 'contact'];
    const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
    return `## What each method supports\n\n${lines.join('\n')}`;
}

function limitsText(limits) {
    const n = (key) => limits[key].toLocaleString('en');
    return `## Limits of a scene

- ${n('bytes')} bytes of JSON, ${n('steps')} steps, ${n('labels')} labels
- ${n('inline_mesh_numbers')} numbers of an inline mesh, ${n('cells')} cells of a generated one
- ${n('indices')} indices of a selection, ${n('uploads')} mesh files`;
}

function overviewText(context) {
    const rows = PAGES.slice(1).map(({ name, title, tables: [first] }) => {
        const keys = [...context.place].filter(([, page]) => page.name === name);
        const count = keys.reduce((sum, [table]) => sum + context.tables.get(table).keys.length, 0);
        return `| [${title}](${name}.md) | ${linkTo(first, context)} | ${count} |`;
    });
    return `| page | begins with | keys |\n| --- | --- | --- |\n${rows.join('\n')}

[All keys](reference-keys.md) lists them from A to Z. A number without a unit has none. A key that is not listed is
rejected, with the nearest one that is. \`pliant capabilities\` prints the same tables, \`pliant schema\` a JSON Schema
of them. A line such as "Used in \`chain\`" names scenes of the [gallery](gallery.md) that give the key.`;
}

function indexText(context) {
    const rows = [...context.tables.values()]
        .flatMap(({ name, keys }) => keys.map(({ key }) => ({ key, table: name })))
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.table < b.table ? -1 : 1));
    const byKey = Map.groupBy?.(rows, ({ key }) => key) ?? grouped(rows);
    return [...byKey]
        .map(([key, all]) => {
            const links = all.map(({ table }) => `[${table}](${context.place.get(table).name}.md#${table}.${key})`);
            return `- ${code(key)} of ${links.join(', ')}`;
        })
        .join('\n');
}

function grouped(rows) {
    const byKey = new Map();
    for (const row of rows) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row]);
    return byKey;
}

// Words that are code wherever they stand in a text.
function namesOf(tables) {
    const rows = [...tables.values()].flatMap(({ keys }) => keys);
    return new Set([...rows.map(({ key }) => key), ...rows.flatMap(wordsOf)]);
}

export async function pages({ root, build }, { sceneLink } = {}) {
    const document = printed(build);
    const tables = tablesOf(document);
    const gallery = sceneLink ?? (await import('./gallery.mjs')).sceneLink(root);
    const scenes = readdirSync(join(root, 'clients/scenes')).filter((file) => file.endsWith('.json')).length;
    const context = {
        tables,
        scenes,
        place: placed(tables),
        paths: pathsOf(tables),
        uses: usesOf(tables, root),
        names: namesOf(tables),
        sceneLink: gallery,
    };
    const made = PAGES.map(({ name, title, text }) => {
        const own = [...context.place].filter(([, page]) => page.name === name).map(([table]) => tables.get(table));
        const parts = [text, ...(name === 'reference' ? [overviewText(context)] : [])];
        parts.push(...own.map((table) => tableText(table, context)));
        if (name === 'reference') parts.push(limitsText(document.capabilities.scene_limits));
        if (name === 'reference-solver') parts.push(supportText(document.capabilities));
        return { name, title, group: GROUP, markdown: `${parts.join('\n\n')}\n` };
    });
    made.push({ name: 'reference-keys', title: 'All keys', group: GROUP, markdown: `${indexText(context)}\n` });
    return { pages: made, assets: [] };
}
