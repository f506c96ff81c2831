// A scene as text: CodeMirror, with completion and documentation from the schema of scenes, and marks at faults. It is
// in a shadow root with adopted style sheets: the page's policy allows no inline styles.

import {
    autocompletion,
    closeBrackets,
    closeBracketsKeymap,
    completionKeymap,
    startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { diagnosticCount, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState } from '@codemirror/state';
import { EditorView, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { about, choicesOf, keysOf, placeAt, schemasAt, typeOf } from './schema.js';

const MONO = 'ui-monospace, "DejaVu Sans Mono", monospace';
const KEYS = 'Tab leaves the text, Ctrl-Space completes, F8 goes to the next fault.';
const NO_PICTURE = { backgroundImage: 'none', content: 'normal' }; // the library's pictures have data URLs
const tint = (part) => `color-mix(in srgb, var(--accent) ${part}%, transparent)`;

const look = EditorView.theme({
    '&': { height: '100%', fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
    '&.cm-focused': { outline: 'none' }, // the page draws it around everything
    '.cm-scroller': { fontFamily: MONO, lineHeight: '1.5' },
    '.cm-content': { caretColor: 'var(--text)', padding: '0.4rem 0' },
    '.cm-gutters': { color: 'var(--faint)', backgroundColor: 'var(--raised)', border: 'none' },
    '.cm-gutter-lint': { width: '1.1em' },
    '.cm-lint-marker': { ...NO_PICTURE, width: '1em', height: '1.5em' },
    '.cm-lint-marker-error::before': { content: '"✖"', color: 'var(--failed)', fontWeight: '700' },
    '.cm-lint-marker-warning::before': { content: '"⚠"', color: 'var(--paused)' },
    '.cm-lintRange': NO_PICTURE,
    '.cm-lintRange-error': { ...NO_PICTURE, textDecoration: 'underline wavy var(--failed)' },
    '.cm-lintRange-warning': { ...NO_PICTURE, textDecoration: 'underline wavy var(--paused)' },
    '.cm-lintRange-active': { backgroundColor: tint(15) },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--failed)' },
    '.cm-diagnostic-warning': { borderLeftColor: 'var(--paused)' },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: tint(25) },
    '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'transparent' },
    '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: tint(18) },
    '.cm-searchMatch-selected': { backgroundColor: tint(40) },
    '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--surface)', border: '1px solid var(--rule)' },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: 'var(--surface)', background: 'var(--accent)' },
    '.cm-tooltip.cm-completionInfo, .about': {
        maxWidth: '26rem', maxHeight: '14rem', overflow: 'auto', padding: '0.3rem 0.5rem',
        fontFamily: 'system-ui, sans-serif',
    },
    '.about p': { margin: '0 0 0.2rem' },
    '.facts': { color: 'var(--faint)' },
    '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--raised)', borderColor: 'var(--rule)' },
    '.cm-panel input, .cm-panel button': {
        color: 'var(--text)', background: 'var(--surface)', border: '1px solid var(--rule)', borderRadius: '4px',
    },
    '@media (pointer: coarse)': {
        '.cm-tooltip-autocomplete > ul > li': { minHeight: '44px', lineHeight: '44px' },
        '.cm-panel input, .cm-panel button': { minHeight: '44px', minWidth: '44px' },
    },
}); // prettier-ignore

const colours = HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--accent)' },
    { tag: tags.string, color: 'var(--succeeded)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--paused)' },
]);

function element(kind, className, text) {
    const made = document.createElement(kind);
    made.className = className;
    made.textContent = text;
    return made;
}

function card(schemas) {
    const { description, facts } = about(schemas);
    const made = element('div', 'about', '');
    made.append(element('p', '', description), element('p', 'facts', facts));
    return made;
}

// The text to insert after a completed key, and the cursor's position in it.
function begun(schemas) {
    const kinds = typeOf(schemas);
    const choices = choicesOf(schemas);
    if (kinds === 'object') return ['{}', 1];
    if (kinds === 'list') return ['[]', 1];
    return kinds === 'text' && !choices.length ? ['""', 1] : ['', 0];
}

// Replaces the word at the cursor, including an automatically inserted closing quote. `cursor`: offset of the cursor
// from its beginning.
function replaceWord(view, insert, cursor = insert.length) {
    const { from, to } = placeAt(view.state.doc.toString(), view.state.selection.main.head);
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + cursor } });
}

function applyKey(name, schemas) {
    return (view) => {
        const { colon } = placeAt(view.state.doc.toString(), view.state.selection.main.head);
        const word = JSON.stringify(name);
        if (colon) {
            replaceWord(view, word);
            return;
        }
        const [value, inside] = begun(schemas);
        replaceWord(view, `${word}: ${value}`, word.length + 2 + inside);
        if (!value) startCompletion(view);
    };
}

// Names defined in the scene, for keys that refer to one.
function namesFor(path, scene) {
    const key = path.findLast((step) => typeof step === 'string');
    if (key === 'material' || key === 'materials') return Object.keys(scene?.materials ?? {});
    const bodies = ['body', 'bodies', 'between'].includes(key) ? (scene?.bodies ?? []) : [];
    return bodies.map(({ name }) => name).filter(Boolean);
}

