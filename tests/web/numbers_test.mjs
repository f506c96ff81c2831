// The numbers behind the picture: normals, and the fields that colour it. Columns of the metrics, and the changes that
// follow a failure's advice.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { check, run } from './rig.mjs';

// A part of the page, with its imports.
function addressOf(name) {
    const text = readFileSync(resolve('clients/web/src', name), 'utf8');
    const whole = text.replace(/ from '\.\/([\w.]+)'/g, (_, other) => ` from '${addressOf(other)}'`);
    return `data:text/javascript,${encodeURIComponent(whole).replaceAll("'", '%27')}`;
}
const part = (name) => import(addressOf(name));

const { Surface } = await part('surface.js');
const { InnerStretch, computeField, rangeOf } = await part('fields.js');
const { Cut } = await part('cut.js');
const { FrameStore } = await part('frames.js');
const { Pace, shadowsFit } = await part('pace.js');
const { MetricsTable } = await part('metrics.js');
const { Player } = await part('player.js');
const { csvOf, sizesDiffer } = await part('chartnumbers.js');
const { Stress } = await part('stress.js');
const { changesOf } = await part('advice.js');
const { pack, rowsOf } = await part('gantt.js');
// An address bar that fires its change event only when the test calls it.
const bar = { hash: '', event: null };
globalThis.location = bar;
globalThis.addEventListener = (_, heard) => (bar.event = heard);
globalThis.history = { replaceState: (_, __, address) => (bar.hash = address) };
const { route } = await part('route.js');
const near = (a, b) => Math.abs(a - b) < 1e-5;

// Two right triangles, folded along the y axis by 90 degrees, and an isolated vertex.
function folded() {
    const body = { triangles: [0, 1, 2, 0, 2, 3], edges: [3, 4], first_vertex: 0, vertices: 5 };
    const surface = new Surface({ vertices: 5, bodies: [body] }, null);
    surface.positions.set([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 3]);
    return surface;
}

// A unit cube about the origin as twelve tetrahedra around its middle, vertex 8.
function cube() {
    const positions = [];
    for (let k = 0; k < 8; k++) positions.push((k & 1) - 0.5, ((k >> 1) & 1) - 0.5, (k >> 2) - 0.5);
    const faces = ['0132', '4576', '0154', '2376', '0264', '1375'].map((face) => [...face].map(Number));
    const tets = faces.flatMap(([a, b, c, d]) => [8, a, b, c, 8, a, c, d]);
    return { tets: Int32Array.from(tets), positions: Float32Array.from([...positions, 0, 0, 0]) };
}

// The area of a cut's triangles.
function areaOf({ index, triangles, position: x }) {
    let sum = 0;
    for (let t = 0; t < 3 * triangles; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) => x.subarray(3 * index[t + k], 3 * index[t + k] + 3));
        const [u, v] = [b, c].map((p) => p.map((value, k) => value - a[k]));
        sum += Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
    }
    return sum;
}

