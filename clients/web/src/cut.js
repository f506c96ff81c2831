// The intersection of a plane with tetrahedra. Each one is a polygon with three or four corners on edges of its
// tetrahedron.

const EDGES = [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
];
// The polygon's edges in order, by which of the four vertices are beyond the plane (bit k for vertex k).
const POLYGONS = Array.from({ length: 16 }, (_, beyond) => {
    const cut = EDGES.filter(([a, b]) => ((beyond >> a) & 1) !== ((beyond >> b) & 1));
    if (cut.length < 4) return cut;
    // Neighbouring corners of the polygon share a vertex: the corner that shares none with the first one is opposite
    // it.
    const [first, ...rest] = cut;
    const meets = (edge) => edge.some((vertex) => first.includes(vertex));
    const [before, after] = rest.filter(meets);
    return [first, before, rest.find((edge) => !meets(edge)), after];
});

export class Cut {
    corners = 0;
    ends = new Uint32Array(0); // two vertices of each corner's edge, the kept one first
    share = new Float32Array(0); // position of a corner between the first and the second
    position = new Float32Array(0);
    index = new Uint32Array(0); // of its triangles
    triangles = 0;
    sides = new Uint32Array(0); // of the polygons' edges
    #away = new Float32Array(0);

    // `tets`: vertices, four each.
    constructor(tets) {
        this.tets = tets;
    }

    // Keeps the part with normal . x <= place.
    update(positions, [nx, ny, nz], place) {
        const { tets } = this;
        if (3 * this.#away.length !== positions.length) this.#away = new Float32Array(positions.length / 3);
        const away = this.#away;
        for (let v = 0, i = 0; v < away.length; v++, i += 3) {
            away[v] = nx * positions[i] + ny * positions[i + 1] + nz * positions[i + 2] - place;
        }
        const caseOf = (t) =>
            (away[tets[t]] > 0) |
            ((away[tets[t + 1]] > 0) << 1) |
            ((away[tets[t + 2]] > 0) << 2) |
            ((away[tets[t + 3]] > 0) << 3);
        let most = 0;
        for (let t = 0; t < tets.length; t += 4) most += POLYGONS[caseOf(t)].length;
        this.#reserve(most);
        this.corners = this.triangles = 0;
        for (let t = 0; t < tets.length; t += 4) {
            const polygon = POLYGONS[caseOf(t)];
            if (polygon.length) this.#add(polygon, t, positions);
        }
    }

    #reserve(corners) {
        if (corners <= this.share.length) return;
        const room = Math.ceil(1.3 * corners);
        this.ends = new Uint32Array(2 * room);
        this.share = new Float32Array(room);
        this.position = new Float32Array(3 * room);
        this.index = new Uint32Array(2 * room); // two triangles for four corners, one for three
        this.sides = new Uint32Array(2 * room);
    }

    #add(polygon, t, positions) {
        const { tets, ends, share, position, index, sides } = this;
        const away = this.#away,
            first = this.corners,
            count = polygon.length;
        for (let k = 0; k < count; k++) {
            const [p, q] = polygon[k];
            let a = tets[t + p],
                b = tets[t + q];
            if (away[a] > 0) [a, b] = [b, a];
            const n = this.corners++,
                s = away[a] / (away[a] - away[b]);
            ends[2 * n] = a;
            ends[2 * n + 1] = b;
            share[n] = s;
            for (let c = 0; c < 3; c++) {
                position[3 * n + c] = positions[3 * a + c] + s * (positions[3 * b + c] - positions[3 * a + c]);
            }
            sides[2 * n] = n;
            sides[2 * n + 1] = k + 1 < count ? n + 1 : first;
        }
        for (let k = 2; k < count; k++) {
            index.set([first, first + k - 1, first + k], 3 * this.triangles);
            this.triangles++;
        }
    }

    // Interpolates values of vertices to the corners; `size` numbers each.
    interpolate(values, size, out) {
        const { ends, share } = this;
        for (let n = 0; n < this.corners; n++) {
            const a = size * ends[2 * n],
                b = size * ends[2 * n + 1];
            for (let c = 0; c < size; c++) {
                out[size * n + c] = values[a + c] + share[n] * (values[b + c] - values[a + c]);
            }
        }
    }
}
