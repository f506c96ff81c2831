// Watching a session: moving frames, the scrubber, curves of several sessions, dragging a pin, a failure's reason, a
// daemon that stops and returns, and names that are only ever text.
import {
    changed,
    check,
    count,
    endless,
    look,
    open,
    pinIn,
    quiet,
    run,
    scene,
    shot,
    sleep,
    textOf,
    until,
} from './rig.mjs';
import { canvasOf, frameOf, shownBox, watch } from './watching.mjs';

// The browser logs an error in its console when the daemon is down or starting.
const AWAY = /net::ERR_(CONNECTION|SOCKET|EMPTY|INCOMPLETE)\w*|status of 503/;

const PICKED = [224, 33, 138];

// The vertices of a frame in m, in a row.
async function positionsOf(daemon, id, frame) {
    await until(async () => (await daemon.call('GET', `/v1/sessions/${id}`)).progress.frame >= frame, 'a frame');
    const accept = { Accept: 'application/x-ndjson' };
    const text = await daemon.call('GET', `/v1/sessions/${id}/frames/${frame}`, undefined, accept);
    return (typeof text === 'string' ? JSON.parse(text) : text).position;
}

await run({
    async frames_move(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await watch(daemon, id);
        const first = await shownBox(page);
        const before = await frameOf(page);
        await until(
            async () => changed(first, await look(page, canvasOf(page))) > 10,
            'a change of the picture',
        );
        await until(async () => (await frameOf(page)) > before, 'the number of the frame to follow');
        await page.getByRole('button', { name: 'pause', exact: true }).click();
        await page.locator('.panel .state').getByText('paused').waitFor();
        await page.getByRole('button', { name: 'resume', exact: true }).click();
        await page.locator('.panel .state').getByText('running').waitFor();
        await quiet(page);
    },

    // The reply to a request that the stream overtook.
    async an_older_answer_changes_no_state(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await watch(daemon, id);
        const state = page.locator('.panel .state');
        let held = null;
        await page.route(
            (url) => url.pathname === `/v1/sessions/${id}`,
            async (route) => {
                if (held) return route.continue();
                held = { route };
                held.response = await route.fetch();
            },
        );
        await until(() => held?.response, 'the request that running sessions repeat');
        await page.getByRole('button', { name: 'pause', exact: true }).click();
        await state.getByText('paused').waitFor();
        const arrived = page.waitForEvent('requestfinished', (r) => r === held.route.request());
        await held.route.fulfill({ response: held.response });
        await arrived;
        await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100)));
        check((await state.innerText()).includes('paused'), `it is ${await state.innerText()}`);
        await quiet(page);
    },

    async the_scrubber_is_apart_from_the_solver(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await watch(daemon, id);
        await until(async () => (await frameOf(page)) > 30, 'frames');
        const slider = page.getByRole('slider', { name: 'Frame' });
        await slider.fill('2');
        await until(async () => (await frameOf(page)) === 2, 'frame 2');
        await page.locator('.view canvas[data-frame="2"]').waitFor();
        let still = await look(page, canvasOf(page));
        await until(async () => {
            const before = still;
            still = await look(page, canvasOf(page));
            return changed(before, still) === 0;
        }, 'its picture');
        await sleep(700);
        check((await frameOf(page)) === 2, 'it does not stay where it was put');
        check(changed(still, await look(page, canvasOf(page))) === 0, 'the picture goes on');
        await until(() => /frame=2\b/.test(page.url()), 'the address of frame 2');
        await page.getByRole('button', { name: 'One frame forward' }).click();
        await until(async () => (await frameOf(page)) !== 2, 'a step');
        check((await frameOf(page)) === 3, 'a step goes elsewhere');
        await canvasOf(page).focus();
        await page.keyboard.press('ArrowLeft');
        await until(async () => (await frameOf(page)) === 2, 'a step back by key');
        await page.keyboard.press('l');
        await until(async () => (await frameOf(page)) > 30, 'the newest frame again');
        await quiet(page);
        await page.context().close();
        // An address leads others to the same frame.
        const other = await open(daemon);
        await other.locator('.user').waitFor(); // logged in
        for (const frame of [5, 7]) {
            await other.goto(`${daemon.url}/#/sessions/${id}?frame=${frame}`);
            await until(async () => (await frameOf(other)) === frame, `frame ${frame} by its address`);
        }
        await other.reload();
        await until(async () => (await frameOf(other)) === 7, 'frame 7 by its address');
        await quiet(other);
    },

    async curves_of_two_sessions_are_laid_over(daemon) {
        const [a, b] = [
            await daemon.submit(scene({ name: 'soft' })),
            await daemon.submit(scene({
                name: 'hard',
                time: { step: 0.01, steps: 70 },
                materials: { rubber: { young: 3e5, poisson: 0.3 } },
            })),
        ];
        await daemon.over(a.id);
        await daemon.over(b.id);
        const page = await watch(daemon, a.id);
        const charts = page.getByRole('region', { name: 'Curves' });
        await page.locator('.view canvas[data-frame="60"]').waitFor();
        let alone = await look(page, charts);
        await until(async () => {
            const before = alone;
            alone = await look(page, charts);
            return changed(before, alone) === 0 && (await count(page, charts, [0, 114, 178])) > 50;
        }, 'its curves');
        await page.getByLabel('select hard').check();
        await page.getByRole('button', { name: 'compare', exact: true }).click();
        await page.locator('.panel').getByText('2: hard').waitFor();
        const differs = page.getByRole('table', { name: 'How the scenes differ' });
        await differs.getByRole('row', { name: 'materials.rubber.young 100000 300000' }).waitFor();
        check((await differs.locator('thead').innerText()).trim().split(/\s+/).join() === 'key,here,there', 'its head');
        check(!(await differs.innerText()).includes('/'), `pointers: ${await differs.innerText()}`);
        await until(async () => changed(alone, await look(page, charts)) > 3, 'another curve');
        const energy = charts.locator('.cell').nth(1);
        check((await energy.locator('.run').allInnerTexts()).join() === '1: soft,2: hard', 'the names of the runs');
        await shot(page, 'light');
        const download = async (name) => {
            const [file] = await Promise.all([
                page.waitForEvent('download'),
                energy.getByRole('button', { name }).click(),
            ]);
            return Buffer.concat(await (await file.createReadStream()).toArray());
        };
        const lines = (await download('csv of energy')).toString().trim().split('\n');
        check(lines.length === 72 && lines[0].includes(',1: soft energy/kinetic,'), `${lines.length}: ${lines[0]}`);
        check(lines[0].includes(',2: hard energy/kinetic,'), lines[0]);
        const kinetic = lines[0].split(',').indexOf('1: soft energy/kinetic');
        const headers = { Authorization: `Bearer ${daemon.token}` };
        const metrics = await fetch(`${daemon.url}/v1/sessions/${a.id}/metrics?from=20`, { headers });
        const row = (await metrics.text())
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
            .find(({ frame }) => frame === 20);
        check(Number(lines[21].split(',')[kinetic]) === row.energy.kinetic, `${lines[21]}, not ${row.energy.kinetic}`);
        const png = await download('png of energy');
        check(png.readUInt32BE(16) === 960 && png.readUInt32BE(20) === 540, 'a picture of another size');
        await page.evaluate(async (text) => {
            const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const canvas = document.body.appendChild(document.createElement('canvas'));
            const { width, height } = bitmap;
            Object.assign(canvas, { id: 'saved', width, height });
            Object.assign(canvas.style, { position: 'fixed', left: 0, top: 0 });
            canvas.getContext('2d').drawImage(bitmap, 0, 0);
        }, png.toString('base64'));
        check((await count(page, page.locator('#saved'), [0, 114, 178])) > 200, 'no curve in the picture');
        await shot(page, 'curves-picture');
        await page.evaluate(() => document.getElementById('saved').remove());
        // Zooming one chart zooms all; a double click shows all frames again.
        const time = charts.locator('.cell').nth(2).locator('.plot');
        const over = await energy.locator('.u-over').boundingBox();
        const drag = [0.2, 0.5].map((part) => [over.x + part * over.width, over.y + over.height / 2]);
        const whole = await look(page, time);
        await page.mouse.move(...drag[0]);
        await page.mouse.down();
        await page.mouse.move(...drag[1], { steps: 4 });
        await page.mouse.up();
        await page.mouse.move(5, 5);
        await until(async () => changed(whole, await look(page, time)) > 60, 'another chart to be zoomed');
        const zoomed = await look(page, time);
        await page.mouse.dblclick(...drag[1]);
        await page.mouse.move(5, 5);
        await until(async () => changed(zoomed, await look(page, time)) > 60, 'all frames again');
        // A linear and a logarithmic axis have different labels.
        const linear = await look(page, energy);
        await energy.getByRole('button', { name: 'log axis' }).click();
        await until(async () => changed(linear, await look(page, energy)) > 10, 'a logarithmic axis');
        const curve = async () => (await count(page, energy.locator('.plot'), [0, 114, 178])) > 50;
        await until(curve, 'curves of two lengths on a logarithmic axis');
        await quiet(page);
    },

    async a_vertex_is_dragged(daemon) {
        const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
        const { id } = await daemon.submit(endless({ gravity: [0, 0, 0], pins }));
        const page = await watch(daemon, id);
        await shownBox(page);
        const place = await until(() => pinIn(page, canvasOf(page)), 'a pin in the picture');
        const before = await look(page, canvasOf(page));
        const box = await canvasOf(page).boundingBox();
        const at = [box.x + place[0], box.y + place[1]];
        await page.mouse.move(...at);
        await page.mouse.down();
        await page.mouse.move(at[0] - 60, at[1] - 20, { steps: 4 });
        await page.mouse.move(at[0] - 120, at[1] - 40, { steps: 4 });
        await page.mouse.up();
        const controls = await until(async () => {
            const { items } = await daemon.call('GET', `/v1/sessions/${id}/controls`);
            return items.length > 0 && items;
        }, 'a control');
        check(JSON.stringify(controls[0]).includes('"hand"'), `it moves ${JSON.stringify(controls[0])}`);
        await until(async () => changed(before, await look(page, canvasOf(page))) > 20, 'the body to follow');
        await quiet(page);
    },

    // It is moved and keeps its rotation: a control's keyframe is relative to the scene's place.
    async a_turned_pin_stays_turned(daemon) {
        const turn = { axis: [1, 0, 0], degrees: 70 };
        const pins = [
            {
                name: 'hand',
                body: 'box',
                select: { side: '-x' },
                motion: { keyframes: [{ time: 0.3, translate: [0, 0.2, 0], rotate: turn }] },
            },
        ];
        const { id } = await daemon.submit(endless({ gravity: [0, 0, 0], obstacles: [], pins }));
        const page = await watch(daemon, id);
        await until(async () => (await frameOf(page)) > 30, 'the end of its motion');
        const place = await until(() => pinIn(page, canvasOf(page)), 'a pin in the picture');
        const box = await canvasOf(page).boundingBox();
        const controls = async () => (await daemon.call('GET', `/v1/sessions/${id}/controls`)).items;
        // The mouse arrives at once, so that all controls are for that place; the pin is there 3 frames later.
        const drag = async (x, y) => {
            const { length } = await controls();
            await page.mouse.move(box.x + place[0], box.y + place[1]);
            await page.mouse.down();
            await page.mouse.move(box.x + place[0] + x, box.y + place[1] + y);
            await page.mouse.up();
            const control = await until(async () => {
                const items = await controls();
                return items.length > length && items.at(-1).frame !== null && items.at(-1);
            }, 'a control in effect');
            const shown = async () => Number(await canvasOf(page).getAttribute('data-frame'));
            await until(async () => (await shown()) >= control.frame + 4, 'the pin to come there');
            place[0] += x;
            place[1] += y;
            return control;
        };
        await drag(-60, 0);
        const last = await drag(60, -40); // and from where that brought it
        const { translate, rotate } = last.control.pins[0].motion.keyframes[0];
        const kept = Math.abs(rotate?.degrees - 70) < 0.01 && rotate.axis[0] > 0.999;
        check(kept, `it turns to ${JSON.stringify(rotate)}`);
        check(translate[1] > 0.25, `it is brought to ${translate}`);
        const x = await positionsOf(daemon, id, last.frame + 8);
        // On the -x side the vertices 0 and 48 are along z, 1 m apart.
        const [a, b] = [x.slice(0, 3), x.slice(3 * 48, 3 * 48 + 3)];
        const degrees = (Math.atan2(a[1] - b[1], b[2] - a[2]) * 180) / Math.PI;
        check(Math.abs(degrees - 70) < 0.5, `it stands at ${degrees} degrees`);
        await quiet(page);
    },

    // Effects end after the next picture: until then the view being removed still receives keys and frames.
    async a_view_is_left_while_its_camera_moves(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const page = await watch(daemon, id);
        await page.locator('.axes').waitFor();
        const fitted = await page.evaluate(
            () =>
                new Promise((done) => {
                    new MutationObserver((_, watcher) => {
                        if (document.querySelector('.view')) return;
                        watcher.disconnect();
                        done(dispatchEvent(new KeyboardEvent('keydown', { key: 'f', cancelable: true })));
                    }).observe(document.body, { childList: true, subtree: true });
                    location.hash = '/machine';
                }),
        );
        check(fitted === false, 'nobody heard the key');
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        await quiet(page);
    },

    // Its progress is requested before it ends, and arrives after its end.
    async an_answer_that_is_late_changes_no_end(daemon) {
        const { id } = await daemon.submit(endless({ name: 'ends' }));
        const page = await open(daemon);
        const item = page.locator('.list li');
        await item.locator('.sign.running').waitFor();
        let letGo, asked;
        const held = new Promise((done) => (letGo = done));
        const begun = new Promise((done) => (asked = done));
        await page.route('**/v1/sessions?state=running*', async (route) => {
            const response = await route.fetch();
            asked();
            await held;
            await route.fulfill({ response });
        });
        await begun;
        await daemon.call('POST', `/v1/sessions/${id}/cancel`);
        await item.locator('.sign.cancelled').waitFor();
        const late = page.waitForResponse('**/v1/sessions?state=running*');
        letGo();
        await (await late).finished();
        await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100)));
        check((await item.locator('.sign.cancelled').count()) === 1, await item.innerText());
        await quiet(page);
    },

    // The worker is held, because earlier controls are in effect only from the next frame on: if a pin is grabbed again
    // meanwhile, the drag continues from where they will have moved it.
    async a_pin_is_dragged_again_before_it_has_come(daemon) {
        const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
        const { id } = await daemon.submit(endless({ gravity: [0, 0, 0], obstacles: [], pins }));
        const page = await watch(daemon, id);
        await shownBox(page);
        const place = await until(() => pinIn(page, canvasOf(page)), 'a pin in the picture');
        const box = await canvasOf(page).boundingBox();
        const at = [box.x + place[0], box.y + place[1]];
        // The mouse arrives at once, so that all controls are for that place.
        const drag = async (x, y) => {
            await page.mouse.move(...at);
            await page.mouse.down();
            await page.mouse.move(at[0] + x, at[1] + y);
            await page.mouse.up();
        };
        const brought = (number) =>
            until(async () => {
                const { items } = await daemon.call('GET', `/v1/sessions/${id}/controls`);
                const of = items.map(({ control }) => control.pins[0].motion.keyframes[0].translate);
                return of.length >= number && of;
            }, `control ${number}`);
        const worker = daemon.worker(id);
        process.kill(worker, 'SIGSTOP');
        try {
            await drag(-60, 0);
            await brought(1);
            await drag(60, -60);
        } finally {
            process.kill(worker, 'SIGCONT');
        }
        const all = await brought(2),
            [first, last] = [all[0], all.at(-1)];
        const size = Math.hypot(...first);
        const back = first.reduce((sum, value, i) => sum + (value * last[i]) / size ** 2, 0);
        check(size > 0.1 && Math.abs(back) < 0.3, `${first}, then ${last}`);
        await quiet(page);
    },

    // "metrics": "iteration": the residuals of a frame's iterations, and probes, as curves.
    async iterations_and_probes_are_curves(daemon) {
        const of = { body: 'box', select: { indices: [0] }, component: 'y' };
        const probes = [{ name: 'height', quantity: 'position', ...of }];
        const { id } = await daemon.submit(
            scene({
                solver: { method: 'admm', iterations: 12, tolerance: 0 },
                output: { metrics: 'iteration', probes },
            }),
        );
        await daemon.over(id);
        const page = await watch(daemon, id);
        const first = page.locator('.charts .cell').first();
        await page.getByLabel('Curve 1').selectOption('residual in a frame');
        await first.getByText('frame 60, by iteration').waitFor();
        for (const name of ['primal_residual', 'gradient_norm']) await first.getByText(name).waitFor();
        const plot = first.locator('.plot');
        await until(async () => (await count(page, plot, [0, 114, 178])) > 50, 'a curve');
        const seen = await look(page, plot);
        await page.getByLabel('Curve 2').selectOption('probes');
        await page.locator('.charts .cell').nth(1).getByText('height').waitFor();
        await page.locator('.values').getByText('height').waitFor();
        await shot(page, 'iterations');
        await page.getByRole('slider', { name: 'Frame' }).fill('20');
        await first.getByText('frame 20, by iteration').waitFor();
        await until(async () => changed(seen, await look(page, plot)) > 3, 'another frame in the curves');
        // It was opened after the box had come to rest; its start is in view as well.
        await until(async () => (await count(page, canvasOf(page), 'warm')) > 5000, 'the box in the air');
        const rows = await daemon.call('GET', `/v1/sessions/${id}/probes`);
        const [, , height] = rows.trim().split('\n')[21].split(',').map(Number);
        await until(async () => {
            const value = await page.locator('.charts .cell').nth(1).locator('.value').innerText();
            return Math.abs(Number(value.replace('−', '-')) - height) < 0.01 * Math.abs(height);
        }, `a height of ${height}`);
        await quiet(page);
    },

    // Its mark on the timeline, the vertex in the picture, and the advice filled into its scene.
    async a_failure_says_why(daemon) {
        const solver = { method: 'gradient_descent', iterations: 1, tolerance: 1e-12 };
        const { id } = await daemon.submit(
            scene({
                name: 'fails',
                pins: [{ name: 'hand', body: 'box', select: { side: '-x' } }],
                solver: { ...solver, on_not_converged: 'fail' },
            }),
        );
        const session = await daemon.over(id);
        check(session.state === 'failed', `it is ${session.state}`);
        const page = await open(daemon);
        await page.getByRole('link', { name: 'fails' }).click();
        const box = page.getByRole('alert').filter({ hasText: 'converge' });
        await box.waitFor();
        check((await box.innerText()).length > 40, 'it says too little');
        const { vertex } = session.failure;
        await page.locator('.picked').getByText(`box, vertex ${vertex}`, { exact: true }).waitFor();
        await page.getByRole('button', { name: 'a step of 5 ms' }).click();
        await page.getByLabel('The scene as JSON').waitFor();
        const { time, output } = JSON.parse(await textOf(page));
        const change = JSON.stringify({ time, output });
        check(change === '{"time":{"step":0.005,"steps":120},"output":{"every":2}}', change);
        await page.goBack();
        await box.waitFor();
        await page.getByRole('button', { name: 'open the scene to change it' }).click();
        await page.getByLabel('The scene as JSON').waitFor();
        check((await textOf(page)).includes('"step": 0.01'), 'it is changed');
        await quiet(page);
    },

    // Warnings of a session, in the list and in the panel; nothing without warnings.
    async warnings_are_told(daemon) {
        const solver = { method: 'admm', iterations: 1, tolerance: 1e-9 };
        const odd = await daemon.submit(
            scene({
                name: 'odd',
                solver,
                bodies: [{ name: 'box', mesh: { box: { cells: [3, 3, 3] } }, transform: { scale: 60 } }],
                obstacles: [],
            }),
        );
        const calm = await daemon.submit(scene({ name: 'calm', solver: {}, time: { step: 0.01, steps: 3 } }));
        await daemon.over(odd.id);
        await daemon.over(calm.id);
        const page = await open(daemon);
        const item = (name) => page.locator('.list li').filter({ hasText: name });
        await item('odd').getByText('⚠ odd size').waitFor();
        check((await item('calm').locator('.warned').count()) === 0, 'the calm one is warned of');
        await page.getByRole('link', { name: 'odd' }).first().click();
        const told = page.getByRole('list', { name: 'Warnings' });
        await told.getByText('104 m across').waitFor();
        await shot(page, 'warnings');
        await page.getByRole('link', { name: 'calm' }).click();
        await page.locator('.panel h1').getByText('calm').waitFor();
        check((await told.count()) === 0, 'the calm one has warnings');
        await page.locator('#filter').fill('odd size');
        await until(async () => (await page.locator('.list li').count()) === 1, 'the one that is warned of');
        await quiet(page);
    },

    // The list shows a session whose worker makes no progress, with the reason.
    async a_stalled_session_is_told(daemon) {
        const { id } = await daemon.submit(endless({ name: 'stuck' }));
        const page = await open(daemon);
        const item = page.locator('.list li');
        await item.locator('.sign.running').waitFor();
        check((await item.getByText('stalled').count()) === 0, await item.innerText());
        await page.route('**/v1/sessions?*', async (route) => {
            const response = await route.fetch();
            const list = await response.json();
            for (const session of list.items) session.stalled = { since: session.since, why: 'stopped' };
            await route.fulfill({ response, json: list });
        });
        await page.reload();
        await item.getByText('⚠ stalled: stopped by a signal').waitFor();
        await daemon.call('POST', `/v1/sessions/${id}/cancel`);
        await quiet(page);
    },

    // An element deep inside is outlined, although frames do not normally contain its corners.
    async a_failed_element_is_outlined(daemon) {
        const squeezed = [{ time: 0.05 }, { time: 0.06, translate: [-1.5, 0, 0] }];
        const { id } = await daemon.submit(
            scene({
                name: 'inverts',
                gravity: [0, 0, 0],
                obstacles: [],
                solver: { method: 'lbfgs', iterations: 30 },
                materials: { rubber: { model: 'neo_hookean', young: 1e5, poisson: 0.3, density: 1000 } },
                pins: [
                    { name: 'left', body: 'box', select: { side: '-x' } },
                    { name: 'right', body: 'box', select: { side: '+x' }, motion: { keyframes: squeezed } },
                ],
            }),
        );
        const { failure } = await daemon.over(id);
        check(failure?.element >= 0 && failure.frame === 5, `it fails as ${JSON.stringify(failure)}`);
        const page = await watch(daemon, id);
        const outlined = async () => (await count(page, canvasOf(page), PICKED)) > 20;
        await until(outlined, 'an outline');
        await shot(page, 'failed-element');
        const slider = page.getByRole('slider', { name: 'Frame' });
        await slider.fill('2');
        await until(async () => (await frameOf(page)) === 2, 'frame 2');
        await page.keyboard.press(']');
        await until(async () => (await frameOf(page)) === 5, 'the frame of the next mark');
        await slider.fill('2');
        await until(async () => (await frameOf(page)) === 2, 'frame 2');
        await page.locator('.mark.failed').click();
        await until(async () => (await frameOf(page)) === 5, 'the frame that the mark is at');
        await page.getByRole('button', { name: 'method admm' }).click();
        await page.getByLabel('The scene as JSON').waitFor();
        const { solver } = JSON.parse(await textOf(page));
        check(solver.method === 'admm' && solver.iterations === 30, JSON.stringify(solver));
        await page.locator('.estimate').getByText('ms per frame').waitFor(); // and the daemon takes it
        await quiet(page);
    },

    async it_survives_a_restart(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await watch(daemon, id, { allow: [AWAY] });
        // It closes its streams properly, or not.
        for (const signal of ['SIGTERM', 'SIGKILL']) {
            await daemon.end(signal);
            await page.locator('.banner').waitFor();
            await shot(page, 'away');
            await daemon.start();
            await page.locator('.banner').waitFor({ state: 'detached' });
            const then = await frameOf(page);
            await until(async () => (await frameOf(page)) > then + 5, `frames after ${signal}`);
        }
        await quiet(page);
    },

    async a_frame_wished_while_the_daemon_is_away_comes(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const page = await watch(daemon, id, { allow: [AWAY] });
        await page.locator('.view canvas[data-frame="60"]').waitFor();
        await daemon.end();
        const asked = page.waitForEvent('requestfailed', (request) => request.url().includes('/frames?from=7&'));
        await page.getByRole('slider', { name: 'Frame' }).fill('7');
        await asked;
        await daemon.start();
        await page.locator('.view canvas[data-frame="7"]').waitFor();
        check((await page.getByText('cannot be shown').count()) === 0, 'it is told as missing');
        await quiet(page);
    },

    async a_session_opened_while_the_daemon_is_away_comes(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await watch(daemon, id, { allow: [AWAY] });
        await page.evaluate(() => {
            location.hash = '/machine';
        });
        await page.getByText('Processor').waitFor();
        await daemon.end();
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        await page.locator('.banner').waitFor();
        await sleep(1500);
        await daemon.start();
        await until(async () => (await frameOf(page)) > 0, 'a frame after the restart');
        await quiet(page);
    },

    // As just after its start, when all pages reconnect at once.
    async a_session_opened_while_the_daemon_is_busy_comes(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const page = await open(daemon, { allow: [/status of (429|503)/] });
        const refuse = async (where, status) => {
            const detail = 'too many requests wait for the same work';
            let refused = 0;
            await page.route(where, (route) =>
                refused++ ? route.continue() : route.fulfill({ status, json: { status, detail, faults: [] } }),
            );
            return () => refused > 1;
        };
        await page.locator('.user').waitFor(); // logged in
        const again = [
            await refuse(`**/v1/sessions/${id}`, 503),
            await refuse(`**/v1/sessions/${id}/topology`, 429),
        ];
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/machine`);
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        await until(async () => again.every((asked) => asked()), 'its questions to be asked again');
        await until(async () => (await frameOf(page)) === 60, 'its last frame');
        await quiet(page);
    },

    async a_hidden_page_stops_its_stream(daemon) {
        const { id } = await daemon.submit(endless());
        const page = await open(daemon);
        let streams = 0;
        page.on('request', (request) => {
            streams += request.url().includes('/stream?');
        });
        for (const name of ['requestfinished', 'requestfailed']) {
            page.on(name, (request) => {
                streams -= request.url().includes('/stream?');
            });
        }
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        await until(() => streams === 1, 'the stream');
        const hide = (hidden) =>
            page.evaluate((value) => {
                Object.defineProperty(document, 'hidden', { value, configurable: true });
                document.dispatchEvent(new Event('visibilitychange'));
            }, hidden);
        await hide(true);
        await until(() => streams === 0, 'the end of the stream');
        await hide(false);
        await until(() => streams === 1, 'the stream again');
        await quiet(page);
    },

    async hostile_names_are_texts(daemon) {
        const nasty = '<img src=x onerror="document.title=1">\u202e<b>bold</b>';
        const { id } = await daemon.submit(
            scene({
                name: nasty,
                labels: { series: '<script>document.title=1</script>' },
                bodies: [{ name: nasty.slice(0, 60), material: 'rubber', mesh: { box: { cells: [2, 2, 2] } } }],
            }),
        );
        await daemon.over(id);
        const page = await watch(daemon, id);
        await page.getByText('<img src=x').first().waitFor();
        for (const tab of ['scene', 'log', 'compared', 'share'])
            await page.getByRole('tab', { name: tab }).click();
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/scenes?session=${id}`);
        await page.getByLabel('The scene as JSON').waitFor();
        await page.evaluate(() => {
            location.hash = '/machine';
        });
        await page.getByText('Processor').waitFor();
        check((await page.locator('img, b:has-text("bold")').count()) === 0, 'a name has become an element');
        check((await page.title()) === 'Pliant' || !/^1$/.test(await page.title()), 'a name has run');
        await quiet(page);
    },

    async it_is_dark_where_the_machine_is(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const page = await watch(daemon, id, { colorScheme: 'dark' });
        await shownBox(page);
        const ground = await page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
        check(Math.max(...ground.match(/\d+/g).map(Number)) < 60, `the ground is ${ground}`);
        await shot(page, 'dark');
        await quiet(page);
    },

    async it_fits_a_phone(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const viewport = { width: 360, height: 740 };
        const page = await watch(daemon, id, { viewport, hasTouch: true, isMobile: true });
        await shownBox(page);
        for (const where of [`/sessions/${id}`, '/scenes', '/scenes?draft=1', '/machine', '/sessions']) {
            await page.evaluate((hash) => {
                location.hash = hash;
            }, where);
            await sleep(400);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            check(wide <= 360, `${where} is ${wide} wide`);
            await shot(page, `phone${where.replace(id, 'one').replaceAll(/[^a-z]+/g, '-')}`);
        }
        await quiet(page);
    },
});
