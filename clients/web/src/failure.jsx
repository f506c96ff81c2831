// Why a session failed: reason, place, and the changes of its scene that the advice suggests.

import { changesOf } from './advice.js';
import { who } from './who.js';

// The place in words that can be looked up: element 4711 of "bar", frame 812, step 3.
function placeOf({ body, element, vertex, frame, step }, bodies) {
    const name = body != null ? (bodies?.[body]?.name ?? `body ${body}`) : null;
    const what = element != null ? `element ${element}` : vertex != null ? `vertex ${vertex}` : null;
    return [
        what && (name ? `${what} of “${name}”` : what),
        frame != null && `after frame ${frame}`,
        step != null && `step ${step}`,
    ]
        .filter(Boolean)
        .join(', ');
}

function Changes({ model, navigate }) {
    const open = (change) => {
        const query = change ? `&change=${encodeURIComponent(JSON.stringify(change))}` : '';
        navigate(`/scenes?session=${model.id}${query}`);
    };
    const known = model.scene ? changesOf(model.session, model.scene) : [];
    return (
        <>
            {known.length > 0 && (
                <p class="changes">
                    open the scene with{' '}
                    {known.map(({ label, change }) => (
                        <button type="button" key={label} onClick={() => open(change)}>
                            {label}
                        </button>
                    ))}
                </p>
            )}
            <button type="button" onClick={() => open(null)}>
                open the scene to change it
            </button>
        </>
    );
}

export function FailureBox({ model, navigate }) {
    const { failure, bodies } = model.session;
    if (!failure) return null;
    const place = placeOf(failure, bodies);
    return (
        <div class="failure" role="alert">
            <p>
                <b>{failure.message || failure.code}</b>
            </p>
            {place && (
                <p>
                    {place}
                    {failure.frame != null && (
                        <button type="button" onClick={() => model.showFailure()}>
                            show
                        </button>
                    )}
                </p>
            )}
            {failure.advice && <p>{failure.advice}</p>}
            {failure.faults?.length > 0 && (
                <ul>
                    {failure.faults.map((f, i) => (
                        <li key={i}>
                            <code>{f.pointer}</code> {f.hint || f.expected}
                        </li>
                    ))}
                </ul>
            )}
            {!who.guest && <Changes model={model} navigate={navigate} />}
            {failure.log && (
                <details>
                    <summary>end of the worker's log</summary>
                    <pre>{failure.log}</pre>
                </details>
            )}
        </div>
    );
}
