// The 3-D view: what is in the picture, in which colours, and a run that plays.
import { PHONE, pick } from './pages.mjs';
import { check, count, open, quiet, run, scene, shot, until } from './rig.mjs';
import { canvasOf, contactsButton, frameOf, shownBox, watch } from './watching.mjs';

const INK = [22, 25, 29];

await run({
    // A box at rest on each kind of obstacle: its lower vertices touch, and none of them before it fell.
    async contacts_are_drawn_of_every_kind(daemon) {
        const block = (y) => [-3, 3].flatMap((z) => [-0.5, y].flatMap((h) => [-3, 3].map((x) => [x, h, z])));
        const faces = [
            [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
            [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
        ].flat(); // prettier-ignore
        const kinds = {
            plane: { plane: {} },
            box: { box: { size: [6, 1, 6], center: [0, -0.5, 0], rotate: { axis: [0, 1, 0], degrees: 30 } } },
            heightfield: { heightfield: { heights: [0, 0, 0, 0].map(() => [0, 0, 0, 0]), spacing: 2 } },
            mesh: { mesh: { vertices: block(0).flat(), triangles: faces } },
            cylinder: { cylinder: { radius: 5, height: 1, center: [0, -0.5, 0] } },
            cone: { cone: { radius: 5, height: 1, center: [0, -0.5, 0], axis: [0, -1, 0] } },
        };
        const ids = [];
        for (const [name, shape] of Object.entries(kinds)) {
            const mesh = { box: { size: [1, 1, 1], cells: [3, 3, 3] } };
            const bodies = [{ name: 'box', material: 'rubber', mesh, transform: { translate: [0, 0.52, 0] } }];
            const obstacles = [{ name, friction: 0.5, ...shape }];
            const time = { step: 0.01, steps: 40 };
            ids.push((await daemon.submit(scene({ name, bodies, obstacles, time }))).id);
        }
        const page = await open(daemon);
        const contacts = async () => Number(await canvasOf(page).getAttribute('data-contacts'));
        for (const id of ids) {
            const { name } = await daemon.over(id);
            await page.evaluate((hash) => {
                location.hash = hash;
            }, `/sessions/${id}?frame=40`);
            await page.getByRole('heading', { name, exact: true }).waitFor();
            if (id === ids[0]) await contactsButton(page).click(); // as for the others, then
            await until(async () => (await contacts()) === 16, `contacts with the ${name}`);
            await page.getByRole('slider', { name: 'Frame' }).fill('0');
            await until(async () => (await contacts()) === 0, `none with the ${name} in frame 0`);
        }
        await quiet(page);
    },

    // A box on a box: as many points as the worker tells, seen through the boxes, and none where they are far apart
    // or the session does not store them.
    async contacts_between_bodies_are_drawn(daemon) {
        const cube = (name, size, y) => ({
            name,
            material: 'rubber',
            mesh: { box: { size: [size, size, size], cells: [2, 2, 2] } },
            transform: { translate: [0.02 * y, y, 0.01] },
        });
        const stacked = (name, fields) =>
            scene({
                name,
                bodies: [cube('upper', 0.3, 0.37), cube('lower', 0.4, 0)],
                pins: [{ name: 'base', body: 'lower', select: { side: '-y' } }],
                obstacles: [],
                solver: {},
                time: { step: 0.01, steps: 30 },
                output: { fields },
            });
        const { id } = await daemon.submit(stacked('stacked', ['position', 'contacts']));
        const without = await daemon.submit(stacked('not stored', ['position']));
        await daemon.over(id);
        await daemon.over(without.id);
        const accept = { Accept: 'application/x-ndjson' };
        const text = await daemon.call('GET', `/v1/sessions/${id}/frames/30?fields=contacts`, undefined, accept);
        const { contacts } = typeof text === 'string' ? JSON.parse(text) : text;
        check(contacts.length > 3, `${contacts.length} contacts`);
        const page = await open(daemon);
        const drawn = async () => Number(await canvasOf(page).getAttribute('data-touches'));
        const visit = async (session, name, frame) => {
            await page.evaluate((hash) => {
                location.hash = hash;
            }, `/sessions/${session}?frame=${frame}`);
            await page.getByRole('heading', { name, exact: true }).waitFor();
            await until(
                async () => (await canvasOf(page).getAttribute('data-frame')) === `${frame}`,
                `frame ${frame} of ${name}`,
            );
        };
        await visit(id, 'stacked', 30);
        await until(async () => (await drawn()) === contacts.length, 'a point for each contact');
        const pixels = () => count(page, canvasOf(page), INK);
        const before = await pixels();
        await contactsButton(page).click();
        await until(async () => (await pixels()) > before + 200, 'points and forces seen');
        await shot(page, 'touches');
        await contactsButton(page).click();
        await until(async () => (await pixels()) < before + 50, 'no marks');
        await contactsButton(page).click();
        await page.getByRole('slider', { name: 'Frame' }).fill('0');
        await until(async () => (await drawn()) === 0, 'none in frame 0');
        await visit(without.id, 'not stored', 30);
        check((await drawn()) === 0, 'contacts that are not stored');
        await quiet(page);
    },

    async a_vertex_tells_its_values(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const page = await watch(daemon, id);
        await shownBox(page);
        await page.keyboard.press('f');
        const box = await canvasOf(page).boundingBox();
        for (let row = 0.5; row > 0.2; row -= 0.05) {
            await page.mouse.click(box.x + box.width / 2, box.y + row * box.height);
            if (await page.locator('.picked').isVisible()) break;
        }
        await page
            .locator('.picked')
            .getByText(/^box, vertex \d+/)
            .waitFor();
        await page
            .locator('.picked')
            .getByText(/moved .* since frame 0/)
            .waitFor();
        // By the keyboard: turned and brought nearer, what is in the middle of the view.
        const camera = () => /camera=([^&]*)/.exec(page.url())?.[1];
        await until(camera, 'the camera in the address');
        let then = camera();
        await canvasOf(page).focus();
        for (const key of ['4', '8', '+']) {
            await page.keyboard.press(key);
            await until(() => camera() !== then, `another camera after ${key}`);
            then = camera();
        }
        await page.locator('.picked .close').click();
        await canvasOf(page).focus();
        await page.keyboard.press('Enter');
        await page.locator('.picked').getByText(/^box, vertex/).waitFor();
        await page.locator('.tools select').selectOption('displacement');
        await page.locator('.legend').getByText('displacement').waitFor();
        await page
            .locator('.picked')
            .getByText(/^displacement [\d.]+/)
            .waitFor();
        await quiet(page);
    },

    // Of any width: it lies below the tools, also where they take two rows, and on phones below the whole view, whose
    // picture is below the tools.
    async the_box_of_a_vertex_covers_no_tool(daemon) {
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const sizes = { 390: 844, 360: 640, 820: 1180, 1280: 800 };
        for (const [width, height] of Object.entries(sizes)) {
            const viewport = { width: Number(width), height };
            const page = await watch(daemon, id, width < 700 ? { ...PHONE, viewport } : { viewport });
            await shownBox(page);
            await pick(page);
            const { box, tools, picture, view, wide } = await page.evaluate(() => {
                const place = (one) => one.getBoundingClientRect().toJSON();
                return {
                    box: place(document.querySelector('.picked')),
                    tools: [...document.querySelectorAll('.tools > *')].map(place),
                    picture: place(document.querySelector('.view canvas')),
                    view: place(document.querySelector('.view')),
                    wide: document.documentElement.scrollWidth,
                };
            });
            const covered = tools.filter(
                (tool) =>
                    tool.left < box.right && box.left < tool.right && tool.top < box.bottom && box.top < tool.bottom,
            );
            check(tools.length === 9 && covered.length === 0, `${width}: ${covered.length} tools are covered`);
            check(box.left >= 0 && box.right <= viewport.width && wide <= viewport.width, `${width}: it is cut off`);
            check(width > 700 || box.top >= view.bottom, `${width}: it covers the view`);
            const hides = tools.some(({ bottom }) => bottom > picture.top);
            check(width > 700 || (!hides && picture.height > 200), `${width}: tools cover the picture`);
            await shot(page, `picked-${width}`);
            await quiet(page);
            await page.context().close();
        }
    },

    // A run that is over plays by itself, once, and is seen as a whole; where people want no motion it stands still.
    async a_run_that_is_over_plays(daemon) {
        const page = await open(daemon, { reducedMotion: 'no-preference' });
        await page.evaluate(() => {
            location.hash = '/machine';
        });
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        const { id } = await daemon.submit(scene({ time: { step: 0.02, steps: 60 } }));
        await daemon.over(id);
        const seen = [];
        await page.exposeFunction('sawFrame', (frame) => seen.push(frame));
        await page.evaluate((hash) => {
            location.hash = hash;
            new MutationObserver(() => {
                const { frame } = document.querySelector('.view canvas')?.dataset ?? {};
                if (frame !== undefined) window.sawFrame(Number(frame));
            }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['data-frame'] });
        }, `/sessions/${id}`);
        await page.locator('.view canvas[data-frame="60"]').waitFor();
        await page.getByRole('button', { name: 'Play' }).waitFor();
        const early = seen.filter((frame) => frame > 0 && frame < 60);
        check(Math.min(...seen) < 15 && early.length > 2, `frames ${[...new Set(seen)]}`);
        check(await page.locator('.live').evaluate((live) => live.ariaPressed === 'true'), 'it follows nothing');
        await quiet(page);
        const still = await watch(daemon, id);
        await still.locator('.view canvas[data-frame="60"]').waitFor();
        check((await frameOf(still)) === 60, 'it moves');
    },

    // A small box on a platform forty times as wide: it is the box that fills the picture.
    async bodies_fill_the_picture(daemon) {
        const { id } = await daemon.submit(
            scene({
                bodies: [
                    { name: 'box', material: 'rubber', mesh: { box: { size: [0.2, 0.2, 0.2], cells: [2, 2, 2] } } },
                ],
                obstacles: [{ name: 'platform', box: { size: [8, 0.5, 8], center: [0, -0.36, 0] } }],
                time: { step: 0.01, steps: 5 },
            }),
        );
        await daemon.over(id);
        const page = await watch(daemon, id);
        await shownBox(page);
        const { width, height } = await canvasOf(page).boundingBox();
        const share = (await count(page, canvasOf(page), 'warm')) / (width * height);
        check(share > 0.1, `the box has ${(100 * share).toFixed(1)} % of the picture`);
        await shot(page, 'platform');
        await quiet(page);
    },

    // Two bodies have two colours, which are named; a field has the legend instead.
    async bodies_have_colours(daemon) {
        const box = (name, x) => ({
            name,
            material: 'rubber',
            mesh: { box: { cells: [2, 2, 2] } },
            transform: { translate: [x, 2, 0] },
        });
        const bodies = [box('left', -1), box('right', 1)];
        const { id } = await daemon.submit(scene({ bodies, time: { step: 0.01, steps: 5 } }));
        await daemon.over(id);
        const page = await watch(daemon, id);
        await shownBox(page);
        const names = page.getByRole('list', { name: 'Colours of the bodies' });
        check((await names.innerText()).replace(/\s+/g, ' ').trim() === 'left right', await names.innerText());
        const blue = () => count(page, canvasOf(page), [31, 143, 163]);
        check((await count(page, canvasOf(page), 'warm')) > 2000 && (await blue()) > 500, 'two colours');
        await shot(page, 'colours');
        await page.locator('.tools select').selectOption('height');
        await page.locator('.legend').getByText('height').waitFor();
        check((await names.count()) === 0, 'a field has the names of bodies');
        await quiet(page);
    },

    // A coarse cloth over a ball: seen from above, the ball is nowhere before the cloth.
    async a_cloth_is_not_pierced(daemon) {
        const cotton = { model: 'arap', young: 2e5, density: 500, thickness: 2e-3, bending: { model: 'quadratic' } };
        const cloth = {
            name: 'cloth',
            mesh: { cloth: { size: [2, 2], cells: [14, 14] } },
            material: 'cotton',
            transform: { rotate: { axis: [1, 0, 0], degrees: 90 }, translate: [0.011, 1.05, 0.007] },
        };
        const { id } = await daemon.submit(
            scene({
                materials: { cotton },
                bodies: [cloth],
                obstacles: [{ name: 'ball', sphere: { center: [0, 0.5, 0], radius: 0.5 }, friction: 0.5 }],
                solver: {},
                time: { step: 0.02, steps: 25 },
            }),
        );
        await daemon.over(id);
        const page = await open(daemon);
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}?camera=0.01,2.2,0.01,0,1,0&frame=25`);
        await page.locator('.view canvas[data-frame="25"]').waitFor();
        await shot(page, 'cloth');
        const middle = await canvasOf(page).boundingBox();
        const side = middle.height / 3;
        const clip = {
            x: middle.x + middle.width / 2 - side / 2,
            y: middle.y + middle.height / 2 - side / 2,
            width: side,
            height: side,
        };
        const part = { screenshot: () => page.screenshot({ clip }) };
        const share = (await count(page, part, 'clear')) / side ** 2;
        check(share > 0.99, `the cloth is seen on ${(100 * share).toFixed(1)} %`);
        await quiet(page);
    },

    // A block that nothing moves, cut through its middle: what is picked there is an inner vertex, and inner vertices
    // are asked for only then. The address opens the same section; Escape closes it.
    async a_section_is_solid(daemon) {
        const block = { name: 'block', material: 'rubber', mesh: { box: { size: [1, 1, 1], cells: [4, 4, 4] } } };
        const ball = { name: 'ball', sphere: { center: [1.5, 0, 0], radius: 0.5 } };
        const still = scene({ gravity: [0, 0, 0], bodies: [block], obstacles: [ball], time: { step: 0.01, steps: 3 } });
        const { id } = await daemon.submit(still);
        await daemon.over(id);
        const page = await open(daemon);
        await page.locator('.user').waitFor();
        const asked = [];
        page.on('request', (request) => asked.push(request.url()));
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}?camera=0.06,0.08,4,0.06,0.08,0&frame=3`);
        await page.locator('.view canvas[data-frame="3"]').waitFor();
        const whole = () => asked.filter((url) => url.includes('f32&vertices=all')).length;
        const cut = async (on = page) => Number(await canvasOf(on).getAttribute('data-cut'));
        // The z of the vertex in the middle of the view.
        const depth = async (on = page) => {
            await canvasOf(on).focus();
            await on.keyboard.press('Enter');
            const words = await on.locator('.picked').innerText();
            return Number(/z ([−\d.]+)/.exec(words)[1].replace('−', '-'));
        };
        check((await depth()) === 0.5 && whole() === 0, 'a whole block');
        await page.keyboard.press('c');
        await until(async () => (await cut()) > 0, 'a cut');
        check(whole() > 0, 'no inner vertices were asked for');
        const slider = page.getByRole('slider', { name: 'Place of the plane' });
        check(await slider.evaluate((one) => one === document.activeElement), 'the slider has no keys');
        await slider.fill('0.1');
        check((await depth()) === 0, `the block is hollow: ${await depth()}`);
        await shot(page, 'section');
        // The other side is seen from behind only; here its cut faces away.
        await page.getByRole('button', { name: 'flip' }).click();
        check((await depth()) === 0.5, 'the same side');
        await page.getByRole('button', { name: 'flip' }).click();
        // Obstacles are cut on demand.
        const grey = () => count(page, canvasOf(page), [165, 172, 184]);
        await page.getByRole('button', { name: 'x', exact: true }).click();
        await page.getByRole('button', { name: 'flip' }).click();
        await slider.fill('1.5');
        const before = await grey();
        await page.getByLabel('obstacles', { exact: true }).check();
        await until(async () => (await grey()) < 0.8 * before, 'half a ball');
        await slider.fill('-0.1');
        await page.locator('.tools select').selectOption('height');
        await until(() => /section=-?x,-0.1\d*,obstacles/.test(page.url()), 'the section in the address');
        const other = await open(daemon);
        await other.locator('.user').waitFor();
        await other.goto(page.url());
        await until(async () => (await cut(other)) === (await cut()), 'the same section by its address');
        await quiet(other);
        await page.keyboard.press('Escape');
        await until(async () => (await cut()) === 0 && !page.url().includes('section'), 'no section');
        await page.locator('.view canvas[data-frame="3"]').waitFor();
        const then = whole();
        await page.getByRole('slider', { name: 'Frame' }).fill('1');
        await page.locator('.view canvas[data-frame="1"]').waitFor();
        check(whole() === then, 'inner vertices are still sent');
        await quiet(page);
    },

    // The distance of two vertices that are picked, one of a box that falls and one that is held; then of the box to an
    // obstacle, by the keyboard. Both follow the frames.
    async a_distance_is_measured(daemon) {
        const box = (name, x) => ({
            name,
            material: 'rubber',
            mesh: { box: { size: [1, 1, 1], cells: [2, 2, 2] } },
            transform: { translate: [x, 2, 0] },
        });
        const { id } = await daemon.submit(
            scene({
                bodies: [box('box', 0), box('held', -1.5)],
                pins: [{ name: 'hand', body: 'held', select: { side: '-x' } }],
                obstacles: [{ name: 'ball', sphere: { center: [1.5, 2, 0], radius: 0.5 } }],
                time: { step: 0.02, steps: 12 },
            }),
        );
        await daemon.over(id);
        const page = await open(daemon);
        await page.locator('.user').waitFor();
        await page.goto(`${daemon.url}/#/sessions/${id}?camera=0,2,6.5,0,2,0&frame=0`);
        const go = async (frame) => {
            await page.getByRole('slider', { name: 'Frame' }).fill(`${frame}`);
            await page.locator(`.view canvas[data-frame="${frame}"]`).waitFor();
        };
        await page.locator('.view canvas[data-frame="0"]').waitFor();
        // A click on a place with z = 0.5 as it is seen by that camera.
        const click = async (x, y) => {
            await until(
                () => canvasOf(page).evaluate((one) => one.height === one.clientHeight),
                'the view to take the room that the bar leaves',
            );
            const view = await canvasOf(page).boundingBox();
            const scale = view.height / (2 * Math.tan(Math.PI / 9) * 6);
            await page.mouse.click(view.x + view.width / 2 + x * scale, view.y + view.height / 2 - (y - 2) * scale);
        };
        const bar = page.getByRole('group', { name: 'Distance' });
        const told = async () => Number(await canvasOf(page).getAttribute('data-distance'));
        await page.keyboard.press('m');
        await bar.getByText('Pick the first place').waitFor();
        await click(0.49, 2.49);
        await bar.getByText(/From box, vertex \d+: pick the second/).waitFor();
        await click(-1.98, 1.52);
        await bar.getByText('again').waitFor();
        const [, a, b] = /box, vertex (\d+) to held, vertex (\d+)/.exec(await bar.innerText()).map(Number);
        const { bodies } = await daemon.call('GET', `/v1/sessions/${id}/topology`);
        const expected = async (frame) => {
            const accept = { Accept: 'application/x-ndjson' };
            const text = await daemon.call('GET', `/v1/sessions/${id}/frames/${frame}`, undefined, accept);
            const { position } = typeof text === 'string' ? JSON.parse(text) : text;
            const of = (vertex) => position.flat().slice(3 * vertex, 3 * vertex + 3);
            const [p, q] = [of(bodies[0].first_vertex + a), of(bodies[1].first_vertex + b)];
            return q.map((x, k) => x - p[k]);
        };
        await shot(page, 'distance');
        for (const frame of [0, 12]) {
            await go(frame);
            const delta = await expected(frame);
            const found = await told();
            check(Math.abs(found - Math.hypot(...delta)) < 1e-5, `${found} m and not ${Math.hypot(...delta)}`);
            const shown = `Δy ${String(+delta[1].toPrecision(4)).replace('-', '−')} m`;
            await bar.getByText(shown).waitFor();
        }
        // From the middle of the view to the ball, whose tessellated surface the ray meets beside a vertex or at one.
        await go(0);
        await bar.getByText('again').click();
        await canvasOf(page).focus();
        await page.keyboard.press('Enter');
        await bar.getByText(/From box, vertex \d+/).waitFor();
        await click(1.6, 2.1);
        await bar.getByText(/box, vertex \d+ to ball/).waitFor();
        const rise = async () => Number(/Δy ([−\d.e]+) m/.exec(await bar.innerText())[1].replaceAll('−', '-'));
        const before = await rise();
        await go(12);
        const fall = 9.81 * 0.02 ** 2 * ((12 * 13) / 2); // of the method's first-order steps
        await until(async () => Math.abs((await rise()) - before - fall) < 0.003, `${fall} m more`);
        await page.keyboard.press('Escape');
        await bar.waitFor({ state: 'detached' });
        check((await canvasOf(page).getAttribute('data-distance')) === '', 'the distance is still drawn');
        await quiet(page);
    },

    // Two boxes fall, at other intervals of frames: at one time they have fallen as far. The second ends before the
    // first, a third was removed meanwhile.
    async sessions_are_seen_together(daemon) {
        const falls = (name, x, step, steps) => {
            const mesh = { box: { size: [1, 1, 1], cells: [2, 2, 2] } };
            const bodies = [{ name: 'box', material: 'rubber', mesh, transform: { translate: [x, 2 + x / 2, 0] } }];
            return daemon.submit(scene({ name, bodies, time: { step, steps } }));
        };
        const lost = await falls('lost', 0, 0.01, 2);
        const second = await falls('second', 1.2, 0.02, 10);
        const first = await falls('first', 0, 0.01, 30);
        for (const { id } of [first, second, lost]) await daemon.over(id);
        const page = await watch(daemon, first.id, { allow: [/status of 404/] });
        for (const name of ['second', 'lost']) await page.getByLabel(`select ${name}`).check();
        await page.getByRole('button', { name: 'compare', exact: true }).click();
        await page.locator('.panel').getByText('lost').waitFor();
        await daemon.call('DELETE', `/v1/sessions/${lost.id}`);
        const bar = page.getByRole('group', { name: 'Compared sessions' });
        const main = canvasOf(page).first();
        const seen = () =>
            main.evaluate(({ dataset }) => [dataset.frame, dataset.ghosts.split(',')[0]].map(Number));
        const violet = () => count(page, main, [123, 98, 184]);
        const go = (frame) => page.getByRole('slider', { name: 'Frame' }).fill(`${frame}`);
        const alone = await violet();
        await bar.getByRole('button', { name: 'ghosted' }).click();
        await bar.getByText('lost cannot be shown: no session').waitFor();
        await go(13);
        await until(async () => (await seen()).join() === '13,6', 'the ghost at the same time');
        await until(async () => (await violet()) > alone + 2000, 'a ghost');
        await shot(page, 'ghosts');
        await go(30);
        await bar.getByText('stays at its last frame, 0.2 s').waitFor();
        check((await seen()).join() === '30,10', `${await seen()}`);
        // Playing moves both.
        await page.getByRole('button', { name: 'Play' }).click();
        await until(async () => {
            const [frame, ghost] = await seen();
            return frame > 3 && frame < 20 && ghost === Math.floor(frame / 2);
        }, 'both to play');
        await page.getByRole('button', { name: 'Pause', exact: true }).click();
        // Side by side: one camera, one time, and one range of colours.
        await bar.getByRole('button', { name: 'side by side' }).click();
        await go(16);
        const other = page.getByRole('img', { name: 'The bodies of second' });
        await until(async () => (await other.getAttribute('data-frame')) === '8', 'the second picture');
        check(!(await main.getAttribute('data-ghosts')), 'the ghost is still there');
        const camera = () => /camera=([^&]*)/.exec(page.url())?.[1];
        await until(camera, 'a camera');
        const then = camera();
        const place = await other.boundingBox();
        await page.mouse.move(place.x + 50, place.y + 150);
        await page.mouse.down();
        await page.mouse.move(place.x + 120, place.y + 160, { steps: 3 });
        await page.mouse.up();
        await until(() => camera() !== then, 'the camera of both to turn');
        await page.locator('.tools select').selectOption('height');
        await until(async () => {
            const ends = page.locator('.legend input');
            const [low, high] = await ends.evaluateAll((list) => list.map(({ value }) => +value));
            return high > 2.7 && low < 1.5;
        }, 'a range');
        await shot(page, 'beside');
        // What cannot be read is said beside the curves, too.
        const difference = page.locator('.difference', { hasText: 'second' });
        await difference.getByRole('button', { name: 'stop comparing' }).click();
        await page.locator('.panel').getByText('It cannot be read: no session').waitFor();
        await quiet(page);
    },

    // A box over the floor has a shadow there, which moves as it does; processors draw none until it is asked for.
    async shadows_are_cast(daemon) {
        const { id } = await daemon.submit(scene({ time: { step: 0.02, steps: 20 } }));
        await daemon.over(id);
        const page = await open(daemon);
        await page.locator('.user').waitFor();
        await page.goto(`${daemon.url}/#/sessions/${id}?camera=0.3,6,6,0.3,0.8,0&frame=0`);
        await page.locator('.view canvas[data-frame="0"]').waitFor();
        const button = page.getByRole('button', { name: 'shadow', exact: true });
        check((await button.getAttribute('aria-pressed')) === 'false', 'a processor draws shadows');
        const dark = (part = canvasOf(page)) => count(page, part, [155, 158, 162]);
        const without = await dark();
        await page.keyboard.press('s');
        await until(async () => (await dark()) > without + 1500, 'a shadow on the floor');
        await shot(page, 'shadow');
        // The light comes from the left: its right end goes left as the box comes down.
        const { x, y, width, height } = await canvasOf(page).boundingBox();
        const clip = { x: x + width / 2 + 67, y: y + height / 2 - 8, width: 26, height: 45 };
        const end = { screenshot: () => page.screenshot({ clip }) };
        check((await dark(end)) > 700, `${await dark(end)} pixels of the shadow's end`);
        await page.getByRole('slider', { name: 'Frame' }).fill('20');
        await page.locator('.view canvas[data-frame="20"]').waitFor();
        await until(async () => (await dark(end)) < 150, 'another shadow');
        await button.click();
        await until(async () => (await dark()) < without + 300, 'no shadow');
        await quiet(page);
    },
});
