// From the gallery to a session; the editor with its form, faults and estimate; mesh files; and the ways to share a
// session.
import { createHash } from 'node:crypto';
import { PHONE, go } from './pages.mjs';
import {
    changed,
    check,
    count,
    endless,
    goBehind,
    look,
    open,
    quiet,
    run,
    scene,
    shot,
    textOf,
    until,
    writeText,
} from './rig.mjs';

const TEXT = 'The scene as JSON';
const text = textOf;
const status = (page) => page.locator('.estimate');
// The browser logs each rejection in its console, and a scene being edited is rejected.
const REFUSED = /status of 4(00|22)/;

// The numbers of lines with a mark beside them.
const markedLines = (page) =>
    page.locator('.text .cm-editor').evaluate((editor) => {
        const places = (kind) => [...editor.querySelectorAll(`${kind} .cm-gutterElement`)];
        const numbers = new Map(
            places('.cm-lineNumbers').map((one) => [one.getBoundingClientRect().top, Number(one.textContent)]),
        );
        return places('.cm-gutter-lint')
            .filter((one) => one.querySelector('.cm-lint-marker-error'))
            .map((one) => numbers.get(one.getBoundingClientRect().top));
    });
const markedText = (page) => page.locator('.cm-lintRange-error').allInnerTexts();

const bytesOf = async (download) => Buffer.concat(await (await download.createReadStream()).toArray());

// The duration of a film, and its first and last picture as 48 x 32 grey values.
async function playFilm(page, webm) {
    const other = await page.context().newPage();
    const found = await other.evaluate(async (data) => {
        const video = document.createElement('video');
        const at = (seconds) =>
            new Promise((done) => {
                // The element may exist before it can be drawn, which gives transparent pixels.
                video.onseeked = function draw() {
                    const context = new OffscreenCanvas(48, 32).getContext('2d');
                    context.drawImage(video, 0, 0, 48, 32);
                    const { data: p } = context.getImageData(0, 0, 48, 32);
                    if (p[3] === 0) setTimeout(draw, 10);
                    else done(Array.from({ length: 48 * 32 }, (_, i) => (p[4 * i] + p[4 * i + 1] + p[4 * i + 2]) / 3));
                };
                video.currentTime = seconds;
            });
        await new Promise((done, fail) => {
            video.onloadeddata = done;
            video.onerror = () => fail(new Error(video.error.message));
            video.src = `data:video/webm;base64,${data}`;
        });
        return { seconds: video.duration, last: await at(video.duration - 0.05), first: await at(0.01) };
    }, webm.toString('base64'));
    await other.close();
    return found;
}

