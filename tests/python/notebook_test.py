"""Sessions, frames, metrics and comparisons in notebooks; the example notebooks."""

import ast
import base64
import glob
import html
import json
import math
import os
import re
import struct
import sys
import types
import unittest
from operator import mul
from unittest import mock

from support import (
    ROOT,
    Daemon,
    endless,
    main,
    pliant,
    scene,
    until,
    with_and_without_numpy,
)

EXAMPLES = os.path.join(ROOT, "clients", "python", "examples")
FLOOR = {"name": "a </script> floor", "plane": {"normal": [0, 1, 0], "offset": -2}}
DOOR = {"name": "door", "sphere": {"center": [9, 0, 0], "radius": 1},
        "motion": {"velocity": [0, 1, 0], "axis": [0, 0, 1], "degrees_per_second": 90}}
MOTIONS = [
    {"velocity": [1, 0, 2], "axis": [0, 1, 0], "degrees_per_second": 200, "origin": [1, 2, 3]},
    {"interpolation": "smooth", "origin": [0.5, 0, 0], "keyframes": [
        {"time": 0.05, "translate": [1, 0, 0], "rotate": {"axis": [1, 1, 0], "degrees": 250}},
        {"time": 0.1, "translate": [1, 0, 0], "rotate": {"axis": [1, 0, 0], "degrees": -100}},
        {"time": 0.13, "rotate": {"axis": [1, 0, 0], "degrees": -500}},
        {"time": 0.16}]},
]
HAND = {"name": "hand", "body": "box", "select": {"side": "-x"}}
POST = {"name": "post", "sphere": {"center": [5, 0, 0], "radius": 1}}


def shown(value):
    """The HTML that a notebook shows for the last value of a cell."""
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def run_page(name, heading):
    """Runs the code of a section of a page, word for word; returns what a notebook shows for
    each expression."""
    with open(os.path.join(ROOT, "clients", "docs", name), encoding="utf-8") as file:
        section = file.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    code = "".join(line[4:] or "\n" for line in re.findall(r"^    .*\n|^\n", section, re.M))
    names, outputs = {}, []
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), name, "eval"), names)
            outputs.append(shown(value))
        else:
            exec(compile(ast.Module([node], []), name, "exec"), names)
    return names, outputs


def run_cells(path):
    """Runs a notebook's cells as IPython does; returns what it shows of each."""
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    names, outputs = {}, []
    for cell in notebook["cells"]:
        assert set(cell) <= {"cell_type", "metadata", "source", "outputs", "execution_count"}
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        tree = ast.parse("".join(cell["source"]), path)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path, "eval"), names)
            outputs.append(shown(value))
    return outputs


def data_of(text):
    """The data that the view in a cell draws."""
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1])
    return json.loads(re.search(r'id="data">(.*?)</script>', page)[1])


def numbers(text, kind):
    data = base64.b64decode(text)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))


def triples(values):
    return [tuple(values[i:i + 3]) for i in range(0, len(values), 3)]


class NotebookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state, retry_for=1)
        cls.addClassCleanup(cls.client.close)
        cls.session = cls.client.submit(
            scene(cells=3, name="<falls> & lands", obstacles=[FLOOR, DOOR, POST]), checked=20)
        cls.session.wait(60, check=True)

    def test_the_examples_run(self):
        here = os.getcwd()
        os.chdir(self.daemon.directory)
        self.addCleanup(os.chdir, here)
        place = {"PLIANT_SERVER": f"http://127.0.0.1:{self.daemon.port}",
                 "PLIANT_TOKEN": self.daemon.token}
        with mock.patch.dict(os.environ, place):
            outputs = {os.path.basename(path): "".join(run_cells(path))
                       for path in glob.glob(os.path.join(EXAMPLES, "*.ipynb"))}
        self.assertEqual(sorted(outputs), ["compare_methods.ipynb", "quick_start.ipynb"])
        self.assertGreater(os.path.getsize("box.pc2"), 0)
        compared = outputs["compare_methods.ipynb"]
        for part in ("quasi_newton</td>", "<progress", "<iframe", "<svg", "energy/elastic</th>"):
            self.assertIn(part, compared)

    def test_a_sweep_and_its_plot(self):
        place = {"PLIANT_SERVER": f"http://127.0.0.1:{self.daemon.port}",
                 "PLIANT_TOKEN": self.daemon.token}
        with mock.patch.dict(os.environ, place):
            names, (table, picture) = run_page("sweeps.md", "In a notebook")
        sweep = names["sweep"]
        self.assertEqual(table.count("<tr>"), 11)
        self.assertEqual(picture.count("<circle"), 10)
        self.assertIn("(logarithmic: materials/rubber/young)", picture)
        self.assertIn(">3e+05</text>", picture)
        self.assertIn(">3e+07</text>", picture)
        plot = sweep.plot()
        self.assertEqual(list(plot.lines), ["bodies/0/mesh/box/cells=[8, 2, 2]",
                                            "bodies/0/mesh/box/cells=[16, 4, 4]"])
        rows = {(str(r["bodies/0/mesh/box/cells"]), r["materials/rubber/young"]): r["tip"]
                for r in sweep.rows()}
        for name, line in plot.lines.items():
            self.assertEqual([x for x, y in line], sorted(x for x, y in line))
            self.assertEqual([y for x, y in line], sorted(y for x, y in line))  # stiff sags less
            for x, y in line:
                self.assertEqual(rows[name.split("=")[1], x], y)
        with self.assertRaisesRegex(pliant.PliantError, "no result 'tap'; the sweep has tip$"):
            sweep.plot("tap")
        with self.assertRaisesRegex(pliant.PliantError, "no parameter of numbers 'bodies/0/mesh"):
            sweep.plot(against="/bodies/0/mesh/box/cells")

    def test_points_of_a_plot(self):
        lines = {"a": [(1.0, 2.0), (3.0, 4.0)], "b": [(2.0, 3.0)]}
        picture = pliant.session.notebook.plot("y", "x", lines)
        # A line continues past another's x; its ends are the corners of the picture.
        self.assertIn('d="M60.0 100.0L324.0 4.0"', picture)
        self.assertIn('<circle cx="192.0" cy="52.0"', picture)
        self.assertNotIn("logarithmic", picture)
        self.assertEqual(pliant.session.notebook.plot("y", "x", {}), "<div>no values yet</div>")

    def test_a_session(self):
        card = self.session._repr_html_()
        self.assertIn("<b>&lt;falls&gt; &amp; lands</b>", card)
        self.assertIn('value="1.0000"', card)
        self.assertIn("frame 20 of 20, 0.2 s", card)
        info = {**self.session.info, "state": "failed",
                "warnings": [{"code": "w", "detail": "<d>"}],
                "failure": {"message": "it <broke>", "advice": "mend it"}}
        card = pliant.session.notebook.session(info)
        for text in ("it &lt;broke&gt;", "mend it", "w: &lt;d&gt;"):
            self.assertIn(text, card)

    @with_and_without_numpy
    def test_a_frame(self):
        frame = self.session.frame(7)
        text = frame._repr_html_()
        self.assertIn("<td style=\"text-align:right\">7</td>", text)
        data = data_of(text)
        self.assertEqual([f["number"] for f in data["frames"]], [7])
        self.check_frame(data["frames"][0], frame)
        topology = self.session.topology()
        surface = [row[0] for row in topology.surface.tolist()]
        drawn = [tuple(surface[v] for v in t)
                 for t in triples(numbers(data["bodies"][0]["triangles"], "I"))]
        self.assertEqual(drawn, [tuple(t) for t in topology.triangles.tolist()])
        self.assertEqual(data["up"], 1)

    def check_frame(self, drawn, frame):
        low, high = drawn["low"], drawn["high"]
        places = triples(numbers(drawn["data"], "H"))
        surface = [row[0] for row in self.session.topology().surface.tolist()]
        self.assertLess(len(surface), frame.vertices)  # the inside is not sent
        positions = frame.positions.tolist()
        for place, vertex in zip(places, surface):
            for i in range(3):
                x = low[i] + place[i] / 65535 * (high[i] - low[i])
                self.assertAlmostEqual(x, positions[vertex][i], delta=2e-5)
        self.assertEqual(len(places), len(surface))
        for ours, exact in zip(frame.box(), low + high):
            self.assertAlmostEqual(ours, exact, places=6)

    def test_a_view_of_many_frames(self):
        view = self.session.view(most=5)
        data = data_of(view._repr_html_())
        self.assertEqual([f["number"] for f in data["frames"]], [0, 5, 10, 15, 20])
        self.check_frame(data["frames"][2], self.session.frame(10))
        self.assertEqual([o["name"] for o in data["obstacles"]], [FLOOR["name"], "door", "post"])
        floor = triples(numbers(data["obstacles"][0]["vertices"], "f"))
        self.assertEqual({y for _, y, _ in floor}, {-2.0})
        # After 0.1 s, halfway: a quarter turn per second about its own centre, 1 m/s upwards.
        door = data["obstacles"][1]["poses"][2]
        for ours, exact in zip((door[0][0], door[1][3] + door[1][0] * 9),
                               (math.cos(math.pi / 20), 0.1)):
            self.assertAlmostEqual(ours, exact)
        self.assertEqual([o["poses"] for o in data["obstacles"][::2]], [None, None])
        self.assertEqual(view.notes, [])
        self.assertNotRegex(view.html(), r"(https?:)?//[a-z]+\.|<link|src=")
        self.assertIs(next(self.session.frames()).session, self.session)
        numbered = [f.number for f in self.session.view(3, 9).frames]
        self.assertEqual(numbered, list(range(3, 10)))
        with mock.patch.object(sys.modules["pliant.view"], "ROOM", 1000):
            self.assertEqual([f.number for f in self.session.view().frames], [0, 20])

    def test_motions_are_the_solvers(self):
        """The vertices moved by a pin are where its motion puts them."""
        for motion in MOTIONS:
            moved = scene(steps=20, pins=[{**HAND, "motion": motion}], contact={"enabled": False})
            moved["materials"]["rubber"]["model"] = "arap"  # may turn inside out
            session = self.client.submit(moved)
            frames = {f.number: f.positions.tolist() for f in session.frames()}
            self.assertEqual(len(frames), 21, session.refresh().failure)
            held = session.topology().document["pins"][0]["at"]
            self.assertEqual(len(held), 9)
            for number, positions in frames.items():
                rows = pliant.view.pose(motion, number * 0.01, (9, 9, 9))
                for vertex in held:
                    x = [*frames[0][vertex], 1]
                    for place, row in zip(positions[vertex], rows):
                        self.assertAlmostEqual(place, sum(map(mul, row, x)), delta=1e-5)

    def test_controls_of_obstacles_are_noted(self):
        session = self.client.submit(endless(obstacles=[DOOR]))
        self.addCleanup(session.delete)
        until(lambda: session.refresh().last_frame, "a frame")
        session.control(obstacles=[{"name": "door", "motion": {"velocity": [1, 0, 0]}}])
        text = session.view(most=1)._repr_html_()
        self.assertRegex(text[text.index("</iframe>"):], "door: controls")

    def test_a_frame_whose_daemon_is_away(self):
        client = pliant.Client(state=self.daemon.state, retry_for=0.1)
        frame = client.session(self.session.id).frame(0)
        frame.session._transport.url, frame.session._transport._moves = "http://127.0.0.1:1", False
        client.close()
        self.assertIn("not drawn: cannot reach", frame._repr_html_())
        self.assertNotIn("not drawn", pliant.Frame(0, frame._payload)._repr_html_())

    def test_metrics(self):
        metrics = self.session.metrics(follow=False).read()
        columns = metrics.columns()
        self.assertEqual(columns["frame"], list(range(21)))
        self.assertEqual(columns["energy/kinetic"][3], metrics[3]["energy"]["kinetic"])
        self.assertEqual(columns["momentum/linear/1"][3], metrics[3]["momentum"]["linear"][1])
        self.assertTrue(all(len(values) == 21 for values in columns.values()))
        text = metrics._repr_html_()
        self.assertEqual(text.count("<tr>"), 9)  # a head and eight of the frames
        self.assertIn("kinetic, J", text)
        self.assertIn("8 of 21 frames", text)
        path = re.search(r'<path d="([^"]*)"', text)[1]
        self.assertEqual(len(re.findall("[ML]", path)), 21)
        few = pliant.Metrics([{"frame": 0, "a": None}, {"frame": 1, "b": {"c": 2}}]).columns()
        self.assertEqual(few, {"frame": [0, 1], "a": [None, None], "b/c": [None, 2]})
        self.assertIn("no metrics", pliant.Metrics()._repr_html_())

    def test_pandas(self):
        class DataFrame(dict):
            def __init__(self, rows, columns=None):
                super().__init__(rows)

            def set_index(self, name):
                self.index = self.pop(name)
                return self

        comparison = self.client.compare(scene(steps=1), ["newton"]).wait(60)
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=DataFrame)):
            frame = self.session.metrics(follow=False).to_pandas()
            methods = comparison.to_pandas()
        self.assertEqual((frame.index[-1], len(frame["energy/elastic"])), (20, 21))
        self.assertEqual((methods.index, methods["frames"]), (["newton"], [1]))
        with mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(pliant.PliantError, r"not installed: use columns\(\)"):
                self.session.metrics(follow=False).to_pandas()

    def test_methods_side_by_side(self):
        methods = ["newton", "quasi_newton", "projective_dynamics"]
        held = scene(steps=4, labels={"mine": "yes"}, pins=[HAND])
        comparison = self.client.compare(held, methods).wait(60)
        self.assertTrue(comparison.over)
        rows = {row["method"]: row for row in comparison.rows()}
        for method in ("newton", "quasi_newton"):
            self.assertEqual((rows[method]["state"], rows[method]["frames"]), ("succeeded", 4))
            self.assertGreater(rows[method]["seconds"], 0)
            self.assertEqual(
                comparison.sessions[method].scene()["solver"]["method"], method)
        self.assertEqual(rows["newton"]["difference"], 0)
        self.assertLess(0, rows["quasi_newton"]["difference"])
        self.assertLess(rows["quasi_newton"]["difference"], 1e-3)
        self.assertEqual(rows["projective_dynamics"]["state"], "rejected")
        self.assertIn("1 neo_hookean material", rows["projective_dynamics"]["warnings"])
        fault = comparison.rejected["projective_dynamics"].faults[0]
        self.assertEqual(fault.pointer, "/solver/method")
        labels = comparison.sessions["newton"].labels
        self.assertEqual(labels["mine"], "yes")
        found = {s.id for s in self.client.sessions(labels={"comparison": labels["comparison"]})}
        self.assertEqual(found, {session.id for session in comparison})
        self.assertEqual(comparison._repr_html_().count("<tr>"), 4)
        comparison.delete()
        with self.assertRaises(pliant.NotFound):
            comparison.refresh()

    def test_other_changes_side_by_side(self):
        changes = {"coarse": {"time": {"step": 0.02, "steps": 2}}, "fine": {}}
        comparison = self.client.compare(scene(steps=4), changes).wait(60)
        rows = {row["method"]: row for row in comparison.rows()}
        self.assertEqual([rows[n]["frames"] for n in ("coarse", "fine")], [2, 4])
        with self.assertRaises(pliant.SceneRefused):
            self.client.compare(scene(), ["magic"])


if __name__ == "__main__":
    main()
