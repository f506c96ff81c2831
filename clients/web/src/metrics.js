// The metrics records of a session as columns: one number per frame, by the path of its key.

const GROWTH = 1.6;
const SAME = 1e-3; // of a frame's interval
const DETAILS = 400; // frames whose iterations are kept

export class MetricsTable {
    rows = 0;
    #columns = new Map();
    #capacity = 512;
    #details = new Map();
    #frames = new Float64Array(this.#capacity);

    get last() {
        return this.rows ? this.#frames[this.rows - 1] : -1;
    }

    // Column names such as "energy/kinetic", in order of first appearance.
    get names() {
        return [...this.#columns.keys()];
    }

    get frames() {
        return this.#frames.subarray(0, this.rows);
    }

    // The numbers of one column; NaN for frames without one. Null if there is no such column.
    column(name) {
        return this.#columns.get(name)?.subarray(0, this.rows) ?? null;
    }

    at(name, row) {
        const value = this.#columns.get(name)?.[row];
        return Number.isFinite(value) ? value : null;
    }

    // The row of a frame, or of the last one before it; -1 if none.
    rowOf(frame) {
        let low = 0,
            high = this.rows;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#frames[middle] <= frame) low = middle + 1;
            else high = middle;
        }
        return low - 1;
    }

    // The time of a frame. Records may be thinned: frames between two of them are `each` seconds apart.
    timeOf(frame, each) {
        const row = this.rowOf(frame);
        return row < 0 ? frame * each : this.at('time', row) + (frame - this.#frames[row]) * each;
    }

    // The last frame whose time is not after `time`; times that differ by less than a thousandth of `each` count as
    // equal.
    frameAt(time, each) {
        const times = this.column('time');
        if (!times?.length) return Math.floor(time / each + SAME);
        let low = 0,
            high = this.rows;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (times[middle] <= time + SAME * each) low = middle + 1;
            else high = middle;
        }
        if (low === 0) return this.#frames[0];
        const frame = this.#frames[low - 1] + Math.floor((time - times[low - 1]) / each + SAME);
        return low < this.rows ? Math.min(frame, this.#frames[low] - 1) : frame;
    }

    // The iterations of a frame, or null if the scene does not record them.
    iterations(frame) {
        return this.#details.get(frame) ?? null;
    }

    // Records come in ascending order; those already present are skipped.
    push(record) {
        if (typeof record.frame !== 'number' || record.frame <= this.last) return;
        if (this.rows === this.#capacity) this.#grow();
        this.#frames[this.rows] = record.frame;
        for (const values of this.#columns.values()) values[this.rows] = NaN;
        this.#put('', record);
        if (record.iterations_detail) this.#keep(record.frame, record.iterations_detail);
        this.rows++;
    }

    // Forces between bodies are a list: [{between: [a, b], force}]. A body's force on itself is left out.
    #putForces(prefix, list) {
        for (const { between, force } of list)
            if (between[0] !== between[1]) this.#put(prefix, { [between.join(' on ')]: force });
    }

    #put(prefix, object) {
        for (const key in object) {
            const value = object[key];
            if (key === 'iterations_detail') continue;
            if (key === 'forces' && Array.isArray(value)) this.#putForces(`${prefix}forces/`, value);
            else if (Array.isArray(value)) {
                this.#set(prefix + key, Math.hypot(...value.map(Number)));
                value.forEach((v, i) => this.#set(`${prefix}${key}/${'xyz'[i] ?? i}`, v));
            } else if (value && typeof value === 'object') this.#put(`${prefix}${key}/`, value);
            else if (typeof value === 'number') this.#set(prefix + key, value);
        }
    }

    #set(name, value) {
        let values = this.#columns.get(name);
        if (!values) {
            values = new Float64Array(this.#capacity).fill(NaN);
            this.#columns.set(name, values);
        }
        values[this.rows] = value;
    }

    #keep(frame, detail) {
        this.#details.set(frame, detail);
        if (this.#details.size > DETAILS) this.#details.delete(this.#details.keys().next().value);
    }

    #grow() {
        this.#capacity = Math.ceil(this.#capacity * GROWTH);
        const grown = (values) => {
            const larger = new Float64Array(this.#capacity).fill(NaN);
            larger.set(values);
            return larger;
        };
        this.#frames = grown(this.#frames);
        for (const [name, values] of this.#columns) this.#columns.set(name, grown(values));
    }
}
