// The machine: running and waiting sessions (devices.jsx), a picture of its users over the last day, and usage.

import { useEffect, useState } from 'preact/hooks';
import { api } from './api.js';
import { Devices } from './devices.jsx';
import { duration, number, quantity } from './format.js';
import { rowsOf, ticks } from './gantt.js';
import { PHONE, useAnswer } from './hooks.js';
import { hrefOf } from './route.js';
import './machine.css';

const LOOK_MS = 10000;
const SPANS = [
    ['1 hour', 1],
    ['6 hours', 6],
    ['1 day', 24],
    ['1 week', 168],
];
const TABLE_MOST = 200,
    BAR_LEAST = 3, // pixels
    ROW_MOST = 72;

// A counter that increases while the page is visible.
function useClock(ms) {
    const [now, setNow] = useState(0);
    useEffect(() => {
        const timer = setInterval(() => document.hidden || setNow((n) => n + 1), ms);
        return () => clearInterval(timer);
    }, [ms]);
    return now;
}

// The last reply stays during the next request.
function useLast(ask, inputs) {
    const { value, error } = useAnswer(ask, inputs);
    const [last, setLast] = useState(null);
    useEffect(() => {
        if (value) setLast(value);
    }, [value]);
    return { value: value ?? last, error };
}

function Trouble({ error }) {
    return error ? (
        <p class="trouble" role="alert">
            {error.message}
        </p>
    ) : null;
}

function Heads({ names }) {
    return (
        <thead>
            <tr>
                {names.map((name) => (
                    <th key={name} scope="col">
                        {name}
                    </th>
                ))}
            </tr>
        </thead>
    );
}

// ---- users over time -------------------------------------------------------------------------------

function told({ span, cores }) {
    const seconds = (Date.parse(span.to) - Date.parse(span.from)) / 1000;
    const what = span.session ? (span.name ?? `session ${span.session.slice(0, 8)}, deleted`) : 'others';
    const many = span.session ? span.cores : cores;
    return `${what}: ${many} ${many === 1 ? 'core' : 'cores'} for ${duration(seconds)}${
        span.running ? ', runs' : ''
    }`;
}

function coreTime(hours) {
    if (hours >= 1) return `${number(hours)} core h`;
    return hours >= 1 / 60 ? `${number(60 * hours)} core min` : `${Math.round(3600 * hours)} core s`;
}

function Row({ row, marks, scale }) {
    const unit = Math.max(BAR_LEAST, Math.min(scale, ROW_MOST / Math.max(1, row.height)));
    const height = Math.max(8, row.height * unit);
    const percent = (part) => `${(100 * part).toFixed(3)}%`;
    const runs = `${row.bars.length} ${row.bars.length === 1 ? 'run' : 'runs'}`;
    const words =
        row.kind === 'device'
            ? `${row.label}: ${runs}, ${row.running} now`
            : `${row.label}: ${coreTime(row.hours)}`;
    return (
        <div class={`row ${row.kind}`}>
            <span class="who">
                {row.label}{' '}
                <span class="faint numbers">
                    {row.kind === 'device' ? runs : coreTime(row.hours)}
                </span>
            </span>
            <svg role="img" aria-label={words} height={height}>
                {marks.map(({ at }) => (
                    <line key={at} class="mark" x1={percent(at)} x2={percent(at)} y1="0" y2={height} />
                ))}
                {row.bars.map((bar) => (
                    <rect
                        key={`${bar.span.session}${bar.span.from}${bar.span.cores}`}
                        class={bar.span.running ? 'runs' : 'ran'}
                        x={percent(bar.begin)}
                        y={bar.top * unit}
                        width={percent(bar.end - bar.begin)}
                        height={Math.max(1, bar.cores * unit - 1)}
                        onClick={() => bar.span.name && location.assign(hrefOf(bar.span.session))}
                    >
                        <title>{told(bar)}</title>
                    </rect>
                ))}
            </svg>
        </div>
    );
}

