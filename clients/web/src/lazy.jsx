// A component whose code comes after the page's first picture.

import { useEffect, useState } from 'preact/hooks';

const FIRST = 'first-contentful-paint';
const PATIENCE = 1000; // ms: a page that is hidden has no picture, and not every browser tells of it

// The first WebGL context of a browser takes longer than all else together: its code may come before, it begins after.
export const seen = new Promise((resolve) => {
    setTimeout(resolve, PATIENCE);
    new PerformanceObserver((list) => list.getEntriesByName(FIRST).length > 0 && resolve()).observe({
        type: 'paint',
        buffered: true,
    });
});

// `load()` resolves to the component; `shape` is the class of what keeps its place meanwhile.
export function lazy(load, shape) {
    return function Lazy(properties) {
        const [Part, setPart] = useState(null);
        const [failed, setFailed] = useState(false);
        useEffect(() => {
            Promise.all([load(), seen]).then(
                ([part]) => setPart(() => part),
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