await run({
    // A cut fills the cube's cross-section once, on the plane, also if the plane passes through vertices, and a linear
    // field is exact on it.
    async tetrahedra_are_closed_by_their_cut() {
        const { tets, positions } = cube();
        const cut = new Cut(tets);
        const s = Math.SQRT1_2;
        for (const [normal, place, area] of [
            [[0, 0, 1], 0.1, 1],
            [[0, 0, -1], 0.3, 1],
            [[1, 0, 0], 0, 1],
            [[s, s, 0], 0, 2 * s],
            [[0, s, s], 0.25, 2 * s - 0.5],
            [[1, 1, 3].map((x) => x / Math.sqrt(11)), 0.05, Math.sqrt(11) / 3],
            [[0, 1, 0], 0.6, 0],
        ]) {
            cut.update(positions, normal, place);
            check(Math.abs(areaOf(cut) - area) < 1e-6, `${normal} at ${place}: ${areaOf(cut)}, not ${area}`);
            const values = Float32Array.from({ length: 9 }, (_, v) => 3 + positions[3 * v] - 2 * positions[3 * v + 2]);
            const found = new Float32Array(cut.corners);
            cut.interpolate(values, 1, found);
            for (let n = 0; n < cut.corners; n++) {
                const [x, y, z] = cut.position.subarray(3 * n, 3 * n + 3);
                check(near(normal[0] * x + normal[1] * y + normal[2] * z, place), `corner ${x} ${y} ${z}`);
                check(near(found[n], 3 + x - 2 * z), `the field at ${x} ${y} ${z} is ${found[n]}`);
                const kept = positions.subarray(3 * cut.ends[2 * n], 3 * cut.ends[2 * n] + 3);
                check(normal.reduce((sum, a, k) => sum + a * kept[k], 0) <= place + 1e-6, 'the kept end is cut away');
            }
        }
    },

    // Shadows by default: on a graphics card, with not too many triangles, while pictures are fast.
    async shadows_are_left_where_they_are_slow() {
        const card = 'ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x00002504) Direct3D11 vs_5_0 ps_5_0)';
        const processor = 'ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)';
        check(shadowsFit(card, 100352) && !shadowsFit(card, 1e6), 'by triangles');
        check(!shadowsFit(processor, 12) && !shadowsFit('llvmpipe (LLVM 15.0.6, 256 bits)', 12), 'processors');
        const seen = (ms, count, pace = new Pace()) =>
            [...Array(count).keys()].some((k) => pace.add(1000 + k * ms));
        check(seen(60, 30) && !seen(60, 20), 'slow pictures');
        check(!seen(16, 500) && !seen(2000, 500), 'fast pictures, and those of a page in the background');
        const pace = new Pace();
        for (let k = 0; k < 100; k++) {
            check(!pace.add(100 * k), 'single pictures');
            pace.rest();
        }
    },

    // Frames by time: of metrics of each frame, of thinned ones, before the first and after the last.
    async a_time_has_a_frame() {
        const table = new MetricsTable();
        for (let frame = 0; frame <= 10; frame++) table.push({ frame, time: 1 + 0.02 * frame });
        const at = (time) => table.frameAt(time, 0.02);
        check([1, 1.019, 1.06, 1.1 - 1e-9, 1.2, 0.5].map(at).join() === '0,0,3,5,10,0', 'a frame for each');
        check(near(table.timeOf(7, 0.02), 1.14), `${table.timeOf(7, 0.02)} s`);
        const thin = new MetricsTable();
        for (let frame = 0; frame <= 100; frame += 50) thin.push({ frame, time: 0.1 * frame });
        const thinned = [0.05, 2.55, 4.99, 5, 12].map((time) => thin.frameAt(time, 0.1)).join();
        check(thinned === '0,25,49,50,120', thinned);
        check(near(thin.timeOf(73, 0.1), 7.3), `${thin.timeOf(73, 0.1)} s`);
        check(new MetricsTable().frameAt(0.35, 0.1) === 3, 'without metrics');
    },

    // Sessions in one picture share the memory of frames: the least recently used go first.
    async frames_are_forgotten() {
        const store = new FrameStore(() => '');
        for (let number = 0; number < 10; number++) store.put({ number, bytes: 100 });
        store.get(0);
        store.setLimit(300);
        const kept = () => [...Array(12).keys()].filter((number) => store.has(number)).join();
        check(kept() === '0,8,9', kept());
        store.put({ number: 11, bytes: 100 });
        check(kept() === '0,9,11', kept());
    },

    // The middle of the cube has no edge of the surface; its stretch is that of the edges around it.
    async inner_vertices_are_stretched() {
        const { tets, positions } = cube();
        const out = new Float32Array(9);
        const share = Float32Array.from({ length: 9 }, (_, v) => (v < 8 ? 1 / 3 : 0));
        const wider = positions.map((x) => 1.25 * x);
        new InnerStretch(tets, positions, share).add(wider, out);
        check(near(out[8], 25) && out.subarray(0, 8).every((value) => value === 0), `${out}`);
    },

    // The page notes its frame in the address; an address that the user has just entered is not overwritten.
    async an_entered_address_is_kept() {
        const id = 'ab'.repeat(16);
        const address = (frame) => `#/sessions/${id}?frame=${frame}`;
        bar.hash = address(2);
        bar.event();
        route.note(id, { frame: 5 });
        check(bar.hash === address(5), `noted: ${bar.hash}`);
        bar.hash = address(7);
        route.note(id, { frame: 5 });
        check(bar.hash === address(7), `entered: ${bar.hash}`);
        bar.event();
        check(route.now.query.frame === '7', `frame ${route.now.query.frame}`);
        route.note(id, { frame: 8 });
        check(bar.hash === address(8), `noted again: ${bar.hash}`);
    },

    // Weighted by area, which is the same for both.
    async normals_are_of_the_triangles_around() {
        const surface = folded();
        const out = new Float32Array(15).fill(7);
        surface.normals(out);
        const expected = [Math.SQRT1_2, 0, Math.SQRT1_2, 0, 0, 1, Math.SQRT1_2, 0, Math.SQRT1_2, 1, 0, 0, 0, 0, 0];
        check(
            expected.every((x, i) => near(x, out[i])),
            `normals ${out}`,
        );
    },

    // Every edge once, relative to its length in frame 0: stretching along y leaves the others unchanged.
    async stretch_is_the_mean_over_sides() {
        const surface = folded();
        check(surface.sides.length === 2 * 6, `${surface.sides.length / 2} sides`);
        const out = new Float32Array(5);
        check(!computeField('stretch', surface, {}, out), 'there is no frame 0 yet');
        surface.rest = surface.positions.slice();
        computeField('stretch', surface, {}, out);
        check(
            out.every((x) => near(x, 0)),
            `at rest ${out}`,
        );
        surface.positions[7] = 4;
        computeField('stretch', surface, {}, out);
        const slanted = 100 * (Math.sqrt(17 / 5) - 1);
        const expected = [100 / 3, slanted / 2, (100 + 2 * slanted) / 3, slanted / 3, 0];
        check(
            expected.every((x, i) => Math.abs(x - out[i]) < 1e-3),
            `stretched ${out}, not ${expected}`,
        );
        const [low, high] = rangeOf(out, true);
        check(near(low, -high) && near(high, Math.max(...out)), `a range of ${low} to ${high}`);
    },

    async displacement_and_speed_are_distances() {
        const surface = folded();
        surface.rest = surface.positions.slice();
        const before = surface.positions.slice();
        surface.positions.set([3, 4, 0]);
        const out = new Float32Array(5);
        computeField('displacement', surface, {}, out);
        check(near(out[0], 5) && near(out[1], 0), `moved ${out}`);
        check(!computeField('speed', surface, { before, seconds: 0 }, out), 'no time has passed');
        computeField('speed', surface, { before, seconds: 0.5 }, out);
        check(near(out[0], 10), `speed ${out}`);
        computeField('height', surface, { up: 1 }, out);
        check(near(out[0], 4) && near(out[2], 2), `heights ${out}`);
    },

    // A sheet of two triangles stretched by a tenth along x: E = ((1.1^2 - 1) / 2, 0), S = 2 mu / (1 - nu) (E, nu E).
    // Beside it a tetrahedron that keeps its shape.
    async sheets_have_stress() {
        const sheet = { name: 'sheet', first_vertex: 0, vertices: 4, tets: 0, sheet_triangles: 2 };
        const solid = { name: 'solid', first_vertex: 4, vertices: 4, tets: 1, sheet_triangles: 0 };
        const bodies = [
            { ...sheet, triangles: [0, 1, 2, 1, 3, 2] },
            { ...solid, triangles: [4, 5, 6] },
        ];
        const scene = {
            materials: { cotton: { young: 1e5, poisson: 0.3 } },
            bodies: bodies.map(({ name }) => ({ name, material: 'cotton' })),
        };
        const rest = Float32Array.of(0, 0, 0, 2, 0, 1, 0, 3, 0, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
        const stress = new Stress({ bodies }, scene, Int32Array.of(4, 5, 6, 7), rest);
        const out = new Float32Array(8);
        stress.compute(rest, out);
        check(out.every((value) => Math.abs(value) < 1), `at rest ${out}`);
        // Along the first edge, (2, 0, 1), across which lies y.
        const moved = rest.slice();
        for (const v of [1, 3]) {
            moved[3 * v] *= 1.1;
            moved[3 * v + 2] *= 1.1;
        }
        stress.compute(moved, out);
        const mu = 1e5 / 2.6,
            strain = (1.1 ** 2 - 1) / 2,
            along = ((2 * mu) / 0.7) * strain;
        const expected = along * Math.sqrt(1 - 0.3 + 0.09);
        check(
            [0, 1, 2, 3].every((v) => Math.abs(out[v] / expected - 1) < 1e-4) && out[5] < 1,
            `${out}, not ${expected}`,
        );
    },

    // Plays once from the first frame to the newest, then follows that. A frame chosen meanwhile stays.
    async a_run_plays_once() {
        const player = new Player();
        player.setNewest(9);
        player.playThrough();
        check(player.mode === 'playing' && player.frame === 0 && player.follows, `${player.mode} at ${player.frame}`);
        const seen = [];
        for (let now = 1; now < 1000; now += 10) {
            player.advance(now, () => true);
            if (seen.at(-1) !== player.frame) seen.push(player.frame);
        }
        check(seen.join() === '0,1,2,3,4,5,6,7,8,9', `frames ${seen}`);
        check(player.mode === 'live', `it ends as ${player.mode}`);
        player.playThrough();
        player.step(4);
        check(player.mode === 'paused' && player.frame === 4 && !player.follows, `${player.mode} at ${player.frame}`);
    },

    async curves_of_different_sizes_are_logarithmic() {
        const table = (...rows) => {
            const made = new MetricsTable();
            rows.forEach(([frame, whole, out]) => made.push({ frame, time: frame / 4, ms: { whole, out } }));
            return made;
        };
        const fast = table([0, 1, 0.9], [1, 2, 0.05]),
            slow = table([1, 100, 70], [2, 300, 0]);
        const names = ['ms/whole', 'ms/out'];
        check(!sizesDiffer([fast], names), 'curves of one size');
        check(sizesDiffer([fast, slow], names), 'one run a hundred times the other');
        check(!sizesDiffer([fast, table([0, 900, -1])], names), 'what is negative has no logarithm');
        check(!sizesDiffer([table()], names), 'nothing');
        const csv = csvOf({ tables: [fast, slow], runs: ['=a', 'b, "c"'], names: ['ms/whole'] });
        const lines = [
            'frame,1: =a time,1: =a ms/whole,"2: b, ""c"" time","2: b, ""c"" ms/whole"',
            '0,0,1,,',
            '1,0.25,2,0.25,100',
            '2,,,0.5,300',
        ];
        check(csv === `${lines.join('\n')}\n`, csv);
        const alone = csvOf({ tables: [fast], runs: ['a'], names });
        check(alone.startsWith('frame,time,ms/whole,ms/out\n0,0,1,0.9\n'), alone);
    },

    // A column for each pair of touching bodies; none for a body with itself, and none without contact.
    async forces_between_bodies_are_columns() {
        const table = new MetricsTable();
        const force = (a, b, ...f) => ({ between: [a, b], force: f });
        const reactions = { forces: { wind: [0, 0, 2] } };
        table.push({ frame: 0, contact: null, reactions });
        check(!table.names.some((name) => name.startsWith('contact')), `columns ${table.names}`);
        const forces = [force('a', 'b', 3, 4, 0), force('b', 'b', 0, 0, 0)];
        table.push({ frame: 1, contact: { pairs: 7, gap: null, forces }, reactions });
        const others = [force('a', 'c', 0, 0, -1), force('a', 'b', 0, 2, 0)];
        table.push({ frame: 2, contact: { pairs: 8, gap: 0.5, forces: others }, reactions });
        const at = (name, row) => table.at(`contact/${name}`, row);
        check(at('pairs', 1) === 7 && at('pairs', 0) === null, 'pairs');
        check(at('gap', 1) === null && at('gap', 2) === 0.5, 'the gap');
        check(at('forces/a on b', 1) === 5 && at('forces/a on b/y', 1) === 4, 'the force of frame 1');
        check(at('forces/a on b', 2) === 2 && at('forces/a on c/z', 2) === -1, 'the forces of frame 2');
        check(at('forces/a on c', 1) === null, 'bodies that do not touch');
        check(!table.names.some((name) => name.includes('b on b')), 'a body on itself');
        check(!table.names.some((name) => /forces(\/[xyz\d])?$/.test(name)), `the list ${table.names}`);
        check(table.at('reactions/forces/wind', 2) === 2, 'forces of the scene');
    },

    async advice_on_an_intersection_is_a_change() {
        const advice =
            'Use a smaller time.step, or a contact.thickness of 4.1e-05 m (now 2e-05 m); look there for pins that ' +
            'force surfaces into each other; or accept it with "contact": {"check": false}.';
        const scene = { time: { step: 0.02, duration: 1 }, output: { every: 1 }, solver: {} };
        const changes = changesOf({ failure: { code: 'intersection', advice } }, scene);
        check(changes.length === 3, `${changes.length} changes`);
        check(changes[0].change.time.step === 0.01, 'half the step');
        check(changes[1].change.contact.thickness === 4.1e-5, 'twice the thickness');
        check(!('check' in changes[1].change.contact), 'and nothing else');
        check(changes[2].change.contact.check === false, 'no check');
        const old = advice.replace(/a contact.thickness of [^;]*/, 'a larger contact.thickness');
        check(changesOf({ failure: { code: 'intersection', advice: old } }, scene).length === 2, 'no number');
    },

    // No bar covers another, and each is as low as it fits.
    async bars_have_places_of_their_own() {
        const bar = (begin, end, cores) => ({ begin, end, cores });
        const bars = [bar(0, 0.5, 2), bar(0.2, 1, 1), bar(0.3, 0.4, 1), bar(0.5, 0.9, 1), bar(0.45, 0.9, 2)];
        const height = pack(bars);
        check(bars.map(({ top }) => top).join() === '0,2,3,0,3', `places ${bars.map(({ top }) => top)}`);
        check(height === 5, `a height of ${height}`);
    },

    async rows_are_of_users_others_and_devices() {
        const at = (hour) => `2026-01-31T${String(hour).padStart(2, '0')}:00:00Z`;
        const span = (user, from, to, more) => ({
            session: `${user}${from}`,
            name: 'x',
            user,
            from: at(from),
            to: at(to),
            running: false,
            cores: 1,
            gpu: null,
            ...more,
        });
        const rows = rowsOf({
            from: at(4),
            to: at(14),
            items: [span('a', 0, 3), span('b', 5, 6, { gpu: 'G' }), span('c', 2, 9, { running: true, cores: 2 })],
            others: [{ from: at(4), to: at(5), cores: 3, gpus: 0 }],
            devices: [{ uuid: 'G', name: 'card' }],
        });
        check(rows.map(({ label }) => label).join() === 'c,b,others,card', `rows ${rows.map(({ label }) => label)}`);
        const [c, b, others, card] = rows;
        check(near(c.bars[0].end, 1) && c.height === 2 && near(c.hours, 20), 'what runs goes to the end');
        check(near(b.bars[0].begin, 0.1) && near(b.bars[0].end, 0.2) && near(b.hours, 1), 'an hour of ten');
        check(others.height === 3 && card.bars.length === 1, 'others and the card');
    },
});
