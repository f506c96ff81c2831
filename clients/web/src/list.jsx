// The list of sessions: state, progress, reason for waiting. Several can be selected for an action on all.

import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { BulkBar, useBulk } from './bulk.jsx';
import { STATES, ago, duration, number, ordinal, secondsLeft, withShortIds } from './format.js';
import { useOn } from './hooks.js';
import { hrefOf } from './route.js';
import { Thumb } from './thumbs.jsx';

function StateSign({ state, warned }) {
    return (
        <span class={`sign ${warned ? 'warned' : state}`} title={warned ? `${state}, with warnings` : state}>
            {STATES[state]}
        </span>
    );
}

// These warnings show the number of frames they apply to.
const OF_FRAMES = ['unconverged', 'inverted', 'energy_gained', 'penetration'];

function Warnings({ session }) {
    const told = (session.warnings ?? []).map(({ code, count, of }) => {
        const name = code.replaceAll('_', ' ');
        return OF_FRAMES.includes(code) ? `${name} ${count}/${of} frames` : name;
    });
    if (!told.length) return null;
    return <span class="line warned numbers">⚠ {[...new Set(told)].join(', ')}</span>;
}

// The subjects of its warnings, each once.
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

// One line about its state.
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

export function matches(session, words) {
    const text = `${session.name} ${session.id} ${session.owner} ${session.state} ${Object.entries(
        session.labels ?? {},
    )
        .flat()
        .join(' ')} ${codesOf(session)} ${session.resources?.gpu ? 'gpu' : 'cpu'}`.toLowerCase();
    return words.every((word) => text.includes(word));
}

const labelsOf = (session) =>
    Object.entries(session.labels ?? {}).map(([key, value]) => `${key}=${withShortIds(value)}`);

function Facts({ session, owners }) {
    const { cores = 1, gpu } = session.resources ?? {};
    const facts = [
        owners && session.owner,
        owners && session.group,
        gpu ? 'GPU' : `${cores} core${cores === 1 ? '' : 's'}`,
        ...labelsOf(session).slice(0, 2),
    ];
    return (
        <span class="line faint">
            <time dateTime={session.created} title={session.created}>
                {ago(session.created)}
            </time>
            {facts.filter(Boolean).map((fact) => ` · ${fact}`)}
        </span>
    );
}

function Item({ session, each, chosen, selected, owners, onSelect }) {
    const warned = session.state === 'succeeded' && session.warnings?.length > 0;
    return (
        <li class={`${chosen ? 'chosen' : ''}${selected ? ' selected' : ''}`} data-id={session.id}>
            <a href={hrefOf(session.id)} aria-current={chosen ? 'true' : undefined}>
                <StateSign state={session.state} warned={warned} />
                <span class="name">{session.name || session.id.slice(0, 8)}</span>
                <span class="line numbers">{lineOf(session, each)}</span>
                {session.stalled && <span class="line warned">⚠ stalled: {STALLED[session.stalled.why]}</span>}
                <Warnings session={session} />
                <Facts session={session} owners={owners} />
                <Bar progress={session.progress} state={session.state} />
                <Thumb session={session} />
            </a>
            <label class="tick" title="Select it (X)">
                <input
                    type="checkbox"
                    tabIndex={-1}
                    checked={selected}
                    onClick={(event) => onSelect(session.id, event.shiftKey)}
                />
                <span class="hidden">select {session.name || session.id.slice(0, 8)}</span>
            </label>
        </li>
    );
}

const ROW_PX = 56, // the least height of a row: as many as fit are drawn at once, others after the first picture
    SHOWN = 200;
const rowsInSight = () => Math.ceil(innerHeight / ROW_PX);
const AGO_MS = 30000,
    LATER_MS = 200;

// The selected IDs: {has, list, pick(id, range), set(ids)}. A range starts at the one picked before.
function useSelection(found) {
    const [ids, setIds] = useState(new Set());
    const last = useRef(null);
    const pick = (id, range) => {
        const places = [last.current, id].map((one) => found.findIndex((session) => session.id === one));
        last.current = id;
        if (range && places[0] >= 0) {
            const [from, to] = places.sort((a, b) => a - b);
            setIds(new Set([...ids, ...found.slice(from, to + 1).map((session) => session.id)]));
            return;
        }
        const next = new Set(ids);
        if (!next.delete(id)) next.add(id);
        setIds(next);
    };
    return { ids, pick, set: (list) => setIds(new Set(list)) };
}

