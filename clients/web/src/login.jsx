// Login: by a token, a one-time code (#code=...), or a share link (#link=...). The fragment is removed from the address
// before anything else, so that it stays in no history.
import { useState } from 'preact/hooks';
import { route } from './route.js';

async function call(path, options) {
    const reply = await fetch(path, options);
    const value = reply.status === 204 ? null : await reply.json();
    if (!reply.ok) throw new Error(value.detail || value.title);
    return value;
}

function post(path, body) {
    const headers = { 'Content-Type': 'application/json' };
    return call(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const brought = () => /^#(code|link)=([A-Za-z0-9_]+)$/.exec(location.hash);

// Pasting a code or a link into an open page only changes its fragment: the page starts over with it.
export function watchAddress() {
    addEventListener('hashchange', () => brought() && location.reload());
}

// {user} if somebody is logged in, by a code or from before; {link: session} after a share link; {refused: sentence} if
// the code or link was no longer valid; {} if nobody is.
export async function enter() {
    const found = brought();
    if (!found) {
        const { user } = await call('/v1/login');
        return user === null ? {} : { user };
    }
    route.replace({ page: 'sessions' });
    try {
        if (found[1] === 'link') {
            return { link: await post('/v1/links/open', { secret: found[2] }) };
        }
        return { user: (await post('/v1/login', { code: found[2] })).user };
    } catch (error) {
        const what = found[1] === 'link' ? 'The share link' : 'The code';
        return { refused: `${what} was rejected: ${error.message}.` };
    }
}

export async function logout() {
    await post('/v1/logout', {});
}

export function Login({ refused = '', onDone }) {
    const [token, setToken] = useState('');
    const [said, setSaid] = useState(refused);
    const [busy, setBusy] = useState(false);
    const submit = async (event) => {
        event.preventDefault();
        const secret = token.trim();
        if (!secret) return;
        setBusy(true);
        try {
            // A code has 32 hex digits; tokens have a different length.
            const body = /^[0-9a-f]{32}$/.test(secret) ? { code: secret } : { token: secret };
            const { user } = await post('/v1/login', body);
            setToken('');
            onDone(user);
        } catch (error) {
            setSaid(`Not logged in: ${error.message}.`);
        }
        setBusy(false);
    };
    return (
        <main class="login">
            <form onSubmit={submit}>
                <h1>Pliant</h1>
                <label for="token">Token or one-time code</label>
                <input
                    id="token"
                    type="password"
                    autocomplete="current-password"
                    autofocus
                    value={token}
                    onInput={(event) => setToken(event.currentTarget.value)}
                />
                <button type="submit" disabled={busy}>
                    Log in
                </button>
                <p class="refused" role="alert">
                    {said}
                </p>
                <p class="hint">
                    <code>pliant login</code> prints a link that logs you in. The owner's token is in the file{' '}
                    <code>token</code> of the daemon's state directory; others make theirs with{' '}
                    <code>pliant token create</code>. The <a href="/docs/">documentation</a> needs no login.
                </p>
            </form>
        </main>
    );
}