await run({
    async the_gallery_runs_a_scene_by_a_click(daemon) {
        const page = await open(daemon);
        await page.getByText('No session yet').waitFor();
        await page.getByRole('button', { name: 'short form of An inextensible rope' }).waitFor();
        const cards = await page.locator('.card').count();
        check(cards >= 20, `${cards} scenes`);
        const headings = await page.locator('.gallery h2').allInnerTexts();
        check(headings[0] === 'Start here' && headings.length > 5, `groups ${headings}`);
        check(!headings.includes('More scenes'), 'a scene is missing in showcase.js');
        check((await page.locator('.card .sketch').count()) === 0, 'a scene has no picture');
        check((await page.locator('.list').count()) === 0, 'an empty list takes a part of the page');
        const first = page.locator('.card img').first();
        await until(() => first.evaluate((img) => img.complete && img.naturalWidth === 320), 'its picture');
        const { status, type } = await page.evaluate(async (src) => {
            const reply = await fetch(src);
            return { status: reply.status, type: reply.headers.get('content-type') };
        }, await first.getAttribute('src'));
        check(status === 200 && type === 'image/webp', `its picture is ${type}`);
        await shot(page, 'gallery');
        await page.getByRole('button', { name: 'short form of An inextensible rope' }).click();
        await until(() => /#\/sessions\/[0-9a-f]{32}/.test(page.url()), 'the session');
        const id = /[0-9a-f]{32}/.exec(page.url())[0];
        check((await daemon.over(id)).state === 'succeeded', 'it did not succeed');
        const { time } = await daemon.call('GET', `/v1/sessions/${id}/scene`);
        check(time.duration === 0.8, `not the short form: ${JSON.stringify(time)}`);
        check((await daemon.call('GET', '/v1/sessions')).items.length === 1, 'more than one session');
        await quiet(page);
    },

    async the_form_and_the_text_are_one(daemon) {
        const page = await open(daemon);
        await go(page, '/scenes?gallery=twisting_bar');
        await page.getByLabel('iterations').waitFor();
        check((await page.getByLabel('iterations').inputValue()) === '100', 'the form shows something else');
        await page.getByLabel('iterations').fill('7');
        check(/"iterations": 7\b/.test(await text(page)), 'the text does not follow the form');
        await page.getByLabel('tolerance').fill('2e-3');
        const tolerance = () => page.getByLabel('tolerance').inputValue();
        await until(async () => (await tolerance()) === '0.002', 'the field to show what is in the text');
        await page.getByLabel('tolerance').fill('');
        check(!(await text(page)).includes('"tolerance": 0.001}'), 'an empty field is not left out');
        await page.getByLabel('cores').fill('2');
        check(JSON.parse(await text(page)).resources.cores === 2, 'a key that was not there is not made');
        await page.getByLabel('method').selectOption('lbfgs');
        const changed = JSON.parse(await text(page));
        check(changed.solver.method === 'lbfgs' && changed.bodies.length === 1, 'the rest of the text changed');
        await writeText(page, JSON.stringify({ ...changed, name: 'by hand', solver: { iterations: 9 } }));
        check((await page.getByLabel('iterations').inputValue()) === '9', 'the form does not follow the text');
        check((await page.getByLabel('name', { exact: true }).inputValue()) === 'by hand', 'nor does the name');
        await status(page).getByText('ms per frame').waitFor();
        await shot(page, 'editor');
        await quiet(page);
    },

    async faults_stand_at_their_lines(daemon) {
        const page = await open(daemon, { allow: [REFUSED] });
        await go(page, '/scenes?draft=1');
        await status(page).getByText('ms per frame').waitFor();
        check(
            await page.getByRole('button', { name: 'submit' }).isEnabled(),
            'a good scene cannot be submitted',
        );
        const wrong = (await text(page))
            .replace('"step"', '"stp"')
            .replace('"poisson": 0.45', '"poisson": 0.7');
        await writeText(page, wrong);
        await status(page).getByText('2 faults').waitFor();
        const line = wrong.split('\n').findIndex((one) => one.includes('"stp"')) + 1;
        check((await markedLines(page))[0] === line, `marked lines ${await markedLines(page)}, not ${line}`);
        check((await markedText(page)).includes('"stp": 0.01'), `underlined ${await markedText(page)}`);
        await page.locator('.faults').getByText('did you mean "step"').waitFor();
        await page.locator('.field.wrong').getByLabel("Poisson's ratio").waitFor();
        check(await page.getByRole('button', { name: 'submit' }).isDisabled(), 'a bad scene can be submitted');
        await page.locator('.faults button').first().click();
        const chosen = await page.getByLabel(TEXT).evaluate(() => getSelection().toString());
        check(chosen.includes('"stp"'), `it goes to ${chosen}`);
        await shot(page, 'faults');
        await writeText(page, wrong.replace('"gravity"', 'gravity').replace('{', '{ nonsense'));
        await page.locator('.faults').getByText('a key in quotes expected').waitFor();
        await page.getByText('The form returns').waitFor();
        await writeText(page, wrong.replace('"stp"', '"step"').replace('0.7', '0.3'));
        await status(page).getByText('starts at once').waitFor();
        await page.getByRole('button', { name: 'submit' }).click();
        await until(() => /#\/sessions\/[0-9a-f]{32}/.test(page.url()), 'the session');
        await quiet(page);
    },

    // The line below the text names no key that a phone lacks, and a tap on a key of the scene explains that.
    async a_phone_has_no_keys_to_press(daemon) {
        const page = await open(daemon, { ...PHONE, allow: [REFUSED] });
        await go(page, '/scenes?draft=1');
        await status(page).getByText('ms per frame').waitFor();
        const about = page.locator('.about');
        check(!/Ctrl|Tab\b/.test(await about.innerText()), await about.innerText());
        await page.locator('.cm-line', { hasText: '"method"' }).locator('span', { hasText: '"method"' }).tap();
        await about.getByText(/^solver\.method /).waitFor();
        await quiet(page);
    },

    async the_schema_helps_to_write(daemon) {
        const page = await open(daemon, { allow: [REFUSED] });
        await go(page, '/scenes?draft=1');
        await status(page).getByText('ms per frame').waitFor();
        const offered = () => page.locator('.cm-tooltip-autocomplete li .cm-completionLabel').allInnerTexts();
        const choose = async (name) => {
            const marked = page.locator('.cm-tooltip-autocomplete [aria-selected] .cm-completionLabel');
            await marked.getByText(name).waitFor();
            await page.waitForTimeout(100); // a list takes no key in its first 75 ms
            await page.keyboard.press('Enter');
        };
        // Keys of the object, except those that it has; each with its description.
        await goBehind(page, '"solver": {');
        await page.keyboard.press('Control+Space');
        await until(async () => (await offered()).includes('iterations'), 'keys of the solver');
        check(!(await offered()).includes('method'), 'a key that is there is offered');
        check(!(await offered()).includes('young'), 'a key of another object is offered');
        await page.keyboard.type('"iter');
        await page.locator('.cm-completionInfo').getByText('Maximum iterations of a step').waitFor();
        await choose('iterations');
        await page.keyboard.type('30,');
        check((await text(page)).includes('"solver": {"iterations": 30, "method"'), await text(page));
        // Values from the schema's lists, and names from the scene.
        await goBehind(page, '"method": "auto');
        await page.keyboard.press('Control+Space');
        await until(async () => (await offered()).includes('newton'), 'methods');
        await page.locator('.cm-tooltip-autocomplete').getByText('newton', { exact: true }).click();
        await until(async () => JSON.parse(await text(page)).solver.method === 'newton', 'the method');
        await goBehind(page, '"material": "');
        await page.keyboard.press('Control+Space');
        await until(async () => (await offered()).join() === 'rubber', 'the material');
        await page.keyboard.press('Escape');
        // The key at the cursor, and under the pointer.
        await goBehind(page, '"young');
        await page.locator('.json .about').getByText(/materials\.rubber\.young.*Young's modulus/).waitFor();
        await page.locator('.cm-line').getByText('"poisson"').hover();
        await page.locator('.cm-tooltip-hover').getByText("Poisson's ratio").waitFor();
        await shot(page, 'hover');
        // A change in the form is one undo step in the text; the cursor stays.
        await page.getByLabel('density').fill('1200');
        await until(async () => (await text(page)).includes('"density": 1200'), 'the density');
        await page.getByLabel(TEXT).focus();
        await page.keyboard.type('g');
        check((await text(page)).includes('"youngg"'), 'the cursor has moved');
        await page.keyboard.press('Control+z');
        await page.keyboard.press('Control+z');
        await until(async () => (await page.getByLabel('density').inputValue()) === '1000', 'the density before');
        // Keys of the page are letters here, and Tab leaves.
        await page.keyboard.type('?');
        check((await text(page)).includes('?'), 'the page takes a key that was meant for the text');
        await page.keyboard.press('Tab');
        check(!(await page.evaluate(() => document.activeElement.shadowRoot)), 'Tab stays in the text');
        check(!(await text(page)).includes('\t'), 'Tab writes');
        await quiet(page);
    },

    // In 3-D, without a session: edits move objects there, and a fault leaves the last picture.
    async the_scene_is_seen_before_it_runs(daemon) {
        const page = await open(daemon, { allow: [REFUSED] });
        await go(page, '/scenes?draft=1');
        const preview = page.getByRole('region', { name: 'Preview' });
        const canvas = preview.locator('canvas');
        const warm = () => count(page, canvas, 'warm');
        const blue = () => count(page, canvas, [36, 86, 230]);
        await preview.getByLabel('The scene before it runs: box').waitFor();
        const before = await until(warm, 'the box');
        check((await blue()) === 0, 'pins that are not there');
        const box = scene({ pins: [{ name: 'hand', body: 'box', select: { side: '-x' } }] });
        box.bodies[0].mesh.box.size = [0.2, 1, 0.2];
        await writeText(page, JSON.stringify(box));
        await until(async () => (await warm()) < 0.7 * before, 'a thinner box');
        await until(blue, 'its pins');
        // A ball of obstacle, grey, in view.
        const pixels = await look(page, canvas);
        box.obstacles.push({ name: 'ball', sphere: { center: [2, 2, 0], radius: 1 } });
        await writeText(page, JSON.stringify(box));
        await until(async () => changed(pixels, await look(page, canvas)) > 100, 'the ball');
        const thin = await warm();
        await canvas.focus();
        const here = await look(page, canvas);
        for (let i = 0; i < 6; i++) await page.keyboard.press('4');
        await until(async () => changed(here, await look(page, canvas)) > 60, 'it to turn');
        await writeText(page, JSON.stringify({ ...box, bodies: [] }));
        await preview.getByText('This is the last scene without faults.').waitFor();
        check((await warm()) > 0.5 * thin, 'the last picture is gone');
        await writeText(page, '{');
        await status(page).getByText('1 fault').waitFor();
        await preview.getByText('This is the last scene without faults.').waitFor();
        const square = { name: 'sheet', mesh: { cloth: { size: [1, 1], cells: [500, 500] } } };
        await writeText(page, JSON.stringify({ pliant: 1, bodies: [square] }));
        await preview.getByText('too large for a preview').waitFor();
        await shot(page, 'preview');
        check((await daemon.call('GET', '/v1/sessions')).items.length === 0, 'a session was made');
        await quiet(page);
    },

    async the_queue_is_told_before_submitting(daemon) {
        let id;
        for (let i = 0; i < 3; i++) ({ id } = await daemon.submit(endless({ name: `busy ${i}` })));
        const page = await open(daemon);
        await go(page, '/scenes?draft=1');
        await status(page).getByText('1 session waits before it').waitFor();
        await go(page, '/machine');
        await page.getByText('2 of 2 in use').waitFor();
        for (const name of ['busy 0', 'busy 1', 'busy 2']) await page.getByRole('link', { name }).waitFor();
        await page.getByText('1st', { exact: true }).waitFor();
        check((await page.getByText(/more wait|other users wait/).count()) === 0, 'all that wait are there');
        // Of a queue that fills pages the rest is not "of others".
        const full = { running: 2, queued: 900, checking: 0, items: [], next: id };
        await page.route('**/v1/queue?*', (route) => route.fulfill({ json: full }));
        await page.getByText('900 more wait.').waitFor();
        await page.unroute('**/v1/queue?*');
        await page.getByText('1st', { exact: true }).waitFor();
        await page.getByRole('row', { name: /^requests per second \d+ of 1000$/ }).waitFor();
        await shot(page, 'machine');
        await page.getByRole('button', { name: 'start no more sessions here' }).click();
        await page.getByText('Nothing more is started here').waitFor();
        check((await daemon.call('GET', '/v1/devices')).items[0].draining, 'it is not drained');
        await page.getByRole('button', { name: 'start sessions here again' }).click();
        await page.getByRole('button', { name: 'start no more sessions here' }).waitFor();
        await quiet(page);
    },

    async a_session_is_edited_and_run_again(daemon) {
        const { id } = await daemon.submit(scene({ name: 'first', labels: { series: 'a' } }));
        await daemon.over(id);
        const page = await open(daemon);
        await go(page, `/sessions/${id}`);
        await page.getByRole('button', { name: 'edit', exact: true }).click();
        await page.getByText('“first” again').waitFor();
        await page.getByLabel('name', { exact: true }).fill('second');
        await page.getByLabel('steps', { exact: true }).fill('5');
        await status(page).getByText('5 frames').waitFor();
        await page.getByRole('button', { name: 'submit' }).click();
        await until(
            () => /#\/sessions\/[0-9a-f]{32}/.test(page.url()) && !page.url().includes(id),
            'the session',
        );
        const second = await daemon.over(/[0-9a-f]{32}/.exec(page.url())[0]);
        check(second.name === 'second' && second.labels.series === 'a', 'it is not that scene');
        check(second.progress.frame === 5, `it has ${second.progress.frame} frames`);
        await quiet(page);
    },

    async mesh_files_are_dropped(daemon) {
        const page = await open(daemon, { allow: [REFUSED] });
        await go(page, '/scenes?draft=1');
        await page.getByLabel(TEXT).waitFor();
        const obj = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n';
        const hash = createHash('sha256').update(obj).digest('hex');
        const drop = (name, content) =>
            page.evaluate(
                ([file, bytes]) => {
                    const dataTransfer = new DataTransfer();
                    dataTransfer.items.add(new File([bytes], file));
                    const target = document.querySelector('.text').shadowRoot.querySelector('.cm-content');
                    for (const kind of ['dragover', 'drop']) {
                        target.dispatchEvent(
                            new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true, composed: true }),
                        );
                    }
                },
                [name, content],
            );
        await drop('sheet.obj', obj);
        await page.getByText('sheet: 4 vertices, 2 triangles').waitFor();
        const { bodies } = JSON.parse(await text(page));
        check(
            bodies.at(-1).mesh.upload === `sha256:${hash}` && bodies.at(-1).material === 'rubber',
            'the body is another',
        );
        await status(page).getByText('ms per frame').waitFor();
        await drop('bad.obj', 'v 0 0\n');
        await page.locator('.meshes').getByText('line 1').waitFor();
        await drop('notes.docx', 'x');
        await page.locator('.meshes').getByText('unsupported file type').waitFor();
        check(JSON.parse(await text(page)).bodies.length === 2, 'a body of a file that was refused');
        check((await daemon.call('GET', '/v1/meshes')).items.length === 1, 'more than one mesh');
        await quiet(page);
    },

    async a_session_is_taken_along(daemon) {
        const { id } = await daemon.submit(scene({ name: 'to be shared', time: { step: 0.05, steps: 8 } }));
        await daemon.over(id);
        const page = await open(daemon);
        await go(page, `/sessions/${id}`);
        await page.getByRole('tab', { name: 'share' }).click();
        const heights = await page.getByRole('tab').evaluateAll((tabs) => tabs.map((tab) => tab.offsetTop));
        check(new Set(heights).size === 1, `tabs in more than one row: ${heights}`);
        await page.getByRole('button', { name: 'make a share link' }).click();
        const url = await page.getByLabel('share link', { exact: true }).inputValue();
        check(url.startsWith(`${daemon.url}/#link=`), url);
        for (const what of ['as curl', 'as Python', 'as a film']) {
            const words = await page.getByLabel(what, { exact: true }).inputValue();
            const named = what === 'as a film' || words.includes(daemon.url);
            check(named && words.includes(id) && !words.includes(daemon.token), words);
        }
        const [file] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('link', { name: 'metrics: one line of JSON per frame' }).click(),
        ]);
        const rows = (await bytesOf(file))
            .toString()
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        const frames = rows.filter((row) => !row.event).map((row) => row.frame);
        check(frames.join() === '0,1,2,3,4,5,6,7,8', `metrics of ${JSON.stringify(rows).slice(0, 400)}`);
        const [film] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('button', { name: 'film', exact: true }).click(),
        ]);
        const webm = await bytesOf(film);
        check(webm.subarray(0, 4).toString('hex') === '1a45dfa3', `a film that begins with ${webm.subarray(0, 4)}`);
        // 8 frames of 0.05 s at 30 pictures a second are 13, however long each took; the last stays for 0.7 s.
        const { seconds, first, last } = await playFilm(page, webm);
        check(Math.abs(seconds - 1.1) < 0.02, `a film of ${seconds} s`);
        check(first.some((value) => Math.abs(value - first[0]) > 20), 'its first picture is blank');
        // In a film that stands still the encoder changes 130 grey values; in this one 400 change.
        check(changed(first, last) > 250, `only ${changed(first, last)} of it moves`);
        await page.getByLabel('Body to export').selectOption('box');
        await page.getByLabel('surface only').check();
        const [obj] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('link', { name: 'the mesh that they move' }).click(),
        ]);
        const corners = (await bytesOf(obj)).toString().match(/^v /gm).length;
        check(corners === 56, `the surface of 4 x 4 x 4 vertices has ${corners}`);
        const names = await page.getByRole('link', { name: 'the run as .' }).allInnerTexts();
        const others = ['.mdd', '.csv', '.ply, one file per frame', '.usda'].map((ending) => `the run as ${ending}`);
        check(names.join() === others.join(), names.join());
        const [ply] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('link', { name: 'the run as .ply' }).click(),
        ]);
        check(ply.suggestedFilename().endsWith('.zip'), ply.suggestedFilename());
        check((await bytesOf(ply)).subarray(0, 2).toString() === 'PK', 'an archive of .ply files');
        await shot(page, 'share');
        await quiet(page);

        const visitor = await open(daemon, { url });
        await visitor.getByRole('heading', { name: 'to be shared' }).waitFor();
        check((await visitor.getByRole('navigation', { name: 'Sessions' }).count()) === 0, 'it shows a list');
        await visitor.reload();
        await visitor.getByRole('heading', { name: 'to be shared' }).waitFor();
        await quiet(visitor);
        await page.getByRole('button', { name: 'revoke' }).click();
        await until(
            async () => (await daemon.call('GET', `/v1/sessions/${id}/links`)).items.length === 0,
            'the revocation',
        );
    },

    async a_film_is_made_while_it_plays(daemon) {
        const { id } = await daemon.submit(scene({ gravity: [0, -18, 0], time: { step: 0.002, steps: 200 } }));
        await daemon.over(id);
        const page = await open(daemon);
        await go(page, `/sessions/${id}`);
        await page.getByRole('tab', { name: 'share' }).click();
        const film = page.getByRole('button', { name: 'film', exact: true });
        const end = page.getByRole('button', { name: 'end the film' });
        const speed = (times) => page.locator('.timeline select').selectOption(`${times}`);
        const play = () => page.getByRole('button', { name: 'Play' }).click();
        // At a tenth of the speed it is 4.7 s long; when ended, the part so far is offered.
        await speed(0.1);
        await play();
        const [begun] = await Promise.all([
            page.waitForEvent('download'),
            film
                .click()
                .then(() => page.getByRole('button', { name: 'Play' }).waitFor())
                .then(() => end.getByText(/at frame ([2-9]|\d\d)/).waitFor())
                .then(() => end.click()),
        ]);
        const part = await playFilm(page, await bytesOf(begun));
        check(part.seconds > 0.03 && part.seconds < 4, `an ended film of ${part.seconds} s`);
        // Even if the user moves the player meanwhile, it has every moment: 13 pictures, the last for 0.7 s.
        await speed(1);
        await play();
        const [whole] = await Promise.all([
            page.waitForEvent('download'),
            film
                .click()
                .then(() => end.waitFor())
                .then(() => page.keyboard.press('End'))
                .then(() => page.keyboard.press('Home')),
        ]);
        const { seconds, first, last } = await playFilm(page, await bytesOf(whole));
        check(Math.abs(seconds - 1.1) < 0.02, `a film of ${seconds} s`);
        check(changed(first, last) > 250, `only ${changed(first, last)} of it moves`);
        await quiet(page);
    },
});
