// Numbers and states as people read them.

// Three digits, or an exponent; an em space for an unknown value.
export function number(value, digits = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3)
        return value
            .toExponential(digits - 1)
            .replace('e+', 'e')
            .replaceAll('-', '−');
    return String(+value.toPrecision(digits)).replace('-', '−');
}

// A quantity with its unit: 0.012 m becomes 12 mm, 35000 Pa becomes 35 kPa.
export function quantity(value, unit) {
    if (value === null || !Number.isFinite(value)) return '–';
    if (!['m', 'm/s', 'N', 'J', 'Pa', 's', 'B', 'kg'].includes(unit) || value === 0)
        return `${number(value)} ${unit}`;
    const prefixes = [
        [1e12, 'T'],
        [1e9, 'G'],
        [1e6, 'M'],
        [1e3, 'k'],
        [1, ''],
        [1e-3, 'm'],
        [1e-6, 'µ'],
        [1e-9, 'n'],
    ];
    const large = unit === 'm' || unit === 'm/s' || unit === 's' ? 1 : Infinity;
    const found = prefixes.find(([size]) => size <= Math.min(large, Math.abs(value))) ?? [1, ''];
    return `${number(value / found[0])} ${found[1]}${unit}`;
}

// Seconds as 0:42, 1:02:03 or 3 d 4 h.
export function duration(seconds) {
    if (seconds === null || !Number.isFinite(seconds)) return '–';
    const s = Math.max(0, Math.round(seconds));
    const two = (n) => String(n).padStart(2, '0');
    if (s >= 86400) return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
    if (s >= 3600) return `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
    return `${Math.floor(s / 60)}:${two(s % 60)}`;
}

// A time as "3 min ago".
export function ago(time, now = Date.now()) {
    const s = (now - Date.parse(time)) / 1000;
    if (!(s > 60)) return 'just now';
    if (s < 3600) return `${Math.floor(s / 60)} min ago`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
    return `${Math.floor(s / 86400)} d ago`;
}

// IDs in a text, as in a sweep's labels, cut to eight digits.
export const withShortIds = (text) => text.replace(/\b([0-9a-f]{8})[0-9a-f]{24}\b/g, '$1');

// A sign, besides the colour and the word, for each state.
export const STATES = {
    checking: '◌',
    queued: '…',
    running: '▶',
    paused: '‖',
    succeeded: '✓',
    failed: '!',
    rejected: '✕',
    cancelled: '■',
};

export function ordinal(n) {
    const suffix = n % 100 >= 11 && n % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
    return `${n}${suffix}`;
}

// Time left for a session at its present rate; null if unknown. `each`: simulated seconds of a frame, if known more
// accurately than from the whole.
export function secondsLeft({ state, progress }, each = null) {
    const { frame, frames, rate, time } = progress ?? {};
    if (state !== 'running' || !frames || !rate || !frame) return null;
    return ((frames - frame) * (each ?? time / frame)) / rate;
}
