// A view that shows the frame its model's player names, with the forces and motions of that moment.

import { FIELDS } from './fields.js';
import { PLAYING } from './player.js';

// Brings the player's frame into the picture, and requests it if it is missing.
export function follow(view, model, status) {
    const { player, frames } = model;
    const wanted = player.shown;
    if (player.mode === PLAYING) frames.want(wanted, true, player.newest);
    const frame = frames.get(wanted);
    const changed = frame && (view.shown?.number !== wanted || view.stale);
    if (!frame) frames.want(wanted);
    if (!changed) return;
    const needs = FIELDS[view.field].needs;
    const rest = model.first;
    const before = needs === 'before' && wanted > 0 ? previous(view, frames, wanted) : null;
    const milliseconds = view.show(frame, before, rest);
    tellPicture(view, model, wanted, milliseconds);
    view.stale = needs === 'before' && !before && wanted > 0 && !frames.whyMissing(wanted - 1);
    showForces(view, model, wanted);
    status(frame);
}

// Updates the panel's drawing time, and an attribute for tests with the frame shown.
function tellPicture(view, model, frame, decode) {
    const { decode: old = decode, draw = view.stage.drawMs } = model.picture ?? {};
    model.picture = { decode: old + 0.1 * (decode - old), draw: draw + 0.1 * (view.stage.drawMs - draw) };
    const { count: contacts } = view.contacts,
        { count: touches } = view.touches;
    Object.assign(view.stage.canvas.dataset, { frame, decode, draw: view.stage.drawMs, contacts, touches });
}

// The previous frame, or a slightly earlier one that is available.
function previous(view, frames, number) {
    for (let back = 1; back <= 8 && number >= back; back++) {
        if (frames.has(number - back)) return frames.get(number - back);
    }
    frames.want(number - 1);
    return null;
}

function showForces(view, model, frame) {
    const { metrics } = model,
        row = metrics.rowOf(frame);
    if (row < 0 || !view.contacts) return;
    const forceOf = (name) => {
        const force = ['x', 'y', 'z'].map((c) => metrics.at(`reactions/obstacles/${name}/${c}`, row));
        return force.every((f) => f !== null) ? force : null;
    };
    for (const { given } of view.obstacles) {
        const column = metrics.column(`reactions/obstacles/${given.name}`);
        const now = column ? column[row] : 0;
        if (now > (view.mostForce ?? 0)) view.mostForce = now;
    }
    view.contacts.setForces(forceOf, view.mostForce || 1);
}

// When controls moved an obstacle or a pin: the start of the first frame in which each is in effect.
export function changesOf(model, kind, name) {
    return model.controls.flatMap(({ frame, control }) => {
        const part = control[kind]?.find((one) => one.name === name);
        if (!part?.motion || frame === null) return [];
        const row = model.metrics.rowOf(frame - 1);
        return [
            {
                time: model.metrics.at('time', row) ?? (frame - 1) * model.player.frameSeconds,
                motion: part.motion,
            },
        ];
    });
}
