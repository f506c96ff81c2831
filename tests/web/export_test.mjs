// Exports as .glb, judged by Khronos' validator: without an error or a warning.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { check, run, scene } from './rig.mjs';

const { validateBytes } = createRequire(join(process.env.PLIANT_RIG, 'package.json'))('gltf-validator');

async function exported(daemon, id, query) {
    const reply = await fetch(`${daemon.url}/v1/sessions/${id}/export?format=glb${query}`, {
        headers: { Authorization: `Bearer ${daemon.token}` },
    });
    check(reply.ok, `${reply.status}`);
    return new Uint8Array(await reply.arrayBuffer());
}

async function judge(bytes) {
    const { issues, info } = await validateBytes(bytes);
    const serious = issues.messages.filter(({ severity }) => severity <= 1); // errors and warnings
    const said = serious.map(({ code, pointer }) => `${code} ${pointer}`);
    check(said.length === 0 && issues.numErrors === 0, said.slice(0, 5).join('\n'));
    return info;
}

await run(
    {
        async a_box_a_cloth_and_a_rope_that_move(daemon) {
            const what = scene({ name: 'ürgé "x" \\ y', time: { step: 0.01, steps: 20 } });
            what.materials.cotton = { model: 'arap', young: 1e4, poisson: 0.3, density: 500, thickness: 0.001 };
            what.materials.hemp = { young: 1e5, density: 500, area: 1e-4 };
            what.bodies.push({ name: 'cloth', mesh: { cloth: { cells: [3, 2] } }, material: 'cotton' });
            what.bodies.push({ name: 'rope', mesh: { rope: { segments: 4 } }, material: 'hemp' });
            const { id } = await daemon.submit(what);
            await daemon.over(id);
            const info = await judge(await exported(daemon, id, ''));
            check(info.animationCount === 1 && info.hasMorphTargets, JSON.stringify(info));
            check(info.totalTriangleCount === 108 + 12, `${info.totalTriangleCount} triangles`);
            const still = await judge(await exported(daemon, id, '&from=20'));
            check(still.animationCount === 0, JSON.stringify(still));
        },

        async one_that_stands_still(daemon) {
            const { id } = await daemon.submit(scene({ gravity: [0, 0, 0], time: { step: 0.01, steps: 2 } }));
            await daemon.over(id);
            await judge(await exported(daemon, id, ''));
        },

        async what_is_wrong_is_seen(daemon) {
            const { id } = await daemon.submit(scene({ time: { step: 0.01, steps: 2 } }));
            await daemon.over(id);
            const bytes = await exported(daemon, id, '');
            bytes[bytes.length - 6] ^= 0xff; // of the last vertex, whose bounds were written
            const { issues } = await validateBytes(bytes);
            check(issues.numErrors > 0, 'the validator finds nothing');
        },
    },
    { shared: true },
);
