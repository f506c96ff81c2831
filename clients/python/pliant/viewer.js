// Draws frames of a session in a cell of a notebook. `data` is written by view.py: bodies and obstacles
// as triangles and edges, positions as 16-bit integers within each frame's box.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const canvas = document.querySelector('canvas');
const [play, slider, label] = ['button', 'input', 'output'].map((name) => document.querySelector(name));
const gl = canvas.getContext('webgl2', { antialias: true });
if (!gl) {
    label.textContent = 'This browser has no WebGL 2.';
    throw new Error(label.textContent);
}

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const sub = (a, b) => a.map((x, i) => x - b[i]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [0, 1, 2].map((i) => a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
const unit = (a) => a.map((x) => x / (Math.hypot(...a) || 1));

// ---- the card ----------------------------------------------------------------------------------

// Faces are lit by their own plane, so that no normals are sent; lines are not lit.
const VERTEX = `#version 300 es
in vec3 at;
uniform vec3 low, size;
uniform mat4 camera;
uniform mat4x3 pose;
out vec3 place;
void main() {
    place = pose * vec4(low + at * size, 1.0);
    gl_Position = camera * vec4(place, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 place;
uniform vec3 eye, light, colour;
uniform bool lit;
out vec4 shown;
void main() {
    vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
    normal *= dot(normal, eye - place) < 0.0 ? -1.0 : 1.0;
    shown = vec4(colour * (lit ? 0.42 + 0.62 * max(dot(normal, light), 0.0) : 1.0), 1.0);
}`;

function buffer(target, array) {
    const made = gl.createBuffer();
    gl.bindBuffer(target, made);
    gl.bufferData(target, array, gl.STATIC_DRAW);
    return made;
}

function programOf() {
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(made, shader);
    }
    gl.bindAttribLocation(made, 0, 'at');
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    gl.useProgram(made);
    return made;
}

const program = programOf();
const uniform = (name) => gl.getUniformLocation(program, name);
const places = Object.fromEntries(
    ['low', 'size', 'camera', 'pose', 'eye', 'light', 'colour', 'lit'].map((name) => [name, uniform(name)]),
);
const indices = (text) => {
    const list = bytes(text);
    return { count: list.length / 4, buffer: buffer(gl.ELEMENT_ARRAY_BUFFER, list) };
};
for (const part of [...data.bodies, ...data.obstacles]) {
    part.triangles = indices(part.triangles);
    part.edges = indices(part.edges);
    if (part.vertices) part.vertices = buffer(gl.ARRAY_BUFFER, bytes(part.vertices));
}
for (const frame of data.frames) frame.buffer = buffer(gl.ARRAY_BUFFER, bytes(frame.data));
gl.enableVertexAttribArray(0);
gl.enable(gl.DEPTH_TEST);

// ---- the camera --------------------------------------------------------------------------------

const { low, high, up } = data;
const target = low.map((x, i) => (x + high[i]) / 2);
const radius = Math.hypot(...sub(high, low)) / 2 || 1;
let [azimuth, elevation, distance] = [0.56, 0.35, 3.1 * radius];
let shownFrame = data.frames.length - 1;

function eyeOf() {
    const direction = [0, 0, 0];
    direction[up] = Math.sin(elevation);
    direction[(up + 1) % 3] = Math.cos(elevation) * Math.cos(azimuth);
    direction[(up + 2) % 3] = Math.cos(elevation) * Math.sin(azimuth);
    return target.map((x, i) => x + distance * direction[i]);
}

// View and perspective in one matrix, a column after the other.
function cameraOf(eye, right, above, back) {
    const [near, far] = [distance / 50, distance + 20 * radius];
    const scale = 1 / Math.tan(0.35);
    const rows = [
        [right, (scale * canvas.height) / canvas.width],
        [above, scale],
    ].map(([axis, by]) => [...axis, -dot(axis, eye)].map((x) => x * by));
    const depth = [...back, -dot(back, eye)];
    const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    rows.push(depth.map((x, i) => a * x + (i === 3 ? b : 0)));
    rows.push(depth.map((x) => -x));
    return [0, 1, 2, 3].flatMap((column) => rows.map((row) => row[column]));
}

// ---- a picture ---------------------------------------------------------------------------------

function drawPart(part) {
    gl.uniform1i(places.lit, 1);
    gl.uniform3fv(places.colour, part.colour);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, part.triangles.buffer);
    gl.drawElements(gl.TRIANGLES, part.triangles.count, gl.UNSIGNED_INT, 0);
    gl.uniform1i(places.lit, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, part.edges.buffer);
    gl.drawElements(gl.LINES, part.edges.count, gl.UNSIGNED_INT, 0);
}

