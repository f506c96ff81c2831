// Accessibility: axe on every page, use by the keyboard alone, and by a finger on a phone. axe finds what a program can
// find; `PLIANT_LONG=1` runs it in both themes at both sizes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DESKTOP, PHONE, fill, go, visit } from './pages.mjs';
import { check, open, quiet, run, shot } from './rig.mjs';
import { frameOf, watch } from './watching.mjs';

const AXE = readFileSync(join(process.env.PLIANT_RIG, 'node_modules/axe-core/axe.min.js'), 'utf8');
const FINGER = 44; // px
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

async function axe(daemon, colorScheme, device) {
    const found = [];
    const options = { ...device, colorScheme };
    const stranger = await open(daemon, { ...options, url: `${daemon.url}/` });
    await stranger.getByRole('button', { name: 'Log in' }).waitFor();
    found.push(...(await faults(stranger, 'login')));
    await stranger.context().close();
    const page = await open(daemon, options);
    await page.locator('.gallery li').first().waitFor();
    found.push(...(await faults(page, 'no session')));
    const ids = await fill(daemon);
    await visit(page, ids, async (place) => {
        found.push(...(await faults(page, place)));
        await shot(page, `${colorScheme}-${device === PHONE ? 'phone' : 'desktop'}-${place.replaceAll(/\W+/g, '-')}`);
    });
    await go(page, '/sessions');
    const boxes = ['select falls, too', 'select falls'].map((name) => page.getByLabel(name, { exact: true }).last());
    for (const box of boxes) await box.check();
    await page.getByRole('button', { name: 'compare', exact: true }).click();
    const bar = page.getByRole('group', { name: 'Compared sessions' });
    await bar.getByRole('button', { name: 'side by side' }).click();
    await page.locator('.pane canvas[data-frame]').nth(1).waitFor();
    found.push(...(await faults(page, 'side by side')));
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    found.push(...(await faults(page, 'keys')));
    const { url } = await daemon.call('POST', `/v1/sessions/${ids.id}/links`, {});
    const guest = await open(daemon, { ...options, url });
    await guest.locator('.view canvas[data-frame="20"]').waitFor();
    found.push(...(await faults(guest, 'share link')));
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
            const small = await page.evaluate((least) => {
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
};
if (process.env.PLIANT_LONG) {
    tests.axe_finds_nothing_at_night = (daemon) => axe(daemon, 'dark', DESKTOP);
    tests.axe_finds_nothing_on_a_phone_by_day = (daemon) => axe(daemon, 'light', PHONE);
}
await run(tests);
