// A small picture of a frame: triangles, edges and points in a depth buffer, seen from the default direction of `pliant
// export`. It needs no part of a page, so a list can have many.

const AZIMUTH = (32 * Math.PI) / 180,
    ELEVATION = (20 * Math.PI) / 180;
const LIGHT = [-0.42, 0.73, 0.54]; // to the right, up and towards the viewer
const AMBIENT = 0.42;
const MARGIN = 0.06; // of the picture, empty at each side
export const GREY = [0x8f, 0x9b, 0xa9];

// The directions right, up and towards the viewer; `up` is the axis that points up.
function axesOf(up) {
    const [sa, ca, se, ce] = [Math.sin(AZIMUTH), Math.cos(AZIMUTH), Math.sin(ELEVATION), Math.cos(ELEVATION)];
    const turned = ([x, y, z]) => (up === 2 ? [x, -z, y] : up === 0 ? [y, -x, z] : [x, y, z]);
    return [
        [ca, 0, -sa],
        [-sa * se, ce, -ca * se],
        [sa * ce, se, ca * ce],
    ].map(turned);
}

// Coordinates along those directions, three numbers per vertex.
function seenFrom(axes, positions) {
    const out = new Float32Array(positions.length);
    for (let i = 0; i < positions.length; i += 3) {
        for (let k = 0; k < 3; k++) {
            const [x, y, z] = axes[k];
            out[i + k] = x * positions[i] + y * positions[i + 1] + z * positions[i + 2];
        }
    }
    return out;
}

// To pixels, x to the right and y down, so that the parts with `fits` fill the picture.
function toPixels(parts, width, height) {
    const low = [Infinity, Infinity],
        high = [-Infinity, -Infinity];
    for (const { seen, fits } of parts) {
        for (let i = 0; fits && i < seen.length; i += 3) {
            for (let k = 0; k < 2; k++) {
                low[k] = Math.min(low[k], seen[i + k]);
                high[k] = Math.max(high[k], seen[i + k]);
            }
        }
    }
    const room = 1 - 2 * MARGIN;
    const scale = Math.min((room * width) / (high[0] - low[0]), (room * height) / (high[1] - low[1]), 1e6);
    const middle = low.map((least, k) => (least + high[k]) / 2);
    for (const { seen } of parts) {
        for (let i = 0; i < seen.length; i += 3) {
            seen[i] = width / 2 + scale * (seen[i] - middle[0]);
            seen[i + 1] = height / 2 - scale * (seen[i + 1] - middle[1]);
            seen[i + 2] *= scale;
        }
    }
}

class Picture {
    constructor(width, height) {
        this.width = width;
        this.height = height;
        this.pixels = new Uint8ClampedArray(4 * width * height);
        this.depth = new Float32Array(width * height).fill(-Infinity);
    }

    // Draws one pixel unless something nearer is there; `light` from 0 to 1.
    put(place, z, [red, green, blue], light) {
        this.depth[place] = z;
        const bright = AMBIENT + (1 - AMBIENT) * light;
        this.pixels[4 * place] = bright * red;
        this.pixels[4 * place + 1] = bright * green;
        this.pixels[4 * place + 2] = bright * blue;
        this.pixels[4 * place + 3] = 255;
    }

    triangle(p, a, b, c, colour) {
        const { width, height, depth } = this;
        const [ax, ay, az, bx, by, bz, cx, cy, cz] = [
            p[a], p[a + 1], p[a + 2], p[b], p[b + 1], p[b + 2], p[c], p[c + 1], p[c + 2],
        ]; // prettier-ignore
        const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        if (!(Math.abs(area) > 1e-9)) return;
        const nx = (by - ay) * (cz - az) - (bz - az) * (cy - ay),
            ny = (bz - az) * (cx - ax) - (bx - ax) * (cz - az);
        // Both sides are lit, because a sheet has no inside.
        const facing = Math.sign(area) / Math.hypot(nx, ny, area);
        const light = Math.max(0, facing * (nx * LIGHT[0] - ny * LIGHT[1] + area * LIGHT[2]));
        const right = Math.min(width - 1, Math.floor(Math.max(ax, bx, cx))),
            bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy)));
        for (let y = Math.max(0, Math.floor(Math.min(ay, by, cy))); y <= bottom; y++) {
            for (let x = Math.max(0, Math.floor(Math.min(ax, bx, cx))); x <= right; x++) {
                const px = x + 0.5,
                    py = y + 0.5;
                const u = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / area,
                    v = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / area;
                if (u < 0 || v < 0 || u + v > 1) continue;
                const z = u * az + v * bz + (1 - u - v) * cz;
                if (z > depth[y * width + x]) this.put(y * width + x, z, colour, light);
            }
        }
    }

    // A disc, lit like a ball.
    dot(x, y, z, radius, colour) {
        const { width, height, depth } = this;
        for (let j = Math.max(0, Math.floor(y - radius)); j <= Math.min(height - 1, y + radius); j++) {
            for (let i = Math.max(0, Math.floor(x - radius)); i <= Math.min(width - 1, x + radius); i++) {
                const right = (i + 0.5 - x) / radius,
                    down = (j + 0.5 - y) / radius;
                const near = 1 - right * right - down * down;
                if (near < 0) continue;
                const out = Math.sqrt(near),
                    at = z + radius * out;
                const light = Math.max(0, right * LIGHT[0] - down * LIGHT[1] + out * LIGHT[2]);
                if (at > depth[j * width + i]) this.put(j * width + i, at, colour, light);
            }
        }
    }

    line(p, a, b, radius, colour) {
        const steps = Math.ceil(Math.hypot(p[b] - p[a], p[b + 1] - p[a + 1]) / radius) + 1;
        if (!(steps < 1e4)) return;
        for (let i = 0; i <= steps; i++) {
            const at = (k) => p[a + k] + ((p[b + k] - p[a + k]) * i) / steps;
            this.dot(at(0), at(1), at(2), radius, colour);
        }
    }
}

const THREAD = 1.6,
    POINT = 1.3; // pixels

// Parts are {positions, colour, fits} with `triangles` and `edges` over the positions, or with neither: points. Returns
// red, green, blue and opacity of each pixel, row by row.
export function thumbOf(parts, up, width, height) {
    const axes = axesOf(up);
    const placed = parts.map((part) => ({ ...part, seen: seenFrom(axes, part.positions) }));
    toPixels(placed, width, height);
    const picture = new Picture(width, height);
    for (const { seen, colour, triangles, edges } of placed) {
        for (let t = 0; t < (triangles?.length ?? 0); t += 3)
            picture.triangle(seen, 3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2], colour);
        for (let e = 0; e < (edges?.length ?? 0); e += 2)
            picture.line(seen, 3 * edges[e], 3 * edges[e + 1], THREAD, colour);
        for (let i = 0; !triangles && i < seen.length; i += 3)
            picture.dot(seen[i], seen[i + 1], seen[i + 2], POINT, colour);
    }
    return picture.pixels;
}
