// Pages beside the sessions', by their name in the address: components that take {api, navigate,
// session}, `session` being the one that the address names (?session=ID), or null.

export const PAGES = {};

// Of the session that is looked at: a component with the same properties, or null.
export const SHARE = null;
