// The curves below the view. They share the view's cursor: pointing at a frame shows it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Chart, DASHES, curveColour } from './chart.js';
import { csvOf, sizesDiffer } from './chartnumbers.js';
import { pngOf } from './chartpicture.js';
import { Emitter } from './emitter.js';
import { number } from './format.js';
import { useOn } from './hooks.js';
import { IterationChart } from './iterations.jsx';
import { save } from './save.js';
import { theme } from './theme.js';

// [title, unit, log, [[column, label], ...]]. Columns missing in a session are left out.
const CHARTS = {
    residual: [
        'residual',
        '',
        true,
        [
            ['primal_residual', 'primal'],
            ['dual_residual', 'dual'],
            ['gradient_norm', 'gradient'],
        ],
    ],
    energy: [
        'energy',
        'J',
        false,
        [
            ['energy/kinetic', 'kinetic'],
            ['energy/elastic', 'elastic'],
            ['energy/gravity', 'gravity'],
            ['energy/dissipated', 'dissipated'],
            ['contact/friction_work', 'friction of bodies'],
        ],
    ],
    time: [
        'time per frame',
        'ms',
        false,
        [
            ['ms/step', 'whole'],
            ['ms/local', 'local'],
            ['ms/global', 'global'],
            ['ms/collision', 'contact'],
            ['ms/output', 'out'],
        ],
    ],
    iterations: [
        'iterations per frame',
        '',
        false,
        [
            ['iterations', 'iterations'],
            ['unconverged', 'steps not converged'],
            ['halved', 'halved steps'],
            ['by_euler', 'steps of backward Euler'],
        ],
    ],
    momentum: [
        'momentum',
        'kg m/s',
        false,
        [
            ['momentum/linear', 'linear'],
            ['momentum/angular', 'angular'],
        ],
    ],
    state: [
        'elements',
        '',
        false,
        [
            ['inverted', 'inverted'],
            ['contacts', 'contacts'],
        ],
    ],
    pairs: ['pairs in contact', '', false, [['contact/pairs', 'pairs']]],
    gap: ['smallest gap', 'm', true, [['contact/gap', 'gap']]],
    stretch: ['largest stretch', '', false, [['max_stretch', 'stretch']]],
};
const FIRST = ['residual', 'energy', 'time'];
const INNER = 'residual in a frame';

// The charts of a session: the fixed ones, and those for its scene's probes, forces and depths.
function offered(names) {
    const all = new Map(
        Object.entries(CHARTS).filter(([, [, , , curves]]) => curves.some(([name]) => names.includes(name))),
    );
    const group = (prefix, title, unit) => {
        const found = names.filter((name) => name.startsWith(prefix) && !/\/[xyz]$/.test(name));
        if (found.length)
            all.set(title, [title, unit, false, found.map((name) => [name, name.slice(prefix.length)])]);
    };
    group('probes/', 'probes', '');
    group('reactions/pins/', 'forces on pins', 'N');
    group('reactions/obstacles/', 'forces on obstacles', 'N');
    group('obstacle_contacts/', 'contacts by obstacle', '');
    group('penetration/', 'penetration', 'm');
    group('contact/forces/', 'forces between bodies', 'N');
    return all;
}

