// Stress from positions: for each tetrahedron, and in the plane of each triangle of a sheet, by Hooke's law applied to
// its Green strain relative to frame 0, as the von Mises stress; for a vertex, the mean over its tetrahedra weighted by
// volume, or its triangles weighted by area. At small strain it is the material's true stress; at large strain it only
// allows comparing places.

// The shear modulus and Poisson's ratio of a body's material in the effective scene; null if it is specified otherwise.
function moduliOf(scene, body) {
    const material = scene?.materials?.[scene.bodies?.find(({ name }) => name === body.name)?.material];
    const { young, poisson, lame } = material ?? {};
    if (lame) return { mu: lame.mu, nu: lame.lambda / (2 * (lame.lambda + lame.mu)) };
    return young > 0 && poisson < 0.5 ? { mu: young / (2 + 2 * poisson), nu: poisson } : null;
}

// True if it can be computed for any body of a session.
export const hasStress = (topology, scene) =>
    topology.bodies.some((body) => (body.tets > 0 || body.sheet_triangles > 0) && moduliOf(scene, body) !== null);

// A body's sheet triangles, as global vertices: its last ones.
const sheetOf = ({ triangles, sheet_triangles: count = 0 }) => triangles.slice(triangles.length - 3 * count);

// Columns x1 - x0, x2 - x0, x3 - x0 of a tetrahedron, column after column.
function edges(x, tets, t, out) {
    const a = 3 * tets[t];
    for (let k = 0; k < 3; k++) {
        const b = 3 * tets[t + 1 + k];
        for (let c = 0; c < 3; c++) out[3 * k + c] = x[b + c] - x[a + c];
    }
}

// Writes the inverse of the matrix m to out[at..at+8], both by columns; returns m's determinant.
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

// Two edges of a triangle, x1 - x0 and x2 - x0, reduced to the dot products that the von Mises stress needs.
function metric(x, triangles, t, out) {
    const a = 3 * triangles[t],
        b = 3 * triangles[t + 1],
        c = 3 * triangles[t + 2];
    let uu = 0,
        uv = 0,
        vv = 0;
    for (let k = 0; k < 3; k++) {
        const u = x[b + k] - x[a + k],
            v = x[c + k] - x[a + k];
        uu += u * u;
        uv += u * v;
        vv += v * v;
    }
    out[0] = uu;
    out[1] = uv;
    out[2] = vv;
}

// Sheets: in axes along the first edge at rest and perpendicular to it, the edges are (p, 0) and (q, r). In these the
// strain is E = (B' M B - 1) / 2, where M contains the present edges' dot products and B is the inverse of the edges at
// rest.
class SheetStress {
    constructor(topology, scene, rest) {
        this.parts = topology.bodies.map(sheetOf);
        const count = this.parts.reduce((sum, part) => sum + part.length / 3, 0);
        this.inverse = new Float64Array(3 * count); // 1/p, -q/(p r), 1/r
        this.area = new Float64Array(count);
        this.mu = new Float64Array(count);
        this.nu = new Float64Array(count);
        this.weight = new Float64Array(rest.length / 3);
        const m = new Float64Array(3);
        let n = 0;
        this.parts.forEach((part, k) => {
            const { mu, nu } = moduliOf(scene, topology.bodies[k]) ?? { mu: 0, nu: 0 };
            for (let t = 0; t < part.length; t += 3, n++) {
                metric(rest, part, t, m);
                const p = Math.sqrt(m[0]),
                    q = m[1] / p,
                    r = Math.sqrt(Math.max(0, m[2] - q * q));
                if (!(p > 0 && r > 0)) continue;
                this.inverse.set([1 / p, -q / (p * r), 1 / r], 3 * n);
                this.area[n] = (p * r) / 2;
                this.mu[n] = mu;
                this.nu[n] = nu;
                for (let c = 0; c < 3; c++) this.weight[part[t + c]] += this.area[n];
            }
        });
    }

    // Added to the vertices, weighted by area.
    add(positions, out) {
        const m = new Float64Array(3);
        let n = 0;
        for (const part of this.parts) {
            for (let t = 0; t < part.length; t += 3, n++) {
                metric(positions, part, t, m);
                const value = this.area[n] * this.#misesOf(n, m);
                for (let c = 0; c < 3; c++) out[part[t + c]] += value;
            }
        }
    }

    // Plane stress: S = 2 mu E + 2 mu nu / (1 - nu) tr E.
    #misesOf(n, m) {
        const a = this.inverse[3 * n],
            b = this.inverse[3 * n + 1],
            d = this.inverse[3 * n + 2];
        const xx = 0.5 * (a * a * m[0] - 1),
            xy = 0.5 * a * (b * m[0] + d * m[1]),
            yy = 0.5 * (b * b * m[0] + 2 * b * d * m[1] + d * d * m[2] - 1);
        const mu = 2 * this.mu[n],
            trace = (this.nu[n] / (1 - this.nu[n])) * (xx + yy);
        const sx = mu * (xx + trace),
            sy = mu * (yy + trace),
            shear = mu * xy;
        return Math.sqrt(sx * sx - sx * sy + sy * sy + 3 * shear * shear);
    }
}

export class Stress {
    // `tets`: global vertices, four each, in the bodies' order; `rest`: positions of all vertices.
    constructor(topology, scene, tets, rest) {
        const count = tets.length / 4;
        this.sheets = new SheetStress(topology, scene, rest);
        this.tets = tets;
        this.inverse = new Float64Array(9 * count);
        this.volume = new Float64Array(count);
        this.mu = new Float64Array(count);
        this.weight = new Float64Array(rest.length / 3);
        const m = new Float64Array(9);
        let t = 0;
        for (const body of topology.bodies) {
            this.mu.fill(moduliOf(scene, body)?.mu ?? 0, t, t + body.tets);
            t += body.tets;
        }
        for (t = 0; t < count; t++) {
            edges(rest, tets, 4 * t, m);
            this.volume[t] = Math.abs(invert(m, this.inverse, 9 * t)) / 6;
            for (let k = 0; k < 4; k++) this.weight[tets[4 * t + k]] += this.volume[t];
        }
        // A vertex belongs to one body, so its weight comes from tetrahedra or from triangles.
        this.sheets.weight.forEach((area, v) => area > 0 && (this.weight[v] = area));
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
        this.sheets.add(positions, out);
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
