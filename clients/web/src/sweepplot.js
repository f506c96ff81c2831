// A sweep's table as pictures: its columns as axes, and the position of a value on an axis, from 0 (low) to 1. Numbers
// have a linear or logarithmic axis, other values one position each. A missing value has no position: null.

import { MAPS } from './colormap.js';

const numeric = (values) => values.every((value) => value === null || Number.isFinite(value));

function axisOf(name, values, log, result) {
    const seen = values.filter((value) => value !== null);
    if (!numeric(values)) {
        const words = [...new Set(seen.map((value) => JSON.stringify(value)))];
        const place = (value) => {
            const k = words.indexOf(JSON.stringify(value));
            return k < 0 ? null : words.length > 1 ? k / (words.length - 1) : 0.5;
        };
        return { name, result, words: words.map((word) => word.replace(/^"|"$/g, '')), place };
    }
    const low = Math.min(...seen),
        high = Math.max(...seen);
    const scale = log && low > 0 ? Math.log : (x) => x;
    const place = (value) => {
        if (value === null || !seen.length) return null;
        return high > low ? (scale(value) - scale(low)) / (scale(high) - scale(low)) : 0.5;
    };
    return { name, result, low, high, known: seen.length > 0, place };
}

// The table of /v1/sweeps/{id}/results, and which of its parameters are spaced logarithmically: one axis per column.
export function axesOf(table, logs) {
    const parameters = table.parameters.map((name, j) =>
        axisOf(name, table.items.map((row) => row.values[j]), logs[j], false),
    );
    const results = table.results.map((name, k) =>
        axisOf(name, table.items.map((row) => row.results[k]), false, true),
    );
    return [...parameters, ...results];
}

export const placesOf = (row, axes) => {
    const values = [...row.values, ...row.results];
    return axes.map((axis, i) => axis.place(values[i]));
};

// A row's line over axes that are `step` apart and `height` high; it is interrupted at a missing value.
export function lineOf(places, step, height) {
    let text = '',
        down = false;
    places.forEach((place, i) => {
        if (place !== null) {
            text += `${down ? 'L' : 'M'}${(i * step).toFixed(1)} ${((1 - place) * height).toFixed(1)}`;
        }
        down = place !== null;
    });
    return text;
}

// A CSS colour for a position; grey without one.
export function colourOf(place) {
    if (place === null || place === undefined) return 'var(--queued)';
    const { stops } = MAPS.viridis;
    return stops[Math.round(place * (stops.length - 1))];
}
