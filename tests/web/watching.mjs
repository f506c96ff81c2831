// A session that is looked at.
import { look, open, until } from './rig.mjs';

export const canvasOf = (page) => page.locator('.view canvas');
export const contactsButton = (page) => page.getByRole('button', { name: 'contacts', exact: true });
export const frameOf = async (page) => {
    const words = await page.locator('.timeline').innerText();
    return Number(/frame\s+([\d,]+)/.exec(words)?.[1].replaceAll(',', '') ?? NaN);
};

export async function watch(daemon, id, options = {}) {
    const page = await open(daemon, options);
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `/sessions/${id}`);
    await until(async () => (await frameOf(page)) > 0, 'a frame');
    return page;
}

// Two pictures of a still page are alike, so what differs has moved.
export async function shownBox(page) {
    return until(async () => {
        const seen = await look(page, canvasOf(page));
        return Math.max(...seen) - Math.min(...seen) > 20 && seen;
    }, 'a picture that is not blank');
}
