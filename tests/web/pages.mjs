// Every page of the dashboard, with sessions in it.
import { scene, until } from './rig.mjs';

export const DESKTOP = { viewport: { width: 1280, height: 800 } },
    PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const MISSING_MS = 8000; // until a vertex that may not come is missing
const TOOLS = { cut: 'Section', measure: 'Distance' }; // buttons of the view and what they open

export const go = (page, where) =>
    page.evaluate((hash) => {
        location.hash = hash;
    }, where);

// Several sessions, including a failed one, and a sweep.
export async function fill(daemon) {
    const { id } = await daemon.submit(scene({ name: 'falls', time: { step: 0.02, steps: 20 } }));
    const other = await daemon.submit(scene({ name: 'falls, too', time: { step: 0.02, steps: 20 } }));
    const solver = { method: 'gradient_descent', iterations: 1, tolerance: 1e-12, on_not_converged: 'fail' };
    const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
    const failed = await daemon.submit(scene({ name: 'fails', solver, pins }));
    const sweep = await daemon.call('POST', '/v1/sweeps', {
        name: 'stiffness',
        scene: scene({ time: { step: 0.02, steps: 4 } }),
        parameters: [{ path: '/materials/rubber/young', name: 'young', values: [1e5, 2e5] }],
        results: [{ metric: 'energy/kinetic', name: 'kinetic' }],
    });
    for (const one of [id, other.id, failed.id]) await daemon.over(one);
    await until(
        async () => (await daemon.call('GET', `/v1/sweeps/${sweep.id}`)).state === 'done',
        'the end of the sweep',
    );
    return { id, failed: failed.id, sweep: sweep.id };
}

// A vertex of a body, picked by the keyboard in the middle of the view.
export async function pick(page, ms) {
    await page.locator('.view canvas').focus();
    await page.keyboard.press('f');
    await until(async () => {
        await page.keyboard.press('Enter');
        return page.locator('.picked').isVisible();
    }, 'a picked vertex', ms);
}

// Two sessions in one view, with the bar below it.
async function beside(page) {
    await go(page, '/sessions');
    for (const name of ['falls, too', 'falls']) await page.getByLabel(`select ${name}`, { exact: true }).last().check();
    await page.getByRole('button', { name: 'compare', exact: true }).click();
    const bar = page.getByRole('group', { name: 'Compared sessions' });
    await bar.getByRole('button', { name: 'side by side' }).click();
    await page.locator('.pane canvas[data-frame]').nth(1).waitFor();
}

async function keys(page) {
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
}

// The pages of people without a login, each in a page of its own: `openPage(url)` returns that.
export async function visitAsStranger(daemon, { id }, openPage, look, missing = null) {
    const { url } = await daemon.call('POST', `/v1/sessions/${id}/links`, {});
    const there = {
        login: [`${daemon.url}/`, (page) => page.getByRole('button', { name: 'Log in' }).waitFor()],
        'share link': [url, (page) => page.locator('.view canvas[data-frame="20"]').waitFor()],
    };
    for (const [name, [where, ready]] of Object.entries(there)) {
        const page = await openPage(where);
        try {
            await ready(page);
            await look(name, page);
        } catch (error) {
            if (!missing) throw error;
            missing(name, error);
        }
        await page.context().close();
    }
}

// Every page by its name, one after the other: open it, wait until it is loaded, and inspect it. A page that does not
// come is an error, or goes to `missing(name, error)`.
export async function visit(page, { id, failed, sweep }, look, missing = null) {
    const step = async (name, reach, leave = () => {}) => {
        try {
            await reach();
            await look(name);
            await leave();
        } catch (error) {
            if (!missing) throw error;
            missing(name, error);
        }
    };
    const there = {
        list: ['/sessions', () => page.locator('.list li').first().waitFor()],
        session: [`/sessions/${id}`, () => page.locator('.view canvas[data-frame="20"]').waitFor()],
        'failed session': [`/sessions/${failed}`, () => page.locator('.failure').waitFor()],
        scenes: ['/scenes', () => page.locator('.gallery li').first().waitFor()],
        editor: ['/scenes?draft=1', () => page.locator('.estimate').getByText('ms per frame').waitFor()],
        sweeps: ['/sweeps', () => page.getByRole('link', { name: 'stiffness' }).first().waitFor()],
        sweep: [`/sweeps/${sweep}`, () => page.locator('.rows tbody tr').first().waitFor()],
        runs: ['/runs', () => page.locator('.run-table tbody tr').first().waitFor()],
        machine: ['/machine', () => page.locator('.sums tbody tr').first().waitFor()],
    };
    for (const [name, [where, ready]] of Object.entries(there)) {
        await step(name, async () => {
            await go(page, where);
            await ready();
        });
        if (name !== 'session') continue;
        for (const tab of ['scene', 'log', 'compared', 'share'])
            await step(`${name}, ${tab}`, () => page.getByRole('tab', { name: tab }).click());
        for (const [tool, bar] of Object.entries(TOOLS)) {
            const button = page.getByRole('button', { name: tool, exact: true });
            await step(
                `${name}, ${tool}`,
                async () => {
                    await button.click();
                    await page.getByRole('group', { name: bar }).waitFor();
                },
                () => button.click(),
            );
        }
        const close = page.locator('.picked').getByRole('button', { name: 'Close' });
        await step(`${name}, picked`, () => pick(page, missing ? MISSING_MS : undefined), () => close.click());
    }    await step('side by side', () => beside(page));
    await step('keys', () => keys(page), () => page.keyboard.press('Escape'));
}
