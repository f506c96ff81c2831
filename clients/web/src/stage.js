// The space around a session: camera, light, ground with a scale, axes; drawn on request.

import {
    Box3,
    BufferAttribute,
    BufferGeometry,
    Color,
    DirectionalLight,
    HemisphereLight,
    LineBasicMaterial,
    LineSegments,
    PerspectiveCamera,
    Scene,
    Vector3,
    WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

const GRID_LINES = 10; // each way from the middle
const POLE = 0.02; // radians: closest approach of the camera to straight down
const FILLED = 0.86; // fraction of the picture filled by the region brought into view

// The largest of 1, 2, 5 x 10^k not above x.
export function roundDown(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    const digit = x / power;
    return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

function gridGeometry(step, up) {
    const points = [],
        reach = GRID_LINES * step;
    const [u, v] = [0, 1, 2].filter((axis) => axis !== up);
    for (let i = -GRID_LINES; i <= GRID_LINES; i++) {
        for (const [fixed, along] of [
            [u, v],
            [v, u],
        ]) {
            for (const end of [-reach, reach]) {
                const p = [0, 0, 0];
                p[fixed] = i * step;
                p[along] = end;
                points.push(...p);
            }
        }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
    return geometry;
}

export class Stage {
    scene = new Scene();
    box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    gridStep = 1;
    turned = false; // the user has moved the camera
    drawMs = 0; // of the last picture, until the commands were submitted
    #grid = null;
    #dirty = true;
    #timer = 0;

    // `beforeDraw(now)` is called once for each picture of the screen; `onCamera` when the camera has moved.
    constructor(canvas, { beforeDraw, onCamera, onResize }) {
        this.onResize = onResize;
        this.canvas = canvas;
        this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
        this.camera = new PerspectiveCamera(40, 1, 0.01, 100);
        this.orbit = new OrbitControls(this.camera, canvas);
        this.orbit.enableDamping = false;
        this.orbit.addEventListener('change', () => {
            this.touch();
            onCamera();
        });
        this.orbit.addEventListener('start', () => (this.turned = true));
        const lamp = new DirectionalLight(0xffffff, 2.2);
        lamp.position.set(0.4, 0.7, 1);
        this.camera.add(lamp);
        this.lights = [lamp, new HemisphereLight(0xffffff, 0x8899aa, 1.5)];
        this.scene.add(this.camera, this.lights[1]);
        this.#watchSize();
        const loop = (now) => {
            this.#timer = requestAnimationFrame(loop);
            beforeDraw(now);
            if (this.#dirty) this.draw();
        };
        this.#timer = requestAnimationFrame(loop);
    }

    #watchSize() {
        this.watcher = new ResizeObserver(() => {
            const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
            if (!width || !height) return;
            this.renderer.setSize(width, height, false);
            this.camera.aspect = width / height;
            this.camera.updateProjectionMatrix();
            this.onResize();
            this.draw();
        });
        this.watcher.observe(this.canvas.parentElement);
    }

    destroy() {
        cancelAnimationFrame(this.#timer);
        this.watcher.disconnect();
        this.orbit.dispose();
        this.scene.traverse((thing) => {
            thing.geometry?.dispose();
            thing.material?.dispose();
        });
        this.renderer.dispose();
        this.renderer.forceContextLoss();
    }

    touch() {
        this.#dirty = true;
    }

    draw() {
        this.#dirty = false;
        const begun = performance.now();
        this.renderer.render(this.scene, this.camera);
        this.drawMs = performance.now() - begun;
    }

    // Sets the theme's colours: the background and the lines of the ground.
    setColours(background, lines) {
        this.background = new Color(background);
        this.lines = new Color(lines);
        this.scene.background = this.background;
        if (this.#grid) this.#grid.material.color = this.lines;
        this.touch();
    }

    // `low`, `high`: the region to show; `ground`: the grid's position along the axis `up`.
    furnish(low, high, up, ground) {
        this.box.set(new Vector3(...low), new Vector3(...high));
        const size = this.box.getSize(new Vector3()).length() || 1;
        this.up = up;
        this.ground = ground;
        this.gridStep = roundDown(size / 6);
        this.#grid?.geometry.dispose();
        if (this.#grid) this.scene.remove(this.#grid);
        const material = new LineBasicMaterial({
            color: this.lines ?? 0x888888,
            transparent: true,
            opacity: 0.55,
        });
        this.#grid = new LineSegments(gridGeometry(this.gridStep, up), material);
        const middle = this.box.getCenter(new Vector3()).toArray();
        middle.forEach((x, axis) => {
            middle[axis] = axis === up ? ground : Math.round(x / this.gridStep) * this.gridStep;
        });
        this.#grid.position.set(...middle);
        this.scene.add(this.#grid);
        this.touch();
    }

    setGrid(shown) {
        if (this.#grid) this.#grid.visible = shown;
        this.touch();
    }

    fit(direction = null) {
        const centre = this.box.getCenter(new Vector3());
        const radius = this.box.getSize(new Vector3()).length() / 2 || 1;
        const way = direction ?? this.camera.position.clone().sub(this.orbit.target);
        if (way.lengthSq() === 0 || !Number.isFinite(way.lengthSq())) way.set(0.6, 0.45, 1);
        const up = [0, 0, 0];
        up[this.up ?? 1] = 1;
        this.camera.up.set(...up);
        this.#reorient();
        this.orbit.target.copy(centre);
        this.camera.position.copy(centre).addScaledVector(way, this.#distance(way.normalize(), radius));
        this.camera.near = radius / 200;
        this.camera.far = radius * 200;
        this.camera.updateProjectionMatrix();
        this.orbit.update();
        this.touch();
    }

    // The distance from its middle along `back` at which the corners of the box fill the picture.
    #distance(back, radius) {
        const { up, fov, aspect } = this.camera;
        const right = up.clone().cross(back);
        if (right.lengthSq() < 1e-6) right.set(up.y, up.z, up.x).cross(back);
        right.normalize();
        const top = back.clone().cross(right);
        const tall = FILLED * Math.tan((fov * Math.PI) / 360);
        const half = this.box.getSize(new Vector3()).divideScalar(2);
        let most = 0;
        for (let k = 0; k < 8; k++) {
            const corner = new Vector3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).multiply(half);
            const beside = Math.max(Math.abs(corner.dot(right)) / aspect, Math.abs(corner.dot(top)));
            most = Math.max(most, corner.dot(back) + beside / tall);
        }
        return Math.max(most, 0.1 * radius);
    }

    // Rotates the camera as a drag does: sideways about the up axis, and towards it, in radians.
    turn(aside, upward) {
        const away = this.camera.position.clone().sub(this.orbit.target);
        const { up } = this.camera;
        away.applyAxisAngle(up, aside);
        const angle = away.angleTo(up);
        const wanted = Math.min(Math.PI - POLE, Math.max(POLE, angle - upward));
        away.applyAxisAngle(away.clone().cross(up).normalize(), angle - wanted);
        this.#goAway(away);
    }

    zoom(times) {
        this.#goAway(this.camera.position.clone().sub(this.orbit.target).multiplyScalar(1 / times));
    }

    #goAway(offset) {
        this.turned = true;
        this.camera.position.copy(this.orbit.target).add(offset);
        this.orbit.update();
        this.touch();
    }

    // Copies the camera of another stage.
    copyCamera({ camera, orbit }) {
        const mine = this.camera;
        const same = mine.position.equals(camera.position) && this.orbit.target.equals(orbit.target);
        if (same && mine.up.equals(camera.up) && mine.far === camera.far) return;
        mine.position.copy(camera.position);
        mine.up.copy(camera.up);
        [mine.near, mine.far] = [camera.near, camera.far];
        mine.updateProjectionMatrix();
        this.orbit.target.copy(orbit.target);
        this.#reorient();
        this.orbit.update();
        this.touch();
    }

    // OrbitControls reads the camera's up only once, when created.
    #reorient() {
        this.orbit._quat?.setFromUnitVectors(this.camera.up, new Vector3(0, 1, 0));
        this.orbit._quatInverse?.copy(this.orbit._quat).invert();
    }

    // The size of one pixel at a distance of 1.
    get pixel() {
        return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight;
    }

    // Distance in pixels between a point of the scene and a position of the canvas.
    pixelsFrom(point, x, y) {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const seen = point.clone().project(this.camera);
        return Math.hypot(((seen.x + 1) / 2) * width - x, ((1 - seen.y) / 2) * height - y);
    }

    // The name of the renderer.
    get card() {
        const gl = this.renderer.getContext();
        const name = gl.getParameter(gl.RENDERER);
        if (!/webkit/i.test(name)) return name;
        const more = gl.getExtension('WEBGL_debug_renderer_info');
        return more ? gl.getParameter(more.UNMASKED_RENDERER_WEBGL) : name;
    }

    // Six numbers that restore the view.
    get view() {
        return [...this.camera.position.toArray(), ...this.orbit.target.toArray()].map(
            (x) => +x.toPrecision(4),
        );
    }

    set view(numbers) {
        if (numbers?.length !== 6 || !numbers.every(Number.isFinite)) return;
        if (numbers.slice(0, 3).every((x, i) => x === numbers[i + 3])) return; // it looks nowhere
        this.camera.position.set(...numbers.slice(0, 3));
        this.orbit.target.set(...numbers.slice(3));
        this.orbit.update();
        this.touch();
    }
}
