// Bundles the dashboard: node clients/web/build.mjs PACKAGES OUT
//   PACKAGES/node_modules  the installed packages of package-lock.json
//   OUT/index.html         the page; OUT/assets/NAME-HASH.* the files that it loads, named by their
//                          contents, also the gallery's pictures (pictures/SCENE.webp)
// The same sources and packages give the same bytes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [packages, out] = process.argv.slice(2).map((path) => resolve(path));
const modules = join(packages, 'node_modules');
const esbuild = createRequire(join(packages, 'package.json'))('esbuild');
const assets = join(out, 'assets');

// A file named by its contents; returns its address.
function keep(name, bytes) {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 10);
    const type = extname(name);
    const file = `${name.slice(0, -type.length)}-${hash}${type}`;
    writeFileSync(join(assets, file), bytes);
    return `/assets/${file}`;
}

// The notices that must accompany the packages in the bundle.
function licences() {
    const { packages: locked } = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8'));
    return Object.entries(locked)
        .filter(([place, { dev }]) => place && !dev && !place.includes('/@types/'))
        .map(([place]) => {
            const name = place.replace('node_modules/', '');
            const folder = join(packages, place);
            const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
            const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
            return `${name} ${version}\n\n${file ? readFileSync(join(folder, file), 'utf8') : ''}`;
        })
        .join('\n----\n\n');
}

rmSync(out, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });
const pictures = Object.fromEntries(
    readdirSync(join(here, 'pictures'))
        .sort()
        .map((name) => [basename(name, '.webp'), keep(name, readFileSync(join(here, 'pictures', name)))]),
);
const built = await esbuild.build({
    absWorkingDir: here,
    entryPoints: ['src/main.jsx'],
    outdir: assets,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    metafile: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    nodePaths: [modules],
    define: { 'process.env.NODE_ENV': '"production"', PICTURES: JSON.stringify(pictures) },
    logLevel: 'warning',
});
// The page names its first script with that script's imports, so that all load at once, and the sheet. The script
// loads its other parts.
const address = {};
const wanted = new Set();
const want = (file) =>
    built.metafile.outputs[file].imports.forEach(({ path, kind }) => {
        if (kind !== 'import-statement' || wanted.has(path)) return;
        wanted.add(path);
        want(path);
    });
for (const [file, { entryPoint, cssBundle }] of Object.entries(built.metafile.outputs)) {
    if (entryPoint !== 'src/main.jsx') {
        // Sheets of the other parts are never loaded, because the page's has all rules.
        if (cssBundle) rmSync(join(assets, basename(cssBundle)));
        continue;
    }
    want(file);
    address['.js'] = `/assets/${basename(file)}`;
    address['.css'] = `/assets/${basename(cssBundle)}`;
}
const preloads = [...wanted].map((file) => `<link rel="modulepreload" href="/assets/${basename(file)}">`);
if (existsSync(join(here, 'src/icon.svg'))) {
    address['.svg'] = keep('icon.svg', readFileSync(join(here, 'src/icon.svg')));
}
address['.txt'] = keep('licences.txt', licences());
const page = readFileSync(join(here, 'src/index.html'), 'utf8');
writeFileSync(
    join(out, 'index.html'),
    page.replace('</head>', `${preloads.join('\n')}\n</head>`).replace(/\{\{(\.\w+)\}\}/g, (_, type) => {
        if (!address[type]) throw new Error(`src/index.html asks for a ${type} file, but the bundle has none`);
        return address[type];
    }),
);
