// A page of the site around its text.

const list = (items, kind) => `<ul${kind ? ` class="${kind}"` : ''}>\n${items.join('\n')}\n</ul>`;
const MANY = 4; // headings of a page that has contents

export function makeTemplate({ site, escapeHtml, style, icon, version }) {
    const order = site.grouped().flatMap(({ pages }) => pages);

    function link({ name, title }, here, attributes = '') {
        const current = name === here?.name ? ' aria-current="page"' : '';
        return `<a href="${name}.html"${current}${attributes}>${escapeHtml(title)}</a>`;
    }

    // "Cloth" for "Gallery: cloth" in the group Gallery.
    function label(page) {
        const start = `${page.group}: `;
        const rest = page.title.startsWith(start) ? page.title.slice(start.length) : page.title;
        return { ...page, title: rest[0].toUpperCase() + rest.slice(1) };
    }

    // The group of the page is open, so that the page itself is in sight.
    function navigation(here) {
        return site
            .grouped()
            .map(({ title, pages }) => {
                const links = list(pages.map((page) => `<li>${link(label(page), here)}</li>`));
                return `<details${here.group === title ? ' open' : ''}><summary>${title}</summary>\n${links}</details>`;
            })
            .join('\n');
    }

    function contents({ headings }) {
        const shown = headings.length > 30 ? headings.filter(({ level }) => level === 2) : headings;
        if (shown.length < MANY) return '';
        const rows = shown
            .filter(({ level }) => level <= 3)
            .map(({ level, id, text }) => `<li class="h${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`);
        return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n${list(rows)}\n</nav>\n`;
    }

    // The overview ends in the first page of each module.
    function generated(page) {
        const first = order.filter(({ listed }) => listed);
        if (page.name !== 'index' || !first.length) return '';
        const rows = first.map((one) => `<li>${link(one)}</li>`);
        return `<h2 id="generated">Generated from the source</h2>\n${list(rows)}\n`;
    }

    function turn(page) {
        const at = order.indexOf(page);
        const [before, after] = [order[at - 1], order[at + 1]];
        return [
            before ? `<span>${link(before, null, ' rel="prev"')}</span>` : '<span></span>',
            after ? `<span>${link(after, null, ' rel="next"')}</span>` : '<span></span>',
        ].join('\n');
    }

    return (page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(page.title)} - Pliant</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${style}">
</head>
<body>
<a class="skip" href="#skip_to">Skip to the text</a>
<header>
<a class="brand" href="index.html"><img src="${icon}" alt="" width="22" height="22">Pliant</a>
<span class="version">${escapeHtml(version)}</span>
<span class="space"></span>
<a href="/">Dashboard</a>
<details class="menu"><summary>Pages</summary>
<nav aria-label="Pages">
${navigation(page)}
</nav>
</details>
</header>
<div class="columns">
<nav class="side" aria-label="Pages">
${navigation(page)}
</nav>
<main id="skip_to">
<h1>${escapeHtml(page.title)}</h1>
${contents(page)}<article>
${page.body}${generated(page)}</article>
<nav class="turn" aria-label="Previous and next page">
${turn(page)}
</nav>
</main>
</div>
</body>
</html>
`;
}
