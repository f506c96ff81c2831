// Accessibility: axe on every page, use by the keyboard alone, and by fingers on a phone. axe finds what a program can
// find; `PLIANT_LONG=1` runs it in both themes at both sizes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DESKTOP, PHONE, fill, go, visit, visitAsStranger } from './pages.mjs';
import { check, endless, open, pinIn, quiet, run, shot, sleep, until } from './rig.mjs';
import { canvasOf, frameOf, shownBox, watch } from './watching.mjs';

const AXE = readFileSync(join(process.env.PLIANT_RIG, 'node_modules/axe-core/axe.min.js'), 'utf8');
const FINGER = 44; // px
const TOUCH = { ...PHONE, viewport: { width: 390, height: 844 } };
// axe's serious and critical findings, one per line.
async function faults(page, place) {
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
    const { violations } = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ['violations'], preload: false }),
    );
    return violations
        .filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .map(({ id, nodes }) => {
            const targets = nodes.slice(0, 4).map(({ target, any }) => `${target} ${any[0]?.message ?? ''}`);
            return `${place}: ${id}, ${nodes.length} times: ${targets.join('; ')}`;
        });
}

// What can be touched and is smaller than a finger; links in running text are not meant.
const tooSmall = (page) =>
    page.evaluate((least) => {
        const inText = (one) => one.tagName === 'A' && getComputedStyle(one).display === 'inline' &&
            one.closest('p, td, dd') && one.parentElement.textContent.trim() !== one.textContent.trim();
        return [...document.querySelectorAll('a[href], button, select, input, textarea, summary')]
            .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !inText(one))
            .filter((one) => getComputedStyle(one).pointerEvents !== 'none')
            .map((one) => (one.tagName === 'INPUT' ? (one.closest('label') ?? one) : one))
            .map((one) => ({ one, box: one.getBoundingClientRect() }))
            .filter(({ box }) => box.width < least - 0.5 || box.height < least - 0.5)
            .map(({ one, box }) => {
                const words = (one.ariaLabel ?? one.textContent).slice(0, 20);
                return `${one.tagName} ${one.className} “${words}” ${box.width} x ${box.height}`;
            });
    }, FINGER);

// Touch events of a page: [type, place of each finger on it].
async function send(page, events) {
    const cdp = await page.context().newCDPSession(page);
    for (const [type, ...places] of events) {
        const touchPoints = places.map(([x, y], id) => ({ x, y, id }));
        await cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    }
    await cdp.detach();
}

// A finger, from the first place to the last.
const touch = (page, [first, ...others]) =>
    send(page, [['touchStart', first], ...others.map((place) => ['touchMove', place]), ['touchEnd']]);

const beside = ([x, y], dx, dy) => [x + dx, y + dy];
const idOf = (page) => /#\/sessions\/([^?]+)/.exec(page.url())?.[1];

async function controlsOf(daemon, id, kind) {
    const { items } = await daemon.call('GET', `/v1/sessions/${id}/controls`);
    return items.flatMap(({ control }) => control[kind] ?? []);
}

async function axe(daemon, colorScheme, device) {
    const found = [];
    const options = { ...device, colorScheme };
    const page = await open(daemon, options);
    await page.locator('.gallery li').first().waitFor();
    found.push(...(await faults(page, 'no session')));
    const ids = await fill(daemon);
    await visit(page, ids, async (place) => {
        found.push(...(await faults(page, place)));
        await shot(page, `${colorScheme}-${device === PHONE ? 'phone' : 'desktop'}-${place.replaceAll(/\W+/g, '-')}`);
    });
    const openPage = (url) => open(daemon, { ...options, url });
    await visitAsStranger(daemon, ids, openPage, async (place, stranger) => {
        found.push(...(await faults(stranger, place)));
    });
    check(found.length === 0, `axe finds\n${found.join('\n')}`);
    await quiet(page);
}

