// What components share: hearing of changes, and answers of the daemon.

import { useEffect, useReducer, useState } from 'preact/hooks';

// Draw the component again whenever `emitter` tells one of `names` (one string, separated by blanks).
export function useOn(emitter, names) {
    const [, again] = useReducer((n) => n + 1, 0);
    useEffect(() => {
        if (!emitter) return undefined;
        const offs = names.split(' ').map((name) => emitter.on(name, again));
        again();
        return () => offs.forEach((off) => off());
    }, [emitter, names]);
}

// What `ask(signal)` resolves to, asked again when one of `inputs` changes: {value, error}.
export function useAnswer(ask, inputs) {
    const [answer, setAnswer] = useState({ value: null, error: null });
    useEffect(() => {
        const abort = new AbortController();
        ask(abort.signal).then(
            (value) => abort.signal.aborted || setAnswer({ value, error: null }),
            (error) => abort.signal.aborted || setAnswer({ value: null, error }),
        );
        return () => abort.abort();
    }, inputs);
    return answer;
}

const LOOK_MS = 1500;

// What `ask()` resolves to, asked again every while that the page is seen: [{value, error}, set]. The last value stays
// while the next is asked for.
export function useLook(ask, inputs) {
    const [seen, setSeen] = useState({ value: null, error: null });
    useEffect(() => {
        let timer = 0,
            over = false;
        const look = async () => {
            if (!document.hidden) {
                const now = await ask().then(
                    (value) => ({ value, error: null }),
                    (error) => ({ error }),
                );
                if (over) return;
                setSeen((before) => ({ ...before, ...now }));
            }
            timer = setTimeout(look, LOOK_MS);
        };
        look();
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, inputs);
    return [seen, setSeen];
}
