// Machine use over time, laid out as rows of bars: horizontal positions are fractions of the shown time, from 0 to 1;
// heights are cores.

const HOUR = 3600e3;
const STEPS = [HOUR / 12, HOUR / 4, HOUR / 2, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];

// A span of /v1/usage/spans as a bar; null if it is outside the shown time.
function barOf(span, from, to) {
    const place = (time) => Math.min(1, Math.max(0, (Date.parse(time) - from) / (to - from)));
    const begin = place(span.from),
        end = span.running ? 1 : place(span.to);
    if (Date.parse(span.from) >= to || (!span.running && Date.parse(span.to) < from)) return null;
    return { span, begin, end, cores: Math.max(span.cores, 0.5) };
}

// Arranges the bars of one row without overlap: each at the lowest position free for its whole length. Sets `top`, in
// cores; returns the row's height.
export function pack(bars) {
    const placed = [];
    let height = 0;
    for (const bar of bars) {
        const beside = placed
            .filter((other) => other.end > bar.begin && other.begin < bar.end)
            .sort((a, b) => a.top - b.top);
        let top = 0;
        for (const other of beside) {
            if (other.top >= top + bar.cores) break;
            top = Math.max(top, other.top + other.cores);
        }
        bar.top = top;
        placed.push(bar);
        height = Math.max(height, top + bar.cores);
    }
    return height;
}

// `shown`: number of hours shown.
function rowOf(label, kind, bars, shown) {
    const hours = bars.reduce((sum, { span, begin, end }) => sum + span.cores * shown * (end - begin), 0);
    return { label, kind, bars, hours, height: pack(bars), running: bars.filter((b) => b.span.running).length };
}

function grouped(bars, key) {
    const groups = new Map();
    for (const bar of bars) {
        const name = key(bar);
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(bar);
    }
    return groups;
}

// Rows of users, those with most usage first; of all others together; of devices.
export function rowsOf(chart) {
    const from = Date.parse(chart.from),
        to = Date.parse(chart.to);
    const shown = (to - from) / HOUR;
    const bars = chart.items.map((span) => barOf(span, from, to)).filter(Boolean);
    const rows = [...grouped(bars, ({ span }) => span.user)]
        .map(([user, own]) => rowOf(user, 'user', own, shown))
        .sort((a, b) => b.hours - a.hours || a.label.localeCompare(b.label));
    const others = chart.others
        .filter(({ cores }) => cores > 0)
        .map((span) => barOf({ ...span, user: 'others' }, from, to))
        .filter(Boolean);
    if (others.length) rows.push(rowOf('others', 'others', others, shown));
    const onDevices = grouped(
        bars.filter(({ span }) => span.gpu),
        ({ span }) => span.gpu,
    );
    for (const { uuid, name } of chart.devices) {
        const own = (onDevices.get(uuid) ?? []).map((bar) => ({ ...bar, cores: 1 }));
        rows.push({ ...rowOf(name, 'device', own, shown), height: Math.max(1, pack(own)) });
    }
    return rows;
}

// Round times (of the reader's clock) in between, at most `most`: [{at, text}].
export function ticks(from, to, most) {
    const step = STEPS.find((one) => (to - from) / one <= most) ?? STEPS.at(-1);
    const begin = new Date(from);
    begin.setHours(0, 0, 0, 0);
    const found = [];
    for (let time = begin.getTime(); time < to; time += step) {
        if (time < from) continue;
        const date = new Date(time);
        const text =
            step >= 24 * HOUR
                ? date.toLocaleDateString([], { day: 'numeric', month: 'short' })
                : `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
        found.push({ at: (time - from) / (to - from), text });
    }
    return found;
}
