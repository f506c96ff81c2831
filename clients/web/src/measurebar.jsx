// The measurement, below the view.

import { number, quantity } from './format.js';

export function toggleMeasure(view, again) {
    view.measure.on = !view.measure.on;
    view.measure.clear();
    again();
}

export function MeasureBar({ view, again }) {
    const { measure } = view;
    const { ends, result } = measure;
    const change = (action) => {
        action();
        again();
    };
    const next = ends.length === 1 ? `From ${ends[0].name}: pick the second place.` : 'Pick the first place.';
    return (
        <div class="viewbar" role="group" aria-label="Distance">
            <b>distance</b>
            <span class="numbers" role="status">
                {result ? quantity(result.distance, 'm') : ends.length === 2 ? '–' : next}
            </span>
            {result &&
                ['x', 'y', 'z'].map((name, k) => (
                    <span key={name} class="numbers value">
                        Δ{name} {number(result.delta[k], 4)} m
                    </span>
                ))}
            {ends.length === 2 && (
                <>
                    <span class="faint ends">
                        {ends[0].name} to {ends[1].name}
                    </span>
                    <button type="button" onClick={() => change(() => measure.clear())}>
                        again
                    </button>
                </>
            )}
            <button
                type="button"
                class="close"
                onClick={() => toggleMeasure(view, again)}
                aria-label="Close the measurement"
            >
                ✕
            </button>
        </div>
    );
}
