// Sweeps: the list; and for one its progress, its table, its rows over parallel axes, and each result over each
// parameter.

import { useRef, useState } from 'preact/hooks';
import { api } from './api.js';
import { ago, number, STATES } from './format.js';
import { useLook, useOn } from './hooks.js';
import { Fit } from './fit.jsx';
import { codesOf } from './list.jsx';
import { hrefOf, route } from './route.js';
import { axesOf, colourOf, lineOf, placesOf } from './sweepplot.js';
import './sweeps.css';

const TABLE_MOST = 500,
    HEIGHT = 220,
    SMALL = 120;
const ORDER =
    'succeeded failed rejected refused cancelled stopped deleted ' +
    'running paused queued checking waiting skipped';
const SIGNS = { ...STATES, waiting: '…', skipped: '–', refused: '✕', deleted: '✕', stopped: '■' };

const Trouble = ({ error }) =>
    error ? (
        <p class="trouble failed" role="alert">
            {error.message}
        </p>
    ) : null;

function Progress({ sweep }) {
    return (
        <>
            <div class="parts" role="img" aria-label={`${sweep.counts.succeeded} of ${sweep.rows} succeeded`}>
                {ORDER.split(' ').map((state) =>
                    sweep.counts[state] ? (
                        <span key={state} class={state} style={{ flexGrow: sweep.counts[state] }} />
                    ) : null,
                )}
            </div>
            <p class="numbers faint">
                {ORDER.split(' ')
                    .filter((state) => sweep.counts[state])
                    .map((state) => `${sweep.counts[state]} ${state}`)
                    .join(', ')}
                {sweep.warned > 0 && <span class="warned">, {sweep.warned} with warnings</span>}
            </p>
        </>
    );
}

// ---- the list ---------------------------------------------------------------------------------------

function List({ items }) {
    if (!items.length) {
        return (
            <p class="faint">
                No sweep yet. From a terminal: <code>pliant sweep submit sweep.json</code>
            </p>
        );
    }
    return (
        <ul class="sweeps">
            {items.map((sweep) => (
                <li key={sweep.id}>
                    <a href={`#/sweeps/${sweep.id}`}>{sweep.name || sweep.id.slice(0, 8)}</a>{' '}
                    <b>{sweep.state}</b>{' '}
                    <span class="faint">
                        {ago(sweep.created)}, {sweep.owner}
                    </span>
                    <Progress sweep={sweep} />
                </li>
            ))}
        </ul>
    );
}

function All() {
    const [{ value, error }] = useLook(() => api.get('/v1/sweeps'), []);
    return (
        <section aria-label="Sweeps">
            <h1>Sweeps</h1>
            <Trouble error={error} />
            {value && <List items={value.items} />}
        </section>
    );
}

// ---- pictures --------------------------------------------------------------------------------------

function Axis({ axis, x }) {
    const words = axis.words ?? (axis.known ? [number(axis.low), number(axis.high)] : []);
    return (
        <g transform={`translate(${x} 0)`}>
            <line class="axis" y2={HEIGHT} />
            <text class={axis.result ? 'result' : ''} y={-22}>
                {axis.name}
            </text>
            {words.slice(0, 12).map((word, k) => (
                <text
                    key={word}
                    class="end"
                    x={6}
                    y={(words.length > 1 ? 1 - k / (words.length - 1) : 0.5) * HEIGHT + 4}
                >
                    {word.slice(0, 20)}
                </text>
            ))}
        </g>
    );
}

function Parallel({ table, axes, by, chosen, onChoose }) {
    const step = 150;
    return (
        <div class="wide" tabIndex={0} role="region" aria-label="Rows over parallel axes">
            <svg
                class="parallel"
                role="img"
                aria-label={`${table.items.length} rows over ${axes.length} axes`}
                width={step * axes.length}
                height={HEIGHT + 60}
            >
                <g transform="translate(40 40)">
                    {table.items.map((row) => {
                        const places = placesOf(row, axes);
                        return (
                            <path
                                key={row.row}
                                class={row.row === chosen ? 'line chosen' : 'line'}
                                d={lineOf(places, step, HEIGHT)}
                                stroke={colourOf(places[by])}
                                onClick={() => onChoose(row.row)}
                            >
                                <title>row {row.row}</title>
                            </path>
                        );
                    })}
                    {axes.map((axis, i) => (
                        <Axis key={axis.name} axis={axis} x={i * step} />
                    ))}
                </g>
            </svg>
        </div>
    );
}

// One result over one parameter.
function Multiple({ table, axes, x, y, chosen, onChoose }) {
    return (
        <figure>
            <svg
                class="multiple"
                width={SMALL + 20}
                height={SMALL + 20}
                role="img"
                aria-label={`${axes[y].name} by ${axes[x].name}`}
            >
                <rect class="frame" x={10} y={10} width={SMALL} height={SMALL} />
                {table.items.map((row) => {
                    const places = placesOf(row, axes);
                    if (places[x] === null || places[y] === null) return null;
                    return (
                        <circle
                            key={row.row}
                            class={row.row === chosen ? 'chosen' : ''}
                            cx={10 + places[x] * SMALL}
                            cy={10 + (1 - places[y]) * SMALL}
                            r={row.row === chosen ? 5 : 2.5}
                            onClick={() => onChoose(row.row)}
                        >
                            <title>row {row.row}</title>
                        </circle>
                    );
                })}
            </svg>
            <figcaption class="faint">
                {axes[y].name} by {axes[x].name}
            </figcaption>
        </figure>
    );
}

// ---- the table -------------------------------------------------------------------------------------

