// The page of scenes: the gallery, or the editor. #/scenes?gallery=NAME, ?session=ID (with &change=MERGE-PATCH),
// ?draft. The editor's code is loaded when it is opened.

import { stored } from './draft.js';
import { Gallery } from './gallery.jsx';
import { lazy } from './lazy.jsx';
import { route } from './route.js';
import './editor.css';

const Editor = lazy(() => import('./editor.jsx').then((part) => part.Editor), 'editor');

// navigate(path) opens another page.
export function Scenes({ navigate }) {
    const { query } = route.now;
    if (query.session || query.gallery || 'draft' in query)
        return <Editor key={JSON.stringify(query)} query={query} navigate={navigate} />;
    return (
        <div class="scenes">
            <div class="head">
                <h1>Scenes</h1>
                <a href="#/scenes?draft=1">
                    {stored() ? 'continue the scene that you were writing' : 'write one'}
                </a>
            </div>
            <Gallery navigate={navigate} />
        </div>
    );
}
