// The list of sessions: its order, the contents of a row, small pictures, several sessions at once, and agreement of
// list and panel.
import { check, endless, open, quiet, run, scene, shot, sleep, until } from './rig.mjs';

const rows = (page) => page.locator('.list li');
const item = (page, name) => rows(page).filter({ hasText: name });
const names = (page) => page.locator('.list .name').allInnerTexts();
const short = (name, more = {}) => scene({ name, time: { step: 0.01, steps: 3 }, ...more });
const tick = (page, name) => page.getByLabel(`select ${name}`, { exact: true });
const button = (page, name) => page.getByRole('toolbar').getByRole('button', { name });

// The keys of the browser's stored pictures, [user, ID]; `more` are added first.
const stored = (page, more = []) =>
    page.evaluate(async (records) => {
        const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
        const database = await done(indexedDB.open('pliant.pictures'));
        const store = database.transaction('pictures', 'readwrite').objectStore('pictures');
        records.forEach((record) => store.put(record));
        const keys = await done(store.getAllKeys());
        database.close();
        return keys;
    }, more);

// The page's question, answered with yes.
function sayYes(page) {
    const asked = [];
    page.on('dialog', (dialog) => {
        asked.push(dialog.message());
        dialog.accept();
    });
    return asked;
}

await run({
    // Their times are in whole seconds, and IDs are random: still, the order is that of submission.
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
        await item(page, 'doubtful').getByText('⚠ unconverged 3/3 frames').waitFor();
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
        await page.locator('.panel h1').getByText('doubtful').waitFor();
        const state = page.locator('.panel .state');
        await state.getByText('succeeded').waitFor();
        check((await colour(state)) === amber, 'the panel is green');
        const time = item(page, 'good').locator('time');
        check((await time.innerText()) === 'just now', await time.innerText());
        check((await time.getAttribute('datetime')) === good.created, 'another time');
        check(!(await item(page, 'good').innerText()).includes('owner'), 'it names the only owner');
        const before = new Date(Date.now() - 3 * 3600 * 1000).toISOString();
        await page.route('**/v1/sessions?limit*', async (route) => {
            const response = await route.fetch();
            const json = await response.json();
            const labels = { sweep: 'ab12'.repeat(8), n: 'a' };
            Object.assign(json.items[0], { owner: 'mia', created: before, labels });
            await route.fulfill({ response, json });
        });
        await page.reload();
        await item(page, 'good').getByText('3 h ago · mia').waitFor();
        await item(page, 'good').getByText(/sweep=ab12ab12 · n=a$/).waitFor();
        await item(page, 'doubtful').getByText('just now · owner').waitFor();
        await quiet(page);
    },

    // Both always show the same number, no matter which got it first.
    async list_and_panel_agree(daemon) {
        const time = { step: 0.01, steps: 100000, pace: 'realtime' };
        const { id } = await daemon.submit(endless({ name: 'long', time }));
        const page = await open(daemon);
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}`);
        await page.locator('.panel .left').waitFor();
        await page.locator('.list .chosen .line').first().waitFor();
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

    // A branch has its own start time, so its time divided by its frames is not the length of a frame.
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
        // 1000 s are left, because it runs in real time; extrapolating 4 s in its first second would give far more.
        const seconds = async () => {
            const [, minutes, rest] = /(\d+):(\d\d) left/.exec(await line.innerText()) ?? [];
            return 60 * minutes + Number(rest);
        };
        await until(async () => Math.abs((await seconds()) - 1000) < 60, 'about 1000 s left');
        await quiet(page);
    },

    async several_are_acted_on_at_once(daemon) {
        const ids = {};
        await daemon.over((await daemon.submit(short('done'))).id);
        for (const name of ['one', 'two', 'three']) ids[name] = (await daemon.submit(endless({ name }))).id;
        const page = await open(daemon, { allow: [/status of 4/] });
        const asked = sayYes(page);
        await tick(page, 'one').check();
        await tick(page, 'done').check();
        await button(page, 'pause 1').click();
        await page.getByRole('status').getByText('1 paused').waitFor();
        await until(async () => (await daemon.state_of(ids.one)) === 'paused', 'the pause');
        await button(page, 'resume 1').click();
        await page.getByRole('status').getByText('1 resumed').waitFor();
        await button(page, 'label').click();
        await page.getByLabel('Label as key=value').fill('series = a');
        await page.keyboard.press('Enter');
        await page.getByRole('status').getByText('2 labelled').waitFor();
        await item(page, 'done').getByText('series=a').waitFor();
        const { labels } = await daemon.call('GET', `/v1/sessions/${ids.one}`);
        check(labels.series === 'a', `labels ${JSON.stringify(labels)}`);
        await page.locator('#filter').fill('series');
        await until(async () => (await rows(page).count()) === 2, 'those with the label');
        await page.locator('#filter').fill('');
        await button(page, 'none').click();
        check((await page.getByRole('toolbar').count()) === 0, 'the bar stays');
        check(asked.length === 0, `it asks ${asked}`);
        // A range, and all.
        await tick(page, 'three').check();
        await tick(page, 'one').click({ modifiers: ['Shift'] });
        await page.getByText('3 selected').waitFor();
        await button(page, 'all 4').click();
        await page.getByText('4 selected').waitFor();
        await shot(page, 'selected');
        await button(page, 'cancel 3').click();
        await page.getByRole('status').getByText('3 cancelled').waitFor();
        check(/^Cancel 3 sessions\?/.test(asked[0]), asked[0]);
        await Promise.all(Object.values(ids).map((id) => daemon.over(id)));
        // One is rejected: the others succeed, and the page says which failed, and why; trying again succeeds.
        const refuse = (route) =>
            route.request().method() === 'DELETE'
                ? route.fulfill({ status: 409, json: { status: 409, detail: 'it is held', faults: [] } })
                : route.continue();
        await page.route(`**/v1/sessions/${ids.two}`, refuse);
        await button(page, 'remove').click();
        await page.getByRole('status').getByText('3 removed, 1 not').waitFor();
        await page.getByRole('status').getByText('two: it is held').waitFor();
        check(/^Remove 4 sessions/.test(asked[1]), asked[1]);
        await until(async () => (await names(page)).join() === 'two', 'the one that is left');
        await shot(page, 'refused');
        await page.unroute(`**/v1/sessions/${ids.two}`, refuse);
        await page.getByRole('button', { name: 'try again' }).click();
        await page.getByText('This session was deleted').waitFor(); // it was open
        await page.getByRole('link', { name: 'All sessions' }).click();
        await page.getByText('No session yet').waitFor();
        check((await daemon.call('GET', '/v1/sessions')).items.length === 0, 'it is still there');
        await quiet(page);
    },

    async rows_are_selected_by_keys(daemon) {
        for (const name of ['c', 'b', 'a']) await daemon.over((await daemon.submit(short(name))).id);
        const page = await open(daemon);
        const focused = () => page.evaluate(() => document.activeElement.querySelector('.name')?.innerText);
        await item(page, 'a').first().waitFor();
        await page.keyboard.press('/');
        await page.keyboard.press('ArrowDown');
        check((await focused()) === 'a', `the first row: ${await focused()}`);
        await page.keyboard.press('Tab');
        check((await focused()) === 'b', `one stop a row: ${await focused()}`);
        await page.keyboard.press('x');
        await page.getByText('1 selected').waitFor();
        await page.keyboard.press('Shift+ArrowDown');
        await page.getByText('2 selected').waitFor();
        check((await focused()) === 'c', `the last row: ${await focused()}`);
        await page.keyboard.press(' ');
        await page.getByText('1 selected').waitFor();
        await page.keyboard.press('Control+a');
        await page.getByText('3 selected').waitFor();
        await page.keyboard.press('Escape');
        await until(async () => (await page.getByRole('toolbar').count()) === 0, 'none');
        // A picture requested while its session is being deleted gives a 404, which the browser's console logs.
        await until(async () => (await page.locator('.thumb[data-frame="3"]').count()) === 3, 'their pictures');
        const asked = sayYes(page);
        await page.keyboard.press('Delete');
        await until(async () => (await names(page)).join() === 'a,b', 'the last one removed');
        check(/^Remove 1 session /.test(asked[0]), asked[0]);
        await quiet(page);
    },

    // A table: sorted by any column, grouped, with the parameters in which runs differ, and as CSV.
    async runs_are_a_table(daemon) {
        const pins = [{ name: 'hand', body: 'box', select: { side: '-x' } }];
        const materials = (young) => ({ rubber: { young, poisson: 0.3, density: 1000 } });
        const descent = { method: 'gradient_descent', iterations: 1, tolerance: 1e-12 };
        const of = 'ab12'.repeat(8); // an ID, of which eight digits are shown
        const list = [
            short('=soft', { materials: materials(2e4), labels: { series: 'a' } }),
            short('stiff', { materials: materials(1e6), labels: { of, series: 'b' }, solver: { method: 'newton' } }),
            short('doubtful', { solver: descent, pins, labels: { series: 'a' } }),
        ];
        for (const one of list) await daemon.over((await daemon.submit(one)).id);
        const page = await open(daemon);
        await page.getByRole('link', { name: 'as a table' }).click();
        const table = page.getByRole('region', { name: 'Table of runs' });
        await page.getByText('3 runs', { exact: true }).waitFor();
        const heads = async () => (await table.locator('thead th').allInnerTexts()).map((text) => text.trim());
        await until(async () => (await heads()).includes('materials.rubber.young'), 'what differs');
        const column = async (label) => {
            const at = (await heads()).findIndex((text) => text.replace(/ [▾▴]/, '') === label);
            return table.locator('tbody tr:not(.group)').evaluateAll(
                (all, k) => all.map((row) => row.children[k].innerText.trim()), at,
            );
        };
        const order = async (expected) =>
            until(async () => (await column('name')).join() === expected, `the order ${expected}`);
        await order('doubtful,stiff,=soft');
        check((await column('method')).join() === 'gradient descent,newton,gradient descent', await column('method'));
        const labels = (await column('labels')).join('; ');
        check(labels === 'series=a; of=ab12ab12, series=b; series=a', labels);
        check((await table.getByTitle(`of=${of}, series=b`).count()) === 1, 'the whole ID is nowhere');
        check((await column('unconverged')).join() === '3,0,0', `unconverged ${await column('unconverged')}`);
        const { items } = await daemon.call('GET', '/v1/sessions');
        const metrics = await page.evaluate(
            (id) => fetch(`/v1/sessions/${id}/metrics?from=3&to=3`).then((reply) => reply.text()),
            items[0].id,
        );
        const elastic = Number(/"elastic":([^,}]+)/.exec(metrics)[1]);
        const told = Number((await column('elastic [J]'))[0].replaceAll('−', '-'));
        check(Math.abs(told - elastic) <= 1e-3 * Math.abs(elastic), `${told} J, not ${elastic}`);
        const head = (name) => table.locator('thead').getByRole('button', { name });
        await head('materials.rubber.young').click();
        await order('=soft,doubtful,stiff');
        await head('materials.rubber.young').click();
        await order('stiff,doubtful,=soft');
        check((await table.locator('[aria-sort=descending]').count()) === 1, 'it is not told');
        await page.getByLabel('grouped by').selectOption('label.series');
        const groups = () => table.locator('tr.group').allInnerTexts();
        await until(async () => (await groups()).join() === 'series=b (1),series=a (2)', 'two groups');
        await order('stiff,doubtful,=soft');
        await page.getByLabel('grouped by').selectOption('label.of');
        await until(async () => (await groups()).join() === 'of=ab12ab12 (1),without of (2)', 'the group of an ID');
        await page.getByLabel('grouped by').selectOption('age');
        await until(async () => (await groups()).join() === 'the last hour (3)', 'one age');
        const [file] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('button', { name: 'csv' }).click(),
        ]);
        const lines = Buffer.concat(await (await file.createReadStream()).toArray()).toString().trim().split('\n');
        check(lines.length === 4 && lines[0].startsWith('id,name,labels,state'), lines[0]);
        check(lines[1].includes(of), `a part of an ID: ${lines[1]}`);
        check(lines[3].includes(",'=soft,series=a,succeeded,"), `a formula: ${lines[3]}`);
        await shot(page, 'runs');
        await page.getByLabel('Filter runs').fill('newton');
        await page.getByText('0 runs', { exact: true }).waitFor();
        await page.getByLabel('Filter runs').fill('stiff');
        await page.getByText('1 run', { exact: true }).waitFor();
        await quiet(page);
    },

    async a_thousand_runs_are_a_table(daemon) {
        const { id } = await daemon.submit(short('one'));
        const one = await daemon.over(id);
        const page = await open(daemon);
        await item(page, 'one').waitFor(); // logged in; a reload before would cut the login off
        const named = (k) => ({ ...one, id: k.toString(16).padStart(32, '0'), name: `run ${k}` });
        const items = Array.from({ length: 1000 }, (_, k) => named(k + 1));
        await page.route('**/v1/sessions?limit*', (route) => route.fulfill({ json: { items, next: null } }));
        await page.route(/sessions\/0+[0-9a-f]+\/scene/, (route) => route.fulfill({ json: {} }));
        await page.route(/sessions\/0+[0-9a-f]+\/metrics/, (route) => route.fulfill({ body: '' }));
        await page.reload();
        await item(page, 'run 1').first().waitFor();
        const draw = (hash, place) =>
            page.evaluate(
                async ([where, what]) => {
                    const begun = performance.now();
                    location.hash = where;
                    while (!document.querySelector(what)) await new Promise(requestAnimationFrame);
                    await new Promise(requestAnimationFrame);
                    return Math.round(performance.now() - begun);
                },
                [hash, place],
            );
        const took = [];
        for (let i = 0; i < (process.env.TIMES ? 8 : 1); i++) {
            took.push(await draw('/runs', '.run-table tbody tr'));
            if (process.env.TIMES) await draw('/sweeps', '.sweeppage, section[aria-label=Sweeps]');
        }
        if (process.env.TIMES) console.log(`1,000 runs are a table after ${took} ms`);
        await draw('/runs', '.run-table tbody tr');
        const count = () => page.locator('.run-table tbody tr').count();
        await until(async () => (await count()) === 1000, 'all rows');
        await page.getByRole('button', { name: 'name' }).click();
        await until(
            async () => (await page.locator('.run-table tbody tr').nth(999).innerText()).startsWith('run 999'),
            'them sorted',
        );
    },

    // Of a thousand sessions the newest are requested alone, and as many rows as fit are drawn before the code of the
    // view is loaded or the other sessions are requested.
    async the_newest_of_a_thousand_are_shown_first(daemon) {
        const one = await daemon.over((await daemon.submit(short('one'))).id);
        const page = await open(daemon);
        await item(page, 'one').waitFor();
        const progress = { ...one.progress, frame: null }; // so that no picture is requested
        const named = (k) => ({ ...one, id: k.toString(16).padStart(32, '0'), name: `run ${k}`, progress });
        const all = [{ ...one, name: 'run 0' }, ...Array.from({ length: 999 }, (_, k) => named(k + 1))];
        const asked = [],
            opened = {};
        const gates = ['newest', 'others'].map((name) => new Promise((go) => (opened[name] = go)));
        await page.route('**/v1/sessions?limit*', async (route) => {
            const query = new URL(route.request().url()).searchParams;
            const from = Number(query.get('cursor') ?? 0),
                to = from + Number(query.get('limit'));
            asked.push(`list ${from}-${to}`);
            await gates[from ? 1 : 0];
            await route.fulfill({ json: { items: all.slice(from, to), next: to < all.length ? `${to}` : null } });
        });
        page.on('request', (request) => /assets\/view-/.test(request.url()) && asked.push('view'));
        await page.addInitScript(() => {
            const count = () => document.querySelectorAll('.list li').length;
            new MutationObserver(() => (window.firstRows ||= count())).observe(document, {
                childList: true,
                subtree: true,
            });
        });
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${one.id}`);
        await page.reload();
        await page.locator('.panel h1').getByText('one').waitFor();
        await until(() => asked.includes('list 0-50'), 'the request for the newest');
        await sleep(300);
        check(asked.join() === 'list 0-50', `before the newest are here: ${asked}`);
        opened.newest();
        await item(page, 'run 0').first().waitFor();
        await until(() => asked.includes('view'), 'the view');
        const { first, fit } = await page.evaluate(() => {
            const list = [...document.querySelectorAll('.list li')];
            const fits = list.filter((row) => row.getBoundingClientRect().top < innerHeight);
            return { first: window.firstRows, fit: fits.length };
        });
        check(first >= fit && first < 2 * fit, `${first} rows are drawn at first, ${fit} fit`);
        await until(async () => (await rows(page).count()) === 50, 'the other newest');
        opened.others();
        await until(async () => (await rows(page).count()) === 200, 'the others');
        check((await names(page)).every((name, k) => name === `run ${k}`), 'another order');
        const lists = asked.filter((what) => what !== 'view').slice(0, 3);
        check(lists.join() === 'list 0-50,list 50-550,list 550-1000', `${lists}`);
        await quiet(page);
    },

    // Only for visible sessions.
    async rows_have_pictures(daemon) {
        for (let i = 0; i < 30; i++) await daemon.submit(short(`p${i}`));
        const { items } = await daemon.call('GET', '/v1/sessions');
        await Promise.all(items.map(({ id }) => daemon.over(id)));
        const page = await open(daemon, { url: `${await daemon.loginUrl()}` });
        let asked = 0;
        page.on('request', (request) => {
            asked += /\/frames\/\d+\?dtype=u16/.test(request.url());
        });
        await rows(page).nth(29).waitFor();
        const drawn = page.locator('.list .thumb[data-frame="3"]');
        const inSight = await rows(page).evaluateAll(
            (all) => all.filter((one) => one.getBoundingClientRect().top < innerHeight).length,
        );
        await until(async () => (await drawn.count()) >= inSight - 1, 'those in sight');
        const coloured = await drawn.first().evaluate((canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) count += data[i + 3] === 255 && data[i] > data[i + 2] + 40;
            return count / (data.length / 4);
        });
        check(coloured > 0.2 && coloured < 0.9, `the box takes ${coloured} of the picture`);
        await sleep(1000);
        check(asked <= inSight + 1, `${asked} frames are asked for, ${inSight} rows are in sight`);
        const record = (user, id, at) => ({ user, id, frame: 1, pixels: null, at });
        const old = Array.from({ length: 450 }, (_, k) => record('owner', `${k}`, k));
        await stored(page, [...old, record('mia', '1', Date.now()), record('zoe', '1', Date.now())]);
        await page.locator('.list ul').evaluate((list) => list.scrollTo(0, list.scrollHeight));
        await until(async () => (await rows(page).last().locator('[data-frame="3"]').count()) === 1, 'the last one');
        await shot(page, 'thumbs');
        // They are shown again after a reload, without a request. The oldest and other users' are removed; a logout
        // removes all.
        await until(async () => (await stored(page)).length === 400, 'the oldest to go');
        await page.reload();
        asked = 0;
        await rows(page).nth(29).waitFor();
        await until(async () => (await drawn.count()) >= inSight - 1, 'those in sight again');
        check(asked === 0, `${asked} frames are asked for again`);
        const users = new Set((await stored(page)).map(([user]) => user));
        check([...users].join() === 'owner', `pictures of ${[...users]}`);
        await quiet(page);
        await page.getByRole('button', { name: 'log out' }).click();
        await page.getByRole('button', { name: 'Log in' }).waitFor();
        await until(async () => (await stored(page)).length === 0, 'no picture to be left');
    },
});
