// The common keys of a scene as a form, beside its text; both edit the same text. The daemon (GET /v1/capabilities)
// gives each key's description, unit and range.

import { useEffect, useState } from 'preact/hooks';
import { at } from './jsontext.js';

// [pointer, label if different from the key]
const COMMON = [
    ['/name'],
    ['/solver/method'],
    ['/solver/iterations'],
    ['/solver/tolerance'],
    ['/solver/device'],
    ['/time/step', 'time step'],
    ['/time/duration'],
    ['/time/steps'],
    ['/time/pace'],
    ['/gravity'],
    ['/resources/cores'],
    ['/output/every', 'store every'],
];
// "/time/step" is the key "step" of the daemon's table "time", "/name" that of "scene".
const placeOf = (pointer) => ['scene', ...pointer.split('/').slice(1)].slice(-2);
const MATERIAL = [
    ['model', 'model'],
    ['young', 'stiffness'],
    ['poisson', "Poisson's ratio"],
    ['density', 'density'],
];

const escaped = (key) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const shown = (value) => (value === undefined ? '' : Array.isArray(value) ? value.join(', ') : String(value));

// The value of typed text: undefined if empty, so that the default applies; null if invalid.
function typed(text, { type }) {
    const words = text.trim();
    if (words === '') return undefined;
    if (type === 'number' || type === 'integer') return Number.isFinite(Number(words)) ? Number(words) : null;
    if (type === 'vector') {
        const numbers = words.split(/[\s,]+/).map(Number);
        return numbers.length === 3 && numbers.every(Number.isFinite) ? numbers : null;
    }
    /* a whole number or a range of them, as cores are */
    if (type !== 'string' && /^\d+(-\d*)?$/.test(words)) return words.includes('-') ? words : Number(words);
    return text;
}

const unitOf = ({ unit }) => (unit && unit !== '1' ? ` [${unit}]` : '');
const defaultOf = (spec) =>
    spec.default_text ??
    (spec.default === undefined || spec.default === null
        ? ''
        : shown(typeof spec.default === 'number' ? Number(spec.default.toPrecision(4)) : spec.default));

function Field({ pointer, label, spec, value, fault, onChange }) {
    const [draft, setDraft] = useState(null);
    useEffect(() => setDraft(null), [value]);
    const id = `field${pointer.replaceAll('/', '-')}`;
    const wrong = draft !== null && typed(draft, spec) === null;
    const take = (text) => {
        const now = typed(text, spec);
        setDraft(text);
        if (now !== null && shown(now) !== shown(value)) onChange(pointer, now);
    };
    const expected = spec.type === 'vector' ? 'three numbers' : 'a number';
    const said = wrong ? `${expected} expected` : fault && (fault.hint || `${fault.expected} expected`);
    return (
        <div class={`field${said ? ' wrong' : ''}`} title={spec.description}>
            <label for={id}>
                {label}
                {unitOf(spec)}
            </label>
            {spec.choices ? (
                <select
                    id={id}
                    value={value ?? ''}
                    onChange={(event) => onChange(pointer, event.currentTarget.value || undefined)}
                >
                    <option value="">{defaultOf(spec) ? `default: ${defaultOf(spec)}` : 'default'}</option>
                    {spec.choices.map((choice) => (
                        <option key={choice} value={choice}>
                            {choice.replaceAll('_', ' ')}
                        </option>
                    ))}
                    {value !== undefined && !spec.choices.includes(value) && (
                        <option value={value}>{shown(value)}</option>
                    )}
                </select>
            ) : (
                <input
                    id={id}
                    value={draft ?? shown(value)}
                    placeholder={defaultOf(spec)}
                    aria-invalid={Boolean(said)}
                    inputMode={spec.type === 'string' || spec.type === 'vector' ? 'text' : 'decimal'}
                    onInput={(event) => take(event.currentTarget.value)}
                    onBlur={() => setDraft(null)}
                />
            )}
            {said && <p class="said">{said}</p>}
        </div>
    );
}

// onChange(pointer, value); undefined removes a key.
export function Form({ scene, parameters, faults, onChange }) {
    const field = (pointer, spec, label) =>
        spec ? (
            <Field
                key={pointer}
                pointer={pointer}
                label={label}
                spec={spec}
                value={at(scene, pointer)}
                fault={faults.find((one) => one.pointer === pointer)}
                onChange={onChange}
            />
        ) : null;
    return (
        <div class="form">
            {COMMON.map(([pointer, label]) => {
                const [table, key] = placeOf(pointer);
                return field(pointer, parameters[table]?.[key], label ?? key);
            })}
            {Object.keys(scene?.materials ?? {}).map((name) => (
                <fieldset key={name}>
                    <legend>material {name}</legend>
                    {MATERIAL.map(([key, label]) =>
                        field(`/materials/${escaped(name)}/${key}`, parameters.material?.[key], label),
                    )}
                </fieldset>
            ))}
        </div>
    );
}
