// Shared by the dashboard's tests: a daemon on loopback with a temporary state, Chromium, and the last line that
// tests/run-tests reads. A test is an async function; everything that it opens is closed after it.
import { spawn } from 'node:child_process';
import {
    closeSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    openSync,
    readFileSync,
    readdirSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const build = resolve(process.env.PLIANT_BUILD ?? 'build');
const seen = resolve('build/web/seen');
const { chromium } = createRequire(join(process.env.PLIANT_RIG, 'package.json'))('playwright-core');
// Timeouts for hanging tests, far beyond what a busy machine needs: the slowest test takes some 10 s.
const PATIENCE_MS = 120000,
    TEST_MS = 480000;

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// The condition's value once it is truthy; fails after a while.
export async function until(condition, what, ms = PATIENCE_MS) {
    let pause = 25;
    for (const end = Date.now() + ms; ; pause = Math.min(1.2 * pause, 100)) {
        const value = await condition();
        if (value) return value;
        if (Date.now() > end) throw new Error(`waited ${ms / 1000} s for ${what}`);
        await sleep(pause);
    }
}

export function check(holds, what) {
    if (!holds) throw new Error(what);
}

// ---- scenes ----------------------------------------------------------------------------------------

// A box that falls on the floor, small enough to be drawn by a processor.
export function scene(more = {}) {
    return {
        pliant: 1,
        name: 'falls',
        time: { step: 0.01, steps: 60 },
        solver: { method: 'gradient_descent', iterations: 4 },
        materials: { rubber: { young: 1e5, poisson: 0.3, density: 1000 } },
        bodies: [
            {
                name: 'box',
                material: 'rubber',
                mesh: { box: { size: [1, 1, 1], cells: [3, 3, 3] } },
                transform: { translate: [0, 2, 0] },
            },
        ],
        obstacles: [{ name: 'floor', plane: { normal: [0, 1, 0], offset: 0 } }],
        ...more,
    };
}

// One that goes on in real time until it is stopped, held at one side.
export function endless(more = {}) {
    return scene({
        name: 'goes on',
        time: { step: 0.02, pace: 'realtime' },
        pins: [
            {
                name: 'hand',
                body: 'box',
                select: { side: '-x' },
                motion: { axis: [1, 0, 0], degrees_per_second: 90 },
            },
        ],
        ...more,
    });
}

// ---- a daemon --------------------------------------------------------------------------------------

export class Daemon {
    constructor(options = []) {
        this.directory = mkdtempSync(join(tmpdir(), 'pliant-web-'));
        this.state = join(this.directory, 'state');
        this.options = options;
        this.port = 0;
    }

    // On the port that it had before, where a page looks for it: who else was given that meanwhile has it for a moment.
    async start() {
        const log = join(this.directory, 'log');
        const there = () => existsSync(join(this.state, 'url'));
        rmSync(join(this.state, 'url'), { force: true }); // a killed daemon leaves its own
        await until(async () => {
            const out = openSync(log, 'w');
            this.process = spawn(
                join(build, 'pliantd'),
                ['--listen', `127.0.0.1:${this.port}`, '--state', this.state, '--cores', '2']
                    .concat(['--no-pin', '--memory-groups', 'off', '--log-level', 'warn'], this.options),
                { stdio: ['ignore', out, out] },
            );
            closeSync(out);
            await until(() => there() || this.process.exitCode !== null, 'the daemon');
            if (there()) return true;
            const said = readFileSync(log, 'utf8');
            check(this.port && said.includes('in use'), `the daemon did not start: ${said}`);
            return false;
        }, `port ${this.port}`);
        this.url = readFileSync(join(this.state, 'url'), 'utf8').trim();
        this.port = Number(new URL(this.url).port);
        this.token = readFileSync(join(this.state, 'token'), 'utf8').trim();
        return this;
    }

    // Ends it; sessions that run go on without it.
    async end(signal = 'SIGTERM') {
        if (!this.process || this.process.exitCode !== null || this.process.signalCode) return;
        const gone = new Promise((done) => this.process.once('exit', done));
        this.process.kill(signal);
        await gone;
    }

    async call(method, path, body, headers = {}) {
        const reply = await fetch(this.url + path, {
            method,
            headers: {
                Authorization: `Bearer ${this.token}`,
                ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
                ...headers,
            },
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const text = await reply.text();
        const value = text && reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
        if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
        return value;
    }

    submit(what = scene()) {
        return this.call('POST', '/v1/sessions', what);
    }

    async state_of(id) {
        return (await this.call('GET', `/v1/sessions/${id}`)).state;
    }

    async over(id) {
        const end = ['succeeded', 'failed', 'rejected', 'cancelled'];
        return until(async () => {
            const session = await this.call('GET', `/v1/sessions/${id}?wait=5`);
            return end.includes(session.state) && session;
        }, `the end of ${id}`);
    }

    // The process that runs a session.
    worker(id) {
        const found = readdirSync('/proc').find((pid) => {
            if (!/^\d+$/.test(pid)) return false;
            try {
                const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
                return words[0].endsWith('pliant-worker') && words.some((word) => word.includes(id));
            } catch {
                return false; // it has ended meanwhile
            }
        });
        check(found, `session ${id} has no worker`);
        return Number(found);
    }

    async loginUrl() {
        return (await this.call('POST', '/v1/login/codes')).url;
    }

    // Without its sessions and their workers, also where a test has ended it.
    async clear() {
        if (this.process?.exitCode !== null || this.process?.signalCode) await this.start();
        const { items } = await this.call('GET', '/v1/sessions?limit=500');
        await Promise.all(items.map(({ id }) => this.call('DELETE', `/v1/sessions/${id}`)));
        await until(
            async () => (await this.call('GET', '/v1/sessions')).items.length === 0,
            'the end of its sessions',
        );
    }

    // Nothing of it stays: sessions, their workers, the state.
    async close() {
        try {
            await this.clear();
        } finally {
            await this.end();
            rmSync(this.directory, { recursive: true, force: true });
        }
    }
}

// ---- a browser -------------------------------------------------------------------------------------

const FLAGS = [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-gpu-compositing', // without a card it is the slower way: 62 instead of 84 s of view_test
    '--hide-scrollbars',
    '--force-color-profile=srgb',
];
let browser = null;

// A page with its own cookies. What it says in its console as a warning or an error is in `said`.
export async function open(daemon, { url, allow = [], ...options } = {}) {
    browser ??= await chromium.launch({
        executablePath: process.env.CHROMIUM,
        args: FLAGS,
        timeout: PATIENCE_MS,
    });
    const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce', // runs that are over stand still at their last frame
        ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.said = [];
    const say = (text) => allow.some((known) => known.test(text)) || page.said.push(text);
    page.on('console', (message) => {
        const fromDriver = /GPU stall|GL Driver Message/.test(message.text());
        if (['error', 'warning'].includes(message.type()) && !fromDriver) {
            say(`${message.text()} ${message.location().url}`);
        }
    });
    page.on('pageerror', (error) => say(`${error.message}\n${error.stack}`));
    page.elsewhere = [];
    page.on('request', (request) => {
        const asked = new URL(request.url());
        const ours = asked.protocol === 'blob:' || asked.protocol === 'data:' || asked.origin === daemon.url;
        if (!ours) page.elsewhere.push(request.url());
    });
    await page.goto(url ?? (await daemon.loginUrl()));
    return page;
}

export async function quiet(page) {
    check(page.said.length === 0, `the console says: ${page.said.join('\n')}`);
    check(page.elsewhere.length === 0, `it asks elsewhere: ${page.elsewhere.join(' ')}`);
}

// For people to look at: build/web/seen/NAME.png
export async function shot(page, name) {
    mkdirSync(seen, { recursive: true });
    const bytes = await page.screenshot();
    writeFileSync(join(seen, `${name}.png`), bytes);
    return bytes;
}

// ---- a program of tests ----------------------------------------------------------------------------

function within(promise, ms) {
    let timer;
    const late = new Promise((_, fail) => {
        timer = setTimeout(() => fail(new Error(`it took longer than ${ms / 1000} s`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// tests: {name: async (daemon) => ...}; all with one daemon, which has no session when a test begins. With ONLY
// those whose names hold that; with TIMES each one's seconds are told. A test may take `ms`.
export async function run(tests, { options = [], ms = TEST_MS } = {}) {
    const only = process.env.ONLY;
    const names = Object.keys(tests).filter((name) => !only || name.includes(only));
    let failures = 0,
        daemon = null;
    const leave = async () => {
        await daemon?.close().catch((error) => console.log(`the daemon's end: ${error.message}`));
        daemon = null;
    };
    for (const signal of ['SIGTERM', 'SIGINT']) {
        process.once(signal, () => leave().finally(() => process.exit(1)));
    }
    for (const name of names) {
        const begun = Date.now();
        try {
            daemon ??= await new Daemon(options).start();
            await within(tests[name](daemon), ms);
        } catch (error) {
            failures++;
            console.log(`${basename(process.argv[1])}:F:${name}: ${error.stack}`);
            for (const [i, context] of (browser?.contexts() ?? []).entries()) {
                for (const page of context.pages()) {
                    await shot(page, `failed-${name}-${i}`).catch(() => {});
                    const text = await page.locator('body').innerText().catch((gone) => gone.message);
                    console.log(`${page.url()} shows: ${text.replace(/\s+/g, ' ').slice(0, 2000)}`);
                    if (page.said?.length) console.log(page.said.join('\n'));
                }
            }
        }
        for (const context of browser?.contexts() ?? []) {
            // A handler of requests that is still at work would fail when its page closes.
            for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
            await context.close();
        }
        await daemon?.clear().catch(leave);
        if (process.env.TIMES) console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s  ${name}`);
    }
    await browser?.close();
    await leave();
    const percent = names.length ? Math.floor((100 * (names.length - failures)) / names.length) : 0;
    console.log(`${percent}%: Checks: ${names.length}, Failures: ${failures}, Errors: 0`);
    process.exit(failures ? 1 : 0);
}

export const bundle = () => readdirSync(resolve('build/web/dist/assets'));

// ---- the editor of scenes ----------------------------------------------------------------------------

const sceneText = (page) => page.getByLabel('The scene as JSON');

export const textOf = (page) => sceneText(page).evaluate((content) => content.cmTile.view.state.doc.toString());

// All of it by another text, as by Ctrl-A and Ctrl-V.
export async function writeText(page, text) {
    await sceneText(page).focus();
    await page.keyboard.press('Control+a');
    await sceneText(page).evaluate((content, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', pasted);
        content.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, text);
}

// The cursor behind a part of the text.
export async function goBehind(page, part) {
    await sceneText(page).evaluate((content, found) => {
        const { view } = content.cmTile;
        view.focus();
        view.dispatch({ selection: { anchor: view.state.doc.toString().indexOf(found) + found.length } });
    }, part);
}

// ---- pictures --------------------------------------------------------------------------------------

// What a part of the page looks like, as 48 x 32 grey values from 0 to 255.
export async function look(page, locator) {
    return page.evaluate(
        async ([png, width, height]) => {
            const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const context = new OffscreenCanvas(width, height).getContext('2d');
            context.drawImage(bitmap, 0, 0, width, height);
            const { data } = context.getImageData(0, 0, width, height);
            return Array.from(
                { length: width * height },
                (_, i) => (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 3,
            );
        },
        [(await locator.screenshot()).toString('base64'), 48, 32],
    );
}

// How many of them are clearly other ones.
export const changed = (a, b) => a.filter((value, i) => Math.abs(value - b[i]) > 6).length;

// The middle of what is blue, as pins are: [x, y] in the part of the page; null where nothing is.
export async function pinIn(page, locator) {
    return page.evaluate(
        async (png) => {
            const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const { width, height } = bitmap;
            const context = new OffscreenCanvas(width, height).getContext('2d');
            context.drawImage(bitmap, 0, 0);
            const { data } = context.getImageData(0, 0, width, height);
            const is = (x, y) => data[4 * (y * width + x) + 2] - data[4 * (y * width + x)] > 90;
            let most = 0,
                place = null;
            for (let y = 3; y < height - 3; y++) {
                for (let x = 3; x < width - 3; x++) {
                    if (!is(x, y)) continue;
                    let count = 0;
                    for (let j = -3; j <= 3; j++) for (let i = -3; i <= 3; i++) count += is(x + i, y + j);
                    if (count > most) [most, place] = [count, [x, y]];
                }
            }
            return place;
        },
        (await locator.screenshot()).toString('base64'),
    );
}

// How many pixels of a part of the page are about that colour, [red, green, blue]; or `warm`, as the first body is, or
// `clear`, as it is where nothing lies before it.
export async function count(page, locator, colour) {
    return page.evaluate(
        async ([png, wanted]) => {
            const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
            context.drawImage(bitmap, 0, 0);
            const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
            const [r, g, b] = wanted;
            const near = (i) => Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 90;
            const least = { warm: 90, clear: 130 }[wanted];
            const is = least ? (i) => data[i] - data[i + 2] > least : near;
            let found = 0;
            for (let i = 0; i < data.length; i += 4) found += is(i);
            return found;
        },
        [(await locator.screenshot()).toString('base64'), colour],
    );
}
