// Pages beside the sessions', by their name in the address: components that take {api, navigate, sessions,
// session}, `session` being the one that the address names (?session=ID), or null.

import { Machine } from './machine.jsx';
import { Runs } from './runs.jsx';
import { Scenes } from './scenes.jsx';
import { Share } from './share.jsx';
import { Sweeps } from './sweeps.jsx';

export const PAGES = { scenes: Scenes, sweeps: Sweeps, machine: Machine, runs: Runs };

// Those that the header names; the list leads to the table of runs.
export const NAMED = ['scenes', 'sweeps', 'machine'];

// Of the session that is looked at: takes {model, tools}.
export const SHARE = Share;
