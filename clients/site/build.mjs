// Writes the documentation site: node clients/site/build.mjs PACKAGES OUT [PROGRAMS]
//   PACKAGES/node_modules  what package-lock.json names, installed
//   OUT/NAME.html          the pages; beside them the sheet and pictures, named by what they hold
//   PROGRAMS               folder of pliant and pliantd, for the modules that ask them
// Prints each fault of the pages and exits with 1 if there are any. The same sources give the same bytes.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { check } from './check.mjs';
import { makeRenderer } from './markdown.mjs';
import { Site } from './pages.mjs';
import { makeTemplate } from './template.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const [packages, out, build] = process.argv.slice(2).map((path) => resolve(path));
const MODULES = ['reference.mjs', 'gallery.mjs'];

const site = new Site(root);
for (const name of MODULES) {
    const path = join(here, name);
    if (!existsSync(path)) continue;
    const { pages } = await import(pathToFileURL(path));
    site.addGenerated(name, await pages({ root, build }));
}

const { render, escapeHtml } = makeRenderer(packages);
for (const page of site.pages.values()) render(site, page);
const template = makeTemplate({
    site,
    escapeHtml,
    style: site.keep('style.css', readFileSync(join(here, 'style.css'))),
    icon: site.keep('icon.svg', readFileSync(join(root, 'clients/web/src/icon.svg'))),
    version: /^VERSION := (.*)$/m.exec(readFileSync(join(root, 'Makefile'), 'utf8'))[1],
});
const files = new Map(site.pictures);
const sources = new Map();
for (const page of site.pages.values()) {
    files.set(`${page.name}.html`, template(page));
    sources.set(`${page.name}.html`, page.file ?? `${page.module}: ${page.name}`);
}

const faults = [...site.faults, ...check(files, sources)];
if (faults.length) {
    console.error(faults.map((fault) => `site: ${fault}`).join('\n'));
    process.exit(1);
}
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [name, bytes] of files) writeFileSync(join(out, name), bytes);
