// The list of sessions: state, progress, why one waits; some of them to be compared.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { STATES, duration, number, ordinal, secondsLeft } from './format.js';
import { useOn } from './hooks.js';
import { hrefOf } from './route.js';

function StateSign({ state, warned }) {
    return (
        <span class={`sign ${warned ? 'warned' : state}`} title={warned ? `${state}, with warnings` : state}>
            {STATES[state]}
        </span>
    );
}

// What its warnings are about, each once.
export function codesOf(session) {
    return [...new Set((session.warnings ?? []).map(({ code }) => code.replaceAll('_', ' ')))].join(', ');
}

function Bar({ progress, state }) {
    const part = progress?.frames ? Math.min(1, (progress.frame ?? 0) / progress.frames) : null;
    if (part === null || part === 1) return null;
    return (
        <span class="bar">
            <span class={state} style={{ width: `${100 * part}%` }} />
        </span>
    );
}

// Why its worker makes no progress.
const STALLED = {
    stopped: 'stopped by a signal',
    disk: 'waits for the disk',
    idle: 'uses no processor time',
};

// One line that says how it is.
export function lineOf(session, each = null) {
    const { state, progress, queue, failure, desired } = session;
    const frames = progress?.frames ? `${progress.frame ?? 0}/${progress.frames}` : `${progress?.frame ?? 0}`;
    if (desired && desired !== state) return `${frames}, is being ${desired}`;
    if (state === 'running') {
        const left = secondsLeft(session, each);
        const rate = progress.rate ? ` · ${number(progress.rate, 2)}× real time` : '';
        return `${frames}${left === null ? '' : ` · ${duration(left)} left`}${rate}`;
    }
    if (state === 'queued') {
        const place = queue.position > 0 ? `${ordinal(queue.position)} in the queue` : 'queued';
        return queue.reason ? `${place}: ${queue.reason}` : place;
    }
    if (state === 'failed') return failure?.frame != null ? `failed after frame ${failure.frame}` : 'failed';
    return `${state}${progress?.frame != null ? ` · ${frames}` : ''}`;
}

function matches(session, words) {
    const text = `${session.name} ${session.id} ${session.owner} ${session.state} ${Object.entries(
        session.labels ?? {},
    )
        .flat()
        .join(' ')} ${codesOf(session)} ${session.resources?.gpu ? 'gpu' : 'cpu'}`.toLowerCase();
    return words.every((word) => text.includes(word));
}

function Item({ session, chosen, compared, onCompare, alone }) {
    const device = session.resources?.gpu
        ? 'GPU'
        : `${session.resources?.cores ?? 1} core${session.resources?.cores === 1 ? '' : 's'}`;
    const codes = codesOf(session);
    return (
        <li class={chosen ? 'chosen' : ''}>
            <a href={hrefOf(session.id)} aria-current={chosen ? 'true' : undefined}>
                <StateSign state={session.state} warned={session.state === 'succeeded' && codes !== ''} />
                <span class="name">{session.name || session.id.slice(0, 8)}</span>
                <span class="line numbers">{lineOf(session)}</span>
                {session.stalled && <span class="line warned">⚠ stalled: {STALLED[session.stalled.why]}</span>}
                {codes && <span class="line warned">⚠ {codes}</span>}
                <span class="line faint">
                    {session.owner}
                    {session.group ? ` · ${session.group}` : ''} · {device}
                </span>
                <Bar progress={session.progress} state={session.state} />
            </a>
            {!alone && !chosen && (
                <label class="compare" title="Draw its curves beside those of the session that is looked at">
                    <input type="checkbox" checked={compared} onChange={() => onCompare(session.id)} />
                    <span class="hidden">compare with {session.name}</span>
                </label>
            )}
        </li>
    );
}

const SHOWN = 200;

export function SessionList({ sessions, id, compared, onCompare }) {
    useOn(sessions, 'change');
    const [filter, setFilter] = useState('');
    const list = useRef(null);
    const here = sessions.loaded && sessions.get(id) !== null;
    // What is looked at is seen in the list, also where a link led to it.
    useEffect(() => {
        const chosen = list.current.querySelector('.chosen');
        if (!chosen) return;
        const above = chosen.offsetTop - list.current.offsetTop;
        const { scrollTop, clientHeight } = list.current;
        if (above < scrollTop || above + chosen.offsetHeight > scrollTop + clientHeight)
            list.current.scrollTop = above;
    }, [id, here]);
    const words = useMemo(() => filter.toLowerCase().split(/\s+/).filter(Boolean), [filter]);
    const found = sessions.items.filter((session) => matches(session, words));
    return (
        <nav class="list" aria-label="Sessions">
            <input
                id="filter"
                type="search"
                placeholder={`Filter: name, owner, state${matchMedia('(hover: none)').matches ? '' : '   ( / )'}`}
                aria-label="Filter sessions"
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
            />
            <ul ref={list}>
                {found.slice(0, SHOWN).map((session) => (
                    <Item
                        key={session.id}
                        session={session}
                        chosen={session.id === id}
                        alone={!id}
                        compared={compared.includes(session.id)}
                        onCompare={onCompare}
                    />
                ))}
            </ul>
            {sessions.loaded && found.length === 0 && sessions.items.length > 0 && (
                <p class="empty">
                    No session fits “{filter}”. Words of the name, the owner, a label or the state find one.
                </p>
            )}
            {(found.length > SHOWN || sessions.more) && (
                <p class="empty">
                    Older ones are not listed here: <code>pliant list</code> has them all.
                </p>
            )}
        </nav>
    );
}
