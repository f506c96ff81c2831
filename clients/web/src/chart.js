// One chart over the frames of a session, and of those that it is compared with.

import uPlot from 'uplot';
import { theme } from './theme.js';

const AXIS_FONT = '11px system-ui, sans-serif';
const DECADE_PX = 16;
const POINTS = 2000; // of a curve: a screen has no more
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((e) => [1, 2, 5].map((digit) => digit * 10 ** e));

// Told apart for most eyes (after Okabe and Ito), 3:1 or more against the ground of either theme.
const COLOURS = {
    light: ['#0072b2', '#c85200', '#00835f', '#b0568a', '#2a7fb0', '#8a6a00'],
    dark: ['#5aa9e6', '#f0883e', '#2fbf93', '#e096bf', '#9fd3f5', '#e6b93a'],
};
export const curveColour = (k) => COLOURS[theme.name][k % COLOURS.light.length];
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

// Least and greatest of each piece in place of all rows, so that no spike is lost.
function thinned(frames, columns) {
    const rows = frames.length;
    if (rows <= POINTS)
        return [
            Array.from(frames),
            ...columns.map((c) => (c ? Array.from(c, finite) : frames.map(() => null))),
        ];
    const pieces = POINTS / 2,
        x = [],
        out = columns.map(() => []);
    for (let p = 0; p < pieces; p++) {
        const begin = Math.floor((p * rows) / pieces),
            end = Math.floor(((p + 1) * rows) / pieces);
        x.push(frames[begin], frames[Math.max(begin, end - 1)] + (end - begin > 1 ? 0 : 0.5));
        columns.forEach((column, k) => {
            let low = Infinity,
                high = -Infinity;
            for (let i = begin; column && i < end; i++) {
                if (column[i] < low) low = column[i];
                if (column[i] > high) high = column[i];
            }
            out[k].push(finite(low), finite(high));
        });
    }
    return [x, ...out];
}

const finite = (v) => (Number.isFinite(v) ? v : null);
const positive = (v) => (v > 0 ? v : null);

// The tables' curves of `names` over one list of frames. `log`: what is not positive is left out.
export function dataOf(tables, names, log) {
    const parts = tables.map((table) =>
        thinned(
            table.frames,
            names.map((name) => table.column(name)),
        ),
    );
    const clean = (list) => (log ? list.map(positive) : list);
    if (parts.length === 1) return [parts[0][0], ...parts[0].slice(1).map(clean)];
    return uPlot.join(parts.map((part) => [part[0], ...part.slice(1).map(clean)]));
}

function axis(given, log) {
    const filter = log ? { filter: decades } : {};
    return {
        font: AXIS_FONT,
        stroke: () => theme.colour('faint'),
        size: given.side === undefined ? 52 : 26,
        gap: 3,
        grid: { stroke: () => theme.colour('rule'), width: 1, ...filter },
        ticks: { stroke: () => theme.colour('rule'), size: 4, ...filter },
        ...given,
    };
}

// Of a logarithmic axis the whole powers of ten alone, as many as have room.
function decades(plot, splits) {
    const exponents = splits.map((v) => Math.log10(v));
    const whole = exponents.filter((e) => Math.abs(e - Math.round(e)) < 1e-6).length;
    const room = Math.max(1, Math.floor(plot.bbox.height / devicePixelRatio / DECADE_PX));
    const every = Math.ceil(whole / room);
    return splits.map((v, i) => {
        const e = Math.round(exponents[i]);
        return Math.abs(exponents[i] - e) < 1e-6 && e % every === 0 ? v : null;
    });
}

const shortly = (v) => {
    if (v === null) return '';
    const size = Math.abs(v);
    if (size !== 0 && (size >= 1e4 || size < 1e-2))
        return v.toExponential(1).replace('.0', '').replace('e+', 'e');
    return `${+v.toPrecision(4)}`;
};

export class Chart {
    // `names`: [[column, label]]; `onPoint(frame or null)`; `onPick(frame)`.
    constructor(parent, { names, labels, log, stacked, tables, onPoint, onPick }) {
        Object.assign(this, { names, log, onPoint });
        const series = tables.flatMap((_, t) =>
            names.map((name, k) => ({
                label: tables.length > 1 ? `${labels[k]} (${t + 1})` : labels[k],
                stroke: () => curveColour(k),
                width: 1.5,
                dash: DASHES[t % DASHES.length],
                spanGaps: true,
                points: { show: false },
                fill: stacked && t === 0 ? () => `${curveColour(k)}22` : undefined,
            })),
        );
        this.plot = new uPlot(
            {
                width: parent.clientWidth || 300,
                height: parent.clientHeight || 120,
                legend: { show: false },
                cursor: { y: false, drag: { x: true, y: false }, points: { size: 5 } },
                scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
                axes: [
                    axis({ side: 2, incrs: WHOLE }),
                    axis(
                        {
                            values: (_, splits) => splits.map(shortly),
                            ...(log ? { filter: decades } : {}),
                        },
                        log,
                    ),
                ],
                series: [{ label: 'frame' }, ...series],
                hooks: {
                    setCursor: [(u) => this.#pointed(u)],
                    draw: [() => this.#placeShown()],
                },
            },
            dataOf(tables, names, log),
            parent,
        );
        this.line = document.createElement('div');
        this.line.className = 'shown';
        this.line.hidden = true;
        this.plot.over.append(this.line);
        this.plot.over.addEventListener('mouseleave', () => onPoint(null));
        this.plot.over.addEventListener('click', () => {
            const { left } = this.plot.cursor;
            if (left >= 0) onPick(Math.round(this.plot.posToVal(left, 'x')));
        });
        this.watcher = new ResizeObserver(() => {
            if (parent.clientWidth)
                this.plot.setSize({ width: parent.clientWidth, height: parent.clientHeight });
        });
        this.watcher.observe(parent);
    }

    #pointed(u) {
        const { left, event } = u.cursor;
        if (event && left >= 0) this.onPoint(Math.round(u.posToVal(left, 'x')));
    }

    // A line at the frame that the view shows; an element, so that it moves without a new drawing.
    setShown(frame) {
        this.shown = frame;
        this.#placeShown();
    }

    #placeShown() {
        if (!this.line) return; // uPlot draws once before its constructor returns
        const { min, max } = this.plot.scales.x;
        const seen = this.shown != null && min != null && this.shown >= min && this.shown <= max;
        this.line.hidden = !seen;
        if (seen)
            this.line.style.transform = `translateX(${Math.round(this.plot.valToPos(this.shown, 'x'))}px)`;
    }

    update(tables) {
        const { min, max } = this.plot.scales.x;
        const data = dataOf(tables, this.names, this.log);
        const old = this.plot.data[0];
        const whole = !old.length || min == null || (min <= old[0] && max >= old[old.length - 1]);
        this.plot.setData(data, whole);
        if (!whole) this.plot.setScale('x', { min, max });
    }

    redraw() {
        this.plot.redraw(false, true);
    }

    destroy() {
        this.watcher.disconnect();
        this.plot.destroy();
    }
}
