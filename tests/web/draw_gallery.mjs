// Draws the gallery's pictures, clients/web/pictures, by hand: tests/web/run tests/web/draw_gallery.mjs. Existing
// pictures stay; ONLY=part-of-a-name draws those scenes again. A scene that takes more than SECONDS (100) is drawn in
// its quick form. Chromium converts `pliant export`'s PNG to WebP.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { check, open, run } from './rig.mjs';

const SCENES = 'clients/scenes',
    OUT = 'clients/web/pictures',
    WIDTH = 320,
    HEIGHT = 240,
    QUALITY = 0.72;
// The frame of a run that shows most; by default the end.
const AT = {
    chain: 0.8,
    cloth_on_a_ball: 0.75,
    convergence: 0.5,
    draped_cloth: 0.5,
    dropped_through_cylinders: 0.5,
    falling_bodies: 0.6,
    falling_box: 0.25,
    folding_cloth: 0.7,
    head_on_balls: 0.4,
    jiggling_head: 0.4,
    power_law_bodies: 0.3,
    power_law_pendulum: 0.25,
    recovers_from_collapsed: 0.04,
    recovers_from_random: 0.04,
    shaking_bar: 0.3,
    sliding_block: 0.3,
    sphere_on_sphere: 0.6,
    spinning_ball: 0.5,
    spline_damped_ball: 0.1,
    spline_spheres: 0.35,
    terrain_slide: 0.6,
    thin_sheet: 0.7,
    through_a_torus: 0.4,
    twisted_box: 0,
    untwist: 0,
};
for (const name of ['swinging_cloth', 'spinning_beam'])
    for (const kind of ['backward_euler', 'bdf2', 'tr_bdf2']) AT[`${name}_${kind}`] = 0.15;

const build = resolve(process.env.PLIANT_BUILD ?? 'build');

const seconds = Number(process.env.SECONDS ?? 100);

// False if it did not end in time.
function pliant(words, timeout) {
    const { status, error, stderr } = spawnSync(join(build, 'pliant'), words, { encoding: 'utf8', timeout });
    if (error?.code === 'ETIMEDOUT') return false;
    check(status === 0, `pliant ${words.join(' ')}: ${stderr}`);
    return true;
}

function draw(name, folder) {
    const scene = join(SCENES, `${name}.json`),
        [ran, png] = [join(folder, name), join(folder, `${name}.png`)];
    const { metadata, ...whole } = JSON.parse(readFileSync(scene, 'utf8'));
    const quick = !pliant(['run', scene, '--out', ran], 1000 * seconds);
    if (quick) {
        rmSync(ran, { recursive: true });
        pliant(['run', scene, '--quick', '--out', ran]);
    }
    const time = { ...whole.time, ...(quick ? metadata.quick.time : {}) };
    const frames = Math.round((time.steps ?? time.duration / time.step) / (whole.output?.every ?? 1));
    const frame = `${Math.round((AT[name] ?? 1) * frames)}`;
    const size = `${2 * WIDTH}x${2 * HEIGHT}`;
    pliant(['export', ran, '--format', 'png', '--frame', frame, '--size', size, '--out', png]);
    return readFileSync(png);
}

// Half as large, as WebP.
const packed = (page, png) =>
    page.evaluate(
        async ([data, width, height, quality]) => {
            const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const canvas = new OffscreenCanvas(width, height),
                context = canvas.getContext('2d');
            context.imageSmoothingQuality = 'high';
            context.drawImage(bitmap, 0, 0, width, height);
            const made = new Uint8Array(
                await (await canvas.convertToBlob({ type: 'image/webp', quality })).arrayBuffer(),
            );
            return btoa(made.reduce((text, byte) => text + String.fromCharCode(byte), ''));
        },
        [png.toString('base64'), WIDTH, HEIGHT, QUALITY],
    );

async function make(name, daemon) {
    const page = await open(daemon);
    const folder = mkdtempSync(join(tmpdir(), 'pliant-gallery-'));
    try {
        const bytes = Buffer.from(await packed(page, draw(name, folder)), 'base64');
        mkdirSync(OUT, { recursive: true });
        writeFileSync(join(OUT, `${name}.webp`), bytes);
        console.log(`${name}: ${bytes.length} bytes`);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const there = (name) => !process.env.ONLY && existsSync(join(OUT, `${name}.webp`));
const scenes = readdirSync(SCENES)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
    .filter((name) => !there(name));
await run(Object.fromEntries(scenes.map((name) => [name, (daemon) => make(name, daemon)])));
