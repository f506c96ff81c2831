// All runs as a table: #/runs?sort=KEY&group=age.

import { Component } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { STATES, ago, duration, number, withShortIds } from './format.js';
import { useOn } from './hooks.js';
import { matches } from './list.jsx';
import { hrefOf } from './route.js';
import { COLUMNS, Details, csvOf, differing, groupOf, sorted } from './runs.js';
import { save } from './save.js';
import './runs.css';

const FIRST = 40, // rows drawn at once, the others in batches of this size
    MORE = 120,
    LATER_MS = 30;

// Parameters in which runs differ come after the other parameters.
const BEFORE = COLUMNS.slice(0, COLUMNS.findIndex(({ key }) => key === 'unconverged'));

function shown(value, kind) {
    if (value === null || value === undefined || value === '') return '–';
    if (kind === 'time') return ago(value);
    if (kind === 'seconds') return duration(value);
    return typeof value === 'number' ? number(value, 4) : withShortIds(String(value).replaceAll('_', ' '));
}

// Rendered again only if a value changed: there may be a thousand.
class Row extends Component {
    shouldComponentUpdate({ row, columns }) {
        const { values } = this.props.row;
        return columns !== this.props.columns || row.values.some((value, i) => value !== values[i]);
    }

    render({ row: { session, values }, columns }) {
        const warned = session.state === 'succeeded' && session.warnings?.length > 0;
        return (
            <tr>
                {columns.map(({ key, kind }, i) => {
                    if (key === 'name')
                        return (
                            <th scope="row" key={key}>
                                <a href={hrefOf(session.id)}>{values[i]}</a>
                            </th>
                        );
                    if (kind === 'state')
                        return (
                            <td key={key} class={warned ? 'warned' : session.state}>
                                {STATES[session.state]} {session.state}
                            </td>
                        );
                    const text = kind === 'text';
                    return (
                        <td key={key} class={text ? '' : 'numbers'} title={text ? values[i] : null}>
                            {shown(values[i], kind)}
                        </td>
                    );
                })}
            </tr>
        );
    }
}

function Head({ columns, sort, onSort }) {
    return (
        <thead>
            <tr>
                {columns.map(({ key, label, title }) => {
                    const here = sort.key === key;
                    return (
                        <th
                            key={key}
                            scope="col"
                            title={title}
                            aria-sort={here ? (sort.down ? 'descending' : 'ascending') : 'none'}
                        >
                            <button type="button" onClick={() => onSort(key)}>
                                {label}
                                <span aria-hidden="true">{here ? (sort.down ? ' ▾' : ' ▴') : ''}</span>
                            </button>
                        </th>
                    );
                })}
            </tr>
        </thead>
    );
}

// [name, rows] of each group, in order of appearance.
function grouped(rows, by) {
    if (!by) return [[null, rows]];
    const groups = new Map();
    for (const row of rows) {
        const name = groupOf(row.session, by);
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(row);
    }
    return [...groups];
}

function Groups({ groups, columns, most }) {
    let left = most;
    return groups.map(([name, rows]) => {
        const some = rows.slice(0, Math.max(0, left));
        left -= some.length;
        return (
            <tbody key={name ?? ''}>
                {name !== null && (
                    <tr class="group">
                        <th scope="rowgroup" colSpan={columns.length}>
                            <span class="told">
                                {withShortIds(name)} <span class="faint numbers">({rows.length})</span>
                            </span>
                        </th>
                    </tr>
                )}
                {some.map((row) => (
                    <Row key={row.session.id} row={row} columns={columns} />
                ))}
            </tbody>
        );
    });
}

function Tools({ filter, setFilter, group, setGroup, keys, count, left, onSave }) {
    return (
        <div class="head">
            <h1>Runs</h1>
            <input
                type="search"
                aria-label="Filter runs"
                placeholder="Filter: name, owner, state"
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
            />
            <label>
                grouped by{' '}
                <select value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
                    <option value="">nothing</option>
                    <option value="age">age</option>
                    {keys.map((key) => (
                        <option key={key} value={`label.${key}`}>
                            label {key}
                        </option>
                    ))}
                </select>
            </label>
            <button type="button" onClick={onSave}>
                csv
            </button>
            <span class="faint numbers" role="status">
                {count} {count === 1 ? 'run' : 'runs'}
                {left > 0 ? `, details of ${left} are being read` : ''}
            </span>
        </div>
    );
}

function useDetails(found) {
    const [details] = useState(() => new Details());
    useOn(details, 'change');
    useEffect(() => () => details.stop(), []);
    useEffect(() => details.want(found), [found]);
    return details;
}

export function Runs({ sessions }) {
    useOn(sessions, 'change');
    const [filter, setFilter] = useState('');
    const [group, setGroup] = useState('');
    const [sort, setSort] = useState({ key: 'created', down: true });
    const [most, setMost] = useState(FIRST);
    const found = useMemo(() => {
        const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
        return words.length ? sessions.items.filter((session) => matches(session, words)) : sessions.items;
    }, [sessions.items, filter]);
    const details = useDetails(found);
    useEffect(() => {
        const timer = most < found.length ? setTimeout(() => setMost(most + MORE), LATER_MS) : 0;
        return () => clearTimeout(timer);
    }, [most, found.length]);
    const all = found.map((session) => details.of(session));
    const more = differing(all);
    const names = more.map(({ key }) => key).join();
    const columns = useMemo(() => [...BEFORE, ...more, ...COLUMNS.slice(BEFORE.length)], [names]);
    const rows = found.map((session, i) => ({ session, values: columns.map(({ value }) => value(session, all[i])) }));
    const index = Math.max(0, columns.findIndex(({ key }) => key === sort.key));
    // In the list the newest comes first, also within a second.
    const ordered = sort.key === 'created' ? (sort.down ? rows : rows.toReversed()) : sorted(rows, index, sort.down);
    const keys = [...new Set(sessions.items.flatMap(({ labels }) => Object.keys(labels ?? {})))].sort();
    return (
        <section class="run-table" aria-label="Runs">
            <Tools
                {...{ filter, setFilter, group, setGroup, keys }}
                count={found.length}
                left={details.left}
                onSave={() => save(new Blob([csvOf(columns, ordered)], { type: 'text/csv' }), 'runs.csv')}
            />
            <div class="wide" tabIndex={0} role="region" aria-label="Table of runs">
                <table>
                    <Head
                        columns={columns}
                        sort={sort}
                        onSort={(key) => setSort({ key, down: sort.key === key ? !sort.down : false })}
                    />
                    <Groups groups={grouped(ordered, group)} columns={columns} most={most} />
                </table>
            </div>
            {sessions.more && (
                <p class="faint">
                    Older ones are not listed here: <code>pliant list</code> has them all.
                </p>
            )}
        </section>
    );
}
