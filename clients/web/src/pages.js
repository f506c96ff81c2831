// Pages other than the sessions', by their name in the address: components that take {api, navigate, sessions,
// session}; `session` is the one in the address (?session=ID), or null.

import { Machine } from './machine.jsx';
import { Runs } from './runs.jsx';
import { Scenes } from './scenes.jsx';
import { Share } from './share.jsx';
import { Sweeps } from './sweeps.jsx';

export const PAGES = { scenes: Scenes, sweeps: Sweeps, machine: Machine, runs: Runs };

// Pages linked in the header; the list links to the table of runs.
export const NAMED = ['scenes', 'sweeps', 'machine'];

// Pages of the open session: take {model, tools}.
export const SHARE = Share;
