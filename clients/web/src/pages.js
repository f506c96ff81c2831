// Pages beside the sessions', by their name in the address: components that take {api, navigate, sessions,
// session}, `session` being the one that the address names (?session=ID), or null.

import { Machine } from './machine.jsx';
import { Scenes } from './scenes.jsx';
import { Share } from './share.jsx';
import { Sweeps } from './sweeps.jsx';

export const PAGES = { scenes: Scenes, sweeps: Sweeps, machine: Machine };

// Of the session that is looked at: takes {model, tools}.
export const SHARE = Share;