const tests = {
    axe_finds_nothing_by_day: (daemon) => axe(daemon, 'light', DESKTOP),
    axe_finds_nothing_on_a_phone_at_night: (daemon) => axe(daemon, 'dark', PHONE),

    async the_keyboard_is_enough(daemon) {
        const { id } = await fill(daemon);
        const page = await watch(daemon, id);
        const focused = (what) => page.evaluate((get) => document.activeElement[get], what);
        // The tabs are one stop of the tab key; arrows move along them, and do not change the frame.
        await page.getByRole('tab', { name: 'values' }).focus();
        await page.keyboard.press('ArrowRight');
        await page.getByRole('tab', { name: 'scene', selected: true }).waitFor();
        check((await focused('textContent')) === 'scene', `the focus is on ${await focused('textContent')}`);
        check((await frameOf(page)) === 20, 'the frame has moved');
        await page.keyboard.press('Tab');
        check((await focused('tagName')) !== 'BUTTON', 'each tab is a stop');
        // The page of keys keeps the focus until it is closed.
        await page.locator('.view canvas').focus();
        await page.keyboard.press('?');
        const help = page.getByRole('dialog', { name: 'Keys' });
        await help.waitFor();
        check(await help.evaluate((sheet) => sheet.scrollTop === 0), 'the page of keys begins in its middle');
        for (let k = 0; k < 4; k++) {
            await page.keyboard.press('Tab');
            const outside = await page.evaluate(
                () => !document.activeElement.closest('dialog') && document.activeElement !== document.body,
            );
            check(!outside, 'the focus leaves the page of keys');
        }
        await page.keyboard.press('Escape');
        await help.waitFor({ state: 'detached' });
        // A change of state is announced, and the page's title has the session's name.
        await page.getByRole('status').getByText('falls succeeded').waitFor({ state: 'attached' });
        check((await page.title()) === 'falls · Pliant', await page.title());
        await quiet(page);
    },

    async a_finger_is_enough(daemon) {
        const ids = await fill(daemon);
        const page = await open(daemon, PHONE);
        const found = [];
        await visit(page, ids, async (place) => {
            const small = await tooSmall(page);
            found.push(...small.map((one) => `${place}: ${one}`));
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            if (wide > 360) found.push(`${place} is ${wide} wide`);
        });
        check(found.length === 0, `too small for a finger:\n${found.join('\n')}`);
        await go(page, `/sessions/${ids.id}`);
        await page.locator('.view canvas').waitFor();
        check(!(await page.locator('.list').isVisible()), 'the list is beside the view');
        await page.getByRole('link', { name: 'All sessions' }).click();
        await page.locator('.list').waitFor();
        check((await page.locator('.view').count()) === 0, 'the view is below the list');
        const hint = await page.getByLabel('Filter sessions').getAttribute('placeholder');
        check(!hint.includes('/'), `a phone has no key for ${hint}`);
        await quiet(page);
    },

    // A vertex is picked, read, released, grabbed and pulled, all by touches of the screen.
    async a_finger_is_enough_for_a_vertex(daemon) {
        const { id } = await daemon.submit(endless({ gravity: [0, 0, 0], obstacles: [], pins: [] }));
        const page = await watch(daemon, id, TOUCH);
        await shownBox(page);
        const area = await canvasOf(page).boundingBox();
        const middle = [area.x + area.width / 2, area.y + area.height / 2];
        const picked = page.locator('.picked');
        await touch(page, [middle, beside(middle, 6, 6)]); // a finger rolls
        await picked.getByText(/^box, vertex \d+$/).waitFor();
        await page.locator('.tools select').selectOption('speed');
        await picked.getByText(/^speed [\d.]+/).waitFor();
        const small = await tooSmall(page);
        check(small.length === 0, `too small for a finger:\n${small.join('\n')}`);
        const whole = await picked.evaluate((one) => {
            const { left, right, bottom } = one.getBoundingClientRect();
            return left >= 0 && right <= innerWidth && bottom <= innerHeight;
        });
        check(whole, 'the box of the vertex is not on the screen');
        await shot(page, 'finger-picked');
        await picked.getByRole('button', { name: 'Close' }).tap();
        await picked.waitFor({ state: 'detached' });
        await touch(page, [middle]);
        await picked.getByRole('button', { name: 'grab it' }).tap();
        const branch = await until(() => idOf(page) !== id && idOf(page), 'the branch');
        await until(async () => (await frameOf(page)) > 0, 'a frame of the branch');
        await page.getByText('goes on, held is running').first().waitFor({ state: 'attached' });
        await page.locator('.axes').evaluate((axes) => (axes.style.visibility = 'hidden')); // z is blue
        const [x, y] = await until(() => pinIn(page, canvasOf(page)), 'the vertex in the picture');
        const on = beside([area.x, area.y], x, y);
        await touch(page, [on, beside(on, 0, -20), beside(on, 0, -60)]);
        const pulls = await until(async () => {
            const forces = (await controlsOf(daemon, branch, 'forces')).map(({ force }) => Math.hypot(...force));
            return forces.at(-1) === 0 && Math.max(...forces) > 0 && forces;
        }, 'a pull and its end');
        check(pulls.length > 1, `pulls are ${pulls}`);
        check((await page.evaluate(() => scrollY)) === 0, 'the page scrolls with the vertex');
        await shot(page, 'finger-pulled');
        await quiet(page);
    },

    // In a run that goes on, a tap tells what holds a vertex, and a drag from beside it moves the pin.
    async a_finger_is_enough_for_a_pin(daemon) {
        const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
        const { id } = await daemon.submit(endless({ gravity: [0, 0, 0], obstacles: [], pins }));
        const page = await watch(daemon, id, TOUCH);
        await shownBox(page);
        const area = await canvasOf(page).boundingBox();
        await page.locator('.axes').evaluate((axes) => (axes.style.visibility = 'hidden')); // z is blue
        const [x, y] = await until(() => pinIn(page, canvasOf(page)), 'a pin in the picture');
        const on = beside([area.x, area.y], x, y);
        const held = page.locator('.picked').getByText('held by pin “hand”: drag it');
        for (const [dx, dy] of [[0, 0], [4, 0], [8, 0], [0, 4], [4, 4], [0, -4], [4, -4]]) {
            await touch(page, [beside(on, dx, dy)]);
            await sleep(500);
            if (await held.isVisible()) break;
        }
        await held.waitFor();
        check((await controlsOf(daemon, id, 'pins')).length === 0, 'a tap moves the pin');
        const off = beside(on, -16, 0);
        await touch(page, [off, beside(off, -20, 0), beside(off, -40, 0)]);
        await until(async () => (await controlsOf(daemon, id, 'pins')).length > 0, 'a control of the pin');
        check((await page.evaluate(() => scrollY)) === 0, 'the page scrolls with the pin');
        await quiet(page);
    },
};
if (process.env.PLIANT_LONG) {
    tests.axe_finds_nothing_at_night = (daemon) => axe(daemon, 'dark', DESKTOP);
    tests.axe_finds_nothing_on_a_phone_by_day = (daemon) => axe(daemon, 'light', PHONE);
}
await run(tests);