function OneChart({ model, others, definition, chooser, zoom }) {
    const [title, unit, , curves] = definition;
    const place = useRef(null),
        chart = useRef(null);
    const [chosen, setChosen] = useState(null); // an axis type chosen by the user
    const present = useMemo(
        () => curves.filter(([name]) => model.metrics.column(name)),
        [curves, model.metrics.names.length],
    );
    const names = present.map(([name]) => name),
        labels = present.map(([, label]) => label);
    const tables = [model.metrics, ...others.map((other) => other.table)];
    const runs = [model.session?.name || model.id.slice(0, 8), ...others.map(({ name }) => name)];
    const log = chosen ?? (definition[2] || sizesDiffer(tables, names));
    const given = { names, labels, log, stacked: title === CHARTS.time[0], tables };
    const key = `${names.join()} ${others.map((other) => other.id).join()} ${log}`;
    useEffect(() => {
        const made = new Chart(place.current, {
            ...given,
            onPoint: (frame) => model.player.setPreview(inside(frame, model)),
            onPick: (frame) => {
                model.player.setPreview(null);
                model.player.seek(frame);
            },
            onZoom: (range) => zoom.set(range),
        });
        chart.current = made;
        if (zoom.range) made.zoom(zoom.range);
        const offs = [
            model.on('tick', () => made.update([model.metrics, ...others.map((other) => other.table)])),
            model.player.on('frame', (frame) => made.setShown(frame)),
            theme.on('change', () => made.redraw()),
            zoom.on('change', (range) => made.zoom(range)),
        ];
        made.setShown(model.player.shown);
        return () => {
            offs.forEach((off) => off());
            made.destroy();
        };
    }, [model, key, title]);
    const file = `${model.id.slice(0, 8)}-${title.replaceAll(' ', '-')}`;
    const saveCsv = () => save(new Blob([csvOf({ tables, runs, names })], { type: 'text/csv' }), `${file}.csv`);
    const savePng = async () =>
        save(
            await pngOf({ ...given, runs, range: zoom.range, title: `${title}${unit ? ` [${unit}]` : ''}` }),
            `${file}.png`,
        );
    return (
        <figure class="chart">
            <Caption model={model} unit={unit} present={present} chooser={chooser} runs={runs}>
                <button
                    type="button"
                    aria-pressed={log}
                    onClick={() => setChosen(!log)}
                    title="Logarithmic or linear axis"
                    aria-label={`log axis of ${title}`}
                >
                    log
                </button>
                <button type="button" onClick={saveCsv} title="Numbers as CSV" aria-label={`csv of ${title}`}>
                    csv
                </button>
                <button type="button" onClick={savePng} title="A picture" aria-label={`png of ${title}`}>
                    png
                </button>
            </Caption>
            <div class="plot" ref={place} />
            {model.metrics.rows === 0 && <p class="over">Curves start with the first frame.</p>}
        </figure>
    );
}

function inside(frame, model) {
    return frame === null ? null : Math.max(model.player.first, Math.min(model.player.newest, frame));
}

// The curves' names with the values at the shown frame; with several runs, also their lines and names.
function Caption({ model, unit, present, chooser, runs, children }) {
    useOn(theme, 'change');
    useOn(model.player, 'frame');
    useOn(model, 'tick');
    const row = model.metrics.rowOf(model.player.shown);
    return (
        <figcaption>
            <span class="saves">{children}</span>
            {chooser}
            {unit && <span class="faint"> [{unit}]</span>}
            {runs.length > 1 &&
                runs.map((name, t) => (
                    <span key={t} class="key run" title={name}>
                        <svg width="24" height="4" aria-hidden="true">
                            <line x2="24" y1="2" y2="2" stroke-dasharray={DASHES[t % DASHES.length].join(' ')} />
                        </svg>
                        {t + 1}: {name}
                    </span>
                ))}
            {present.map(([name, label], k) => (
                <span key={name} class="key">
                    <i style={{ background: curveColour(k) }} />
                    {label}
                    <span class="numbers value">{number(model.metrics.at(name, row))}</span>
                </span>
            ))}
        </figcaption>
    );
}

// The frames shown in all charts: {min, max}, or null for all.
class Zoom extends Emitter {
    range = null;

    set(range) {
        this.range = range;
        this.emit('change', range);
    }
}

export function Charts({ model, others }) {
    useOn(model, 'tick ready');
    const [shown, setShown] = useState(FIRST);
    const zoom = useMemo(() => new Zoom(), [model]);
    const all = offered(model.metrics.names);
    const choose = (index) => (event) =>
        setShown(shown.map((key, i) => (i === index ? event.currentTarget.value : key)));
    const chooser = (key, index) => (
        <select aria-label={`Curve ${index + 1}`} value={key} onChange={choose(index)}>
            {[...new Set([...FIRST, ...all.keys()])].map((name) => (
                <option key={name} value={name}>
                    {(all.get(name) ?? CHARTS[name])[0]}
                </option>
            ))}
            <option value={INNER}>{INNER}</option>
        </select>
    );
    return (
        <section class="charts" aria-label="Curves">
            <h2 class="hidden">Curves</h2>
            {shown.map((key, index) => (
                <div class="cell" key={index}>
                    {key === INNER ? (
                        <IterationChart model={model} chooser={chooser(key, index)} />
                    ) : (
                        <OneChart
                            model={model}
                            others={others}
                            definition={all.get(key) ?? CHARTS[key]}
                            key={key}
                            chooser={chooser(key, index)}
                            zoom={zoom}
                        />
                    )}
                </div>
            ))}
        </section>
    );
}
