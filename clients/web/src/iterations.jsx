// Each iteration of the shown frame, for scenes with "metrics": "iteration".

import { useEffect, useRef } from 'preact/hooks';
import { Chart, curveColour } from './chart.js';
import { useOn } from './hooks.js';
import { MetricsTable } from './metrics.js';

// The iterations of one frame as a table whose frames are iterations.
function tableOf(detail) {
    const table = new MetricsTable();
    detail?.forEach((entry, i) => {
        const numbers = Object.fromEntries(
            Object.entries(entry).filter(([key]) => !['frame', 'seq', 'iteration'].includes(key)),
        );
        table.push({ ...numbers, frame: i + 1 });
    });
    return table;
}

const residuals = (table) => table.names.filter((name) => /residual|gradient|decrement|error/.test(name));

export function IterationChart({ model, chooser }) {
    useOn(model.player, 'frame');
    useOn(model, 'tick');
    const place = useRef(null),
        chart = useRef(null);
    const frame = model.player.shown;
    const detail = model.metrics.iterations(frame);
    const table = tableOf(detail);
    const names = residuals(table);
    const key = names.join();
    useEffect(() => {
        if (!names.length) return undefined;
        chart.current = new Chart(place.current, {
            names,
            labels: names,
            log: true,
            tables: [table],
            onPoint: () => {},
            onPick: () => {},
        });
        return () => chart.current.destroy();
    }, [key]);
    useEffect(() => {
        if (names.length) chart.current?.update([table]);
    }, [frame, key]);
    return (
        <figure class="chart">
            <figcaption>
                {chooser}
                <span class="faint"> frame {frame}, by iteration, log</span>
                {names.map((name, k) => (
                    <span key={name} class="key">
                        <i style={{ background: curveColour(k) }} />
                        {name}
                    </span>
                ))}
            </figcaption>
            <div class="plot" ref={place} />
            {!detail && (
                <p class="over">
                    {frame > 0 && model.scene?.output?.metrics === 'iteration'
                        ? 'They are no longer stored here for this frame.'
                        : 'To store them, set "output": {"metrics": "iteration"}.'}
                </p>
            )}
        </figure>
    );
}
