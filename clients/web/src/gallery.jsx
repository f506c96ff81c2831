// Scenes to begin with: one click runs one.

import { useState } from 'preact/hooks';
import { api } from './api.js';
import { useAnswer } from './hooks.js';
import { patched, pretty } from './jsontext.js';
import { Sketch } from './sketch.jsx';

// So that a request that is sent twice makes one session.
export function someKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

export function submit(text, group = '') {
    const where = `/v1/sessions${group ? `?group=${encodeURIComponent(group)}` : ''}`;
    return api.post(where, text, { headers: { 'Idempotency-Key': someKey() } });
}

// The short form that gallery scenes have.
export function shortForm(scene) {
    const text = pretty(scene);
    return scene.metadata?.quick ? patched(text, scene.metadata.quick) : text;
}

function Card({ item, navigate, onTrouble }) {
    const [busy, setBusy] = useState(false);
    const run = async (text) => {
        setBusy(true);
        onTrouble(null);
        try {
            navigate(`/sessions/${(await submit(text)).id}`);
        } catch (error) {
            onTrouble(error);
            setBusy(false);
        }
    };
    return (
        <li class="card">
            <Sketch scene={item.scene} />
            <p class="title">{item.title}</p>
            <div class="row">
                <button
                    type="button"
                    class="main"
                    disabled={busy}
                    onClick={() => run(pretty(item.scene))}
                    aria-label={`run ${item.title}`}
                >
                    run
                </button>
                {item.scene.metadata?.quick && (
                    <button
                        type="button"
                        disabled={busy}
                        title="Fewer cells and frames: some seconds"
                        aria-label={`run short: ${item.title}`}
                        onClick={() => run(shortForm(item.scene))}
                    >
                        run short
                    </button>
                )}
                <a href={`#/scenes?gallery=${item.name}`} aria-label={`edit ${item.title}`}>
                    edit
                </a>
            </div>
        </li>
    );
}

export function Gallery({ navigate }) {
    const { value, error } = useAnswer((signal) => api.get('/v1/gallery', { signal }), []);
    const [trouble, setTrouble] = useState(null);
    const said = trouble ?? error;
    return (
        <section class="gallery" aria-label="Gallery">
            {said && (
                <p class="trouble" role="alert">
                    {said.message}
                </p>
            )}
            <ul>
                {(value?.items ?? []).map((item) => (
                    <Card key={item.name} item={item} navigate={navigate} onTrouble={setTrouble} />
                ))}
            </ul>
        </section>
    );
}
