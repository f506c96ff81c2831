// Frames in a notebook: the view of `session.view()`, in a cell of a foreign page.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { changed, check, look, open, quiet, run, scene, shot, until } from './rig.mjs';

const CELL = `import os, pliant
with pliant.Client() as client:
    print(client.session(os.environ["ID"]).view(most=20)._repr_html_())`;

function cell(daemon, id) {
    return execFileSync('python3', ['-B', '-c', CELL], {
        env: {
            ...process.env,
            PYTHONPATH: resolve('clients/python'),
            PLIANT_SERVER: daemon.url,
            PLIANT_TOKEN: daemon.token,
            ID: id,
        },
        encoding: 'utf8',
        maxBuffer: 1 << 26,
    });
}

await run({
    async a_view_of_frames(daemon) {
        const what = scene();
        what.materials.hemp = { young: 1e5, density: 500, area: 1e-4 };
        what.bodies.push({
            name: 'rope',
            material: 'hemp',
            mesh: { rope: { segments: 8 } },
            transform: { translate: [1.5, 1, 0] },
        });
        what.obstacles.push({
            name: 'stone',
            sphere: { center: [-1.5, 0.3, 0], radius: 0.3 },
            motion: { velocity: [0, 0, 2] },
        });
        const { id } = await daemon.submit(what);
        await daemon.over(id);
        for (const [name, options] of [
            ['light', {}],
            ['dark-phone', { viewport: { width: 390, height: 800 }, hasTouch: true, colorScheme: 'dark' }],
        ]) {
            const page = await open(daemon, { url: 'about:blank', ...options });
            await page.setContent(`<h1>A notebook</h1>${cell(daemon, id)}<p>below</p>`);
            const outer = page.locator('iframe');
            const inner = page.frameLocator('iframe');
            const tells = (text) =>
                until(async () => (await inner.locator('output').textContent()).startsWith(text), text);
            await tells('frame 60,');
            const last = await look(page, outer);
            check(changed(last, last.map(() => last[0])) > 100, 'nothing is drawn');
            await shot(page, `notebook-${name}`);
            await inner.locator('input').fill('0');
            await tells('frame 0,');
            const first = await look(page, outer);
            check(changed(first, last) > 20, 'the first frame looks like the last');
            await inner.locator('canvas').focus();
            const focused = await look(page, outer);
            for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowLeft');
            await until(async () => changed(await look(page, outer), focused) > 5, 'a turn');
            await inner.getByRole('button', { name: 'play' }).click();
            await tells('frame 60,');
            await quiet(page);
        }
    },
});
