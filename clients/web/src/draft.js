// The scene last edited in this tab; it survives a reload.

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
        // It is kept as long as the page is open.
    }
}
