// The address's fragment as the page's state: "#/sessions/ID?frame=12&camera=...".

import { Emitter } from './emitter.js';

// Addresses of earlier versions.
const FORMER = { devices: 'machine' };

function parse(hash) {
    const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
    const [page = '', id = null] = path.split('/');
    return {
        page: FORMER[page] ?? (page || 'sessions'),
        id: id && /^[0-9a-f]{32}$/.test(id) ? id : null,
        query: Object.fromEntries(new URLSearchParams(query)),
    };
}

function format({ page, id, query = {} }) {
    const words = new URLSearchParams(
        Object.entries(query).filter(([, value]) => value != null && value !== ''),
    );
    const text = words.toString().replaceAll('%2C', ',');
    return `#/${page}${id ? `/${id}` : ''}${text ? `?${text}` : ''}`;
}

class Route extends Emitter {
    now = parse(location.hash);
    #read = location.hash; // the fragment that `now` was made from

    constructor() {
        super();
        addEventListener('hashchange', () => {
            this.#take();
            this.emit('change', this.now);
        });
    }

    #take() {
        this.now = parse(location.hash);
        this.#read = location.hash;
    }

    // The target of the address, even before its event arrives.
    get asked() {
        return parse(location.hash);
    }

    // Go to a path such as "/machine", or {page, id, query}.
    go(place) {
        location.hash =
            typeof place === 'string' ? `#${place.startsWith('/') ? '' : '/'}${place}` : format(place);
    }

    // The same without a new entry in the history.
    replace(place) {
        history.replaceState(null, '', format(place));
        this.#take();
        this.emit('change', this.now);
    }

    // Write the present view of a session into the address, without a new entry in the history. A new address whose
    // event has not arrived stays unchanged.
    note(id, query) {
        if (this.now.id !== id || location.hash !== this.#read) return;
        history.replaceState(null, '', format({ ...this.now, query: { ...this.now.query, ...query } }));
        this.#take();
    }
}

export const route = new Route();
export const hrefOf = (id) => format({ page: 'sessions', id });
