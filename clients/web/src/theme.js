// Light or dark: as set on the machine, or as chosen here.

import { Emitter } from './emitter.js';

const KEY = 'pliant.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored() {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

class Theme extends Emitter {
    constructor() {
        super();
        this.chosen = stored();
        dark.addEventListener('change', () => this.#apply());
        this.#apply();
    }

    get name() {
        return this.chosen ?? (dark.matches ? 'dark' : 'light');
    }

    toggle() {
        this.chosen = this.name === 'dark' ? 'light' : 'dark';
        try {
            localStorage.setItem(KEY, this.chosen);
        } catch {
            // It is kept as long as the page is open.
        }
        this.#apply();
    }

    // The present value of a colour of style.css.
    colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    }

    #apply() {
        document.documentElement.dataset.theme = this.name;
        this.emit('change', this.name);
    }
}

export const theme = new Theme();
