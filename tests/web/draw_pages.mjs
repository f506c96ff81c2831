// Every page in both themes, on the desktop and on a phone, beside what it looked like before; for people to look at,
// by hand: BEFORE=COMMIT tests/web/run tests/web/draw_pages.mjs. The earlier dashboard is built from that commit's
// clients/web and gets its data from the same daemon, so only the pages differ. build/web/pages/DEVICE-PAGE.png has
// light and dark, before and now. Without BEFORE there is nothing beside them; ONLY=part-of-a-name chooses a device.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { DESKTOP, PHONE, fill, visit, visitAsStranger } from './pages.mjs';
import { open, run, sleep } from './rig.mjs';

const { BEFORE } = process.env;
const OUT = resolve('build/web/pages'),
    EARLIER = resolve('build/web/before');
const THEMES = ['light', 'dark'];
const PATIENCE_MS = 30000; // an earlier dashboard may lack what is waited for
const DEVICE_MS = 3600000; // for all pages of a device on a busy machine
const STILL_MS = 700; // curves and small pictures come last
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.webp': 'image/webp' };

function buildEarlier() {
    rmSync(join(EARLIER, 'source'), { recursive: true, force: true });
    mkdirSync(join(EARLIER, 'source'), { recursive: true });
    const archive = execFileSync('git', ['archive', BEFORE, 'clients/web'], { maxBuffer: 1 << 28 });
    execFileSync('tar', ['x', '-C', join(EARLIER, 'source')], { input: archive });
    const from = join(EARLIER, 'source/clients/web');
    execFileSync('deploy/build-pages', ['the earlier dashboard', 'web', from, EARLIER], {
        env: { ...process.env, NPM: 'npm' },
        stdio: 'inherit',
    });
}

// The page and its files are the earlier ones, under the same policy.
async function serveEarlier(page, daemon) {
    const { headers } = await fetch(`${daemon.url}/`);
    const policy = { 'content-security-policy': headers.get('content-security-policy') ?? '' };
    const file = (path, type) => (route) =>
        route.fulfill({ body: readFileSync(join(EARLIER, 'dist', path)), contentType: type, headers: policy });
    await page.route(`${daemon.url}/`, file('index.html', 'text/html'));
    await page.route(`${daemon.url}/assets/*`, (route) => {
        const { pathname } = new URL(route.request().url());
        return file(pathname, TYPES[extname(pathname)] ?? 'text/plain')(route);
    });
}

// {page: PNG} of one dashboard.
async function draw(daemon, ids, device, colorScheme, earlier) {
    const pictures = {};
    const openPage = async (url) => {
        const page = await open(daemon, { ...device, colorScheme, url: 'about:blank' });
        if (earlier) await serveEarlier(page, daemon);
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(url);
        return page;
    };
    const look = async (name, page) => {
        await sleep(STILL_MS);
        pictures[name] = await page.screenshot({ fullPage: device === PHONE });
    };
    const say = (name, error) => console.log(`${BEFORE}: ${name}: ${error.message.split('\n')[0]}`);
    const missing = earlier ? say : null;
    await visitAsStranger(daemon, ids, openPage, look, missing);
    const page = await openPage(await daemon.loginUrl());
    await visit(page, ids, (name) => look(name, page), missing);
    await page.context().close();
    return pictures;
}

// One picture of a page's pictures, each with its caption.
async function compose(page, name, shots) {
    const cells = shots.map(([caption, png]) => {
        const picture = png ? `<img src="data:image/png;base64,${png.toString('base64')}">` : '<p>not there</p>';
        return `<figure><figcaption>${caption}</figcaption>${picture}</figure>`;
    });
    const style = 'body { margin: 8px; display: grid; gap: 8px; font: 16px sans-serif; background: #888; }' +
        'body { grid-template-columns: repeat(var(--columns), max-content); } figure { margin: 0; }';
    const columns = name.startsWith('phone') ? shots.length : shots.length / THEMES.length;
    await page.setContent(`<style>${style}</style><body style="--columns:${columns}">${cells.join('')}`);
    writeFileSync(join(OUT, `${name}.png`), await page.screenshot({ fullPage: true }));
}

async function drawDevice(daemon, label, device) {
    mkdirSync(OUT, { recursive: true });
    const ids = await fill(daemon);
    const all = [];
    for (const theme of THEMES) {
        if (BEFORE) all.push([`${theme}, ${BEFORE}`, await draw(daemon, ids, device, theme, true)]);
        all.push([`${theme}, now`, await draw(daemon, ids, device, theme, false)]);
    }
    const page = await open(daemon, { url: 'about:blank', viewport: { width: 2600, height: 1700 } });
    for (const name of Object.keys(all.at(-1)[1])) {
        const shots = all.map(([caption, pictures]) => [caption, pictures[name]]);
        await compose(page, `${label}-${name.replaceAll(/\W+/g, '-')}`, shots);
    }
}

if (BEFORE) buildEarlier();
await run(
    {
        desktop: (daemon) => drawDevice(daemon, 'desktop', DESKTOP),
        phone: (daemon) => drawDevice(daemon, 'phone', PHONE),
    },
    { ms: DEVICE_MS },
);
