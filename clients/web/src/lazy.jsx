// A component whose code is loaded after the page's first picture.

import { useEffect, useState } from 'preact/hooks';

const FIRST = 'first-contentful-paint';
const PATIENCE = 1000; // ms: a hidden page has no picture, and not every browser reports that

// A browser's first WebGL context takes longer than everything else together: its code may be loaded earlier, but it
// starts later.
export const seen = new Promise((resolve) => {
    setTimeout(resolve, PATIENCE);
    new PerformanceObserver((list) => list.getEntriesByName(FIRST).length > 0 && resolve()).observe({
        type: 'paint',
        buffered: true,
    });
});

// `load()` resolves to the component; `shape` is the class of its placeholder.
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
