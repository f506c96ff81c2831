// The list of sessions: its order, what a row tells, and that list and panel agree.
import { check, endless, open, quiet, run, scene, until } from './rig.mjs';

const rows = (page) => page.locator('.list li');
const item = (page, name) => rows(page).filter({ hasText: name });
const names = (page) => page.locator('.list .name').allInnerTexts();
const short = (name, more = {}) => scene({ name, time: { step: 0.01, steps: 3 }, ...more });

await run({
    // Their times are in whole seconds, and IDs are random: the order is that of submission all the same.
    async the_newest_is_first(daemon) {
        const submit = async (from, to) => {
            for (let i = from; i < to; i++) await daemon.submit(short(`n${i}`));
        };
        const expected = (count) => Array.from({ length: count }, (_, i) => `n${count - 1 - i}`).join();
        await submit(0, 8);
        const page = await open(daemon);
        await until(async () => (await names(page)).join() === expected(8), 'eight in order');
        await submit(8, 16);
        await until(async () => (await names(page)).join() === expected(16), 'sixteen in order');
        await page.reload();
        await until(async () => (await names(page)).join() === expected(16), 'the same order');
        await quiet(page);
    },

    // Amber, with how many frames; the age; the owner where there are several.
    async a_row_tells_warnings_age_and_owner(daemon) {
        const solver = { method: 'gradient_descent', iterations: 1, tolerance: 1e-12 };
        const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
        const bad = await daemon.submit(short('doubtful', { solver, pins }));
        const good = await daemon.submit(short('good', { solver: {}, obstacles: [] }));
        await daemon.over(bad.id);
        await daemon.over(good.id);
        const page = await open(daemon);
        await item(page, 'doubtful').getByText('⚠ unconverged in 3 of 3 frames').waitFor();
        const amber = await page.evaluate(() => {
            const probe = document.body.appendChild(document.createElement('i'));
            probe.className = 'paused';
            const { color } = getComputedStyle(probe);
            probe.remove();
            return color;
        });
        const colour = (place) => place.evaluate((one) => getComputedStyle(one).color);
        check((await colour(item(page, 'doubtful').locator('.sign'))) === amber, 'its sign is green');
        check((await colour(item(page, 'good').locator('.sign'))) !== amber, 'the good one is amber');
        await item(page, 'doubtful').locator('a').click();
        const state = page.locator('.panel .state');
        await state.getByText('succeeded').waitFor();
        check((await colour(state)) === amber, 'the panel is green');
        const time = item(page, 'good').locator('time');
        check((await time.innerText()) === 'just now', await time.innerText());
        check((await time.getAttribute('datetime')) === good.created, 'another time');
        check(!(await item(page, 'good').innerText()).includes('owner'), 'the only owner is told');
        const before = new Date(Date.now() - 3 * 3600 * 1000).toISOString();
        await page.route('**/v1/sessions?limit*', async (route) => {
            const response = await route.fetch();
            const json = await response.json();
            Object.assign(json.items[0], { owner: 'mia', created: before });
            await route.fulfill({ response, json });
        });
        await page.reload();
        await item(page, 'good').getByText('3 h ago · mia').waitFor();
        await item(page, 'doubtful').getByText('just now · owner').waitFor();
        await quiet(page);
    },

    // The same number in both at each moment, whoever heard of it first.
    async list_and_panel_agree(daemon) {
        const time = { step: 0.01, steps: 100000, pace: 'realtime' };
        const { id } = await daemon.submit(endless({ name: 'long', time }));
        const page = await open(daemon);
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        await page.locator('.panel .left').waitFor();
        const seen = await page.evaluate(async () => {
            const text = (place) => document.querySelector(place).innerText.trim();
            const found = { all: new Set(), differ: [] };
            for (const end = performance.now() + 60000; found.all.size < 5 && performance.now() < end; ) {
                await new Promise(requestAnimationFrame);
                const list = text('.list .chosen .line'),
                    panel = text('.panel .state .numbers');
                found.all.add(list);
                if (list !== panel || !panel.includes(text('.panel .left'))) found.differ.push(`${list} | ${panel}`);
            }
            return { all: [...found.all], differ: found.differ };
        });
        check(seen.all.length === 5 && seen.all.every((line) => / left · /.test(line)), `it shows ${seen.all}`);
        check(seen.differ.length === 0, `they differ: ${seen.differ.slice(0, 3).join('\n')}`);
        await quiet(page);
    },

    // A branch begins at a time of its own, so its time by its frames is not the length of a frame.
    async a_branch_has_its_own_time_left(daemon) {
        const { id } = await daemon.submit(short('trunk', { time: { step: 0.01, steps: 400 } }));
        await daemon.over(id);
        const time = { step: 0.01, steps: 100000, pace: 'realtime' };
        await daemon.call('POST', `/v1/sessions/${id}/branch`, { frame: 400, scene: { name: 'twig', time } });
        const page = await open(daemon);
        await page.evaluate(() => {
            location.hash = '/machine'; // nothing is open: the list has only its own documents
        });
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        const line = item(page, 'twig').locator('.line').first();
        // 1000 s are left, as it goes at real time; by 4 s in its first second it would be far more.
        const seconds = async () => {
            const [, minutes, rest] = /(\d+):(\d\d) left/.exec(await line.innerText()) ?? [];
            return 60 * minutes + Number(rest);
        };
        await until(async () => Math.abs((await seconds()) - 1000) < 60, 'about 1000 s left');
        await quiet(page);
    },
});
