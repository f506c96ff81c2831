// Decides whether a picture can have shadows: their map draws every triangle once more.

const MOST = 300000; // triangles that a graphics card can draw twice
const SLOW_MS = 45, // from one picture to the next
    MANY = 24; // consecutive pictures

// CPU rendering is too slow, and the solver needs that time.
export const software = (renderer) => /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);

export const shadowsFit = (renderer, triangles) => triangles <= MOST && !software(renderer);

// Measures consecutive pictures: `add(now)` is true once half of the recent ones took too long.
export class Pace {
    #times = [];
    #last = null;

    add(now) {
        if (this.#last !== null && now - this.#last < 20 * SLOW_MS) this.#times.push(now - this.#last);
        this.#last = now;
        if (this.#times.length < MANY) return false;
        const slow = this.#times.filter((time) => time > SLOW_MS).length > MANY / 2;
        this.#times = [];
        return slow;
    }

    // The next picture comes after a pause.
    rest() {
        this.#last = null;
    }
}
