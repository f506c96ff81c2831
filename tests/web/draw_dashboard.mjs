// Draws the dashboard's picture of the front page by hand, into the PNG file that OUT names:
// OUT=x.png tests/web/run tests/web/draw_dashboard.mjs. It shows the soft gripper of clients/docs/writing-a-scene.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { check, open, quiet, run, sleep } from './rig.mjs';
import { canvasOf } from './watching.mjs';

const OTHERS = ['twisting_bar', 'shaking_bar', 'sliding_block'];

// The scene of that name among the page's indented blocks.
function written(name) {
    const page = readFileSync('clients/docs/writing-a-scene.md', 'utf8');
    const blocks = page.match(/^ {4}\{\n(?: {6}.*\n)* {4}\}$/gm).map((block) => JSON.parse(block));
    return blocks.find((scene) => scene.name === name);
}

await run({
    async dashboard(daemon) {
        check(process.env.OUT, 'OUT names the file');
        for (const name of OTHERS) {
            const { id } = await daemon.submit(JSON.parse(readFileSync(`clients/scenes/${name}.json`, 'utf8')));
            await daemon.over(id);
        }
        const scene = written('soft gripper');
        const { id } = await daemon.submit({ ...scene, output: { fields: ['position', 'contacts'] } });
        await daemon.over(id);
        const page = await open(daemon, { viewport: { width: 1200, height: 750 }, colorScheme: 'light' });
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `/sessions/${id}?frame=160`);
        await page.getByRole('heading', { name: 'soft gripper', exact: true }).waitFor();
        await canvasOf(page).waitFor();
        await sleep(3000); // pictures of the list, plots
        await quiet(page);
        writeFileSync(process.env.OUT, await page.screenshot());
    },
});
