// The page of sweeps: the list, progress, the table, rows over parallel axes, small multiples, and what can be told.
import { check, endless, open, quiet, run, scene, shot, until } from './rig.mjs';

const go = (page, where) =>
    page.evaluate((hash) => {
        location.hash = hash;
    }, where);
const submit = (daemon, sweep) => daemon.call('POST', '/v1/sweeps', sweep);
const done = (daemon, id, state) =>
    until(async () => (await daemon.call('GET', `/v1/sweeps/${id}`)).state === state, `${state}`);

run({
    async a_sweep_is_seen(daemon) {
        const { id } = await submit(daemon, {
            name: 'stiffness and fall',
            scene: scene({ time: { step: 0.01, steps: 40 } }), // some of them land, in too few iterations
            sampling: 'sobol',
            samples: 32,
            parameters: [
                { path: '/materials/rubber/young', name: 'young', min: 1e4, max: 1e6, scale: 'log' },
                { path: '/time/step', name: 'step', min: 0.005, max: 0.02 },
                { path: '/solver/method', name: 'method', values: ['gradient_descent', 'admm'] },
            ],
            results: [{ metric: 'energy/kinetic', name: 'kinetic' }, { metric: 'no/such', name: 'nothing' }],
        });
        const page = await open(daemon);
        await go(page, '/sweeps');
        await page.getByRole('link', { name: 'stiffness and fall' }).click();
        await done(daemon, id, 'done');
        await page.getByRole('img', { name: '32 of 32 succeeded' }).waitFor();
        await page.getByRole('img', { name: '32 rows over 5 axes' }).waitFor();
        const lines = page.locator('.parallel .line');
        check((await lines.count()) === 32, 'a line a row');
        const colours = await lines.evaluateAll((all) => new Set(all.map((one) => one.getAttribute('stroke'))).size);
        check(colours > 3, `lines have ${colours} colours`);
        // Four places: the fifth axis has no value.
        check(((await lines.first().getAttribute('d')).match(/[ML]/g) ?? []).length === 4, 'broken at what is missing');
        check((await page.locator('.multiples circle').count()) === 96, 'each result by each parameter');
        const { items } = await daemon.call('GET', `/v1/sweeps/${id}/results`);
        check((await page.locator('.rows tbody tr').count()) === 32, 'a row each');
        const warned = items.filter(({ warnings }) => warnings.length).length;
        check(warned > 0 && warned < 32, `${warned} rows have warnings`);
        check((await page.locator('.rows td.warned').count()) === warned, 'and are marked');
        await page.getByText(`${warned} with warnings`).waitFor();
        const href = await page.locator('.rows tbody a').nth(3).getAttribute('href');
        check(href.includes(items[3].session), `row 3 leads to ${href}`);
        await page.locator('.rows tbody tr').nth(5).click();
        check((await page.locator('.line.chosen').count()) === 1, 'the row chosen is shown');
        await page.getByRole('combobox', { name: 'colour by' }).selectOption('young');
        check((await page.locator('.multiples').count()) === 0, 'a parameter is no result');
        await page.getByRole('combobox', { name: 'colour by' }).selectOption('kinetic');
        await page.setViewportSize({ width: 1280, height: 1100 });
        await page.locator('main').evaluate((main) => main.scrollTo(0, 0));
        await shot(page, 'sweep');
        await page.setViewportSize({ width: 360, height: 1200 });
        await shot(page, 'sweep-narrow');
        await quiet(page);
    },

    async a_fit_is_seen(daemon) {
        const falls = scene({
            time: { step: 0.01, steps: 5 },
            gravity: [0, -1, 0],
            output: { probes: [{ name: 'height', quantity: 'displacement', component: 'y', body: 'box' }] },
        });
        falls.obstacles = [];
        const points = [1, 2, 3, 4, 5].map((i) => [0.01 * i, -2e-4 * i * (i + 1)]);
        const { id } = await submit(daemon, {
            name: 'fall',
            scene: falls,
            parameters: [{ path: '/gravity/1', name: 'g', min: -20, max: 0 }],
            fit: { measured: [{ probe: 'height', points }] },
        });
        const page = await open(daemon);
        await go(page, `/sweeps/${id}`);
        await done(daemon, id, 'done');
        await page.getByText('The fit has converged').waitFor();
        await page.getByRole('img', { name: '5 measured points of height, and the best run' }).waitFor();
        check((await page.locator('.fit circle').count()) === 5, 'a circle each');
        const said = await page.locator('.fit dd').first().innerText();
        check(Math.abs(Number(said.replace('\u2212', '-')) + 4) < 0.05, `g is ${said}`);
        const { fit } = await daemon.call('GET', `/v1/sweeps/${id}`);
        const href = await page.locator('.fit a').getAttribute('href');
        check(href.includes(fit.best.session), `the best run is ${href}`);
        await shot(page, 'fit');
        await quiet(page);
    },

    async one_is_cancelled_and_run_again(daemon) {
        const { id } = await submit(daemon, {
            name: '<b>hostile</b>',
            scene: endless(),
            csv: '/name\n<i>one</i>\ntwo',
            running: 1,
        });
        const page = await open(daemon);
        await go(page, `/sweeps/${id}`);
        await page.getByRole('button', { name: 'cancel' }).click();
        await done(daemon, id, 'cancelled');
        await page.getByText('1 cancelled, 1 skipped').waitFor();
        check((await page.locator('main b, main i').count()) === 0, 'texts stay texts');
        await page.getByRole('button', { name: 'run 2 again' }).click();
        await done(daemon, id, 'running');
        await page.getByRole('button', { name: 'cancel' }).click();
        await done(daemon, id, 'cancelled');
        page.once('dialog', (dialog) => dialog.accept());
        await page.getByRole('button', { name: 'remove' }).click();
        await until(async () => (await daemon.call('GET', '/v1/sweeps')).items.every((s) => s.id !== id), 'its end');
        await page.getByRole('heading', { name: 'Sweeps' }).waitFor();
        await quiet(page);
    },
});
