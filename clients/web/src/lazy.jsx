// A component whose code comes after the page's first picture.

import { useEffect, useState } from 'preact/hooks';

// `load()` resolves to the component; `shape` is the class of what keeps its place meanwhile.
export function lazy(load, shape) {
    return function Lazy(properties) {
        const [Part, setPart] = useState(null);
        const [failed, setFailed] = useState(false);
        useEffect(() => {
            load().then(
                (part) => setPart(() => part),
                () => setFailed(true),
            );
        }, []);
        if (Part) return <Part {...properties} />;
        return (
            <section class={shape}>
                {failed && (
                    <p class="over" role="alert">
                        A part of the page could not be loaded. Load the page again.
                    </p>
                )}
            </section>
        );
    };
}
