// Light as in pictures of `pliant export`: a warm key light from above with soft shadows, a weak cool one from the
// side, and the sky; it replaces the lamp at the camera.

import {
    Color,
    DirectionalLight,
    HemisphereLight,
    Mesh,
    PCFShadowMap,
    PlaneGeometry,
    ShadowMaterial,
    Vector3,
} from 'three';

const MAP = 1024; // texels of the shadow map, each way
const SOFT = 6; // texels: half the width of a shadow's edge
const DARK = 0.3; // of the ground in shadow
const AWAY = 0.01; // of the scene's size: offset by which a point ignores its immediate surroundings
const rgb = (r, g, b) => new Color().setRGB(r, g, b); // in linear light

export class Shade {
    on = false;
    #key = null;
    #lights = [];
    #ground = null;

    constructor(stage) {
        this.stage = stage;
    }

    set(on) {
        if (on === this.on) return;
        this.on = on;
        const { stage } = this;
        if (on && !this.#key) this.#make();
        for (const light of this.#lights) light.visible = on;
        for (const light of stage.lights) light.visible = !on;
        if (this.#ground) this.#ground.visible = on;
        stage.renderer.shadowMap.enabled = on;
        stage.touch();
    }

    #make() {
        const { stage } = this;
        const { shadowMap } = stage.renderer;
        shadowMap.type = PCFShadowMap;
        shadowMap.autoUpdate = false; // turning the camera changes no shadow
        this.#key = new DirectionalLight(rgb(1, 0.96, 0.9), 0.8 * Math.PI);
        const { shadow } = this.#key;
        this.#key.castShadow = true;
        shadow.mapSize.set(MAP, MAP);
        shadow.radius = SOFT;
        const fill = new DirectionalLight(rgb(0.8, 0.9, 1), 0.14 * Math.PI);
        const sky = new HemisphereLight(rgb(0.34, 0.38, 0.44), rgb(0.17, 0.15, 0.14), Math.PI);
        this.#lights = [this.#key, fill, sky];
        this.#ground = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: DARK, depthWrite: false }));
        this.#ground.receiveShadow = true;
        this.#ground.renderOrder = -1;
        this.#ground.frustumCulled = false;
        stage.scene.add(...this.#lights, this.#key.target, this.#ground);
    }

    // Places the lights around the visible region, and renders a shadow map of the present objects.
    aim(box) {
        if (!this.on) return;
        const { stage } = this;
        const [key, fill, sky] = this.#lights;
        const centre = box.getCenter(new Vector3());
        const size = box.getSize(new Vector3()).length() || 1,
            reach = 0.5 * size;
        const up = new Vector3().setComponent(stage.up, 1);
        const right = new Vector3().setComponent((stage.up + 2) % 3, 1);
        const near = right.clone().cross(up);
        const from = (aside, upward, ahead) =>
            new Vector3().addScaledVector(right, aside).addScaledVector(up, upward).addScaledVector(near, ahead);
        key.position.copy(centre).addScaledVector(from(-0.36, 1, 0.3).normalize(), 2 * size);
        key.target.position.copy(centre);
        key.target.updateMatrixWorld();
        fill.position.copy(from(0.9, 0.25, 0.6));
        sky.position.copy(up);
        const { camera } = key.shadow;
        Object.assign(camera, { left: -reach, right: reach, bottom: -reach, top: reach });
        [camera.near, camera.far] = [0.1 * size, 6 * size];
        camera.updateProjectionMatrix();
        key.shadow.normalBias = AWAY * size;
        const ground = this.#ground;
        ground.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
        ground.position.copy(centre).setComponent(stage.up, stage.ground);
        ground.scale.setScalar(8 * size);
        stage.renderer.shadowMap.needsUpdate = true;
    }
}
