// Which pages and pictures there are, and where a link leads.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, normalize } from 'node:path';
import { groups } from './navigation.mjs';

// Addresses of the daemon that a page may name.
const DAEMON = /^\/(|openapi\.json|problems(\/[a-z_]+)?|v1\/schema\/scene)$/;

const MISSING = 'missing:'; // in place of an address that is a fault already

export class Site {
    pages = new Map(); // by name, in the order of the navigation
    pictures = new Map(); // what is served beside the pages: name -> bytes
    faults = [];
    #files = new Map(); // file from the root -> its page
    #generated = new Map(); // name that a module gave a picture -> its path

    constructor(root) {
        this.root = root;
        for (const group of groups) this.#readGroup(group);
        for (const name of readdirSync(join(root, 'clients/docs')).sort()) {
            const file = `clients/docs/${name}`;
            if (name.endsWith('.md') && !this.#files.has(file)) {
                this.fault(`${file} is not in clients/site/navigation.mjs`);
            }
        }
    }

    fault(text) {
        this.faults.push(text);
    }

    #readGroup({ title: group, files }) {
        for (const [file, name = basename(file, '.md'), title] of files) {
            if (existsSync(join(this.root, file))) {
                this.#add({ name, title, group, file, markdown: readFileSync(join(this.root, file), 'utf8') });
            } else {
                this.fault(`${file} is in clients/site/navigation.mjs and does not exist`);
            }
        }
    }

    #add(page) {
        if (!/^[a-z0-9][a-z0-9_-]{0,60}$/.test(page.name)) this.fault(`${page.name} is no name of a page`);
        if (this.pages.has(page.name)) return this.fault(`two pages are called ${page.name}`);
        page.title ??= /^# (.*)/.exec(page.markdown)?.[1] ?? page.name;
        this.pages.set(page.name, page);
        if (page.file) this.#files.set(page.file, page);
    }

    // What a module made; its first page is the one that the overview lists.
    addGenerated(module, { pages, assets = [] }) {
        for (const { name, path } of assets) this.#generated.set(name, path);
        pages.forEach(({ name, title, group, markdown, source }, i) => {
            if (!groups.some((one) => one.title === group)) {
                this.fault(`${module}: ${name} is in the group ${group}, which the navigation does not have`);
            }
            this.#add({ name, title, group, markdown, module, listed: i === 0 });
            if (source) this.#files.set(source, this.pages.get(name));
        });
    }

    // Pages by group, without empty groups.
    grouped() {
        return groups
            .map(({ title }) => ({ title, pages: [...this.pages.values()].filter((page) => page.group === title) }))
            .filter(({ pages }) => pages.length > 0);
    }

    // The path from the root that a word of this page names.
    #pathFrom(page, path) {
        return normalize(join(page.file ? dirname(page.file) : '.', path)).replace(/\/$/, '');
    }

    #isFile(path) {
        return !path.startsWith('..') && existsSync(join(this.root, path));
    }

    // The page that a name such as `scene.md`, `deploy/README.md` or, in a generated page, `scene` means.
    #pageOf(page, path) {
        const named = !page.file && this.pages.get(path.replace(/\.(html|md)$/, ''));
        return named || this.#files.get(this.#pathFrom(page, path));
    }

    // {href} for a picture or another site, also {to} for a page; {file} for a file that is no page; a fault otherwise.
    resolve(page, target, where) {
        if (/^(https?|mailto):/.test(target) || DAEMON.test(target)) return { href: target };
        const [path, anchor] = decodeURI(target).split('#');
        const suffix = anchor === undefined ? '' : `#${anchor}`;
        if (!path) return { href: suffix };
        const to = this.#pageOf(page, path);
        if (to) return { href: `${to.name}.html${suffix}`, to };
        if (this.#generated.has(path)) return { href: this.picture(page, path, where) };
        const file = this.#pathFrom(page, path);
        if (this.#isFile(file)) return { file };
        this.fault(`${where}: dead link to ${target}`);
        return { href: MISSING };
    }

    // The page that a piece of code names, as `protocol/README.md` does.
    mentioned(page, text) {
        if (!/^[\w./-]+\.md$/.test(text)) return null;
        const to = this.#files.get(text) ?? this.#files.get(this.#pathFrom(page, text));
        return to && to !== page ? to : null;
    }

    // The address of a picture, which is named by what it holds.
    picture(page, target, where) {
        const path = this.#generated.get(target) ?? join(this.root, this.#pathFrom(page, target));
        if (!existsSync(path) || !statSync(path).isFile()) {
            this.fault(`${where}: missing picture ${target}`);
            return MISSING;
        }
        return this.keep(basename(this.#generated.has(target) ? target : path), readFileSync(path));
    }

    keep(name, bytes) {
        const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 10);
        const kept = `${basename(name, extname(name))}-${hash}${extname(name)}`;
        this.pictures.set(kept, bytes);
        return kept;
    }
}
