// What must hold of the files that are served, whatever made them: links and their anchors lead somewhere, pictures are
// there, each page can be reached by links in texts, and nothing is in them that the daemon's policy forbids.

const TAG = /<[a-z](?:"[^"]*"|[^">])*>/gi;
const ATTRIBUTE = /\s([a-z-]+)="([^"]*)"/g;
const FORBIDDEN = /^<(script|style|iframe|object|embed|form|base)\b|\s(on[a-z]+|style)=|[a-z]+=(?!")/i;

const attributesOf = (tag) => Object.fromEntries([...tag.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, value]));
const tagsOf = (html) => html.match(TAG) ?? [];

// What of a tag the policy forbids, or this does not read: a value without quotes.
const forbiddenIn = (tag) => FORBIDDEN.exec(tag.replace(/"[^"]*"/g, '""'))?.[0].trim();

const articleOf = (html) => html.slice(html.indexOf('<article>'), html.indexOf('</article>'));
const isOurs = (address) => !/^([a-z]+:|\/)/.test(address);

// files: name -> text of a page, or bytes; sources: name of a page -> what it was made of. The faults, a line each.
export function check(files, sources) {
    const faults = [];
    const pages = [...files.keys()].filter((name) => name.endsWith('.html'));
    const tags = new Map(pages.map((name) => [name, tagsOf(files.get(name)).map(attributesOf)]));
    const ids = new Map(pages.map((name) => [name, tags.get(name).flatMap(({ id }) => id ?? [])]));
    const sourceOf = (name) => sources.get(name) ?? name;

    for (const name of pages) {
        const forbidden = tagsOf(files.get(name)).map(forbiddenIn).find(Boolean);
        if (forbidden) faults.push(`${sourceOf(name)}: ${forbidden} is not allowed on a page`);
        const twice = ids.get(name).find((id, i, all) => all.indexOf(id) < i);
        if (twice) faults.push(`${sourceOf(name)}: two elements are called #${twice}`);
        for (const { href, src, srcset, poster } of tags.get(name)) {
            for (const picture of [src, srcset, poster]) {
                if (picture !== undefined && isOurs(picture) && !files.has(picture)) {
                    faults.push(`${sourceOf(name)}: missing picture ${picture}`);
                }
            }
            if (href === undefined || !isOurs(href)) continue;
            const [file, anchor] = href.split('#');
            const to = file || name;
            if (!files.has(to)) faults.push(`${sourceOf(name)}: dead link to ${href}`);
            else if (anchor !== undefined && !ids.get(to)?.includes(decodeURI(anchor))) {
                faults.push(`${sourceOf(name)}: dead anchor ${href}`);
            }
        }
    }

    const reached = new Set(['index.html']);
    for (const name of reached) {
        if (!files.has(name)) continue;
        for (const { href } of tagsOf(articleOf(files.get(name))).map(attributesOf)) {
            const to = href?.split('#')[0];
            if (pages.includes(to)) reached.add(to);
        }
    }
    for (const name of pages) {
        if (!reached.has(name)) faults.push(`${sourceOf(name)}: no page links to it`);
    }
    return faults;
}
