// Markdown as HTML: anchors on headings as GitHub makes them, links between files as links between pages, wide tables
// in a box of their own.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const slugOf = (text) =>
    text
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
        .replaceAll(' ', '-');
const textOf = (inline) =>
    inline.children
        .filter(({ type }) => type === 'text' || type === 'code_inline')
        .map(({ content }) => content)
        .join('');

// Ids for headings: the second of the same text ends in -1.
function markHeadings({ tokens, env, Token }) {
    const used = new Map();
    tokens.forEach((token, i) => {
        if (token.type !== 'heading_open') return;
        const text = textOf(tokens[i + 1]);
        const slug = slugOf(text);
        const count = used.get(slug) ?? 0;
        used.set(slug, count + 1);
        const id = count ? `${slug}-${count}` : slug;
        const level = Number(token.tag.slice(1));
        env.headings.push({ level, id, text });
        if (level === 1) return;
        token.attrSet('id', id);
        const anchor = new Token('html_inline', '', 0);
        anchor.content = ` <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(text)}">#</a>`;
        tokens[i + 1].children.push(anchor);
    });
}

// Whether a link's text is no more than the name of its file.
const isFileName = (text, target) => target === text || target.split('/').pop() === `${text}.md`;

// A file that is no page: its name, and its path where the name is not its end.
function fileTokens(Token, text, file) {
    const code = new Token('code_inline', 'code', 0);
    code.content = file;
    if (file.endsWith(text.replace(/^(\.\.?\/)+/, ''))) return [code];
    return [textToken(Token, `${text} (`), code, textToken(Token, ')')];
}

function linkTokens(Token, href, inside) {
    const open = new Token('link_open', 'a', 1);
    open.attrSet('href', href);
    return [open, ...inside, new Token('link_close', 'a', -1)];
}

function textToken(Token, content) {
    const token = new Token('text', '', 0);
    token.content = content;
    return token;
}

// The children of a piece of text, with links led to where they lead on the site.
function relinked({ env: { site, page }, Token }, children, where) {
    const out = [];
    for (let i = 0; i < children.length; i++) {
        const token = children[i];
        if (token.type === 'link_open') {
            const end = children.findIndex(({ type }, k) => k > i && type === 'link_close');
            const inside = children.slice(i + 1, end);
            const target = token.attrGet('href');
            const { href, file, to } = site.resolve(page, target, where);
            const text = textOf({ children: inside });
            const named = to && isFileName(text, target) ? [textToken(Token, to.title)] : inside;
            out.push(...(file ? fileTokens(Token, text, file) : linkTokens(Token, href, named)));
            i = end;
            continue;
        }
        if (token.type === 'image') token.attrSet('src', site.picture(page, token.attrGet('src'), where));
        const to = token.type === 'code_inline' && site.mentioned(page, token.content);
        if (to) out.push(...linkTokens(Token, `${to.name}.html`, [textToken(Token, to.title)]));
        else out.push(token);
    }
    return out;
}

// The same for what a module wrote as HTML.
function relinkHtml({ env: { site, page } }, token, where) {
    token.content = token.content.replace(/\s(href|src|srcset|poster)="([^"]*)"/g, (_, name, target) => {
        if (name !== 'href') return ` ${name}="${site.picture(page, target, where)}"`;
        const { href, file } = site.resolve(page, target, where);
        if (file) site.fault(`${where}: ${target} is no page`);
        return ` ${name}="${href}"`;
    });
}

function followLinks(state) {
    const { file, name, module } = state.env.page;
    let line = 1;
    for (const token of state.tokens) {
        line = token.map ? token.map[0] + 1 : line;
        const where = file ? `${file}:${line}` : `${module}: ${name}:${line}`;
        if (token.type === 'inline') token.children = relinked(state, token.children, where);
        for (const html of [token, ...(token.children ?? [])]) {
            if (/^html_/.test(html.type) && !html.content.includes('class="anchor"')) relinkHtml(state, html, where);
        }
    }
}

const SHORT = 24;

// Short code stays on one line.
function markCode({ tokens }) {
    for (const { children } of tokens) {
        for (const token of children ?? []) {
            if (token.type === 'code_inline' && token.content.length <= SHORT) token.attrSet('class', 'short');
        }
    }
}

// The policy of the daemon forbids styles in attributes.
function alignCells({ tokens }) {
    for (const token of tokens) {
        const style = token.attrGet?.('style');
        if (!style) continue;
        token.attrs = token.attrs.filter(([name]) => name !== 'style');
        token.attrSet('class', style.split(':')[1]);
    }
}

// A heading of a table without a text is none.
function freeCorners({ tokens }) {
    tokens.forEach((token, i) => {
        if (token.type !== 'th_open' || tokens[i + 1].content) return;
        token.tag = 'td';
        tokens[i + 2].tag = 'td';
    });
}

// What scrolls by itself takes the keyboard; on a phone that is code of more columns than these.
const NARROW = 36;
function reachCode({ tokens }) {
    for (const token of tokens) {
        if (!['fence', 'code_block'].includes(token.type)) continue;
        token.type = 'code_block'; // a fence would have its attributes on the code inside
        if (token.content.split('\n').some((line) => line.length > NARROW)) token.attrSet('tabindex', '0');
    }
}

const RULES = [markHeadings, followLinks, markCode, reachCode, alignCells, freeCorners];
let escapeHtml;

export function makeRenderer(packages) {
    const MarkdownIt = createRequire(join(packages, 'package.json'))('markdown-it');
    ({ escapeHtml } = new MarkdownIt().utils);
    const make = (html) => {
        const markdown = new MarkdownIt({ html });
        for (const rule of RULES) markdown.core.ruler.push(rule.name, rule);
        markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n';
        markdown.renderer.rules.table_close = () => '</table></div>\n';
        return markdown;
    };
    const plain = make(false);
    const withHtml = make(true);

    // Gives a page its headings and its body, which begins below the title.
    function render(site, page) {
        const env = { site, page, headings: [] };
        const markdown = page.file ? plain : withHtml;
        const tokens = markdown.parse(page.markdown, env);
        const where = page.file ?? `${page.module}: ${page.name}`;
        if (tokens[0]?.tag === 'h1') tokens.splice(0, 3);
        else if (page.file) site.fault(`${where} does not begin with a title`);
        page.headings = env.headings.filter(({ level }) => level > 1);
        page.body = markdown.renderer.render(tokens, markdown.options, env);
    }
    return { render, escapeHtml };
}