const STILL = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]];

function setPlaces(source, type, normalised, from, to, pose = STILL) {
    gl.uniformMatrix4x3fv(places.pose, false, [0, 1, 2, 3].flatMap((c) => pose.map((row) => row[c])));
    gl.bindBuffer(gl.ARRAY_BUFFER, source);
    gl.vertexAttribPointer(0, 3, type, normalised, 0, 0);
    gl.uniform3fv(places.low, from);
    gl.uniform3fv(places.size, to);
}

function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    gl.viewport(0, 0, canvas.width, canvas.height);
    const ground = getComputedStyle(canvas).backgroundColor.match(/\d+/g).map((x) => x / 255);
    gl.clearColor(ground[0], ground[1], ground[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const eye = eyeOf();
    const back = unit(sub(eye, target));
    const vertical = [0, 0, 0];
    vertical[up] = 1;
    const right = unit(cross(vertical, back));
    const above = cross(back, right);
    gl.uniformMatrix4fv(places.camera, false, cameraOf(eye, right, above, back));
    gl.uniform3fv(places.eye, eye);
    gl.uniform3fv(places.light, unit(back.map((x, i) => x + 0.8 * above[i] - 0.5 * right[i])));
    for (const part of data.obstacles) {
        if (part.plane) part.colour = ground.map((x) => 0.85 * x + 0.075); // of either theme
        const pose = part.poses?.[shownFrame];
        setPlaces(part.vertices, gl.FLOAT, false, [0, 0, 0], [1, 1, 1], pose);
        drawPart(part);
    }
    const frame = data.frames[shownFrame];
    setPlaces(frame.buffer, gl.UNSIGNED_SHORT, true, frame.low, sub(frame.high, frame.low));
    data.bodies.forEach((part) => drawPart(part));
    label.textContent = `frame ${frame.number}, ${frame.time.toPrecision(4)} s`;
}

// ---- what one does with it ---------------------------------------------------------------------

let waits = false;
function touch() {
    if (!waits) requestAnimationFrame(() => ((waits = false), draw()));
    waits = true;
}

function turn(across, along) {
    azimuth += across;
    elevation = Math.min(1.5, Math.max(-1.5, elevation + along));
    touch();
}

function zoom(by) {
    distance = Math.min(30 * radius, Math.max(0.2 * radius, distance * by));
    touch();
}

function show(index) {
    shownFrame = index;
    slider.value = index;
    touch();
}

canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    canvas.focus();
});
canvas.addEventListener('pointermove', (event) => {
    if (event.buttons) turn(-event.movementX / 150, event.movementY / 150);
});
// A page that is scrolled past it is not held up: only a focused view zooms.
canvas.addEventListener('wheel', (event) => {
    if (document.activeElement !== canvas) return;
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 600));
}, { passive: false });
const KEYS = {
    ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0),
    ArrowUp: () => turn(0, 0.1), ArrowDown: () => turn(0, -0.1),
    '+': () => zoom(0.9), '-': () => zoom(1.1),
};
canvas.addEventListener('keydown', (event) => {
    if (!KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
});
slider.max = data.frames.length - 1;
slider.addEventListener('input', () => show(Number(slider.value)));

// Played in real time, whatever the screen's rate is.
let begun = null;
function advance(now) {
    if (begun === null) return;
    const first = data.frames[0].time;
    const next = data.frames.findIndex((frame) => frame.time - first >= (now - begun) / 1000);
    show(next < 0 ? data.frames.length - 1 : next);
    if (next < 0) stop();
    else requestAnimationFrame(advance);
}

function stop() {
    begun = null;
    play.textContent = '▶';
}
play.addEventListener('click', () => {
    if (begun !== null) return stop();
    begun = performance.now();
    play.textContent = '⏸';
    requestAnimationFrame(advance);
});
if (data.frames.length < 2) play.hidden = slider.hidden = true;
new ResizeObserver(touch).observe(canvas);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', touch);
show(shownFrame);
