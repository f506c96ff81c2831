// The address's fragment as what is looked at: "#/sessions/ID?frame=12&camera=...".

import { Emitter } from './emitter.js';

// Addresses that are kept from before.
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

    constructor() {
        super();
        addEventListener('hashchange', () => {
            this.now = parse(location.hash);
            this.emit('change', this.now);
        });
    }

    // Where the address leads, also where that is not told yet.
    get asked() {
        return parse(location.hash);
    }

    // Go somewhere: a path as "/machine", or {page, id, query}.
    go(place) {
        location.hash =
            typeof place === 'string' ? `#${place.startsWith('/') ? '' : '/'}${place}` : format(place);
    }

    // The same with no new entry in the history.
    replace(place) {
        history.replaceState(null, '', format(place));
        this.now = parse(location.hash);
        this.emit('change', this.now);
    }

    // Say in the address what is seen now of a session, with no new entry in the history; not where the way
    // already leads to another.
    note(id, query) {
        if (this.now.id !== id || this.asked.id !== id) return;
        this.now = { ...this.now, query: { ...this.now.query, ...query } };
        history.replaceState(null, '', format(this.now));
    }
}

export const route = new Route();
export const hrefOf = (id) => format({ page: 'sessions', id });
