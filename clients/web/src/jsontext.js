// JSON as written by a user: the position of each value in the text, and edits that leave the rest of the text
// unchanged.

const escaped = (key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (key) => key.replaceAll('~1', '/').replaceAll('~0', '~');

class Wrong extends Error {
    constructor(at, message) {
        super(message);
        this.at = at;
    }
}

class Reader {
    places = new Map(); // pointer: {from, to, begin}; begin: start of its key

    constructor(text) {
        this.text = text;
        this.at = 0;
    }

    blank() {
        while (' \t\n\r'.includes(this.text[this.at]) && this.at < this.text.length) this.at++;
    }

    expect(sign, what) {
        this.blank();
        if (this.text[this.at] !== sign) throw new Wrong(this.at, `${what} expected`);
        this.at++;
    }

    string() {
        const from = this.at;
        for (this.at++; this.text[this.at] !== '"'; this.at++) {
            if (this.at >= this.text.length || this.text[this.at] < ' ')
                throw new Wrong(from, 'a string without its end');
            if (this.text[this.at] === '\\') this.at++;
        }
        this.at++;
        try {
            return JSON.parse(this.text.slice(from, this.at));
        } catch {
            throw new Wrong(from, 'a string with an invalid escape');
        }
    }

    plain() {
        const from = this.at;
        while (this.at < this.text.length && !',]} \t\n\r'.includes(this.text[this.at])) this.at++;
        try {
            return JSON.parse(this.text.slice(from, this.at));
        } catch {
            throw new Wrong(
                from,
                from === this.at ? 'a value expected' : `${this.text.slice(from, this.at)} is not a value`,
            );
        }
    }

    members(pointer, close, each) {
        this.at++;
        this.blank();
        if (this.text[this.at] === close) {
            this.at++;
            return;
        }
        for (let i = 0; ; i++) {
            this.blank();
            each(i);
            this.blank();
            const sign = this.text[this.at];
            if (sign !== ',' && sign !== close) throw new Wrong(this.at, `a comma or ${close} expected`);
            this.at++;
            if (sign === close) return;
        }
    }

    value(pointer, begin) {
        this.blank();
        const from = this.at;
        let value;
        if (this.text[from] === '{') {
            value = {};
            this.members(pointer, '}', () => {
                const start = this.at;
                if (this.text[start] !== '"') throw new Wrong(start, 'a key in quotes expected');
                const key = this.string();
                this.expect(':', 'a colon');
                const member = this.value(`${pointer}/${escaped(key)}`, start);
                Object.defineProperty(value, key, {
                    value: member,
                    enumerable: true,
                    configurable: true,
                    writable: true,
                });
            });
        } else if (this.text[from] === '[') {
            value = [];
            this.members(pointer, ']', (i) => value.push(this.value(`${pointer}/${i}`, this.at)));
        } else {
            value = this.text[from] === '"' ? this.string() : this.plain();
        }
        this.places.set(pointer, { from, to: this.at, begin: begin ?? from });
        return value;
    }
}

export function lineOf(text, at) {
    let line = 1;
    for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++;
    return line;
}

// {value, places} or {error: {message, line}}.
export function read(text) {
    const reader = new Reader(text);
    try {
        const value = reader.value('');
        reader.blank();
        if (reader.at < text.length) throw new Wrong(reader.at, 'text after the end');
        return { value, places: reader.places };
    } catch (error) {
        if (error instanceof RangeError) return { error: { message: 'line 1: nested too deep', line: 1, at: 0 } };
        if (!(error instanceof Wrong)) throw error;
        const line = lineOf(text, error.at);
        const column = error.at - text.lastIndexOf('\n', error.at - 1);
        return { error: { message: `line ${line}, column ${column}: ${error.message}`, line, at: error.at } };
    }
}

export function at(value, pointer) {
    let found = value;
    for (const part of pointer.split('/').slice(1)) found = found?.[unescaped(part)];
    return found;
}

// The range to mark for a fault, {from, to}: its value with its key, or the nearest existing parent.
export function placeOfPointer(places, pointer) {
    for (let p = pointer; ; p = p.slice(0, p.lastIndexOf('/'))) {
        const place = places.get(p);
        if (place || p === '') return place ? { from: place.begin, to: place.to } : { from: 0, to: 0 };
    }
}

export function lineOfPointer(text, places, pointer) {
    return lineOf(text, placeOfPointer(places, pointer).from);
}

// [1, 2, 3] on one line, and objects with few words too.
export function written(value, indent = 0) {
    const short = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
    if (short.length + indent < 100) return short.replaceAll('[ ', '[').replaceAll(' ]', ']');
    const space = ' '.repeat(indent + 2);
    const [open, close, parts] = Array.isArray(value)
        ? ['[', ']', value.map((item) => written(item, indent + 2))]
        : [
              '{',
              '}',
              Object.entries(value).map(
                  ([key, item]) => `${JSON.stringify(key)}: ${written(item, indent + 2)}`,
              ),
          ];
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    return `${open}\n${space}${parts.join(`,\n${space}`)}\n${' '.repeat(indent)}${close}`;
}

// A whole scene: each of its keys begins a line.
export function pretty(scene) {
    const rows = Object.entries(scene).map(([key, value]) => `  ${JSON.stringify(key)}: ${written(value, 2)}`);
    return `{\n${rows.join(',\n')}\n}\n`;
}

// The text with an additional member in the object or array at `pointer`.
function inserted(text, places, pointer, member) {
    const { from, to } = places.get(pointer);
    const inside = [...places].filter(
        ([p]) => p.startsWith(`${pointer}/`) && !p.slice(pointer.length + 1).includes('/'),
    );
    if (inside.length === 0) return `${text.slice(0, from + 1)}${member}${text.slice(to - 1)}`;
    const last = inside.reduce((a, b) => (b[1].to > a[1].to ? b : a))[1];
    const lineBegin = text.lastIndexOf('\n', last.begin - 1) + 1;
    const before = text.slice(lineBegin, last.begin);
    const gap = /^\s*$/.test(before) && lineBegin > from ? `,\n${before}` : ', ';
    return text.slice(0, last.to) + gap + member + text.slice(last.to);
}

// The text with this value at the pointer; objects on the way are created.
export function setAt(text, pointer, value) {
    const { places, error } = read(text);
    if (error) return text;
    const place = places.get(pointer);
    if (place) return text.slice(0, place.from) + written(value) + text.slice(place.to);
    const parts = pointer.split('/').slice(1);
    let parent = '',
        depth = 0;
    while (depth < parts.length - 1 && places.has(`${parent}/${parts[depth]}`)) parent += `/${parts[depth++]}`;
    const nested = parts.slice(depth + 1).reduceRight((inner, key) => ({ [unescaped(key)]: inner }), value);
    return inserted(text, places, parent, `${JSON.stringify(unescaped(parts[depth]))}: ${written(nested)}`);
}

// The text with an additional value at the end of the array at the pointer, which is created if missing.
export function appendAt(text, pointer, value) {
    const { places, error } = read(text);
    if (error) return text;
    if (!places.has(pointer)) return setAt(text, pointer, [value]);
    return inserted(text, places, pointer, written(value));
}

export function removeAt(text, pointer) {
    const { places, error } = read(text);
    const place = !error && places.get(pointer);
    if (!place) return text;
    const after = /^\s*,\s*/.exec(text.slice(place.to));
    if (after) return text.slice(0, place.begin) + text.slice(place.to + after[0].length);
    const before = /,\s*$/.exec(text.slice(0, place.begin));
    const from = before ? place.begin - before[0].length : place.begin;
    return text.slice(0, from) + text.slice(place.to);
}

// A merge patch (RFC 7386), leaf by leaf; keys that are numbers reach into arrays.
export function patched(text, patch, pointer = '') {
    let now = text;
    for (const [key, value] of Object.entries(patch)) {
        const p = `${pointer}/${escaped(key)}`;
        if (value === null) now = removeAt(now, p);
        else if (typeof value === 'object' && !Array.isArray(value) && read(now).places?.has(p))
            now = patched(now, value, p);
        else now = setAt(now, p, value);
    }
    return now;
}
