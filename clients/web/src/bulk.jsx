// Several sessions at once: the selection, actions on it, and their outcome.

import { useRef, useState } from 'preact/hooks';
import { api } from './api.js';
import { OVER, basePath } from './model.js';

const AT_ONCE = 4; // requests
const TOLD = 5; // failures listed

const live = ({ state }) => !OVER.includes(state);
const ending = ({ desired }) => ['cancelled', 'deleted'].includes(desired);
const sessionsOf = (count) => (count === 1 ? '1 session' : `${count} sessions`);

// Each action: the sessions it applies to, its request, its participle, and the question asked first.
const ACTIONS = {
    pause: {
        title: 'Stop them at a checkpoint; their cores are free',
        concerns: ({ state, desired }) => ['checking', 'queued', 'running'].includes(state) && !desired,
        ask: (path) => api.post(`${path}/pause`),
        done: 'paused',
    },
    resume: {
        title: 'Queue them again; they continue from their checkpoints',
        concerns: ({ state, desired }) => desired === 'paused' || (state === 'paused' && !desired),
        ask: (path) => api.post(`${path}/resume`),
        done: 'resumed',
    },
    cancel: {
        title: 'Cancel them; their frames are kept',
        concerns: (session) => live(session) && !ending(session),
        ask: (path) => api.post(`${path}/cancel`),
        done: 'cancelled',
        sure: (list) => `Cancel ${sessionsOf(list.length)}? The frames are kept.`,
    },
    remove: {
        title: 'Remove them with their frames',
        concerns: () => true,
        ask: (path) => api.delete(path),
        done: 'removed',
        mayBeGone: true,
        sure: (list) => {
            const running = list.filter(live).length;
            return (
                `Remove ${sessionsOf(list.length)} with all frames? This cannot be undone.` +
                (running ? ` ${running} of them ${running === 1 ? 'has' : 'have'} not ended: cancelled first.` : '')
            );
        },
    },
};

// {key: value} for "key=value"; null as value for "key=", which removes the label; null for anything else.
function labelOf(text) {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(text) ?? [];
    return key ? { [key]: value || null } : null;
}

const labelling = (labels) => ({
    concerns: () => true,
    ask: (path) => api.patch(path, { labels }),
    done: Object.values(labels)[0] === null ? 'without the label' : 'labelled',
});

// Sends a request for each session, a few at a time. Returns the sessions whose request failed, with the reasons.
async function carryOut(action, list, onDone) {
    const failed = [],
        left = [...list];
    const work = async () => {
        for (let session; (session = left.shift()); ) {
            try {
                await action.ask(basePath(session.id));
            } catch (error) {
                if (!(action.mayBeGone && error.status === 404)) failed.push({ session, error });
            }
            onDone(list.length - left.length);
        }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, work));
    return failed;
}

function Outcome({ outcome, onAgain, onClose }) {
    const { action, done, failed } = outcome;
    return (
        <div class="outcome">
            <p>
                {done} {action.done}
                {failed.length > 0 && <b class="bad">, {failed.length} not</b>}{' '}
                {failed.length > 0 && (
                    <button type="button" onClick={onAgain}>
                        try again
                    </button>
                )}{' '}
                <button type="button" onClick={onClose} aria-label="Close this message">
                    ✕
                </button>
            </p>
            {failed.slice(0, TOLD).map(({ session, error }) => (
                <p key={session.id} class="why">
                    <b>{session.name || session.id.slice(0, 8)}</b>: {error.message}
                </p>
            ))}
            {failed.length > TOLD && <p class="why">and {failed.length - TOLD} more</p>}
        </div>
    );
}

function LabelForm({ onLabel, onClose }) {
    const [text, setText] = useState('');
    const labels = labelOf(text);
    return (
        <form
            class="label"
            onSubmit={(event) => {
                event.preventDefault();
                if (labels) onLabel(labels);
            }}
        >
            <input
                aria-label="Label as key=value"
                placeholder="key=value; key= removes it"
                value={text}
                autofocus
                onInput={(event) => setText(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Escape' && onClose()}
            />
            <button type="submit" disabled={!labels}>
                set
            </button>
        </form>
    );
}

// Actions on the selected sessions: {busy, outcome, run(name), label(labels), again(), close()}.
export function useBulk() {
    const [busy, setBusy] = useState(null);
    const [outcome, setOutcome] = useState(null);
    const working = useRef(false);
    const carry = async (action, sessions) => {
        const list = sessions.filter(action.concerns);
        if (working.current || !list.length || (action.sure && !confirm(action.sure(list)))) return;
        working.current = true;
        setOutcome(null);
        setBusy(`0 of ${list.length}`);
        const failed = await carryOut(action, list, (n) => setBusy(`${n} of ${list.length}`));
        working.current = false;
        setBusy(null);
        setOutcome({ action, done: list.length - failed.length, failed });
    };
    return {
        busy,
        outcome,
        run: (name, sessions) => carry(ACTIONS[name], sessions),
        label: (labels, sessions) => carry(labelling(labels), sessions),
        again: () =>
            carry(
                { ...outcome.action, concerns: () => true, sure: null },
                outcome.failed.map(({ session }) => session),
            ),
        close: () => setOutcome(null),
    };
}

// `found`: number of sessions that match the filter.
export function BulkBar({ bulk, selected, found, onAll, onClear, onCompare }) {
    const [labels, setLabels] = useState(false);
    const { busy, outcome } = bulk;
    const button = (name) => {
        const count = selected.filter(ACTIONS[name].concerns).length;
        return (
            <button
                type="button"
                key={name}
                disabled={busy !== null || count === 0}
                title={ACTIONS[name].title}
                onClick={() => bulk.run(name, selected)}
            >
                {name}
                {count > 0 && count < selected.length ? ` ${count}` : ''}
            </button>
        );
    };
    return (
        <>
            {selected.length > 0 && (
                <div class="bulk" role="toolbar" aria-label="Selected sessions">
                    <p>
                        <b>{selected.length} selected</b>{' '}
                        {selected.length < found && (
                            <button type="button" onClick={onAll}>
                                all {found}
                            </button>
                        )}{' '}
                        <button type="button" onClick={onClear}>
                            none
                        </button>
                    </p>
                    {Object.keys(ACTIONS).map(button)}
                    <button
                        type="button"
                        title="Draw their curves beside those of the open session, at most three"
                        onClick={onCompare}
                    >
                        compare
                    </button>
                    <button type="button" aria-expanded={labels} onClick={() => setLabels(!labels)}>
                        label
                    </button>
                    {labels && (
                        <LabelForm
                            onClose={() => setLabels(false)}
                            onLabel={(given) => {
                                setLabels(false);
                                bulk.label(given, selected);
                            }}
                        />
                    )}
                </div>
            )}
            <div role="status">
                {busy && <p class="outcome numbers">{busy} …</p>}
                {outcome && <Outcome outcome={outcome} onAgain={bulk.again} onClose={bulk.close} />}
            </div>
        </>
    );
}
