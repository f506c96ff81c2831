// Numbers for clients/web/README.md: tests/web/run tests/web/measure.mjs
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundle, open, run, scene, until } from './rig.mjs';

const packed = (name) => gzipSync(readFileSync(resolve('build/web/dist/assets', name)), { level: 9 }).length;

await run({
    async the_first_paint(daemon) {
        const sizes = bundle()
            .filter((name) => !name.endsWith('.txt'))
            .map((name) => `${name.replace(/-.*\./, '.')} ${packed(name)}`);
        console.log(`bytes, gzipped: ${sizes.join(', ')}`);
        const { id } = await daemon.submit(scene());
        await daemon.over(id);
        const paints = [];
        for (let i = 0; i < 5; i++) {
            const page = await open(daemon);
            const paint = () =>
                page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
            paints.push(Math.round(await until(paint, 'a paint')));
            await page.context().close();
        }
        console.log(`first contentful paint, ms after the navigation began: ${paints.join(' ')}`);
    },
});
