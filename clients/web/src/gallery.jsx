// Example scenes: one click runs one.

import { useState } from 'preact/hooks';
import { api } from './api.js';
import { useAnswer } from './hooks.js';
import { patched, pretty } from './jsontext.js';
import { groupsOf } from './showcase.js';
import { Sketch } from './sketch.jsx';

/* global PICTURES: the addresses of rendered pictures by scene, from build.mjs */

// So that a repeated request creates only one session.
export function someKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

export function submit(text, group = '') {
    const where = `/v1/sessions${group ? `?group=${encodeURIComponent(group)}` : ''}`;
    return api.post(where, text, { headers: { 'Idempotency-Key': someKey() } });
}

// The short form of gallery scenes.
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
            {PICTURES[item.name] ? (
                <img src={PICTURES[item.name]} alt="" width="320" height="240" loading="lazy" />
            ) : (
                <Sketch scene={item.scene} />
            )}
            <p class="title">
                {item.title}
                {item.source && <span class="faint">{item.source}</span>}
            </p>
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
                        class="plain"
                        disabled={busy}
                        title="Fewer cells and frames: a few seconds"
                        aria-label={`short form of ${item.title}`}
                        onClick={() => run(shortForm(item.scene))}
                    >
                        short form
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
            {groupsOf(value?.items ?? []).map((group) => (
                <div key={group.title}>
                    <h2>{group.title}</h2>
                    <ul>
                        {group.items.map((item) => (
                            <Card key={item.name} item={item} navigate={navigate} onTrouble={setTrouble} />
                        ))}
                    </ul>
                </div>
            ))}
        </section>
    );
}
