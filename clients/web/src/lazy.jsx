// A component whose code is loaded after the page's first picture.

import { useEffect, useState } from 'preact/hooks';

const FIRST = 'first-contentful-paint';
const PAINT_MS = 1000, // a hidden page has no picture, and not every browser reports that
    LIST_MS = 10000; // the daemon may be too busy for the list alone

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const painted = new Promise((resolve) => {
    new PerformanceObserver((list) => list.getEntriesByName(FIRST).length > 0 && resolve()).observe({
        type: 'paint',
        buffered: true,
    });
});
let resolveListed;
const isListed = new Promise((resolve) => (resolveListed = resolve));

// Called when the first rows of the list are drawn, or when there is no list.
export const listed = () => resolveListed();

// Resolves when the page shows something and its list. The code of the view and a browser's first WebGL context take
// longer than everything else together, so they wait for it.
export const seen = Promise.all([
    Promise.race([painted, pause(PAINT_MS)]),
    Promise.race([isListed, pause(LIST_MS)]),
]);

// `load()` resolves to the component; `shape` is the class of its placeholder.
export function lazy(load, shape) {
    return function Lazy(properties) {
        const [Part, setPart] = useState(null);
        const [failed, setFailed] = useState(false);
        useEffect(() => {
            seen.then(load).then(
                (part) => setPart(() => part),
                () => setFailed(true),
            );
        }, []);
        if (Part) return <Part {...properties} />;
        return (
            <section class={shape}>
                {failed && (
                    <p class="over" role="alert">
                        Part of the page could not be loaded. Reload the page.
                    </p>
                )}
            </section>
        );
    };
}
