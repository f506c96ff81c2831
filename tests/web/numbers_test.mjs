// What the picture is made of, in numbers: normals, and the fields that it is coloured by.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { check, run } from './rig.mjs';

// A part of the page that needs no other one.
function part(name) {
    const text = readFileSync(resolve('clients/web/src', name), 'utf8');
    return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

const { Surface } = await part('surface.js');
const { computeField, rangeOf } = await part('fields.js');
const near = (a, b) => Math.abs(a - b) < 1e-5;

// Two right triangles, folded along the y axis by 90 degrees, and a vertex of neither.
function folded() {
    const body = { triangles: [0, 1, 2, 0, 2, 3], edges: [3, 4], first_vertex: 0, vertices: 5 };
    const surface = new Surface({ vertices: 5, bodies: [body] }, null);
    surface.positions.set([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 3]);
    return surface;
}

await run({
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

    // Every side once, against its length in frame 0: twice as long along y leaves the others.
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
});
