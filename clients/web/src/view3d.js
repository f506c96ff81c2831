// The picture of a session: its bodies in a frame, pins and obstacles. Buffers are made once per session and rewritten
// for each frame.

import {
    Box3,
    BufferAttribute,
    BufferGeometry,
    DoubleSide,
    DynamicDrawUsage,
    InstancedMesh,
    LineBasicMaterial,
    LineSegments,
    Matrix4,
    Mesh,
    MeshLambertMaterial,
    Points,
    PointsMaterial,
    Quaternion,
    Raycaster,
    SphereGeometry,
    Triangle,
    Vector2,
    Vector3,
} from 'three';
import { bodyColour, colourValues } from './colormap.js';
import { Contacts } from './contacts.js';
import { FIELDS, InnerStretch, computeField, rangeOf } from './fields.js';
import { handlesOf } from './handle.js';
import { Track, obstacleGeometry, obstacleMaterial } from './obstacles.js';
import { Measure } from './measure.js';
import { copyField } from './records.js';
import { Section } from './section.js';
import { Shade } from './shade.js';
import { Stage } from './stage.js';
import { Stress } from './stress.js';
import { Surface } from './surface.js';
import { Touches } from './touches.js';

const PIN = 0x2456e6;
const PICKED = 0xe0218a;
const REACH = 6; // multiple of the initially framed size: anything farther away is not framed
const LARGE = 1.5; // times the bodies' size: of a larger obstacle only the surroundings of the bodies are framed
const ABOUT = 0.2; // of the bodies' size
const SAG = 0.16; // of an edge: how far an edge is inside a ball of twice its length whose vertices are on the ball

export class View3D {
    surface = null;
    shown = null; // {number, time} of the frame in the picture
    field = 'none';
    range = null; // [low, high] if locked, else null
    seen = null; // the range that is drawn
    flat = true;
    picked = null; // a drawn vertex
    contactsShown = false;
    wires = false;
    section = new Section(this);
    measure = new Measure(this);
    ghosts = []; // of other sessions
    ink = 0x000000; // colour of objects drawn over bodies
    #bodies = null;
    #before = null; // positions of the frame shown before
    #later = []; // frames to be framed once available
    #ray = new Raycaster();

    // `changes(kind, name)`: changes by controls to a motion of 'obstacles' or 'pins', [{time, motion}].
    constructor(canvas, { beforeDraw, onCamera, changes }) {
        this.changes = changes;
        this.stage = new Stage(canvas, { beforeDraw, onCamera, onResize: () => this.measure.size() });
        this.shade = new Shade(this.stage);
        this.#ray.params.Line.threshold = 0.01;
    }

    destroy() {
        this.stage.destroy();
    }

    // ---- set-up -------------------------------------------------------------------------------

    setSession(topology, drawn, scene) {
        this.#clear();
        this.topology = topology;
        this.scene = scene;
        this.up = upOf(scene?.gravity);
        this.surface = new Surface(topology, drawn);
        this.shown = this.seen = this.picked = null;
        this.#makeBodies();
        this.#makePins();
    }

