// The drawn part of a session's bodies: triangles and edges over the vertices that are sent.

// The topology over `drawn` (the vertices in a frame, ascending; null: all).
export class Surface {
    constructor(topology, drawn) {
        this.count = drawn ? drawn.length : topology.vertices;
        this.global = drawn; // of a drawn vertex
        this.bodies = topology.bodies;
        const place = drawn ? placesOf(drawn, topology.vertices) : null;
        this.triangles = joined(
            topology.bodies.map((body) => body.triangles),
            place,
        );
        this.edges = joined(
            topology.bodies.map((body) => body.edges ?? []),
            place,
        );
        this.place = place;
        this.positions = new Float32Array(3 * this.count);
        this.rest = null; // of frame 0
        this.low = new Float64Array(3);
        this.high = new Float64Array(3);
        this.#sides = null;
    }

    #sides;

    // Every edge of triangles and ropes once, as pairs.
    get sides() {
        this.#sides ??= sidesOf(this.triangles, this.edges, this.count);
        return this.#sides;
    }

    // {body, vertex}: the body of a drawn vertex, and its index there.
    ownerOf(index) {
        const vertex = this.global ? this.global[index] : index;
        const body = this.bodies.findLast((b) => b.first_vertex <= vertex);
        return { body, vertex: vertex - (body?.first_vertex ?? 0), global: vertex };
    }

    // The drawn vertex of a global one; -1 if it is not drawn.
    indexOf(vertex) {
        return this.place ? this.place[vertex] : vertex;
    }

    // The body's colour for each drawn vertex, three numbers per vertex.
    paint(colourOf, out) {
        for (let i = 0, body = 0; i < this.count; i++) {
            const vertex = this.global ? this.global[i] : i;
            while (body + 1 < this.bodies.length && this.bodies[body + 1].first_vertex <= vertex) body++;
            out.set(colourOf(body), 3 * i);
        }
    }

    // The present mean length of the edges, of a sample if there are many.
    meanEdge() {
        const { sides, positions: x } = this;
        const every = 2 * Math.max(1, Math.floor(sides.length / 2 / 2000));
        let sum = 0,
            count = 0;
        for (let s = 0; s < sides.length; s += every, count++) {
            const i = 3 * sides[s],
                j = 3 * sides[s + 1];
            sum += Math.hypot(x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]);
        }
        return count ? sum / count : 0;
    }

    measure() {
        const { positions, low, high } = this;
        low.fill(Infinity);
        high.fill(-Infinity);
        for (let i = 0; i < positions.length; i += 3) {
            for (let c = 0; c < 3; c++) {
                const x = positions[i + c];
                if (x < low[c]) low[c] = x;
                if (x > high[c]) high[c] = x;
            }
        }
    }

    // Area-weighted normals of the vertices, into out[3 * count]. Math.imul keeps indices as 32-bit integers, which
    // takes a third of the time.
    normals(out) {
        const { positions: x, triangles } = this;
        out.fill(0);
        for (let t = 0; t < triangles.length; t += 3) {
            const a = Math.imul(3, triangles[t]),
                b = Math.imul(3, triangles[t + 1]),
                c = Math.imul(3, triangles[t + 2]);
            const ax = x[a],
                ay = x[a + 1],
                az = x[a + 2];
            const ux = x[b] - ax,
                uy = x[b + 1] - ay,
                uz = x[b + 2] - az;
            const vx = x[c] - ax,
                vy = x[c + 1] - ay,
                vz = x[c + 2] - az;
            const nx = uy * vz - uz * vy,
                ny = uz * vx - ux * vz,
                nz = ux * vy - uy * vx;
            out[a] += nx;
            out[a + 1] += ny;
            out[a + 2] += nz;
            out[b] += nx;
            out[b + 1] += ny;
            out[b + 2] += nz;
            out[c] += nx;
            out[c + 1] += ny;
            out[c + 2] += nz;
        }
        for (let i = 0; i < out.length; i += 3) {
            const nx = out[i],
                ny = out[i + 1],
                nz = out[i + 2];
            const square = nx * nx + ny * ny + nz * nz;
            const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
            out[i] = nx * scale;
            out[i + 1] = ny * scale;
            out[i + 2] = nz * scale;
        }
    }

    // For every edge one over its length in frame 0, and for every vertex one over its number of edges; 0 if it has
    // none. Available once frame 0 is.
    get slack() {
        this.#slack ??= slackOf(this);
        return this.#slack;
    }

    #slack = null;
}

function slackOf({ sides, rest: x, count }) {
    const inverse = new Float32Array(sides.length / 2),
        share = new Float32Array(count);
    for (let s = 0; s < sides.length; s += 2) {
        const i = 3 * sides[s],
            j = 3 * sides[s + 1];
        const length = Math.hypot(x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]);
        if (!(length > 0)) continue;
        inverse[s / 2] = 1 / length;
        share[sides[s]]++;
        share[sides[s + 1]]++;
    }
    for (let v = 0; v < count; v++) share[v] = share[v] ? 1 / share[v] : 0;
    return { inverse, share };
}

function placesOf(drawn, vertices) {
    const place = new Int32Array(vertices).fill(-1);
    for (let i = 0; i < drawn.length; i++) place[drawn[i]] = i;
    return place;
}

function joined(lists, place) {
    const out = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
    let at = 0;
    for (const list of lists) {
        for (let i = 0; i < list.length; i++) out[at++] = place ? place[list[i]] : list[i];
    }
    return out;
}

// Pairs as one number each, sorted, so that duplicates are adjacent.
function sidesOf(triangles, edges, count) {
    const keys = new Float64Array(triangles.length + edges.length / 2);
    const key = (a, b) => (a < b ? a * count + b : b * count + a);
    let at = 0;
    for (let t = 0; t < triangles.length; t += 3) {
        for (let k = 0; k < 3; k++) keys[at++] = key(triangles[t + k], triangles[t + ((k + 1) % 3)]);
    }
    for (let e = 0; e < edges.length; e += 2) keys[at++] = key(edges[e], edges[e + 1]);
    keys.sort();
    const out = new Uint32Array(2 * keys.length);
    let used = 0;
    for (let i = 0; i < keys.length; i++) {
        if (i > 0 && keys[i] === keys[i - 1]) continue;
        out[used++] = Math.floor(keys[i] / count);
        out[used++] = keys[i] % count;
    }
    return out.slice(0, used);
}
