// The buttons over the view.

import { useState } from 'preact/hooks';
import { FIELDS } from './fields.js';
import { toggleMeasure } from './measurebar.jsx';
import { save } from './save.js';
import { needTets, toggleSection } from './sectionbar.jsx';
import { hasStress } from './stress.js';

export const chosen = { contacts: false, others: 'off', shadow: null }; // for every session that is opened

export function Tools({ view, model, again }) {
    const [contacts, setContacts] = useState(chosen.contacts);
    const shoot = async () =>
        save(await view.screenshot(), `${model.id.slice(0, 8)}-${view.shown?.number ?? 0}.png`);
    const toggleWires = () => {
        view.setWireframe(!view.wires);
        again();
    };
    const toggleShadow = () => {
        chosen.shadow = !view.shade.on;
        view.setShade(chosen.shadow);
        again();
    };
    const cut = () => toggleSection(view, model, again);
    const measure = () => toggleMeasure(view, again);
    Object.assign(view, { toggleWires, toggleShadow, toggleSection: cut, toggleMeasure: measure });
    const { stress, ...others } = FIELDS;
    const offered = hasStress(model.topology, model.scene) ? { ...others, stress } : others;
    const colour = (event) => {
        view.setField(event.currentTarget.value);
        view.stale = true;
        if (FIELDS[view.field].tets) needTets(view, model, 'stress');
        again();
    };
    return (
        <div class="tools">
            <label>
                colour{' '}
                <select value={view.field} onChange={colour}>
                    {Object.entries(offered).map(([key, { label }]) => (
                        <option key={key} value={key}>
                            {label}
                        </option>
                    ))}
                </select>
            </label>
            <button type="button" onClick={() => view.fit()} title="Bring everything into view (F)">
                fit
            </button>
            <button type="button" aria-pressed={view.wires} onClick={toggleWires} title="Edges of the mesh (W)">
                wires
            </button>
            <button
                type="button"
                aria-pressed={!view.flat}
                onClick={() => {
                    view.setFlat(!view.flat);
                    again();
                }}
                title="Smooth or flat faces"
            >
                smooth
            </button>
            <button
                type="button"
                aria-pressed={view.shade.on}
                onClick={toggleShadow}
                title="Light and shadows as in exported pictures (S)"
            >
                shadow
            </button>
            <button
                type="button"
                aria-pressed={contacts}
                onClick={() => {
                    chosen.contacts = !contacts;
                    view.setContacts(!contacts);
                    setContacts(!contacts);
                    view.stale = true;
                }}
                title="Contacts and forces on obstacles; contacts between bodies where output.fields stores them"
            >
                contacts
            </button>
            <button
                type="button"
                aria-pressed={view.section.on}
                onClick={cut}
                title="Cut the bodies by a plane (C)"
            >
                cut
            </button>
            <button
                type="button"
                aria-pressed={view.measure.on}
                onClick={measure}
                title="Distance between two picked places (M)"
            >
                measure
            </button>
            <button type="button" onClick={shoot} title="Save the picture as PNG">
                picture
            </button>
        </div>
    );
}
