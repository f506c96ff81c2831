// Parses the binary records of a stream (protocol/log/record.h), and frames in them.

export const HELLO = 1,
    FRAME = 2,
    METRICS = 3,
    EPOCH = 4,
    HEARTBEAT = 5,
    GAP = 6,
    END = 7,
    STATE = 9;
const HEADER = 48,
    FRAME_HEADER = 32,
    MAX_PAYLOAD = 2 ** 31;
const F32 = 1,
    F64 = 2,
    U16 = 3;
const POSITION = 1,
    VELOCITY = 2,
    CONTACTS = 16;

const crcTable = new Uint32Array(256).map((_, i) => {
    let value = i;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    return value;
});

export function crc32c(bytes) {
    let crc = 0xffffffff;
    for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
    return (crc ^ 0xffffffff) >>> 0;
}

function parseHeader(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER);
    if (view.getUint32(0, true) !== 0x31524c50) throw new Error('this is not a stream of records');
    if (view.getUint32(40, true) !== crc32c(bytes.subarray(0, 40))) {
        throw new Error('a record arrived damaged');
    }
    if (view.getUint16(4, true) !== 1) throw new Error('records of a newer daemon: reload the page');
    const length = Number(view.getBigUint64(32, true));
    if (length > MAX_PAYLOAD) throw new Error('a record is too large for a page');
    return { type: view.getUint16(6, true), frame: Number(view.getBigUint64(24, true)), length };
}

// Takes bytes as they arrive; each payload is copied once, into its own buffer, which callers may keep.
export class RecordDecoder {
    #onRecord;
    #head = new Uint8Array(HEADER);
    #headFilled = 0;
    #record = null;
    #filled = 0;

    constructor(onRecord) {
        this.#onRecord = onRecord;
    }

    push(chunk) {
        let at = 0;
        while (at < chunk.length || (this.#record && this.#filled === this.#record.bytes.length)) {
            at += this.#record ? this.#takePayload(chunk, at) : this.#takeHead(chunk, at);
        }
    }

    #takeHead(chunk, at) {
        const count = Math.min(HEADER - this.#headFilled, chunk.length - at);
        this.#head.set(chunk.subarray(at, at + count), this.#headFilled);
        this.#headFilled += count;
        if (this.#headFilled === HEADER) {
            this.#record = parseHeader(this.#head);
            this.#record.bytes = new Uint8Array((this.#record.length + 7) & ~7);
            this.#headFilled = this.#filled = 0;
        }
        return count;
    }

    #takePayload(chunk, at) {
        const { bytes, type, frame, length } = this.#record;
        const count = Math.min(bytes.length - this.#filled, chunk.length - at);
        bytes.set(chunk.subarray(at, at + count), this.#filled);
        this.#filled += count;
        if (this.#filled === bytes.length) {
            this.#record = null;
            this.#onRecord({ type, frame, bytes: bytes.subarray(0, length) });
        }
        return count;
    }
}

export function jsonOf(record) {
    return record.bytes.length ? JSON.parse(new TextDecoder().decode(record.bytes)) : {};
}

// Contact points between bodies: {count, bodies: two each, values: x y z, force x y z, gap each}.
function contactsOf(view, at, count, wide) {
    const bytes = 8 + 7 * (wide ? 8 : 4);
    const bodies = new Int32Array(2 * count),
        values = new Float32Array(7 * count);
    for (let i = 0; i < count; i++, at += bytes) {
        for (let k = 0; k < 2; k++) bodies[2 * i + k] = view.getInt32(at + 4 * k, true);
        for (let k = 0; k < 7; k++) {
            const place = at + 8 + k * (wide ? 8 : 4);
            values[7 * i + k] = wide ? view.getFloat64(place, true) : view.getFloat32(place, true);
        }
    }
    return { count, bodies, values };
}

// {number, time, count, position, velocity, contacts}: the values as received, with `box` if they are quantised. Vertex
// values are not copied.
export function frameOf(record) {
    const { buffer, byteOffset, byteLength } = record.bytes;
    const view = new DataView(buffer, byteOffset, byteLength);
    const dtype = view.getUint32(0, true),
        fields = view.getUint32(4, true);
    const count = view.getUint32(8, true),
        points = view.getUint32(12, true);
    const kind = { [F32]: Float32Array, [F64]: Float64Array, [U16]: Uint16Array }[dtype];
    if (!kind || fields & ~(POSITION | VELOCITY | CONTACTS)) throw new Error('a frame of an unknown format');
    const names = [POSITION, VELOCITY].filter((bit) => fields & bit);
    let at = FRAME_HEADER + (dtype === U16 ? 48 * names.length : 0);
    const frame = {
        number: record.frame,
        time: view.getFloat64(16, true),
        count,
        bytes: byteLength,
    };
    names.forEach((bit, i) => {
        frame[bit === POSITION ? 'position' : 'velocity'] = {
            values: new kind(buffer, byteOffset + at, 3 * count),
            box: dtype === U16 ? new Float64Array(buffer, byteOffset + FRAME_HEADER + 48 * i, 6) : null,
        };
        at += 3 * count * kind.BYTES_PER_ELEMENT;
    });
    if (fields & CONTACTS) {
        frame.contacts = contactsOf(view, at, Math.min(points, byteLength / 36), dtype === F64);
        at += points * (dtype === F64 ? 64 : 36);
    }
    if (at !== byteLength) throw new Error('a frame whose length does not fit its vertices');
    return frame;
}

// The values of a field in m or m/s, written to `out`, which must be large enough.
export function copyField(field, out) {
    const { values, box } = field;
    if (!box) {
        out.set(values);
        return out;
    }
    const [x, y, z] = box;
    const sx = (box[3] - x) / 65535,
        sy = (box[4] - y) / 65535,
        sz = (box[5] - z) / 65535;
    for (let i = 0; i < values.length; i += 3) {
        out[i] = x + sx * values[i];
        out[i + 1] = y + sy * values[i + 1];
        out[i + 2] = z + sz * values[i + 2];
    }
    return out;
}