// The chart as a table, with links to the sessions.
function Runs({ chart }) {
    const newest = chart.items.slice(-TABLE_MOST).reverse();
    const time = (text) => new Date(text).toLocaleString();
    return (
        <details>
            <summary>
                {chart.items.length} {chart.items.length === 1 ? 'run' : 'runs'} as a table
                {chart.items.length > TABLE_MOST ? `, the newest ${TABLE_MOST}` : ''}
            </summary>
            <div class="wide">
                <table class="values">
                    <Heads names={['user', 'session', 'from', 'to', 'cores', 'device']} />
                    <tbody>
                        {newest.map((span) => (
                            <tr key={`${span.session}${span.from}${span.cores}`}>
                                <td>{span.user}</td>
                                <td>
                                    {span.name === null ? (
                                        <span class="faint">deleted</span>
                                    ) : (
                                        <a href={hrefOf(span.session)}>{span.name || span.session.slice(0, 8)}</a>
                                    )}
                                </td>
                                <td class="numbers">{time(span.from)}</td>
                                <td class="numbers">{span.running ? 'runs' : time(span.to)}</td>
                                <td class="numbers">{span.cores}</td>
                                <td>{span.gpu ?? 'cpu'}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </details>
    );
}

function Picture({ chart }) {
    const rows = rowsOf(chart);
    const from = Date.parse(chart.from),
        to = Date.parse(chart.to);
    const marks = ticks(from, to, matchMedia(PHONE).matches ? 4 : 8);
    const scale = Math.max(BAR_LEAST, Math.min(14, ROW_MOST / Math.max(1, chart.cores)));
    return (
        <>
            {rows.map((row) => (
                <Row key={`${row.kind} ${row.label}`} row={row} marks={marks} scale={scale} />
            ))}
            {rows.every(({ bars }) => bars.length === 0) && <p class="faint">Nothing ran.</p>}
            <div class="row axis" aria-hidden="true">
                <span class="who" />
                <svg height="16">
                    {marks.map(({ at, text }) => (
                        <text key={at} x={`${(100 * at).toFixed(3)}%`} y="12">
                            {text}
                        </text>
                    ))}
                </svg>
            </div>
            {chart.truncated && <p class="faint">Older runs are omitted: there are too many.</p>}
            {chart.items.length > 0 && <Runs chart={chart} />}
        </>
    );
}

function Chart() {
    const [hours, setHours] = useState(24);
    const clock = useClock(LOOK_MS);
    const { value, error } = useLast(
        (signal) => {
            const from = new Date(Date.now() - hours * 3600e3).toISOString().replace(/\.\d+Z/, 'Z');
            return api.get(`/v1/usage/spans?from=${from}`, { signal });
        },
        [hours, clock],
    );
    return (
        <section class="device full gantt" aria-label="Machine use over time">
            <h2>Machine use over time</h2>
            <div class="choice" role="group" aria-label="Time shown">
                {SPANS.map(([label, value]) => (
                    <button
                        key={value}
                        type="button"
                        aria-pressed={hours === value}
                        onClick={() => setHours(value)}
                    >
                        {label}
                    </button>
                ))}
                <span class="faint">
                    <span class="key runs" /> runs now <span class="key ran" /> ended; the height is cores
                </span>
            </div>
            <Trouble error={error} />
            {value && <Picture chart={value} />}
        </section>
    );
}

// ---- usage -----------------------------------------------------------------------------------------

function day(ago) {
    return new Date(Date.now() - ago * 86400e3).toISOString().slice(0, 10);
}

const hours = (seconds) =>
    (seconds / 3600).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function Sums({ name, sums, machine }) {
    const part = machine > 0 ? sums.core_seconds / machine : 0;
    return (
        <tr>
            <th scope="row">{name}</th>
            <td class="numbers">{hours(sums.core_seconds)}</td>
            <td class="numbers">{(100 * part).toFixed(1)} %</td>
            <td class="numbers">{hours(sums.gpu_seconds)}</td>
            <td class="numbers">{sums.runs}</td>
            <td class="numbers">{quantity(sums.bytes, 'B')}</td>
        </tr>
    );
}

function Table({ usage }) {
    const machine = usage.machine.core_seconds;
    return (
        <div class="wide" tabIndex={0} role="region" aria-label="Usage as a table">
            <table class="values sums">
                <Heads names={[usage.by, 'core hours', 'part', 'GPU hours', 'runs', 'stored']} />
                <tbody>
                    {usage.items.map((item) => (
                        <Sums
                            key={item[usage.by]}
                            name={item[usage.by] ?? 'no group'}
                            sums={item}
                            machine={machine}
                        />
                    ))}
                </tbody>
                <tfoot>
                    <Sums name="all of the machine" sums={usage.machine} machine={machine} />
                </tfoot>
            </table>
        </div>
    );
}

function Usage() {
    const [by, setBy] = useState('user');
    const [from, setFrom] = useState(day(29));
    const [to, setTo] = useState(day(0));
    const clock = useClock(LOOK_MS);
    const query = `/v1/usage?by=${by}&from=${from}&to=${to}`;
    const { value, error } = useLast((signal) => api.get(query, { signal }), [query, clock]);
    return (
        <section class="device full usage" aria-label="Usage">
            <h2>
                Usage <span class="faint">days in UTC</span>
            </h2>
            <div class="choice">
                <label>
                    by{' '}
                    <select value={by} onChange={({ target }) => setBy(target.value)}>
                        <option>user</option>
                        <option>group</option>
                        <option>day</option>
                    </select>
                </label>
                <label>
                    from{' '}
                    <input
                        type="date"
                        value={from}
                        max={to}
                        onChange={({ target }) => target.value && setFrom(target.value)}
                    />
                </label>
                <label>
                    to{' '}
                    <input
                        type="date"
                        value={to}
                        min={from}
                        onChange={({ target }) => target.value && setTo(target.value)}
                    />
                </label>
                <a href={`${query}&format=csv`} download={`usage-by-${by}.csv`}>
                    CSV
                </a>
            </div>
            <Trouble error={error} />
            {value && <Table usage={value} />}
        </section>
    );
}

export function Machine({ sessions }) {
    return (
        <Devices sessions={sessions}>
            <h1 class="hidden">Machine</h1>
            <Chart />
            <Usage />
        </Devices>
    );
}
