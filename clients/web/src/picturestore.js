// Small pictures kept in the browser for the next load of the page: one for each session and user, a limited number,
// deleted at logout.

const NAME = 'pliant.pictures',
    STORE = 'pictures';
const KEPT = 400; // of 48 KiB each

const settled = (request) =>
    new Promise((done, fail) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => fail(request.error);
    });

// A browser without storage, for example in a private window: null.
async function open() {
    try {
        const request = indexedDB.open(NAME, 1);
        request.onupgradeneeded = () => {
            const store = request.result.createObjectStore(STORE, { keyPath: ['user', 'id'] });
            store.createIndex('at', 'at');
        };
        return await settled(request);
    } catch {
        return null;
    }
}

async function trim(store) {
    let left = (await settled(store.count())) - KEPT;
    if (left <= 0) return;
    const request = store.index('at').openKeyCursor();
    request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor || left-- <= 0) return;
        store.delete(cursor.primaryKey);
        cursor.continue();
    };
}

class PictureStore {
    #user = null;
    #open = null;

    // Deletes other users' pictures.
    async enter(user) {
        this.#user = user;
        this.#open = user === null ? null : open();
        const store = await this.#store('readwrite');
        if (!store) return;
        store.delete(IDBKeyRange.upperBound([user], true));
        store.delete(IDBKeyRange.lowerBound([user, []], true));
    }

    async #store(mode) {
        const database = await this.#open;
        return database?.transaction(STORE, mode).objectStore(STORE) ?? null;
    }

    // {frame, pixels}, or null.
    async get(id) {
        try {
            const store = await this.#store('readonly');
            return (store && (await settled(store.get([this.#user, id])))) ?? null;
        } catch {
            return null;
        }
    }

    async put(id, frame, pixels) {
        try {
            const store = await this.#store('readwrite');
            if (!store) return;
            await settled(store.put({ user: this.#user, id, frame, pixels, at: Date.now() }));
            await trim(store);
        } catch {
            // It is drawn again next time.
        }
    }

    async clear() {
        try {
            const store = await this.#store('readwrite');
            if (store) await settled(store.clear());
        } catch {
            // Nothing was stored then.
        }
    }
}

export const pictureStore = new PictureStore();