    #clear() {
        for (const thing of this.things ?? []) {
            this.stage.scene.remove(thing);
            thing.traverse((part) => {
                part.geometry?.dispose();
                part.material?.dispose();
            });
        }
        this.things = [];
        this.obstacles = [];
        this.missing = 0; // obstacles without triangles
        this.furnished = false;
        this.#later = [];
        this.#before = null;
    }

    #add(thing) {
        this.things.push(thing);
        this.stage.scene.add(thing);
        return thing;
    }

    #makeBodies() {
        const { surface } = this;
        const attribute = (size) =>
            new BufferAttribute(new Float32Array(size * surface.count), size).setUsage(DynamicDrawUsage);
        const positions = new BufferAttribute(surface.positions, 3).setUsage(DynamicDrawUsage);
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', positions);
        geometry.setAttribute('normal', attribute(3));
        // For flat faces only the offset of shadows uses normals, and any that point up will do.
        geometry.getAttribute('normal').array.fill(Math.sqrt(1 / 3));
        geometry.setAttribute('color', attribute(3));
        geometry.setIndex(new BufferAttribute(surface.triangles, 1));
        this.values = new Float32Array(surface.count);
        const material = new MeshLambertMaterial({
            vertexColors: true,
            side: DoubleSide,
            flatShading: this.flat,
            polygonOffset: true,
            polygonOffsetFactor: 1,
            polygonOffsetUnits: 1,
        });
        const mesh = this.#add(new Mesh(geometry, material));
        const lines = (index, colour, opacity) => {
            const shape = new BufferGeometry();
            shape.setAttribute('position', positions);
            shape.setIndex(new BufferAttribute(index, 1));
            const look = new LineBasicMaterial({ color: colour, transparent: opacity < 1, opacity });
            return this.#add(new LineSegments(shape, look));
        };
        const ropes = lines(surface.edges, 0xffffff, 1);
        ropes.geometry.setAttribute('color', geometry.getAttribute('color'));
        ropes.material.vertexColors = true;
        const dots = this.#add(
            new Points(
                ropes.geometry,
                new PointsMaterial({
                    vertexColors: true,
                    size: 4,
                    sizeAttenuation: false,
                }),
            ),
        );
        const outline = lines(new Uint32Array(0), PICKED, 1);
        outline.material.depthTest = false;
        outline.renderOrder = 1;
        outline.visible = false;
        const picked = new BufferGeometry();
        picked.setAttribute('position', new BufferAttribute(new Float32Array(3), 3));
        const mark = this.#add(
            new Points(
                picked,
                new PointsMaterial({
                    color: PICKED,
                    size: 10,
                    sizeAttenuation: false,
                    depthTest: false,
                    transparent: true,
                }),
            ),
        );
        mark.visible = false;
        for (const thing of [mesh, ropes, dots, mark, outline]) thing.frustumCulled = false;
        mesh.castShadow = mesh.receiveShadow = ropes.castShadow = true;
        dots.visible = ropes.visible = surface.edges.length > 0;
        this.#bodies = { mesh, geometry, positions, ropes, mark, outline, wires: null, lines };
        this.#paint();
        const add = (thing) => this.#add(thing);
        this.section.make(add);
        this.measure.make(add);
        this.marks = [mark, outline, ...this.measure.things];
        if (this.wires) this.setWireframe(true);
    }

    #makePins() {
        this.pins = [];
        this.#trackPins();
        for (const pin of this.topology.pins ?? []) {
            for (const vertex of pin.at ?? []) {
                const index = this.surface.indexOf(vertex);
                if (index >= 0) this.pins.push({ kind: 'pin', name: pin.name, index });
            }
        }
        for (const { name, body, vertex } of handlesOf(this.scene)) {
            const owner = this.topology.bodies.find((one) => one.name === body);
            const index = owner ? this.surface.indexOf(owner.first_vertex + vertex) : -1;
            if (index >= 0) this.pins.push({ kind: 'handle', name, index });
        }
        const mesh = new InstancedMesh(
            new SphereGeometry(1, 10, 8),
            new MeshLambertMaterial({ color: PIN }),
            this.pins.length,
        );
        mesh.frustumCulled = false;
        this.pinMesh = this.#add(mesh);
    }

    #furnish() {
        const { surface } = this;
        this.furnished = true;
        surface.measure();
        const low = [...surface.low],
            high = [...surface.high];
        const size = Math.hypot(...high.map((h, c) => h - low[c])) || 1;
        this.size = size;
        this.sag = Math.min(SAG * surface.meanEdge(), 0.02 * size);
        let ground = low[this.up];
        for (const [k, obstacle] of this.topology.obstacles.entries()) {
            const plane = obstacle.plane,
                normal = plane?.normal ?? [0, 1, 0];
            if (plane && Math.abs(normal[this.up]) > 0.99) ground = plane.offset * Math.sign(normal[this.up]);
            this.#makeObstacle(obstacle, this.topology.obstacle_surfaces?.[k], size, low, high);
        }
        if (ground > low[this.up] - 2 * size) low[this.up] = Math.min(low[this.up], ground);
        this.stage.furnish(low, high, this.up, ground);
        this.contacts = new Contacts(this.obstacles, size);
        this.touches = new Touches(size, this.ink);
        this.setContacts(this.contactsShown);
        [...this.contacts.things, ...this.touches.things].forEach((thing) => this.#add(thing));
        this.stage.fit(new Vector3(0.6, 0.45, 1));
        if (this.wantedView) this.stage.view = this.wantedView;
        this.#later.splice(0).forEach((frame) => this.include(frame));
    }

    // Frames another frame, unless the user has moved the camera: films begin where their bodies are visible.
    include(frame) {
        if (!this.furnished) this.#later.push(frame);
        if (!this.furnished || this.wantedView || this.stage.turned || frame.count !== this.surface.count) return;
        const box = new Box3().setFromArray(copyField(frame.position, new Float32Array(3 * frame.count)));
        const both = this.stage.box.clone().union(box);
        const far = both.getSize(new Vector3()).length() > REACH * this.stage.box.getSize(new Vector3()).length();
        if (far || this.stage.box.containsBox(box)) return;
        this.stage.box.copy(both);
        this.stage.fit();
    }

    #makeObstacle(obstacle, surface, size, low, high) {
        const geometry = obstacleGeometry(obstacle, surface, 6 * size);
        if (!geometry) {
            this.missing++;
            return;
        }
        const mesh = this.#add(new Mesh(geometry, obstacleMaterial(obstacle, this.sag)));
        mesh.matrixAutoUpdate = false;
        mesh.receiveShadow = true;
        mesh.castShadow = !obstacle.plane;
        const track = new Track(obstacle, surface, this.changes('obstacles', obstacle.name));
        this.obstacles.push({ given: obstacle, surface, mesh, track });
        if (obstacle.plane) return;
        geometry.computeBoundingBox();
        const { min, max } = geometry.boundingBox;
        const reach = min.distanceTo(max) > LARGE * size ? ABOUT * size : size;
        const { low: least, high: most } = this.surface;
        ['x', 'y', 'z'].forEach((axis, c) => {
            low[c] = Math.min(low[c], Math.max(min[axis], least[c] - reach));
            high[c] = Math.max(high[c], Math.min(max[axis], most[c] + reach));
        });
    }

    // Called when controls have changed motions.
    followChanges() {
        for (const one of this.obstacles) {
            one.track = new Track(one.given, one.surface, this.changes('obstacles', one.given.name));
        }
        this.#trackPins();
        if (this.shown) this.#moveObstacles(this.shown.time);
        this.stage.touch();
    }

    #trackPins() {
        const pins = this.scene?.pins ?? [];
        this.pinTracks = new Map(
            pins.map((pin) => [pin.name, new Track(pin, null, this.changes('pins', pin.name))]),
        );
    }

    // ---- a frame ------------------------------------------------------------------------------

    // Writes the frame's numbers into the buffers. `before`: {position, time} of the previous frame, if the field needs
    // it. Returns the time taken, in ms.
    show(frame, before, rest) {
        if (!this.surface || frame.count !== this.surface.count) return 0;
        const begun = performance.now();
        const { surface } = this;
        copyField(frame.position, surface.positions);
        if (rest && !surface.rest && rest.count === surface.count) {
            surface.rest = copyField(rest.position, new Float32Array(3 * surface.count));
        }
        this.#keepBefore(before, frame);
        this.shown = { number: frame.number, time: frame.time };
        if (!this.furnished) this.#furnish();
        this.#bodies.positions.needsUpdate = true;
        if (!this.flat) this.#updateNormals();
        this.recolour();
        this.section.update();
        this.#moveObstacles(frame.time);
        this.#movePins();
        this.contacts.update(surface, frame.time);
        this.touches.update(frame.contacts);
        this.#moveMark();
        this.#aimLight();
        this.measure.update();
        this.stage.touch();
        return performance.now() - begun;
    }

    #keepBefore(before, frame) {
        if (!before || before.count !== frame.count || FIELDS[this.field].needs !== 'before') {
            this.seconds = 0;
            return;
        }
        this.#before ??= new Float32Array(3 * this.surface.count);
        copyField(before.position, this.#before);
        this.seconds = frame.time - before.time;
    }

    #updateNormals() {
        const normals = this.#bodies.geometry.getAttribute('normal');
        this.surface.normals(normals.array);
        normals.needsUpdate = true;
    }

    // The bodies' own colours.
    #paint() {
        const colours = this.#bodies.geometry.getAttribute('color');
        this.surface.paint((body) => bodyColour(body).linear, colours.array);
        colours.needsUpdate = true;
        this.painted = true;
    }

    recolour() {
        const { geometry } = this.#bodies;
        const field = FIELDS[this.field];
        const known = this.field !== 'none' && this.#compute();
        this.stage.touch();
        if (!known) {
            if (!this.painted) this.#paint();
            this.section.colour();
            return;
        }
        this.painted = false;
        const found = rangeOf(this.values, field.map === 'diverging');
        this.found = found;
        this.seen = this.range ?? widened(this.seen, found);
        const colours = geometry.getAttribute('color');
        colourValues(this.values, this.seen[0], this.seen[1], field.map, colours.array);
        colours.needsUpdate = true;
        this.section.colour();
    }

    // For vertices, three numbers each.
    get colours() {
        return this.#bodies.geometry.getAttribute('color').array;
    }

    #compute() {
        const { surface, tets } = this;
        if (this.field === 'stretch' && tets && surface.rest && !surface.global) {
            surface.inner ??= new InnerStretch(tets, surface.rest, surface.slack.share);
        }
        const given = {
            before: this.#before,
            seconds: this.seconds,
            up: this.up,
            stress: () => this.#stress(),
        };
        return computeField(this.field, this.surface, given, this.values);
    }

    // Made on first use, from the tetrahedra and frame 0 with all of its vertices.
    #stress() {
        const { surface, tets } = this;
        if (!tets || !surface.rest || surface.global) return null;
        surface.stress ??= new Stress(this.topology, this.scene, tets, surface.rest);
        return surface.stress;
    }

    #moveObstacles(time) {
        for (const { mesh, track } of this.obstacles) {
            track.matrixAt(time, mesh.matrix);
            mesh.matrixWorldNeedsUpdate = true;
        }
    }

    #movePins() {
        const radius = 0.008 * this.size,
            { positions } = this.surface;
        const matrix = new Matrix4();
        this.pins.forEach(({ index, kind }, i) => {
            const r = kind === 'handle' ? 2 * radius : radius;
            matrix.makeScale(r, r, r);
            matrix.setPosition(positions[3 * index], positions[3 * index + 1], positions[3 * index + 2]);
            this.pinMesh.setMatrixAt(i, matrix);
        });
        this.pinMesh.instanceMatrix.needsUpdate = true;
    }

    // ---- appearance ---------------------------------------------------------------------------

    setField(name) {
        this.field = name;
        this.seen = this.range = null;
    }

    setFlat(flat) {
        this.flat = flat;
        const { material } = this.#bodies.mesh;
        material.flatShading = flat;
        material.needsUpdate = true;
        if (!flat) this.#updateNormals();
        this.stage.touch();
    }

    setWireframe(shown) {
        const bodies = this.#bodies;
        if (shown && !bodies.wires) {
            bodies.wires = bodies.lines(this.surface.sides, 0x101418, 0.5);
            bodies.wires.frustumCulled = false;
        }
        if (bodies.wires) bodies.wires.visible = shown;
        this.wires = shown;
        this.setSection();
    }

    // Called after a setting of the section has changed.
    setSection() {
        this.section.update();
        this.#aimLight();
        this.stage.touch();
    }

    setShade(on) {
        this.shade.set(on);
        this.#aimLight();
    }

    // The light's shadow map of the bodies as they are now.
    #aimLight() {
        if (!this.shade.on || !this.furnished) return;
        const { surface, stage } = this;
        surface.measure();
        const box = new Box3(new Vector3(...surface.low), new Vector3(...surface.high));
        this.shade.aim(box.union(stage.box));
    }

    setContacts(shown) {
        this.contactsShown = shown;
        this.contacts?.setVisible(shown);
        this.touches?.setVisible(shown);
        this.stage.touch();
    }

    setTheme(theme) {
        this.stage.setColours(theme.colour('view'), theme.colour('grid'));
        this.setInk(theme.colour('text'));
    }

    setInk(ink) {
        this.ink = ink;
        this.touches?.setInk(ink);
        this.measure.update();
        this.stage.touch();
    }

    fit() {
        if (!this.surface) return;
        this.surface.measure();
        const low = [...this.surface.low],
            high = [...this.surface.high];
        this.stage.box.set(new Vector3(...low), new Vector3(...high));
        this.stage.fit();
    }

    // ---- pointing at things -------------------------------------------------------------------

    #aim(x, y) {
        const { clientWidth: width, clientHeight: height } = this.stage.canvas;
        this.#ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.stage.camera);
        return this.#ray;
    }

    // The first object hit that was not cut away.
    #hit(ray, things) {
        return ray.intersectObjects(things, false).find((hit) => this.section.shows(hit)) ?? null;
    }

    // The object drawn at a position of the canvas, in pixels: {point, corners: [{index, weight}]} for a body, whose
    // corners are drawn vertices; {point, obstacle}; null if nothing is hit.
    hitAt(x, y, obstacles = true) {
        if (!this.shown) return null;
        const { mesh, geometry, ropes } = this.#bodies;
        const ray = this.#aim(x, y);
        geometry.boundingSphere = geometry.boundingBox = null;
        ropes.geometry.boundingSphere = ropes.geometry.boundingBox = null;
        ray.params.Line.threshold = 0.01 * this.size;
        const solid = obstacles ? this.obstacles.map((one) => one.mesh) : [];
        const hit = this.#hit(ray, [mesh, ropes, this.section.surface, ...solid]);
        if (!hit) return null;
        const obstacle = this.obstacles.find((one) => one.mesh === hit.object);
        return obstacle ? { point: hit.point, obstacle } : { point: hit.point, corners: this.#cornersOf(hit) };
    }

    #cornersOf({ object, face, index, point }) {
        const { positions, edges } = this.surface;
        if (!face) {
            const [a, b] = [edges[index], edges[index + 1]].map((i) => this.pointOf(i));
            const along = b.clone().sub(a);
            const share = Math.min(1, Math.max(0, point.clone().sub(a).dot(along) / along.lengthSq()));
            return [
                { index: edges[index], weight: 1 - share },
                { index: edges[index + 1], weight: share },
            ];
        }
        const cut = object === this.section.surface;
        const list = cut ? this.section.positions : positions;
        const triangle = [face.a, face.b, face.c];
        const [a, b, c] = triangle.map((i) => new Vector3().fromArray(list, 3 * i));
        const weights = Triangle.getBarycoord(point, a, b, c, new Vector3())?.toArray() ?? [1, 0, 0];
        if (!cut) return triangle.map((i, k) => ({ index: i, weight: weights[k] }));
        return this.section.cornersOf(triangle, weights);
    }

    // The drawn vertex nearest to a position of the canvas, in pixels; null if there is no body. On a cut, a vertex
    // that was kept.
    pick(x, y) {
        const hit = this.hitAt(x, y, false);
        if (!hit) return null;
        const kept = hit.corners.filter(({ index }) => this.section.keeps(this.pointOf(index)));
        return this.#nearest((kept.length ? kept : hit.corners).map(({ index }) => index), hit.point);
    }

    // The position of a drawn vertex.
    pointOf(index) {
        return new Vector3().fromArray(this.surface.positions, 3 * index);
    }

    #nearest(indices, point) {
        const distance = (i) => this.pointOf(i).distanceTo(point);
        return indices.reduce((best, i) => (distance(i) < distance(best) ? i : best));
    }

    // The drawn pin nearest to a position of the canvas, within `reach` pixels, and not behind a body at distance
    // `hidden`.
    #pinNear(x, y, hidden, reach) {
        const { camera } = this.stage;
        const { positions } = this.surface;
        const point = new Vector3(),
            seen = new Vector3();
        let found = null,
            least = reach;
        for (const pin of this.pins) {
            seen.copy(point.fromArray(positions, 3 * pin.index)).project(camera);
            const away = this.stage.pixelsFrom(point, x, y);
            const behind = camera.position.distanceTo(point) > hidden + 0.05 * this.size;
            if (away >= least || behind || Math.abs(seen.z) > 1) continue;
            least = away;
            found = { ...pin, point: point.clone() };
        }
        return found;
    }

    // {kind: 'pin', 'handle' or 'obstacle', name, point}: the thing that a drag from there would move. `reach`: pixels
    // from a pin.
    grip(x, y, reach) {
        if (!this.shown) return null;
        const ray = this.#aim(x, y);
        const body = this.#hit(ray, [this.#bodies.mesh, this.section.surface]);
        const pin = this.#pinNear(x, y, body?.distance ?? Infinity, reach);
        if (pin) return pin;
        const solid = this.obstacles.filter(({ given }) => !given.plane).map(({ mesh }) => mesh);
        const hit = this.#hit(ray, solid);
        if (!hit || (body && body.distance < hit.distance)) return null;
        const { given } = this.obstacles.find(({ mesh }) => mesh === hit.object);
        return { kind: 'obstacle', name: given.name, point: hit.point };
    }

    // The displacement by the motion of a grip's thing, including controls that take effect after the shown frame:
    // {shift, turn}, as in a control.
    poseOf({ kind, name }) {
        const track =
            kind === 'pin'
                ? this.pinTracks.get(name)
                : this.obstacles.find(({ given }) => given.name === name)?.track;
        return track?.poseAhead(this.shown.time) ?? { shift: new Vector3(), turn: new Quaternion() };
    }

    // The intersection of the ray through a position of the canvas with the plane through `point` that faces the
    // camera.
    onPlane(x, y, point) {
        const { ray } = this.#aim(x, y);
        const normal = this.stage.camera.getWorldDirection(new Vector3());
        const t = point.clone().sub(ray.origin).dot(normal) / ray.direction.dot(normal);
        return ray.at(t, new Vector3());
    }

    setPicked(index) {
        this.picked = index;
        this.#bodies.mark.visible = index !== null;
        this.#moveMark();
        this.stage.touch();
    }

    // Outline an element by its global vertices, drawn on top; null removes the outline.
    setOutline(vertices) {
        const indices = (vertices ?? []).map((vertex) => this.surface.indexOf(vertex));
        const pairs = indices.flatMap((a, i) =>
            indices.slice(i + 1).flatMap((b) => (a >= 0 && b >= 0 ? [a, b] : [])),
        );
        const { outline } = this.#bodies;
        outline.geometry.setIndex(pairs);
        outline.visible = pairs.length > 0;
        this.stage.touch();
    }

    #moveMark() {
        if (this.picked === null) return;
        const at = this.#bodies.mark.geometry.getAttribute('position');
        at.array.set(this.surface.positions.subarray(3 * this.picked, 3 * this.picked + 3));
        at.needsUpdate = true;
    }

    // A PNG of the view, as a blob.
    screenshot() {
        this.stage.draw();
        return new Promise((done) => this.stage.canvas.toBlob(done, 'image/png'));
    }
}

// The axis that points up: against gravity, else y.
function upOf(gravity = [0, -9.81, 0]) {
    const most = Math.max(...gravity.map(Math.abs));
    return most > 0 ? gravity.findIndex((g) => Math.abs(g) === most) : 1;
}

// A range that includes another one, so that colours do not flicker from frame to frame.
export function widened(range, found) {
    if (!range) return found;
    return [Math.min(range[0], found[0]), Math.max(range[1], found[1])];
}
