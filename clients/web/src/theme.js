// Light or dark: as the machine has it, or as was chosen here.

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
            // It lasts as long as the page.
        }
        this.#apply();
    }

    // A colour of style.css as it is now.
    colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    }

    #apply() {
        document.documentElement.dataset.theme = this.name;
        this.emit('change', this.name);
    }
}

export const theme = new Theme();
