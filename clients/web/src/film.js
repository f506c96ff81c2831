// A film of the view, a picture at a time: each shows the frame of its moment and is encoded before the next
// is drawn, so that a slow machine takes longer and makes the same film.

import { BufferTarget, CanvasSource, Output, WebMOutputFormat, getFirstEncodableVideoCodec } from 'mediabunny';

export const FPS = 30;
const BITRATE = 8e6,
    CODECS = ['vp9', 'vp8', 'av1'],
    LAST_S = 0.7; // the last frame stays for a moment

// Wait for the picture of a frame: false where it can not be had.
async function drawn(view, model, frame) {
    while (view.shown?.number !== frame || view.stale) {
        if (model.closed || model.frames.whyMissing(frame)) return false;
        await new Promise(requestAnimationFrame);
    }
    view.stage.draw();
    return true;
}

// A film from the player's first frame to its newest at its speed, as a blob. `go.on` set to false ends it with
// what there is. Throws a sentence where this browser can not.
export async function makeFilm(model, view, go) {
    const { player } = model,
        source = view.stage.canvas;
    if (!globalThis.VideoEncoder)
        throw new Error('This browser encodes no video here: open the page by https or as 127.0.0.1.');
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [source.width & ~1, source.height & ~1];
    const context = copy.getContext('2d', { alpha: false });
    const codec = await getFirstEncodableVideoCodec(CODECS, { width: copy.width, height: copy.height });
    if (!codec) throw new Error('This browser encodes none of VP9, VP8 and AV1.');
    const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
    const track = new CanvasSource(copy, { codec, bitrate: BITRATE });
    output.addVideoTrack(track, { frameRate: FPS });
    await output.start();
    const last = player.newest,
        seconds = ((last - player.first) * player.frameSeconds) / player.speed;
    const pictures = Math.ceil(seconds * FPS) + 1;
    for (let i = 0; go.on && i < pictures; i++) {
        const moment = ((i / FPS) * player.speed) / player.frameSeconds;
        const frame = Math.min(last, player.first + Math.floor(moment + 1e-6));
        player.seek(frame);
        if (await drawn(view, model, frame)) context.drawImage(source, 0, 0);
        if (model.closed) break;
        await track.add(i / FPS, i + 1 < pictures ? 1 / FPS : LAST_S);
    }
    await output.finalize();
    return new Blob([output.target.buffer], { type: 'video/webm' });
}
