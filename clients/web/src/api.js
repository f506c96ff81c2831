// Requests to the daemon. Every rejected request throws an ApiError: a sentence, and the faults.

export class ApiError extends Error {
    constructor(status, problem) {
        super(problem.detail || problem.title || `the daemon answered ${status}`);
        this.status = status;
        this.title = problem.title ?? '';
        this.code = (problem.type ?? '').split('/').pop();
        this.faults = problem.faults ?? [];
        this.firstAvailable = problem.first_available ?? null;
    }
}

// The daemon cannot be reached. This is not its reply, so another try may succeed.
export class Unreachable extends Error {
    constructor() {
        super('The daemon does not respond. Is pliantd running, and the network up?');
    }
}

async function problemOf(reply) {
    try {
        return await reply.json();
    } catch {
        return { title: reply.statusText };
    }
}

// Calls listeners, which show the login, when nobody is logged in.
let unauthorized = () => {};
export function onUnauthorized(listener) {
    unauthorized = listener;
}

// The network part of a request. Fails with the browser's message.
async function reach(promise) {
    try {
        return await promise;
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Unreachable();
    }
}

async function request(method, path, { body, headers = {}, accept, signal } = {}) {
    const given = { ...headers };
    if (accept) given.Accept = accept;
    let content = body;
    if (body !== undefined && !(body instanceof Blob) && !(body instanceof ArrayBuffer)) {
        content = typeof body === 'string' ? body : JSON.stringify(body);
        given['Content-Type'] ??= 'application/json';
    }
    const reply = await reach(
        fetch(path, { method, signal, body: content, headers: given, credentials: 'same-origin' }),
    );
    if (reply.ok || reply.status === 304) return reply;
    if (reply.status === 401) unauthorized();
    throw new ApiError(reply.status, await problemOf(reply));
}

async function json(method, path, options) {
    const reply = await request(method, path, options);
    if (reply.status === 204) return null;
    const text = await reach(reply.text());
    return text ? JSON.parse(text) : null;
}

// The numbers of an .npy file of version 1 or 2 with little-endian int32 or float32 in C order.
export function parseNpy(buffer) {
    const bytes = new Uint8Array(buffer);
    const view = new DataView(buffer);
    const long = bytes[6] >= 2;
    const begin = (long ? 12 : 10) + (long ? view.getUint32(8, true) : view.getUint16(8, true));
    const head = new TextDecoder('latin1').decode(bytes.subarray(10, begin));
    const kind = /'descr':\s*'([^']+)'/.exec(head)?.[1];
    if (kind === '<i4') return new Int32Array(buffer.slice(begin));
    if (kind === '<f4') return new Float32Array(buffer.slice(begin));
    throw new Error(`an array of ${kind}, which this page cannot read`);
}

export const api = {
    request,
    get: (path, options) => json('GET', path, options),
    post: (path, body, options = {}) => json('POST', path, { ...options, body: body ?? {} }),
    put: (path, body, options = {}) => json('PUT', path, { ...options, body }),
    patch: (path, body, options = {}) => json('PATCH', path, { ...options, body }),
    delete: (path, options) => json('DELETE', path, options),
    async text(path, options) {
        return (await request('GET', path, options)).text();
    },
    async array(path, options) {
        const reply = await request('GET', path, options);
        return parseNpy(await reach(reply.arrayBuffer()));
    },
    // Yields every line of an NDJSON reply, even while it is being sent.
    async lines(path, onLine, options = {}) {
        const reply = await request('GET', path, { ...options, accept: 'application/x-ndjson' });
        const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
            const { done, value } = await reach(reader.read());
            const parts = (rest + (value ?? '')).split('\n');
            rest = parts.pop();
            for (const part of parts) if (part) onLine(JSON.parse(part));
            if (done) return;
        }
    },
};
