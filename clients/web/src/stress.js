// Stress from positions: of each tetrahedron by Hooke's law on its Green strain against frame 0, as von
// Mises' measure; of a vertex the mean over its tetrahedra by volume. It is the material's own stress
// at small strain, and a measure to compare places by at large.

// The shear modulus of a body's material in the effective scene; null where it is given otherwise.
function shearOf(scene, body) {
    const material = scene?.materials?.[scene.bodies?.find(({ name }) => name === body.name)?.material];
    if (material?.lame) return material.lame.mu;
    const { young, poisson } = material ?? {};
    return young > 0 && poisson < 0.5 ? young / (2 + 2 * poisson) : null;
}

// Whether it can be told of any body of a session.
export const hasStress = (topology, scene) =>
    topology.bodies.some((body) => body.tets > 0 && shearOf(scene, body) !== null);

// Columns x1 - x0, x2 - x0, x3 - x0 of a tetrahedron, column after column.
function edges(x, tets, t, out) {
    const a = 3 * tets[t];
    for (let k = 0; k < 3; k++) {
        const b = 3 * tets[t + 1 + k];
        for (let c = 0; c < 3; c++) out[3 * k + c] = x[b + c] - x[a + c];
    }
}

// Into out[at..at+8] the inverse of the matrix m, both by columns; returns m's determinant.
function invert(m, out, at) {
    const [a, b, c, d, e, f, g, h, i] = m;
    const det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
    const s = det !== 0 ? 1 / det : 0;
    out[at] = s * (e * i - f * h);
    out[at + 1] = s * (c * h - b * i);
    out[at + 2] = s * (b * f - c * e);
    out[at + 3] = s * (f * g - d * i);
    out[at + 4] = s * (a * i - c * g);
    out[at + 5] = s * (c * d - a * f);
    out[at + 6] = s * (d * h - e * g);
    out[at + 7] = s * (b * g - a * h);
    out[at + 8] = s * (a * e - b * d);
    return det;
}

export class Stress {
    // `tets`: global vertices, four each, in the bodies' order; `rest`: positions of all vertices.
    constructor(topology, scene, tets, rest) {
        const count = tets.length / 4;
        this.tets = tets;
        this.inverse = new Float64Array(9 * count);
        this.volume = new Float64Array(count);
        this.mu = new Float64Array(count);
        this.weight = new Float64Array(rest.length / 3);
        const m = new Float64Array(9);
        let t = 0;
        for (const body of topology.bodies) {
            this.mu.fill(shearOf(scene, body) ?? 0, t, t + body.tets);
            t += body.tets;
        }
        for (t = 0; t < count; t++) {
            edges(rest, tets, 4 * t, m);
            this.volume[t] = Math.abs(invert(m, this.inverse, 9 * t)) / 6;
            for (let k = 0; k < 4; k++) this.weight[tets[4 * t + k]] += this.volume[t];
        }
    }

    // Von Mises' stress of the vertices, in Pa.
    compute(positions, out) {
        const { tets, volume, weight } = this;
        const d = new Float64Array(9),
            f = new Float64Array(9);
        out.fill(0);
        for (let t = 0; t < volume.length; t++) {
            edges(positions, tets, 4 * t, d);
            const value = volume[t] * this.#misesOf(t, d, f);
            for (let k = 0; k < 4; k++) out[tets[4 * t + k]] += value;
        }
        for (let v = 0; v < out.length; v++) if (weight[v] > 0) out[v] /= weight[v];
    }

    // F = D inverse; E = (F'F - 1) / 2; S = 2 mu E + lambda tr E. The deviator of S is 2 mu times E's.
    #misesOf(t, d, f) {
        const { inverse } = this,
            n = 9 * t;
        for (let c = 0; c < 3; c++) {
            for (let r = 0; r < 3; r++) {
                f[3 * c + r] =
                    d[r] * inverse[n + 3 * c] +
                    d[3 + r] * inverse[n + 3 * c + 1] +
                    d[6 + r] * inverse[n + 3 * c + 2];
            }
        }
        const dot = (a, b) => 0.5 * (f[a] * f[b] + f[a + 1] * f[b + 1] + f[a + 2] * f[b + 2]);
        const xx = dot(0, 0),
            yy = dot(3, 3),
            zz = dot(6, 6),
            xy = dot(0, 3),
            yz = dot(3, 6),
            zx = dot(6, 0);
        const shear = xy * xy + yz * yz + zx * zx;
        const axial = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2;
        return 2 * this.mu[t] * Math.sqrt(0.5 * axial + 3 * shear);
    }
}
