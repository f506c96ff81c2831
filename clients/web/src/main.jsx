// The page: logs in and lists the sessions that one may see.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Login, enter } from './login.jsx';
import './style.css';

async function get(path) {
    const reply = await fetch(path);
    const value = await reply.json();
    if (!reply.ok) throw Object.assign(new Error(value.detail), { status: reply.status });
    return value;
}

function Sessions({ user }) {
    const [items, setItems] = useState([]);
    useEffect(() => {
        let since = null, timer = 0;
        const look = async () => {
            setItems((await get('/v1/sessions')).items);
            const query = since === null ? '' : `?since=${since}&wait=30`;
            since = (await get(`/v1/events${query}`)).next;
            timer = setTimeout(look, 500);
        };
        look().catch(() => { timer = setTimeout(look, 2000); });
        return () => clearTimeout(timer);
    }, []);
    return (
        <main>
            <h1>Sessions of {user}</h1>
            <ul>
                {items.map((session) => (
                    <li key={session.id}>{session.name || session.id}: {session.state}</li>
                ))}
            </ul>
        </main>
    );
}

function App({ entered }) {
    const [user, setUser] = useState(entered.user);
    if (!user) return <Login refused={entered.refused} onDone={setUser} />;
    return <Sessions user={user} />;
}

render(<App entered={await enter()} />, document.getElementById('app'));
