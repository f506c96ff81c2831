// Who looks: a token, a code that is good once (#code=...), or a share link (#link=...). What an
// address brings is taken out of it before anything else, so that it stays in no history.
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

// A code or a link pasted into a page that is open changes its fragment only: the page begins again with it.
export function watchAddress() {
    addEventListener('hashchange', () => brought() && location.reload());
}

// {user} where somebody is logged in, now by a code or since before; {link: session} after a share
// link; {refused: sentence} where what the address brought was good no more; {} for nobody.
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
            // A code has 32 hex digits, as no token has.
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
                    <code>token</code> of the daemon's state directory; others create theirs with{' '}
                    <code>pliant token create</code>.
                </p>
            </form>
        </main>
    );
}