// `known()` returns {schema, scene}; either may be missing.
function completions(known) {
    return (context) => {
        const { schema, scene } = known();
        const place = schema && placeAt(context.state.doc.toString(), context.pos);
        if (!place || (!place.word && !context.explicit && !/[{,:[]\s*$/.test(lineBefore(context)))) return null;
        const validFor = /^"?[\w-]*$/;
        if (place.isKey) {
            const own = place.word ? place.keys.filter((key) => JSON.stringify(key) !== place.word) : place.keys;
            const options = [...keysOf(schema, place.path)]
                .filter(([name]) => !own.includes(name))
                .map(([name, { schemas, required }]) => ({
                    label: JSON.stringify(name),
                    displayLabel: name,
                    detail: typeOf(schemas),
                    type: 'property',
                    boost: required ? 1 : 0,
                    info: () => card(schemas),
                    apply: applyKey(name, schemas),
                }));
            return { from: place.from, options, validFor };
        }
        const schemas = schemasAt(schema, place.path);
        const options = [...choicesOf(schemas), ...namesFor(place.path, scene)].map((value) => ({
            label: JSON.stringify(value),
            displayLabel: String(value),
            type: 'constant',
            apply: (view) => replaceWord(view, JSON.stringify(value)),
        }));
        // At a complete value, all possible values.
        const whole = context.explicit && options.some(({ label }) => label === place.word);
        const shape = whole ? { filter: false } : { validFor };
        return options.length ? { from: place.from, options, ...shape } : null;
    };
}

const lineBefore = ({ state, pos }) => state.doc.sliceString(state.doc.lineAt(pos).from, pos);

// The schemas of the key at a position, or of the key whose value is there; null outside any.
function subjectAt(state, position, schema) {
    const place = schema && placeAt(state.doc.toString(), position);
    if (!place || (place.isKey && !place.word)) return null;
    const path = place.isKey ? [...place.path, JSON.parse(closed(place.word))] : place.path;
    const schemas = schemasAt(schema, path);
    return about(schemas).description ? { path, schemas, from: place.from, to: place.to } : null;
}

// A word being typed may lack a closing quote, or follow a backslash.
function closed(word) {
    try {
        JSON.parse(word);
        return word;
    } catch {
        return JSON.stringify(word.replaceAll('"', ''));
    }
}

const hover = (known) =>
    hoverTooltip((view, position) => {
        const subject = subjectAt(view.state, position, known().schema);
        if (!subject || subject.from > position || subject.to < position || subject.from === subject.to) return null;
        return { pos: subject.from, end: subject.to, above: true, create: () => ({ dom: card(subject.schemas) }) };
    });

const ofPage = Annotation.define();

// The page handles dropped files.
const dropping = EditorView.domEventHandlers({ drop: (event) => event.dataTransfer?.files.length > 0 });

function extensions(known, onChange, onSubject) {
    return [
        lineNumbers(),
        lintGutter(),
        history(),
        search({ top: true }),
        highlightSelectionMatches(),
        json(),
        syntaxHighlighting(colours),
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        autocompletion({ override: [completions(known)], icons: false }),
        hover(known),
        dropping,
        look,
        keymap.of([
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...lintKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of((view) => ({
            tabindex: '0',
            'aria-label': 'The scene as JSON',
            'aria-description': KEYS,
            'aria-invalid': String(diagnosticCount(view.state) > 0),
            spellcheck: 'false',
            autocapitalize: 'off',
        })),
        EditorView.updateListener.of((update) => {
            const { state, transactions } = update;
            const written = update.docChanged && !transactions.some((one) => one.annotation(ofPage));
            if (written) onChange(state.doc.toString());
            if (update.docChanged || update.selectionSet)
                onSubject(subjectAt(state, state.selection.main.head, known().schema));
        }),
    ];
}

// The single range in which two texts differ, so that cursor and undo survive a change in the form.
export function changeBetween(before, after) {
    const least = Math.min(before.length, after.length);
    let from = 0,
        end = 0;
    while (from < least && before[from] === after[from]) from++;
    while (end < least - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
    return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

function marksOf(doc, faults) {
    return faults.map(({ line, words, severity = 'error', from, to }) => {
        const whole = doc.line(Math.min(Math.max(1, line), doc.lines));
        const begin = from >= whole.from && from < whole.to ? from : whole.from;
        return { from: begin, to: Math.min(Math.max(to ?? whole.to, begin), whole.to), severity, message: words };
    });
}

// `tools` becomes {goTo(line), text()}. onSubject({path, schemas}
// null): the key or value at the cursor.
export function SceneText({ text, faults, schema, scene, onChange, onSubject, tools }) {
    const host = useRef(null),
        view = useRef(null),
        now = useRef({});
    now.current = { schema, scene, onChange, onSubject };
    useLayoutEffect(() => {
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
        const made = new EditorView({
            parent: root,
            state: EditorState.create({
                doc: text,
                extensions: extensions(
                    () => now.current,
                    (changed) => now.current.onChange(changed),
                    (subject) => now.current.onSubject(subject),
                ),
            }),
        });
        view.current = made;
        tools.current = {
            text: () => made.state.doc.toString(),
            goTo(line) {
                const { from, to } = made.state.doc.line(Math.min(line, made.state.doc.lines));
                made.dispatch({
                    selection: { anchor: from, head: to },
                    effects: EditorView.scrollIntoView(from, { y: 'center' }),
                });
                made.focus();
            },
        };
        return () => {
            tools.current = null;
            made.destroy();
        };
    }, []);
    // Right after rendering: otherwise a key pressed meanwhile would be undone.
    useLayoutEffect(() => {
        const before = view.current.state.doc.toString();
        if (text !== before)
            view.current.dispatch({ changes: changeBetween(before, text), annotations: ofPage.of(true) });
    }, [text]);
    useEffect(() => {
        view.current.dispatch(setDiagnostics(view.current.state, marksOf(view.current.state.doc, faults)));
    }, [faults]);
    return <div class="text" ref={host} />;
}