function shown(value) {
    if (typeof value === 'number') return String(+value.toPrecision(6));
    if (typeof value === 'string') return value;
    return value === null ? '–' : JSON.stringify(value);
}

// A row that succeeded with warnings is marked like a session.
function State({ row }) {
    const codes = codesOf(row);
    const warned = codes !== '' && row.state === 'succeeded';
    const title = row.message || row.warnings.map(({ detail }) => detail).join('\n');
    return (
        <td class={warned ? 'warned' : row.state} title={title}>
            <span class="sign" aria-hidden="true">
                {warned ? '⚠' : SIGNS[row.state]}
            </span>{' '}
            {row.state}
            {codes && `: ${codes}`}
        </td>
    );
}

function Table({ table, chosen, onChoose }) {
    return (
        <div class="wide">
            <table class="values rows">
                <thead>
                    <tr>
                        {['row', 'state', ...table.parameters, ...table.results].map((name) => (
                            <th key={name} scope="col">
                                {name}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {table.items.slice(0, TABLE_MOST).map((row) => (
                        <tr key={row.row} class={row.row === chosen ? 'chosen' : ''} onClick={() => onChoose(row.row)}>
                            <th scope="row">
                                {row.session ? (
                                    <a href={hrefOf(row.session)} onFocus={() => onChoose(row.row)}>
                                        {row.row}
                                    </a>
                                ) : (
                                    row.row
                                )}
                            </th>
                            <State row={row} />
                            {[...row.values, ...row.results].map((value, i) => (
                                <td key={i} class="numbers">
                                    {shown(value)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {table.items.length > TABLE_MOST && (
                <p class="faint">The first {TABLE_MOST} of {table.items.length} rows; the files have all.</p>
            )}
        </div>
    );
}

// ---- one sweep --------------------------------------------------------------------------------------

function Actions({ sweep, onError }) {
    const path = `/v1/sweeps/${sweep.id}`;
    const tell = (verb) => api.post(`${path}/${verb}`).then(() => onError(null), onError);
    const open = ['running', 'cancelling'].includes(sweep.state);
    const left = sweep.rows - sweep.counts.succeeded;
    const remove = () => {
        if (!confirm('Remove this sweep? Its sessions stay.')) return;
        api.delete(path).then(() => route.go('/sweeps'), onError);
    };
    return (
        <div class="actions">
            {open && (
                <button type="button" onClick={() => tell('cancel')}>
                    cancel
                </button>
            )}
            {!open && left > 0 && (
                <button type="button" onClick={() => tell('retry')}>
                    run {left} again
                </button>
            )}
            {!open && (
                <button type="button" onClick={remove}>
                    remove
                </button>
            )}
            {['csv', 'npz', 'json'].map((format) => (
                <a
                    key={format}
                    href={`${path}/results?format=${format}`}
                    download={`${sweep.name || 'sweep'}.${format}`}
                >
                    {format.toUpperCase()}
                </a>
            ))}
        </div>
    );
}

function Pictures({ sweep, table, chosen, onChoose }) {
    const axes = axesOf(table, sweep.parameters.map(({ log }) => log));
    const first = axes.findIndex(({ result }) => result);
    const [by, setBy] = useState(first < 0 ? 0 : first);
    const parameters = axes.map((_, i) => i).filter((i) => !axes[i].result);
    return (
        <>
            <label class="choice">
                colour by{' '}
                <select value={by} onChange={({ target }) => setBy(+target.value)}>
                    {axes.map(({ name }, i) => (
                        <option key={name} value={i}>
                            {name}
                        </option>
                    ))}
                </select>
            </label>
            <Parallel {...{ table, axes, by, chosen, onChoose }} />
            {axes[by].result && (
                <div class="multiples">
                    {parameters.map((x) => (
                        <Multiple key={x} {...{ table, axes, x, chosen, onChoose }} y={by} />
                    ))}
                </div>
            )}
        </>
    );
}

function One({ id }) {
    const path = `/v1/sweeps/${id}`;
    const [trouble, setTrouble] = useState(null);
    const [chosen, setChosen] = useState(null);
    const last = useRef(null);
    // The table of many rows is requested when a row's state has changed.
    const [{ value, error }] = useLook(async () => {
        const sweep = await api.get(path);
        const counts = JSON.stringify(sweep.counts);
        if (last.current?.counts !== counts) {
            last.current = {
                counts,
                table: await api.get(`${path}/results`),
                // Missing once the best run's session is deleted.
                residuals: sweep.fit?.best ? await api.get(`${path}/residuals`).catch(() => null) : null,
            };
        }
        return { sweep, ...last.current };
    }, [id]);
    if (!value) return <Trouble error={error} />;
    const { sweep, table, residuals } = value;
    return (
        <section class="sweep" aria-label={`Sweep ${sweep.name || id}`}>
            <p>
                <a href="#/sweeps">All sweeps</a>
            </p>
            <h1>
                {sweep.name || id.slice(0, 8)} <span class="faint">{sweep.state}</span>
            </h1>
            <Trouble error={error ?? trouble} />
            <Progress sweep={sweep} />
            {sweep.fit && <Fit {...{ sweep, residuals }} />}
            {sweep.message && <p>{sweep.message}</p>}
            <Actions sweep={sweep} onError={setTrouble} />
            <Pictures {...{ sweep, table, chosen }} onChoose={setChosen} key={id} />
            <Table {...{ table, chosen }} onChoose={setChosen} />
        </section>
    );
}

export function Sweeps() {
    useOn(route, 'change');
    const { id } = route.now;
    return <div class="sweeppage">{id ? <One id={id} key={id} /> : <All />}</div>;
}
