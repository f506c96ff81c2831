// The scene that was being written last in this tab; it survives a reload.

const DRAFT = 'pliant.draft';

export function stored() {
    try {
        return sessionStorage.getItem(DRAFT);
    } catch {
        return null;
    }
}

export function store(text) {
    try {
        sessionStorage.setItem(DRAFT, text);
    } catch {
        // It lasts as long as the page.
    }
}
