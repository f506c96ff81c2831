// What must hold of the files that are served, whatever made them: links and their anchors lead somewhere, pictures are
// there, each page can be reached by links in texts, and nothing is in them that the daemon's policy forbids.

const TAG = /<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>/g;
const ATTRIBUTE = /([a-z-]+)="([^"]*)"/g;
// An address without quotes is one that this does not see.
const FORBIDDEN =
    /<(script|style|iframe|object|embed|form|base)\b|\s(on[a-z]+|style)=|\s(href|src|srcset|poster)=[^"]/i;

function tagsOf(html) {
    return [...html.matchAll(TAG)].map(([, , text]) =>
        Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, value])),
    );
}

const articleOf = (html) => html.slice(html.indexOf('<article>'), html.indexOf('</article>'));
const isOurs = (address) => !/^([a-z]+:|\/)/.test(address);

// files: name -> text of a page, or bytes; sources: name of a page -> what it was made of. The faults, a line each.
export function check(files, sources) {
    const faults = [];
    const pages = [...files.keys()].filter((name) => name.endsWith('.html'));
    const tags = new Map(pages.map((name) => [name, tagsOf(files.get(name))]));
    const ids = new Map(pages.map((name) => [name, tags.get(name).flatMap(({ id }) => id ?? [])]));
    const sourceOf = (name) => sources.get(name) ?? name;

    for (const name of pages) {
        const forbidden = FORBIDDEN.exec(files.get(name));
        if (forbidden) faults.push(`${sourceOf(name)}: ${forbidden[0].trim()} is not allowed on a page`);
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
        for (const { href } of tagsOf(articleOf(files.get(name)))) {
            const to = href?.split('#')[0];
            if (pages.includes(to)) reached.add(to);
        }
    }
    for (const name of pages) {
        if (!reached.has(name)) faults.push(`${sourceOf(name)}: no page links to it`);
    }
    return faults;
}
