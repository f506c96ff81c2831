// The timeline: selects the shown frame, independent of the solver. Marks are failures and controls.

import { useOn } from './hooks.js';
import { LIVE, PLAYING, SPEEDS } from './player.js';
import { number } from './format.js';

const MOST_MARKS = 400;

export function marksOf(model) {
    const { session, controls, gaps } = model;
    const marks = [];
    const { failure } = session ?? {};
    if (failure?.frame != null) {
        marks.push({ frame: failure.frame, kind: 'failed', title: `${failure.code}: ${failure.message}` });
    }
    for (const { frame, control, control_id: id } of controls.slice(-MOST_MARKS)) {
        if (frame !== null)
            marks.push({ frame, kind: 'control', title: `control ${id}: ${Object.keys(control).join(', ')}` });
    }
    for (const { from, to, reason } of gaps) {
        marks.push({ frame: from, kind: 'gap', title: `frames ${from} to ${to} are unavailable: ${reason}` });
    }
    return marks;
}

export function Timeline({ model }) {
    const { player } = model;
    useOn(player, 'change frame');
    useOn(model, 'session controls tick');
    const { first, newest, mode, loop, speed } = player;
    const frames = model.session?.progress?.frames ?? newest;
    const last = Math.max(newest, frames, 1);
    const at = player.shown;
    const { metrics } = model;
    const row = metrics.rowOf(at);
    const time = row >= 0 ? metrics.at('time', row) : at * player.frameSeconds;
    return (
        <div class="timeline" role="group" aria-label="Time line">
            <button
                type="button"
                onClick={() => player.step(-1)}
                title="One frame back (←)"
                aria-label="One frame back"
            >
                ◂
            </button>
            <button
                type="button"
                onClick={() => player.toggle()}
                title="Play or pause (space)"
                aria-label={mode === PLAYING ? 'Pause' : 'Play'}
            >
                {mode === PLAYING ? '‖' : '▶'}
            </button>
            <button
                type="button"
                onClick={() => player.step(1)}
                title="One frame forward (→)"
                aria-label="One frame forward"
            >
                ▸
            </button>
            <div class="track">
                <span class="there" style={{ width: `${(100 * newest) / last}%` }} />
                {marksOf(model).map((mark) => (
                    <button
                        type="button"
                        key={`${mark.kind}${mark.frame}${mark.title}`}
                        class={`mark ${mark.kind}`}
                        tabIndex={-1}
                        title={`frame ${mark.frame}, ${mark.title}`}
                        aria-label={`frame ${mark.frame}, ${mark.title}`}
                        style={{ left: `${(100 * mark.frame) / last}%` }}
                        onClick={() =>
                            mark.kind === 'failed' ? model.showFailure() : player.seek(mark.frame)
                        }
                    />
                ))}
                <input
                    type="range"
                    min={0}
                    max={last}
                    step={1}
                    value={at}
                    aria-label="Frame"
                    aria-valuetext={`frame ${at} of ${last}, ${number(time)} seconds`}
                    onInput={(event) => player.seek(Number(event.currentTarget.value))}
                />
            </div>
            <button
                type="button"
                class={mode === LIVE ? 'live on' : 'live'}
                aria-pressed={mode === LIVE}
                onClick={() => player.live()}
                title="Follow the newest frame (L)"
            >
                {model.over ? 'newest' : 'live'}
            </button>
            <span class="numbers place">
                frame {at}
                <span class="faint"> · {number(time, 4)} s</span>
            </span>
            <label class="numbers">
                speed{' '}
                <select value={speed} onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}>
                    {SPEEDS.map((value) => (
                        <option key={value} value={value}>
                            {value}×
                        </option>
                    ))}
                </select>
            </label>
            <label>
                <input
                    type="checkbox"
                    checked={loop}
                    onChange={(event) => player.setLoop(event.currentTarget.checked)}
                />{' '}
                loop
            </label>
        </div>
    );
}
