// Queries of the schema of scenes (GET /v1/schema/scene) for a place in a text that may be incomplete: which keys and
// values fit there, and what a key means.

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;

function unquoted(word) {
    if (word[0] !== '"') return word;
    const whole = word.length > 1 && word.endsWith('"') ? word : `${word}"`;
    try {
        return JSON.parse(whole);
    } catch {
        return word.slice(1);
    }
}

// The open objects and lists before a place: {list, index, key, colon, filled, keys}.
class Level {
    constructor(list) {
        this.list = list;
        this.index = 0;
        this.keys = []; // all keys of an object, including those after the place
        this.next();
    }

    next() {
        this.key = null;
        this.colon = this.filled = false;
    }

    get wantsKey() {
        return !this.list && (!this.colon || this.filled);
    }

    get step() {
        return this.list ? this.index : this.key;
    }

    // A word, or a nested value that has ended.
    take(word) {
        if (this.list) return;
        if (word !== null && this.wantsKey) {
            this.next();
            this.key = unquoted(word);
            this.keys.push(this.key);
        } else if (this.colon) {
            this.filled = true;
        }
    }
}

function advance(stack, token) {
    const level = stack.at(-1);
    if (token === '{' || token === '[') {
        stack.push(new Level(token === '['));
    } else if (token === '}' || token === ']') {
        stack.pop();
        stack.at(-1)?.take(null);
    } else if (token === ',') {
        if (level?.list) level.index++;
        else level?.next();
    } else if (token === ':') {
        if (level) level.colon = true;
    } else {
        level?.take(token);
    }
}

// The place of a position in a text: {path, isKey, word, from, to, keys, colon}; `path` leads to the object for a key,
// otherwise to the value itself; `word` is the text there, from..to; `colon`: one follows. Null outside everything.
export function placeAt(text, position) {
    const stack = [];
    let found = null,
        depth = 0;
    for (const { 0: token, index: begin } of text.matchAll(TOKEN)) {
        const isWord = !'{}[],:'.includes(token),
            end = begin + token.length;
        if (!found && (isWord ? position <= end : position <= begin)) {
            found = describe(stack, isWord && begin <= position ? token : '', begin, position);
            if (!found) return null;
            depth = stack.length;
        } else if (found && found.colon === null && (!isWord || begin > found.to)) {
            found.colon = token === ':';
        }
        advance(stack, token);
        if (found && stack.length < depth) break;
    }
    return found ?? describe(stack, '', position, position);
}

function describe(stack, word, begin, position) {
    const level = stack.at(-1);
    if (!level) return null;
    const isKey = level.wantsKey;
    const path = stack.slice(0, -1).map((one) => one.step);
    if (!isKey) path.push(level.step);
    const from = word ? begin : position;
    return { path, isKey, word, from, to: from + word.length, keys: level.keys, colon: isKey ? null : false };
}

// A schema with everything that it refers to or chooses between, itself first.
function spread(schema, definitions, out = []) {
    if (!schema || typeof schema !== 'object' || out.length > 40) return out;
    out.push(schema);
    if (schema.$ref) spread(definitions[schema.$ref.replace('#/$defs/', '')], definitions, out);
    for (const list of [schema.anyOf, schema.oneOf, schema.allOf])
        for (const one of list ?? []) spread(one, definitions, out);
    return out;
}

function stepInto(schemas, step) {
    return schemas.flatMap((schema) => {
        if (typeof step === 'number') return schema.items ? [schema.items] : [];
        const own = schema.properties?.[step];
        if (own) return [own];
        return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
    });
}

// Every schema that may apply to the value at a path; the most specific ones first.
export function schemasAt(schema, path) {
    const all = (list) => list.flatMap((one) => spread(one, schema.$defs));
    return path.reduce((now, step) => all(stepInto(now, step)), all([schema]));
}

// The keys of an object: Map of name to {schemas, required}.
export function keysOf(schema, path) {
    const found = new Map();
    const schemas = schemasAt(schema, path);
    for (const one of schemas) {
        for (const [name, given] of Object.entries(one.properties ?? {})) {
            const key = found.get(name) ?? { schemas: [], required: false };
            key.schemas.push(...spread(given, schema.$defs));
            key.required ||= Boolean(one.required?.includes(name));
            found.set(name, key);
        }
    }
    return found;
}

// The strings, numbers and booleans listed for a value.
export function choicesOf(schemas) {
    const listed = schemas.flatMap((one) => one.enum ?? ('const' in one ? [one.const] : []));
    const truths = schemas.some((one) => one.type === 'boolean') ? [true, false] : [];
    return [...new Set([...listed, ...truths])];
}

const first = (schemas, key) => schemas.find((one) => key in one)?.[key];

export function typeOf(schemas) {
    const types = new Set(schemas.flatMap((one) => one.type ?? []));
    if (choicesOf(schemas).some((choice) => typeof choice === 'string')) types.add('string');
    return [...types].map((type) => (type === 'array' ? 'list' : type === 'string' ? 'text' : type)).join(' or ');
}

// {description, facts}: a key's meaning, type, range and default.
export function about(schemas) {
    const low = first(schemas, 'minimum'),
        above = first(schemas, 'exclusiveMinimum'),
        high = first(schemas, 'maximum'),
        standard = first(schemas, 'default'),
        choices = choicesOf(schemas).filter((choice) => typeof choice !== 'boolean');
    const facts = [
        typeOf(schemas),
        low !== undefined && `at least ${low}`,
        above !== undefined && `more than ${above}`,
        high !== undefined && `at most ${high}`,
        choices.length > 0 && `one of ${choices.join(', ')}`,
        standard !== undefined && standard !== null && `default ${JSON.stringify(standard)}`,
    ];
    return { description: first(schemas, 'description') ?? '', facts: facts.filter(Boolean).join('; ') };
}
