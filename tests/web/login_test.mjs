// Login and logout: a token, a code, a share link; and rejections.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle, check, endless, open, quiet, run, scene, until } from './rig.mjs';

const LOGIN = 'Token or one-time code';
// The browser logs each 401 in the console.
const REFUSED = /status of 401/;

await run({
    // List and view with everything that they load, including a film's encoder; and the editor's additional files.
    async the_bundle_is_small() {
        const file = (name) => readFileSync(resolve('build/web/dist/assets', name));
        const sum = (names) => [...names].reduce((all, name) => all + gzipSync(file(name), { level: 9 }).length, 0);
        const scripts = bundle().filter((name) => name.endsWith('.js'));
        const loads = (name, found = new Set()) => {
            found.add(name);
            const text = file(name).toString();
            const others = scripts.filter((one) => text.includes(`./${one}`) && !one.startsWith('editor-'));
            for (const one of others) if (!found.has(one)) loads(one, found);
            return found;
        };
        const page = loads(scripts.find((name) => name.startsWith('main-')));
        for (const part of ['view', 'charts']) check([...page].some((name) => name.startsWith(part)), `no ${part}`);
        const sheets = bundle().filter((name) => /\.(css|svg)$/.test(name));
        const all = sum(page) + sum(sheets);
        check(all > 200000 && all < 320000, `list and view: ${all} bytes`);
        const editor = scripts.filter((name) => !page.has(name));
        check(editor.some((name) => name.startsWith('editor-')), `parts of the editor: ${editor}`);
        const more = sum(editor);
        check(more > 50000 && more < 160000, `the editor: ${more} bytes`);
        const pictures = bundle()
            .filter((name) => name.endsWith('.webp'))
            .map((name) => statSync(resolve('build/web/dist/assets', name)).size);
        const most = Math.max(...pictures);
        check(most > 1000 && most < 10000, `a picture of the gallery has ${most} bytes`);
    },

    async a_code_logs_in_once(daemon) {
        await daemon.submit(scene({ name: 'to be seen' }));
        const url = await daemon.loginUrl();
        const page = await open(daemon, { url });
        await page.getByText('to be seen').first().waitFor();
        check(!page.url().includes('code='), `the code stays in the address: ${page.url()}`);
        await until(() => /#\/sessions\/[0-9a-f]{32}/.test(page.url()), 'the newest session to open by itself');
        await page.getByRole('link', { name: 'sessions', exact: true }).and(page.locator('[aria-current]')).waitFor();
        await page.reload();
        await page.getByText('to be seen').first().waitFor();
        await quiet(page);
        const again = await open(daemon, { url, allow: [REFUSED] });
        await again.getByText('The code was rejected').waitFor();
        await again.getByLabel(LOGIN).waitFor();
    },

    async a_token_logs_in(daemon) {
        await daemon.submit(scene({ name: 'to be seen' }));
        const page = await open(daemon, { url: `${daemon.url}/` });
        await page.getByLabel(LOGIN).waitFor();
        const docs = (name) => page.getByRole('link', { name, exact: true }).getAttribute('href');
        check((await docs('documentation')) === '/docs/', 'the login leads to the documentation');
        await quiet(page);
        check((await page.getByText('to be seen').count()) === 0, 'it is seen without a login');
        await page.getByLabel(LOGIN).fill(daemon.token);
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByText('to be seen').first().waitFor();
        check((await docs('docs')) === '/docs/', 'the header leads to the documentation');
        await quiet(page);
        const stored = await page.evaluate(() =>
            JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
        );
        check(!stored.includes(daemon.token) && !stored.includes('pl'), `scripts can read ${stored}`);
    },

    async a_wrong_token_is_told(daemon) {
        const page = await open(daemon, { url: `${daemon.url}/`, allow: [REFUSED] });
        await page.getByLabel(LOGIN).fill('wrong');
        await page.keyboard.press('Enter');
        await page.getByText('Not logged in').waitFor();
        check(await page.getByLabel(LOGIN).isVisible(), 'it cannot be tried again');
        await quiet(page);
    },

    // Pasted into the address of an open page, it changes the fragment only.
    async a_pasted_code_logs_in(daemon) {
        await daemon.submit(scene({ name: 'to be seen' }));
        const page = await open(daemon, { url: `${daemon.url}/` });
        await page.getByLabel(LOGIN).waitFor();
        const { hash } = new URL(await daemon.loginUrl());
        await page.evaluate((pasted) => {
            location.hash = pasted;
        }, hash);
        await page.getByText('to be seen').first().waitFor();
        check(!page.url().includes('code='), `the code stays in the address: ${page.url()}`);
        await quiet(page);
    },

    // With a share link people can view: no action, no other page, and no request that it may not make.
    async guests_can_only_look(daemon) {
        const { id } = await daemon.submit(endless({ name: 'shown' }));
        const { url } = await daemon.call('POST', `/v1/sessions/${id}/links`, {});
        const page = await open(daemon, { url });
        const actions = page.locator('.actions button');
        await page.getByRole('heading', { name: 'shown' }).waitFor();
        check((await actions.count()) === 0, `guests see ${await actions.allInnerTexts()}`);
        await daemon.call('POST', `/v1/sessions/${id}/cancel`);
        await page.locator('.panel .state').getByText('cancelled').waitFor();
        check((await actions.count()) === 0, `guests see ${await actions.allInnerTexts()}`);
        await page.getByRole('tab', { name: 'share' }).click();
        await page.getByRole('heading', { name: 'Files' }).waitFor();
        check((await page.getByText('make a share link').count()) === 0, 'guests can share it');
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/scenes?session=${id}`);
        await until(() => page.url().includes(`/sessions/${id}`), 'the session instead of the editor');
        await page.getByRole('heading', { name: 'shown' }).waitFor();
        await quiet(page);
    },

    // Like users whose token only reads.
    async readers_see_what_they_may_do(daemon) {
        const { id } = await daemon.submit(endless({ name: 'shown' }));
        const { token } = await daemon.call('POST', '/v1/tokens', { name: 'reader', scopes: 'read' });
        const page = await open(daemon, { url: `${daemon.url}/#/sessions/${id}`, allow: [REFUSED] });
        await page.getByLabel(LOGIN).fill(token);
        await page.keyboard.press('Enter');
        const actions = page.locator('.actions button');
        await until(async () => (await actions.allInnerTexts()).join() === 'edit', 'the one action of a reader');
        await quiet(page);
    },

    // A page of another origin can neither frame this one nor read its replies.
    async a_foreign_page_gets_nothing(daemon) {
        const page = await open(daemon, { allow: [/frame-ancestors|X-Frame-Options|CORS|ERR_FAILED/] });
        await until(
            () =>
                page
                    .context()
                    .cookies()
                    .then((all) => all.length > 0),
            'the cookie',
        );
        const foreign = daemon.url.replace('127.0.0.1', 'localhost');
        await page.goto(`${foreign}/healthz`);
        const got = await page.evaluate(async (url) => {
            const frame = document.createElement('iframe');
            frame.src = `${url}/`;
            document.body.append(frame);
            await new Promise((done) => {
                frame.onload = done;
                setTimeout(done, 2000);
            });
            const read = await fetch(`${url}/v1/me`, { credentials: 'include' }).then(
                (reply) => reply.status,
                () => 'refused',
            );
            const written = await fetch(`${url}/v1/logout`, {
                method: 'POST',
                credentials: 'include',
                mode: 'no-cors',
            }).then(
                (reply) => reply.type,
                () => 'refused',
            );
            return { read, written };
        }, daemon.url);
        const framed = page.frames()[1].url();
        check(got.read === 'refused', `it reads ${got.read}`);
        check(!framed.startsWith(daemon.url), `it frames ${framed}`);
        await page.goto(`${daemon.url}/`);
        await page.getByText('owner').first().waitFor(); // still logged in
    },
});
