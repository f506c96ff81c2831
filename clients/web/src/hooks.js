// Shared hooks of components: events, and replies of the daemon.

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';

// Render the component again when `emitter` emits one of `names` (one string, separated by blanks).
export function useOn(emitter, names) {
    const [, again] = useReducer((n) => n + 1, 0);
    useEffect(() => {
        if (!emitter) return undefined;
        const offs = names.split(' ').map((name) => emitter.on(name, again));
        again();
        return () => offs.forEach((off) => off());
    }, [emitter, names]);
}

export const PHONE = '(max-width: 44rem)'; // as in style.css

// True while the media query matches.
export function useMedia(query) {
    const media = useMemo(() => matchMedia(query), [query]);
    const [matches, setMatches] = useState(media.matches);
    useEffect(() => {
        const look = () => setMatches(media.matches);
        look();
        media.addEventListener('change', look);
        return () => media.removeEventListener('change', look);
    }, [media]);
    return matches;
}

// The result of `ask(signal)`, requested again when one of `inputs` changes: {value, error}.
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

// The result of `ask()`, requested again periodically while the page is visible: [{value, error}, set]. The last value
// stays during the next request.
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
