// The place of the section's plane, below the view.

import { useEffect, useRef } from 'preact/hooks';
import { quantity } from './format.js';

const STEPS = 200; // of the slider
const WAYS = { x: 'across x', y: 'across y', z: 'across z', view: 'facing the camera as it is now' };

// Stress and cuts refer to elements, which have inner vertices.
export async function needTets(view, model, reason) {
    model.needWhole(reason);
    view.tets = await model.tets();
    view.setSection();
    view.stale = true;
}

// Called after the section was opened or closed.
export function needSection(view, model) {
    if (!view.section.on) model.needWhole('section', false);
    else if (model.topology.bodies.some(({ tets }) => tets > 0)) needTets(view, model, 'section');
    if (view.surface) view.setSection();
}

export function toggleSection(view, model, again) {
    const { section } = view;
    if (section.on) section.on = false;
    else {
        section.begin();
        section.fresh = true; // its slider gets the keyboard focus
    }
    needSection(view, model);
    view.note();
    again();
}

// Keys that move a slider must do nothing else.
const own = (event) => {
    if (/^(Arrow|Page|Home|End)/.test(event.key)) event.stopPropagation();
};

export function SectionBar({ view, model, again }) {
    const { section } = view;
    const slider = useRef(null);
    useEffect(() => {
        if (section.fresh) slider.current.focus({ preventScroll: true });
        section.fresh = false;
    }, []);
    const [low, high] = section.range;
    const change = (action) => {
        action();
        view.setSection();
        view.note();
        again();
    };
    return (
        <div class="viewbar" role="group" aria-label="Section">
            <b>cut</b>
            {Object.entries(WAYS).map(([axis, title]) => (
                <button
                    type="button"
                    key={axis}
                    aria-pressed={section.axis === axis}
                    title={title}
                    onClick={() => change(() => section.choose(axis))}
                >
                    {axis}
                </button>
            ))}
            <input
                type="range"
                ref={slider}
                aria-label="Place of the plane"
                aria-valuetext={quantity(section.place, 'm')}
                min={low}
                max={high}
                step={(high - low) / STEPS || 1}
                value={section.place}
                onInput={(event) => change(() => (section.place = Number(event.currentTarget.value)))}
                onKeyDown={own}
            />
            <span class="numbers value">{quantity(section.place, 'm')}</span>
            <button type="button" onClick={() => change(() => section.flip())} title="Cut away the other side">
                flip
            </button>
            <label>
                <input
                    type="checkbox"
                    checked={section.obstacles}
                    onChange={(event) => change(() => (section.obstacles = event.currentTarget.checked))}
                />{' '}
                obstacles
            </label>
            <button
                type="button"
                class="close"
                onClick={() => toggleSection(view, model, again)}
                aria-label="Close the section"
            >
                ✕
            </button>
        </div>
    );
}
