// A film of the view, one picture at a time: each shows the frame for its time and is encoded before the next is drawn,
// so that a slow machine takes longer but makes the same film.

import { BufferTarget, CanvasSource, Output, WebMOutputFormat, getFirstEncodableVideoCodec } from 'mediabunny';

export const FPS = 30;
const BITRATE = 8e6,
    CODECS = ['vp9', 'vp8', 'av1'],
    LAST_S = 0.7; // the last frame stays for a moment

// Wait until the view shows a frame, and keep the player at it. False if the frame is missing or the film has ended.
async function drawn(view, model, frame, go) {
    const { player, frames } = model;
    for (;;) {
        if (!go.on || model.closed || frames.whyMissing(frame)) return false;
        player.hold(frame);
        if (view.shown?.number === frame && !view.stale) break;
        await new Promise(requestAnimationFrame);
    }
    view.stage.draw();
    return true;
}

// Draw the frames from the player's first to its newest, at its speed, into the canvas and the track; returns the
// number of pictures. The film begins with the first available frame; if one is missing, the previous one stays.
async function addPictures(model, view, go, canvas, track) {
    const source = view.stage.canvas,
        context = canvas.getContext('2d', { alpha: false });
    const { first, newest: last, speed, frameSeconds } = model.player;
    const moments = Math.ceil(((last - first) * frameSeconds * FPS) / speed - 1e-6) + 1;
    let made = 0;
    for (let i = 0; i < moments; i++) {
        const moment = ((i / FPS) * speed) / frameSeconds;
        const frame = Math.min(last, first + Math.floor(moment + 1e-6));
        const good = await drawn(view, model, frame, go);
        if (!go.on || model.closed) break;
        if (good) context.drawImage(source, 0, 0);
        if (good || made > 0) await track.add(made++ / FPS, i + 1 < moments ? 1 / FPS : LAST_S);
    }
    return made;
}

// A film from the player's first frame to its newest at its speed, as a blob. `go.on` set to false ends it with the
// pictures so far, or with null without pictures. Throws a sentence if this browser cannot make films.
export async function makeFilm(model, view, go) {
    const source = view.stage.canvas;
    if (!globalThis.VideoEncoder)
        throw new Error('This browser cannot encode video here: open the page by https or as 127.0.0.1.');
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [source.width & ~1, source.height & ~1];
    const codec = await getFirstEncodableVideoCodec(CODECS, { width: copy.width, height: copy.height });
    if (!codec) throw new Error('This browser cannot encode VP9, VP8 or AV1.');
    const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
    const track = new CanvasSource(copy, { codec, bitrate: BITRATE });
    output.addVideoTrack(track, { frameRate: FPS });
    try {
        await output.start();
        if (await addPictures(model, view, go, copy, track)) await output.finalize();
    } finally {
        if (output.state !== 'finalized') await output.cancel();
    }
    return output.target.buffer && new Blob([output.target.buffer], { type: 'video/webm' });
}
