// How fast the dashboard takes frames of 100,352 triangles, and a list of 1,000 sessions: by hand, tests/web/run
// tests/bench/dashboard_bench.mjs.
// `buffers` is from the bytes of a frame to filled buffers, `draw` until the card has its commands, uploads
// included; what SwiftShader then takes to draw is only in the frames a second. `stream` is a frame of all of them by
// one request.
import { open, run, scene, until } from '../web/rig.mjs';

const CELLS = 224,
    FRAMES = 60,
    SECONDS = 5;
const CLOTH = {
    pliant: 1,
    name: '100 k triangles',
    time: { step: 0.01, steps: FRAMES },
    solver: { method: 'quasi_newton', iterations: 3 },
    contact: { enabled: false }, // the cloth hangs in the ball from the start: moved triangles, not a simulation, count
    materials: { cotton: { model: 'arap', young: 1e4, poisson: 0.3, density: 200, thickness: 0.002 } },
    bodies: [{ name: 'cloth', material: 'cotton', mesh: { cloth: { size: [2, 2], cells: [CELLS, CELLS] } } }],
    obstacles: [{ name: 'ball', sphere: { center: [0, -1, 0], radius: 0.5 } }],
};

// Medians over the frames that are shown while the film plays.
function watch(page) {
    return page.evaluate(async (seconds) => {
        const { dataset } = document.querySelector('.view canvas');
        const buffers = [],
            draw = [];
        let last = null;
        for (const end = performance.now() + 1000 * seconds; performance.now() < end; ) {
            await new Promise(requestAnimationFrame);
            if (dataset.frame === last) continue;
            last = dataset.frame;
            buffers.push(Number(dataset.decode));
            draw.push(Number(dataset.draw));
        }
        const median = (list) => list.sort((a, b) => a - b)[list.length >> 1]?.toFixed(1);
        return `${median(buffers)} ms buffers, ${median(draw)} ms draw, ${buffers.length / seconds} frames/s drawn`;
    }, SECONDS);
}

const SESSIONS = 1000,
    AT_ONCE = 16,
    LOADS = 20,
    IN_SIGHT = 11; // rows of the list in a window of 800 pixels

await run({
    async plays_100_k_triangles(daemon) {
        const begun = await open(daemon);
        const { id } = await daemon.submit(CLOTH);
        await daemon.over(id);
        await begun.reload();
        await begun.locator('.list li').first().waitFor();
        const listed = await begun.evaluate(() => performance.now().toFixed(0));
        console.log(`the list is there ${listed} ms after the page was asked for`);
        const page = await open(daemon, { url: `${await daemon.loginUrl()}` });
        await page.goto(`${daemon.url}/#/sessions/${id}`);
        await page.locator('.view canvas[data-frame]').waitFor();
        await page.locator('.timeline [aria-label=Play]').click();
        console.log(`flat, plain: ${await watch(page)}`);
        await page.locator('.tools select').selectOption('displacement');
        console.log(`displacement: ${await watch(page)}`);
        await page.getByRole('button', { name: 'smooth' }).click();
        console.log(`smooth, displacement: ${await watch(page)}`);
        await page.getByRole('button', { name: 'shadow', exact: true }).click();
        console.log(`smooth, displacement, shadows: ${await watch(page)}`);
        await page.locator('.timeline [aria-label=Pause]').click();
        const stream = await page.evaluate(async (path) => {
            const begin = performance.now();
            const bytes = await (await fetch(path)).arrayBuffer();
            return [bytes.byteLength, performance.now() - begin];
        }, `/v1/sessions/${id}/frames?from=0&dtype=u16&vertices=surface&fields=position`);
        const [bytes, ms] = stream;
        console.log(`stream: ${(ms / (FRAMES + 1)).toFixed(1)} ms a frame, ${(bytes / 1e6 / (FRAMES + 1)).toFixed(2)} MB`);
    },

    // From the first request for the list until as many rows as fit are in the page.
    async lists_1000_sessions(daemon) {
        let left = SESSIONS;
        const short = scene({ time: { step: 0.01, steps: 1 } });
        const submit = async () => {
            while (left-- > 0) await daemon.submit({ ...short, name: `session ${left}` });
        };
        await Promise.all(Array.from({ length: AT_ONCE }, submit));
        await until(async () => {
            const { running, queued, checking } = await daemon.call('GET', '/v1/queue');
            return running + queued + checking === 0;
        }, 'the end of all', 600000);
        const page = await open(daemon);
        await page.locator('.list li').first().waitFor();
        await page.addInitScript((least) => {
            new MutationObserver((_, observer) => {
                if (document.querySelectorAll('.list li').length < least) return;
                observer.disconnect();
                requestAnimationFrame(() => setTimeout(() => (window.listed = performance.now())));
            }).observe(document, { childList: true, subtree: true });
        }, IN_SIGHT);
        const drawn = [];
        for (let i = 0; i < LOADS; i++) {
            await page.reload();
            const listed = await until(() => page.evaluate(() => window.listed), 'the list');
            const [asked, newest, all] = await until(
                () =>
                    page.evaluate(() => {
                        const resources = performance.getEntriesByType('resource');
                        const lists = resources.filter(({ name }) => /sessions\?limit/.test(name));
                        const { startTime, responseEnd } = lists[0];
                        return lists.length > 2 && [startTime, responseEnd, lists.at(-1).responseEnd];
                    }),
                'all of it',
            );
            const after = [newest, listed, all].map((time) => (time - asked).toFixed(0));
            drawn.push(Number(after[1]));
            console.log(
                `1,000 sessions: asked for at ${asked.toFixed(0)} ms; the newest are here ${after[0]} later, ` +
                    `drawn ${after[1]}, all are here ${after[2]}`,
            );
        }
        drawn.sort((a, b) => a - b);
        console.log(`drawn after their request: median ${drawn[LOADS >> 1]} ms, longest ${drawn.at(-1)}`);
    },
});
