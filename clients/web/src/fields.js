// Quantities at vertices that colour the picture, computed from positions alone.

export const FIELDS = {
    none: { label: 'plain' },
    speed: { label: 'speed', unit: 'm/s', map: 'viridis', needs: 'before' },
    displacement: { label: 'displacement', unit: 'm', map: 'viridis', needs: 'rest' },
    stretch: { label: 'stretch', unit: '%', map: 'diverging', needs: 'rest' },
    stress: { label: 'stress', unit: 'Pa', map: 'viridis', needs: 'rest', tets: true },
    height: { label: 'height', unit: 'm', map: 'viridis' },
};

function distances(a, b, scale, out) {
    for (let i = 0, v = 0; v < out.length; i += 3, v++) {
        const x = a[i] - b[i],
            y = a[i + 1] - b[i + 1],
            z = a[i + 2] - b[i + 2];
        out[v] = Math.sqrt(x * x + y * y + z * z) * scale;
    }
}

// The mean of (length / length in frame 0 - 1) over a vertex's edges, in percent.
function stretches(surface, out) {
    const { positions: x, sides } = surface;
    const { inverse, share } = surface.slack;
    out.fill(0);
    for (let s = 0, k = 0; s < sides.length; s += 2, k++) {
        const a = sides[s],
            b = sides[s + 1],
            i = Math.imul(3, a),
            j = Math.imul(3, b);
        const dx = x[i] - x[j],
            dy = x[i + 1] - x[j + 1],
            dz = x[i + 2] - x[j + 2];
        if (inverse[k] === 0) continue;
        const value = 100 * (Math.sqrt(dx * dx + dy * dy + dz * dz) * inverse[k] - 1);
        out[a] += value;
        out[b] += value;
    }
    for (let v = 0; v < out.length; v++) out[v] *= share[v];
    surface.inner?.add(x, out);
}

const PAIRS = [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3];

// Stretch inside bodies: for a vertex without a drawn edge, the mean over the edges of its tetrahedra.
export class InnerStretch {
    // `tets`: vertices, four each; `share`: per vertex, 0 without a drawn edge.
    constructor(tets, rest, share) {
        this.tets = tets;
        this.rest = rest;
        this.count = new Uint32Array(share.length);
        this.#each((a) => share[a] === 0 && this.count[a]++);
    }

    #each(take) {
        const { tets } = this;
        for (let t = 0; t < tets.length; t += 4) {
            for (let k = 0; k < PAIRS.length; k += 2) {
                const a = tets[t + PAIRS[k]],
                    b = tets[t + PAIRS[k + 1]];
                take(a, b);
                take(b, a);
            }
        }
    }

    // Vertices without a drawn edge get 0 in `out`.
    add(x, out) {
        const { rest, count } = this;
        const length = (at, a, b) => {
            const u = at[3 * a] - at[3 * b],
                v = at[3 * a + 1] - at[3 * b + 1],
                w = at[3 * a + 2] - at[3 * b + 2];
            return Math.sqrt(u * u + v * v + w * w);
        };
        this.#each((a, b) => {
            if (count[a]) out[a] += (100 * (length(x, a, b) / length(rest, a, b) - 1)) / count[a];
        });
    }
}

// False if the data that it needs is missing: the previous frame, or frame 0.
export function computeField(name, surface, { before, seconds, up, stress }, out) {
    if (name === 'speed') {
        if (!before || !(seconds > 0)) return false;
        distances(surface.positions, before, 1 / seconds, out);
    } else if (name === 'displacement') {
        if (!surface.rest) return false;
        distances(surface.positions, surface.rest, 1, out);
    } else if (name === 'stretch') {
        if (!surface.rest) return false;
        stretches(surface, out);
    } else if (name === 'stress') {
        if (!stress()) return false;
        stress().compute(surface.positions, out);
    } else {
        for (let v = 0; v < out.length; v++) out[v] = surface.positions[3 * v + up];
    }
    return true;
}

// The range that covers all values; symmetric for a field with a middle.
export function rangeOf(values, diverging) {
    let low = Infinity,
        high = -Infinity;
    for (let i = 0; i < values.length; i++) {
        if (values[i] < low) low = values[i];
        if (values[i] > high) high = values[i];
    }
    if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
    if (!diverging) return [low, high];
    const most = Math.max(Math.abs(low), Math.abs(high));
    return [-most, most];
}
