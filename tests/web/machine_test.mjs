// The page of the machine: running and waiting sessions, its users over the last day, usage; and the parts that
// ordinary users see.
import { check, endless, open, quiet, run, scene, shot, until } from './rig.mjs';

const go = (page, where) =>
    page.evaluate((hash) => {
        location.hash = hash;
    }, where);
const bearer = (token) => ({ Authorization: `Bearer ${token}` });
const bytesOf = async (download) => Buffer.concat(await (await download.createReadStream()).toArray()).toString();

let made = 0;

// A user with a name that no earlier test has used: {name, token, submit}.
async function person(daemon, what) {
    const name = `${what}${++made}`;
    await daemon.call('POST', '/v1/users', { name });
    const { token } = await daemon.call('POST', '/v1/tokens', { user: name });
    const submit = (scene) => daemon.call('POST', '/v1/sessions', scene, bearer(token));
    return { name, token, submit };
}

const picture = (page) => page.getByRole('region', { name: 'Machine use over time' });
const usage = (page) => page.getByRole('region', { name: 'Usage' });

async function busy(daemon) {
    const anna = await person(daemon, 'anna'),
        bob = await person(daemon, 'bob');
    const done = await anna.submit(scene({ name: 'hidden from bob' }));
    await daemon.over(done.id);
    await bob.submit(endless({ name: 'goes on' }));
    await daemon.submit(endless({ name: 'goes on, too' }));
    await daemon.submit(endless({ name: 'waits' }));
    await until(async () => (await daemon.call('GET', '/v1/queue')).running === 2, 'two that run');
    return { anna, bob };
}

run({
    async an_administrator_sees_all(daemon) {
        const { anna, bob } = await busy(daemon);
        const page = await open(daemon);
        await go(page, '/machine');
        for (const name of [anna.name, bob.name, 'owner']) {
            await picture(page)
                .getByRole('img', { name: new RegExp(`^${name}: \\d+ core s$`) })
                .waitFor();
        }
        check((await picture(page).locator('rect.runs').count()) === 2, 'two run');
        check((await picture(page).locator('.others').count()) === 0, 'nobody is without a name');
        await page.getByText(/waits for 1 core: 0 of 2 free/).waitFor();
        await picture(page).getByText('3 runs as a table').click();
        await picture(page).getByRole('link', { name: 'hidden from bob' }).waitFor();
        await picture(page).getByText('3 runs as a table').click();
        await usage(page)
            .getByRole('row', { name: new RegExp(`^${anna.name} .* % .* 1 `) })
            .waitFor();
        const coming = page.waitForEvent('download');
        await usage(page).getByRole('link', { name: 'CSV' }).click();
        const csv = await bytesOf(await coming);
        check(csv.startsWith('user,core_seconds,gpu_seconds,runs,bytes\n'), `the file is ${csv}`);
        check(csv.includes(`\n${anna.name},`), `she is not in ${csv}`);
        await usage(page).getByRole('combobox').selectOption('day');
        await usage(page).getByRole('row', { name: new RegExp(`^${new Date().toISOString().slice(0, 10)}`) }).waitFor();
        await shot(page, 'machine-admin');
        await page.setViewportSize({ width: 1280, height: 1400 });
        await shot(page, 'machine-admin-tall');
        await quiet(page);
    },

    async a_user_sees_their_own(daemon) {
        const { anna, bob } = await busy(daemon);
        const code = await daemon.call('POST', '/v1/login/codes', undefined, bearer(bob.token));
        const page = await open(daemon, { url: code.url, viewport: { width: 360, height: 1600 } });
        await go(page, '/devices'); // the address that it had before
        await picture(page)
            .getByRole('img', { name: new RegExp(`^${bob.name}:`) })
            .waitFor();
        await picture(page).getByRole('img', { name: /^others:/ }).waitFor();
        await usage(page)
            .getByRole('row', { name: new RegExp(`^${bob.name} `) })
            .waitFor();
        await usage(page).getByRole('row', { name: /^all of the machine/ }).waitFor();
        const text = await page.locator('body').innerText();
        check(!text.includes(anna.name) && !text.includes('hidden'), `he sees of her: ${text}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= 360, `the page is ${wide} wide`);
        await shot(page, 'machine-phone');
        await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
        await shot(page, 'machine-phone-dark');
        await quiet(page);
    },

    // The chart updates: running sessions end, and another time range is chosen.
    async the_picture_follows(daemon) {
        const { id } = await daemon.submit(endless({ name: 'ends soon' }));
        const page = await open(daemon);
        await go(page, '/machine');
        await until(async () => (await picture(page).locator('rect.runs').count()) === 1, 'one that runs');
        await daemon.call('POST', `/v1/sessions/${id}/cancel`);
        await daemon.over(id);
        const ran = await picture(page).locator('rect.ran').count();
        await picture(page).getByRole('button', { name: '1 hour' }).click();
        await until(async () => (await picture(page).locator('rect.runs').count()) === 0, 'its end');
        check((await picture(page).locator('rect.ran').count()) > ran, 'it is gone');
        await quiet(page);
    },
});