// Keys while a row has the focus.
function rowKeys({ selection, found, onRemove }) {
    return (event) => {
        const row = event.target.closest('li');
        const { id } = row.dataset;
        const step = (next) => {
            if (!next) return;
            next.querySelector('a').focus();
            if (event.shiftKey) selection.set([...selection.ids, id, next.dataset.id]);
        };
        const pick = () => selection.pick(id, event.shiftKey);
        const actions = {
            ArrowDown: () => step(row.nextElementSibling),
            ArrowUp: () => step(row.previousElementSibling),
            x: pick,
            ' ': event.target.matches('input') ? null : pick,
            Escape: () => selection.set([]),
            Delete: () => onRemove(id),
        };
        const modified = event.ctrlKey || event.metaKey;
        const all = modified && event.key === 'a' ? () => selection.set(found.map((session) => session.id)) : null;
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const action = modified || event.altKey ? all : actions[key];
        if (!action) return;
        action();
        event.preventDefault();
    };
}

// `onCompare(ids)` draws these sessions' curves beside those of the open one.
export function SessionList({ sessions, id, onCompare }) {
    useOn(sessions, 'change');
    const [, again] = useReducer((n) => n + 1, 0);
    const [filter, setFilter] = useState('');
    const [shown, setShown] = useState(rowsInSight);
    const list = useRef(null);
    const here = sessions.loaded && sessions.get(id) !== null;
    useEffect(() => {
        const timer = setInterval(again, AGO_MS);
        return () => clearInterval(timer);
    }, []);
    useEffect(() => {
        if (sessions.begun) setTimeout(() => setShown(SHOWN), LATER_MS);
    }, [sessions.begun]);
    // The open session is visible in the list, also when a link led to it.
    useEffect(() => {
        const chosen = list.current.querySelector('.chosen');
        if (!chosen) return;
        const above = chosen.offsetTop - list.current.offsetTop;
        const { scrollTop, clientHeight } = list.current;
        if (above < scrollTop || above + chosen.offsetHeight > scrollTop + clientHeight)
            list.current.scrollTop = above;
    }, [id, here, shown]);
    const words = useMemo(() => filter.toLowerCase().split(/\s+/).filter(Boolean), [filter]);
    const found = words.length ? sessions.items.filter((session) => matches(session, words)) : sessions.items;
    const owners = new Set(sessions.items.map(({ owner }) => owner)).size > 1;
    const bulk = useBulk();
    const selection = useSelection(found);
    const selected = found.filter((session) => selection.ids.has(session.id));
    const remove = (focused) => {
        const those = selected.length ? selected : [sessions.get(focused)].filter(Boolean);
        if (those.length) bulk.run('remove', those);
    };
    return (
        <nav class="list" aria-label="Sessions">
            <input
                id="filter"
                type="search"
                placeholder={`Filter: name, owner, state${matchMedia('(hover: none)').matches ? '' : '   ( / )'}`}
                aria-label="Filter sessions"
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
                onKeyDown={(event) => {
                    if (event.key !== 'ArrowDown') return;
                    event.preventDefault();
                    list.current.querySelector('li > a')?.focus();
                }}
            />
            {sessions.items.length > 0 && (
                <p class="astable">
                    <a href="#/runs">as a table</a>
                </p>
            )}
            <BulkBar
                bulk={bulk}
                selected={selected}
                found={found.length}
                onAll={() => selection.set(found.map((session) => session.id))}
                onClear={() => selection.set([])}
                onCompare={() => onCompare(selected.map((session) => session.id))}
            />
            <ul ref={list} onKeyDown={rowKeys({ selection, found, onRemove: remove })}>
                {found.slice(0, shown).map((session) => (
                    <Item
                        key={session.id}
                        session={session}
                        each={sessions.frameSeconds(session.id)}
                        chosen={session.id === id}
                        selected={selection.ids.has(session.id)}
                        owners={owners}
                        onSelect={selection.pick}
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
