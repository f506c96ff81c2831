// A film of the view, a picture at a time: each shows the frame of its moment and is encoded before the next
// is drawn, so that a slow machine takes longer and makes the same film.

import { BufferTarget, CanvasSource, Output, WebMOutputFormat, getFirstEncodableVideoCodec } from 'mediabunny';

export const FPS = 30;
const BITRATE = 8e6,
    CODECS = ['vp9', 'vp8', 'av1'],
    LAST_S = 0.7; // the last frame stays for a moment

// Wait for the picture of a frame, and keep the player at it. False if the frame is missing or the
// film has ended.
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

// Pictures of the frames from the player's first to its newest at its speed, each into the canvas and the track;
// how many. The film begins with the first that can be had; where one cannot, the one before it stays.
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

// A film from the player's first frame to its newest at its speed, as a blob. `go.on` set to false ends it with
// what there is, null where that is nothing. Throws a sentence where this browser cannot.
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
