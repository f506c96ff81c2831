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

// What `ask(signal)` resolves to, asked anew when one of `inputs` changes: {value, error}.
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
