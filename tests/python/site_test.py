"""The generator of the documentation site: what it makes of Markdown, and what it rejects."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, main

SITE = os.path.join(ROOT, "clients", "site")
PACKAGES = os.path.join(ROOT, "build", "docs", "npm")

NAVIGATION = """
export const groups = [
    {
        title: 'Start',
        files: [['clients/docs/README.md', 'index', 'Overview'], ['clients/docs/scene.md']%s],
    },
    { title: 'Reference', files: [] },
    {
        title: 'Operate',
        files: [['deploy/README.md', 'deploy', 'Installing']],
    },
];
"""
INDEX = """# Pliant for users
[scene](scene.md), [its bodies](scene.md#bodies-pins-and-so-on), `deploy/README.md`.
"""
SCENE = """# A scene
## Bodies, `pins` and so on
[Above](#bodies-pins-and-so-on), [the second](#bodies-pins-and-so-on-1),
[settings](../../deploy/conf/a.conf),
[`conf/a.conf`](../../deploy/conf/a.conf). ![A bar](bar.png) <b>not bold</b> only=1 `href=a`

| | right |
| --- | ---: |
| a | 1 |

## Bodies, `pins` and so on

    """ + 37 * "x" + "\n"
GENERATED = """
export async function pages({ root, build }) {
    return {
        pages: [
            { name: 'keys', title: 'Keys', group: 'Reference', source: 'clients/keys.md',
              markdown: `# Keys\\n<p id="first"><img src="film.webp" alt="a film"></p>\\n\\n` +
                  `[more](values), [scene](scene#bodies-pins-and-so-on), [it](deploy/README.md)` },
            { name: 'values', title: 'Values', group: 'Reference',
              markdown: '<a href="keys#first">back</a>' },
        ],
        assets: [{ name: 'film.webp', path: `${root}/film` }],
    };
}
"""


class SiteTest(unittest.TestCase):
    def setUp(self):
        installed = os.path.join(PACKAGES, "installed.json")
        if not os.path.exists(installed) or not shutil.which("node"):
            self.skipTest("the documentation site was not built (make docs says why)")
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(self.path("clients/site"))
        for name in os.listdir(SITE):
            if name.endswith((".mjs", ".css")) and name not in ("reference.mjs", "gallery.mjs"):
                shutil.copy(os.path.join(SITE, name), self.path("clients/site", name))
        for name, text in {
            "clients/site/navigation.mjs": NAVIGATION % "",
            "clients/docs/README.md": INDEX,
            "clients/docs/scene.md": SCENE,
            "clients/docs/bar.png": "a bar",
            "clients/web/src/icon.svg": "<svg/>",
            "deploy/README.md": "# deploy/\n[Pages](../clients/docs/README.md)\n",
            "deploy/conf/a.conf": "a = 1\n",
            "film": "a film",
            "Makefile": "VERSION := 1.2.3\n",
        }.items():
            self.write(name, text)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def add(self, name, text):
        with open(self.path(name), "a", encoding="utf-8") as file:
            file.write(text)

    def build(self):
        """The names of the files that were written; or None, and the faults."""
        out = self.path("out")
        done = subprocess.run(["node", self.path("clients/site/build.mjs"), PACKAGES, out],
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=120)
        faults = [line.removeprefix("site: ") for line in done.stderr.splitlines()]
        if done.returncode == 0:
            self.assertEqual(faults, [])
            return sorted(os.listdir(out)), []
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(os.path.exists(out))
        return None, faults

    def page(self, name):
        with open(self.path("out", name), encoding="utf-8") as file:
            return file.read()

    def test_pages(self):
        files, _ = self.build()
        kept = [re.sub("-[0-9a-f]{10}", "", name) for name in files]
        self.assertEqual(kept, ["bar.png", "deploy.html", "icon.svg", "index.html", "scene.html",
                                "style.css"])
        index, scene, deploy = (self.page(name) for name in ("index.html", "scene.html",
                                                             "deploy.html"))
        self.assertIn('<a href="scene.html">A scene</a>, '
                      '<a href="scene.html#bodies-pins-and-so-on">its bodies</a>, '
                      '<a href="deploy.html">Installing</a>.', index)
        self.assertIn('<h1>Installing</h1>', deploy)
        self.assertIn('<a href="index.html">Pages</a>', deploy)
        self.assertIn('<h2 id="bodies-pins-and-so-on-1">', scene)
        code = '<code class="short">deploy/conf/a.conf</code>'
        self.assertIn(f"settings ({code}),\n{code}.", scene)
        self.assertIn(f'<img src="{files[0]}" alt="A bar"> &lt;b&gt;not bold', scene)
        self.assertIn('<div class="wide" tabindex="0"><table>', scene)
        self.assertIn('<td></td>\n<th class="right">right</th>', scene)
        self.assertIn('<pre tabindex="0"><code>' + 37 * "x", scene)
        self.assertIn('<td class="right">1</td>', scene)
        for text in index, scene, deploy:
            self.assertIn(f'<link rel="stylesheet" href="{files[5]}">', text)
            self.assertNotRegex(text, "<script|style=|://")
            self.assertIn("1.2.3", text)
            self.assertEqual(text.count('aria-current="page"'), 2)  # of the phone's menu, too
            self.assertEqual(text.count("<details open>"), 2)
        self.assertIn("<details><summary>Start</summary>", deploy)
        self.assertIn('<a href="index.html" rel="prev">Overview</a>', scene)
        self.assertIn('<a href="deploy.html" rel="next">Installing</a>', scene)

    def test_generated_pages(self):
        self.write("clients/site/reference.mjs", GENERATED)
        self.add("deploy/README.md", "[keys](../clients/keys.md#first)\n")
        files, _ = self.build()
        film = next(name for name in files if name.startswith("film-"))
        keys = self.page("keys.html")
        self.assertIn(f'<p id="first"><img src="{film}" alt="a film"></p>', keys)
        self.assertIn('<a href="values.html">more</a>', keys)
        self.assertIn('<a href="deploy.html">it</a>', keys)
        self.assertIn('<a href="keys.html#first">back</a>', self.page("values.html"))
        self.assertIn('<li><a href="keys.html">Keys</a></li>', self.page("index.html"))
        self.assertIn('<a href="keys.html#first">', self.page("deploy.html"))

    def test_faults(self):
        self.add("clients/docs/README.md",
                 "\n[a](nowhere.md)\n\n[b](../../../../etc/hostname)\n")
        self.add("clients/docs/scene.md",
                 "\n[c](#nothing) ![d](no.png) [e](README.md#nothing)\n")
        self.write("clients/docs/forgotten.md", "# Forgotten\n")
        self.write("clients/docs/lonely.md", "# Lonely\n[lonely](other.md)\n")
        self.write("clients/docs/other.md", "## Other\n[other](lonely.md) [page](scene.md)\n")
        self.write("clients/site/navigation.mjs", NAVIGATION % (
            ", ['clients/docs/lonely.md'], ['clients/docs/other.md'], ['clients/docs/gone.md']"))
        self.assertEqual(self.build(), (None, [
            "clients/docs/gone.md is in clients/site/navigation.mjs and does not exist",
            "clients/docs/forgotten.md is not in clients/site/navigation.mjs",
            "clients/docs/README.md:4: dead link to nowhere.md",
            "clients/docs/README.md:6: dead link to ../../../../etc/hostname",
            "clients/docs/scene.md:15: missing picture no.png",
            "clients/docs/other.md does not begin with a title",
            "clients/docs/scene.md: dead anchor #nothing",
            "clients/docs/scene.md: dead anchor index.html#nothing",
            "clients/docs/lonely.md: no page links to it",
            "clients/docs/other.md: no page links to it",
        ]))

    def test_faults_of_generated_pages(self):
        page = "{ name: '%s', title: 'T', group: '%s', markdown: `%s` },"
        pages = "".join(page % row for row in (
            ("one", "Reference", '<p onclick="x()" id="a">a</p>\n\n<a href="none.html">b</a>'),
            ("two", "Reference",
             '<p id="a"></p><p id="a"></p><img src="none.webp" srcset="no.webp">'),
            ("scene", "Reference", ""),
            ("four", "Elsewhere", "[a](one) <a href=two>b</a>"),
        ))
        self.write("clients/site/gallery.mjs",
                   "export const pages = async () => ({ pages: [%s] });" % pages)
        self.assertEqual(self.build(), (None, [
            "two pages are called scene",
            "gallery.mjs: four is in the group Elsewhere, which the navigation does not have",
            "gallery.mjs: one:3: dead link to none.html",
            "gallery.mjs: two:1: missing picture none.webp",
            "gallery.mjs: two:1: missing picture no.webp",
            "gallery.mjs: one: onclick= is not allowed on a page",
            "gallery.mjs: two: two elements are called #a",
            "gallery.mjs: four: href= is not allowed on a page",
            "gallery.mjs: two: no page links to it",
            "gallery.mjs: four: no page links to it",
        ]))


if __name__ == "__main__":
    main()
