// Colours of numbers: viridis for values that are not negative, a diverging map for values with a middle.

const VIRIDIS = '440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725';
const DIVERGING = '3b4cc0 6282ea 8db0fe b8d0f9 dddddd f5c4ad f49a7b de604d b40426';
const STEPS = 256;

const channels = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
const linear = (c) => (c <= 10.31475 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);

// Colours of bodies, repeated in order; the same as in pictures of `pliant export`.
export const BODIES = 'ee6c3a 1f8fa3 f0b62e 7a62b8 57a65b d35284'.split(' ').map((hex) => ({
    css: `#${hex}`,
    bytes: channels(hex),
    linear: channels(hex).map(linear),
}));
export const bodyColour = (k) => BODIES[k % BODIES.length];

// {css, linear}: a CSS gradient, and STEPS colours in linear light for the picture.
function mapOf(text) {
    const stops = text.split(' ');
    const table = new Float32Array(3 * STEPS);
    for (let i = 0; i < STEPS; i++) {
        const at = (i / (STEPS - 1)) * (stops.length - 1);
        const k = Math.min(Math.floor(at), stops.length - 2);
        const a = channels(stops[k]),
            b = channels(stops[k + 1]);
        for (let c = 0; c < 3; c++) table[3 * i + c] = linear(a[c] + (b[c] - a[c]) * (at - k));
    }
    return { stops: stops.map((stop) => `#${stop}`), linear: table };
}

export const MAPS = { viridis: mapOf(VIRIDIS), diverging: mapOf(DIVERGING) };

// Write the colour of each value into `out`, three numbers per value. Values outside the range get the colours of its
// ends.
export function colourValues(values, low, high, map, out) {
    const table = MAPS[map].linear;
    const scale = high > low ? (STEPS - 1) / (high - low) : 0;
    for (let i = 0; i < values.length; i++) {
        let k = (values[i] - low) * scale;
        k = 3 * (k > 0 ? (k < STEPS - 1 ? k | 0 : STEPS - 1) : 0);
        out[3 * i] = table[k];
        out[3 * i + 1] = table[k + 1];
        out[3 * i + 2] = table[k + 2];
    }
}
