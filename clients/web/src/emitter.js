// Who wants to know of what: the one kind of event that parts of the page tell each other by.

export class Emitter {
    #listeners = new Map();

    // Returns what takes it back.
    on(name, listener) {
        const list = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, list);
        list.add(listener);
        return () => list.delete(listener);
    }

    emit(name, value) {
        for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(value);
    }
}
