// One chart over the frames of a session and of the sessions compared with it.

import uPlot from 'uplot';
import { theme } from './theme.js';

const AXIS_FONT = '11px system-ui, sans-serif';
const DECADE_PX = 16;
const LEAST = 1e-15, // of the greatest
    TINY = 1e-30;
const POINTS = 2000; // per curve: a screen has no more
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((e) => [1, 2, 5].map((digit) => digit * 10 ** e));

// Distinguishable for most people (after Okabe and Ito), with a contrast of 3:1 or more in either theme.
const COLOURS = {
    light: ['#0072b2', '#c85200', '#00835f', '#b0568a', '#2a7fb0', '#8a6a00'],
    dark: ['#5aa9e6', '#f0883e', '#2fbf93', '#e096bf', '#9fd3f5', '#e6b93a'],
};
export const curveColour = (k) => COLOURS[theme.name][k % COLOURS.light.length];
export const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

// Replaces rows by the minimum and maximum of each piece, so that no spike is lost.
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

// The values for a logarithmic axis. Rounding errors around zero would fill most of it, and uPlot would count ticks for
// ever from so far below.
function positive(lists) {
    // Values are missing where one of two runs is longer.
    const most = lists.reduce((high, list) => list.reduce((a, b) => (b > a ? b : a), high), 0);
    const least = Math.max(LEAST * most, TINY);
    return lists.map((list) => list.map((v) => (v > least ? v : null)));
}

// The tables' curves of `names` over a common list of frames. `log`: values that are not positive are left out.
export function dataOf(tables, names, log) {
    const parts = tables.map((table) =>
        thinned(
            table.frames,
            names.map((name) => table.column(name)),
        ),
    );
    const clean = ([x, ...lists]) => [x, ...(log ? positive(lists) : lists)];
    return parts.length === 1 ? clean(parts[0]) : clean(uPlot.join(parts));
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

// Tick labels of a logarithmic axis: only whole powers of ten, as many as fit.
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

// Options for uPlot to draw the tables' curves.
function optionsOf({ names, labels, log, stacked, tables }, width, height) {
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
    return {
        width,
        height,
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
    };
}

// The canvas of a chart that is not on a page.
export async function drawn(chart, width, height) {
    const options = { ...optionsOf(chart, width, height), cursor: { show: false } };
    const plot = await new Promise((done) => {
        const made = new uPlot(
            { ...options, hooks: { draw: [() => setTimeout(() => done(made))] } },
            dataOf(chart.tables, chart.names, chart.log),
            document.createElement('div'),
        );
        if (chart.range) made.setScale('x', chart.range);
    });
    const canvas = plot.ctx.canvas;
    plot.destroy();
    return canvas;
}

export class Chart {
    // `names`, `labels`: columns and their labels; `tables`: the session's, then those of compared sessions;
    // `onPoint(frame or null)`; `onPick(frame)`; `onZoom({min, max} or null)`, null for all frames.
    constructor(parent, { onPoint, onPick, onZoom = () => {}, ...chart }) {
        Object.assign(this, { names: chart.names, log: chart.log, onPoint });
        this.plot = new uPlot(
            {
                ...optionsOf(chart, parent.clientWidth || 300, parent.clientHeight || 120),
                hooks: {
                    setCursor: [(u) => this.#pointed(u)],
                    setSelect: [
                        (u) => {
                            const { left, width } = u.select;
                            if (width > 0) onZoom({ min: u.posToVal(left, 'x'), max: u.posToVal(left + width, 'x') });
                        },
                    ],
                    draw: [() => this.#placeShown()],
                },
            },
            dataOf(chart.tables, chart.names, chart.log),
            parent,
        );
        this.plot.over.addEventListener('dblclick', () => onZoom(null));
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

    // A line at the frame shown in the view; an element, so that moving it does not redraw the chart.
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

    // The range of frames drawn: {min, max}, or null for all.
    zoom(range) {
        const [x] = this.plot.data;
        if (x.length) this.plot.setScale('x', range ?? { min: x[0], max: x[x.length - 1] });
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
