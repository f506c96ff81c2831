// The curves below the view. All have one cursor with it: what is pointed at is what is seen.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Chart, curveColour } from './chart.js';
import { number } from './format.js';
import { useOn } from './hooks.js';
import { IterationChart } from './iterations.jsx';
import { theme } from './theme.js';

// [title, unit, log, [[column, label], ...]]. Columns that a session does not have are left out.
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
        'a frame takes',
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
        'iterations a frame',
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
    gap: ['least gap', 'm', true, [['contact/gap', 'gap']]],
    stretch: ['greatest stretch', '', false, [['max_stretch', 'stretch']]],
};
const FIRST = ['residual', 'energy', 'time'];
const INNER = 'residual in a frame';

// What can be drawn of a session: the fixed charts, and what its scene has: probes, forces, depths.
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

function OneChart({ model, others, definition, chooser }) {
    const [title, unit, log, curves] = definition;
    const place = useRef(null),
        chart = useRef(null);
    const present = useMemo(
        () => curves.filter(([name]) => model.metrics.column(name)),
        [curves, model.metrics.names.length],
    );
    const names = present.map(([name]) => name);
    const tables = [model.metrics, ...others.map((other) => other.table)];
    const key = `${names.join()} ${others.map((other) => other.id).join()}`;
    useEffect(() => {
        const made = new Chart(place.current, {
            names,
            labels: present.map(([, label]) => label),
            log,
            stacked: title === CHARTS.time[0],
            tables,
            onPoint: (frame) => model.player.setPreview(inside(frame, model)),
            onPick: (frame) => {
                model.player.setPreview(null);
                model.player.seek(frame);
            },
        });
        chart.current = made;
        const offs = [
            model.on('tick', () => made.update([model.metrics, ...others.map((other) => other.table)])),
            model.player.on('frame', (frame) => made.setShown(frame)),
            theme.on('change', () => made.redraw()),
        ];
        made.setShown(model.player.shown);
        return () => {
            offs.forEach((off) => off());
            made.destroy();
        };
    }, [model, key, title]);
    return (
        <figure class="chart">
            <Caption model={model} unit={unit} log={log} present={present} chooser={chooser} />
            <div class="plot" ref={place} />
            {model.metrics.rows === 0 && <p class="over">Curves begin with the first frame.</p>}
        </figure>
    );
}

function inside(frame, model) {
    return frame === null ? null : Math.max(model.player.first, Math.min(model.player.newest, frame));
}

// The curves' names with the values at the frame that is shown.
function Caption({ model, unit, log, present, chooser }) {
    useOn(theme, 'change');
    useOn(model.player, 'frame');
    useOn(model, 'tick');
    const row = model.metrics.rowOf(model.player.shown);
    return (
        <figcaption>
            {chooser}
            {unit && <span class="faint"> [{unit}]</span>}
            {log && <span class="faint"> log</span>}
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

export function Charts({ model, others }) {
    useOn(model, 'tick ready');
    const [shown, setShown] = useState(FIRST);
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
                        />
                    )}
                </div>
            ))}
        </section>
    );
}
