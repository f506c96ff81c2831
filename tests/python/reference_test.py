"""The pages that clients/site makes of the program: the reference has every key of a scene, the
gallery every scene with its film, and commands that name scenes which exist. Quick: no daemon."""

import json
import os
import re
import shutil
import struct
import subprocess
import unittest

from support import BUILD, ROOT, main

SITE = os.path.join(ROOT, "clients", "site")
SCENES = os.path.join(ROOT, "clients", "scenes")
FILMS = os.path.join(SITE, "films")
FILM_BYTES = 2_200_000  # of all films together
WITHIN_DOCS = {name[:-3] for name in os.listdir(os.path.join(ROOT, "clients", "docs"))}

MADE = """
const made = {};
for (const name of ['reference', 'gallery'])
    made[name] = await (await import(`file://${process.argv[1]}/${name}.mjs`)).pages({
        root: process.argv[2], build: process.argv[3] });
console.log(JSON.stringify(made));
"""


def made():
    """{module: {"pages", "assets"}}"""
    done = subprocess.run(["node", "--input-type=module", "-e", MADE, SITE, ROOT,
                           os.path.abspath(BUILD)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def printed():
    done = subprocess.run([os.path.join(BUILD, "print-schema")], capture_output=True, check=True)
    return json.loads(done.stdout)


def words(markdown):
    """What is read of it: letters and digits alone."""
    return re.sub(r"[^a-z0-9]+", " ", re.sub(r"\]\([^)]*\)", "", markdown).lower())


def headings(markdown):
    """Anchors of headings, as the site makes them."""
    for text in re.findall(r"^#{2,} (.*)$", markdown, re.M):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        yield re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def pictures(path):
    """(pictures of an animated WebP, how often it repeats: 0 for ever)."""
    with open(path, "rb") as file:
        data = file.read()
    whole = len(data) >= 12 and struct.unpack("<I", data[4:8])[0] + 8 == len(data)
    if not whole or data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return 0, None
    at, count, repeats = 12, 0, None
    while at + 8 <= len(data):
        kind, size = data[at:at + 4], struct.unpack("<I", data[at + 4:at + 8])[0]
        count += kind == b"ANMF"
        if kind == b"ANIM":
            repeats = struct.unpack("<H", data[at + 12:at + 14])[0]
        at += 8 + size + size % 2
    return (count, repeats) if at == len(data) else (0, None)


def scenes():
    for file in sorted(os.listdir(SCENES)):
        if file.endswith(".json"):
            with open(os.path.join(SCENES, file), encoding="utf-8") as stream:
                yield file[:-5], json.load(stream)


def steps(scene, quick):
    """Steps of a scene, or of its quick form."""
    time = dict(scene["time"])
    if quick:
        time.update(scene["metadata"]["quick"].get("time", {}))
    count = time.get("steps", time.get("duration", 1) / time.get("step", 1 / 30) - 1e-6)
    return -int(-count // 1)


@unittest.skipUnless(shutil.which("node"), "node is not installed")
class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = made()
        cls.pages = {page["name"]: page for one in cls.made.values() for page in one["pages"]}
        cls.assets = {asset["name"]: asset["path"] for one in cls.made.values()
                      for asset in one["assets"]}
        cls.ids = {name: re.findall(r' id="([^"]+)"', page["markdown"])
                   for name, page in cls.pages.items()}

    def reference(self):
        return {name: page["markdown"] for name, page in self.pages.items()
                if name.startswith("reference")}

    # ---- the reference ----

    def test_every_key_is_in_the_reference(self):
        keys = [f"{table}.{key}" for table, rows in printed()["capabilities"]["parameters"].items()
                for key in rows]
        self.assertGreater(len(keys), 300)
        ids = [one for name in self.reference() for one in self.ids[name]]
        self.assertEqual(sorted(ids), sorted(keys))
        index = self.pages["reference-keys"]["markdown"]
        self.assertEqual([key for key in keys if f"#{key})" not in index], [])

    def test_every_fact_of_a_key_is_there(self):
        """Its whole description, its words, unit and default stand where the key stands."""
        entries = {}
        for text in self.reference().values():
            for id_, entry in re.findall(r'<dt id="([^"]+)">(.*?)</dd>', text, re.S):
                entries[id_] = entry
        for table, rows in printed()["capabilities"]["parameters"].items():
            for key, row in rows.items():
                with self.subTest(f"{table}.{key}"):
                    entry = entries[f"{table}.{key}"]
                    self.assertIn(words(row["description"]).strip(), words(entry))
                    for choice in row.get("choices", []):
                        self.assertIn(f"`{choice}`", entry)
                    if row.get("unit", "1") != "1":
                        self.assertIn(f"unit: {row['unit']}", entry)
                    self.assertEqual(row["required"], "**required**" in entry)
                    if "default_text" in row:
                        self.assertIn(words(row["default_text"]).strip(), words(entry))
                    elif row.get("default") is not None:
                        self.assertIn("default `", entry)
                    if row.get("maximum", 0) < 1e6 and "maximum" in row and "direction" not in row:
                        self.assertRegex(entry, f"(to|at most) {row['maximum']:,}\\b")

    def test_texts_of_tables_are_there(self):
        for table, schema in printed()["schema"]["$defs"].items():
            text = [text for text in self.reference().values() if f"\n## `{table}`\n" in text]
            self.assertEqual(len(text), 1, table)
            self.assertIn(words(schema["description"]), words(text[0]))

    def test_links_lead_somewhere(self):
        checked = 0
        for name, page in self.pages.items():
            for target in re.findall(r"\]\(([^)\s]+)\)", page["markdown"]):
                file, _, anchor = target.partition("#")
                to = file[:-3] if file else name
                checked += 1
                if to in WITHIN_DOCS and to not in self.pages:
                    with open(os.path.join(ROOT, "clients", "docs", file), encoding="utf-8") as doc:
                        anchors = list(headings(doc.read()))
                else:
                    self.assertIn(to, self.pages, f"{name}: {target}")
                    anchors = self.ids[to] + list(headings(self.pages[to]["markdown"]))
                if anchor:
                    self.assertIn(anchor, anchors, f"{name}: {target}")
        self.assertGreater(checked, 1000)

    # ---- the gallery ----

    def gallery(self):
        """{scene: its part of a page}"""
        parts = {}
        for name, page in self.pages.items():
            if name.startswith("gallery-"):
                for part in re.split(r"^(?=## )", page["markdown"], flags=re.M)[1:]:
                    parts[re.search(r' id="([^"]+)"', part).group(1)] = part
        return parts

    def test_every_scene_is_in_the_gallery(self):
        names = [name for name, _ in scenes()]
        self.assertGreater(len(names), 50)
        parts = self.gallery()
        self.assertEqual(sorted(parts), names)
        for name, part in parts.items():
            with self.subTest(name):
                self.assertIn(f'src="film-{name}.webp"', part)
                self.assertIn('loading="lazy"', part)
                self.assertIn('<source media="(prefers-reduced-motion: reduce)" '
                              f'srcset="scene-{name}.webp">', part)
                self.assertIn("\n- Run: ", part)
                self.assertRegex(part, rf"\n`{name}`: \S.*\.\n", "the README says nothing of it")
                self.assertIn(f"#{name})", self.pages["gallery"]["markdown"])

    def test_every_film_is_one(self):
        with open(os.path.join(FILMS, "films.json"), encoding="utf-8") as file:
            known = json.load(file)
        names = [name for name, _ in scenes()]
        self.assertEqual(sorted(known), names)
        files = sorted(name for name in os.listdir(FILMS) if name != "films.json")
        self.assertEqual(files, [f"{name}.webp" for name in names])
        total = 0
        for name, scene in scenes():
            with self.subTest(name):
                path = self.assets[f"film-{name}.webp"]
                self.assertTrue(os.path.exists(self.assets[f"scene-{name}.webp"]))
                total += os.path.getsize(path)
                film = known[name]
                self.assertEqual(pictures(path), (film["film"]["pictures"], 0))
                self.assertGreater(film["film"]["pictures"], 2)
                every = scene.get("output", {}).get("every", 1)
                self.assertEqual(film["frames"], steps(scene, film["form"] == "quick") // every,
                                 "the scene has changed: clients/site/draw-films --again NAME")
        self.assertLess(total, FILM_BYTES)

    def test_commands_name_scenes_that_exist(self):
        quick = [name for name, scene in scenes() if "quick" in scene.get("metadata", {})]
        for name, part in self.gallery().items():
            with self.subTest(name):
                commands = re.findall(r"^    (build/pliant (\w+) (\S+).*)$", part, re.M)
                self.assertLessEqual({"run", "submit"}, {word for _, word, _ in commands})
                for command, _, file in commands:
                    self.assertEqual(file, f"clients/scenes/{name}.json", command)
                    self.assertTrue(os.path.exists(os.path.join(ROOT, file)), command)
                    self.assertTrue(name in quick or "--quick" not in command, command)


if __name__ == "__main__":
    main()
