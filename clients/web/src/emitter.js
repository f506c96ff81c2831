// The one kind of event between parts of the page.

export class Emitter {
    #listeners = new Map();

    // Returns a function that removes the listener.
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
