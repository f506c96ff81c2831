// The current user and what they may do with a session. Guests come by a share link and may only view one session.

import { api } from './api.js';
import { Emitter } from './emitter.js';

// Emits 'change'.
class Who extends Emitter {
    guest = false;
    #me = null; // of /v1/me; until it is here, the user may do everything

    async enter(user) {
        this.guest = user === null;
        this.#me = null;
        if (!this.guest) this.#me = await api.get('/v1/me').catch(() => null);
        this.emit('change');
    }

    // Create sessions, and branch visible ones.
    get submits() {
        return !this.guest && (!this.#me || this.#me.scopes.includes('submit'));
    }

    // Pause, cancel, remove or steer a session, and share it.
    manages({ owner, group }) {
        if (!this.submits) return false;
        if (!this.#me || this.#me.scopes.includes('admin') || owner === this.#me.user) return true;
        return this.#me.groups.some(({ name, role }) => name === group && role === 'manage');
    }
}

export const who = new Who();
