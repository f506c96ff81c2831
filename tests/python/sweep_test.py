"""Sweeps of the Python client against a real daemon."""

import importlib.util
import io
import sys
import types
import unittest
import zipfile
from unittest import mock

from support import Daemon, endless, main, pliant, scene, until

STEP = "/time/step"


class SweepTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.addClassCleanup(cls.client.close)

    def test_a_grid_becomes_a_table(self):
        sweep = self.client.sweep(
            scene(steps=3),
            {STEP: [0.01, 0.02], "/name": {"values": ["a", "b"]}},
            results=["frame", {"metric": "energy/kinetic", "at": "max", "name": "most"}],
            running=2,
            name="grid",
        )
        self.assertEqual((sweep.info["name"], sweep.info["rows"]), ("grid", 4))
        self.assertIs(sweep.wait(60), sweep)
        self.assertEqual((sweep.state, sweep.over, sweep.counts["succeeded"]), ("done", True, 4))
        rows = sweep.rows()
        self.assertEqual([(r["time/step"], r["name"]) for r in rows],
                         [(0.01, "a"), (0.01, "b"), (0.02, "a"), (0.02, "b")])
        self.assertEqual([r["frame"] for r in rows], [3] * 4)
        self.assertGreater(rows[0]["most"], 0)
        self.assertEqual([s.id for s in sweep.sessions()], [r["session"] for r in rows])
        head = "row,session,state,warnings,time/step,name,frame,most"
        self.assertEqual(sweep.csv().splitlines()[0], head)
        with zipfile.ZipFile(io.BytesIO(sweep.npz())) as file:
            self.assertIn("time/step.npy", file.namelist())
        one = {"parameters": {"/time/step": [0.01]}, "key": "python-sweep"}
        first, again = (self.client.sweep(scene(steps=2), **one) for _ in range(2))
        self.assertEqual(first.id, again.id)
        found = self.client.find_sweep(sweep.id)
        self.assertEqual(found.info, sweep.info)
        self.assertIn(sweep.id, [s.id for s in self.client.sweeps()])
        sweep.delete(sessions=True)
        with self.assertRaises(pliant.NotFound):
            found.refresh()

    def test_a_frame_of_pandas(self):
        made = {}

        class DataFrame(dict):
            def __init__(self, rows, columns):
                super().__init__({c: Column(r[c] for r in rows) for c in columns})

            def set_index(self, name):
                made["index"] = name
                return self

        class Column(list):
            def astype(self, kind):
                return [float("nan") if v is None else kind(v) for v in self]

        sweep = self.client.sweep(
            scene(steps=2), [{"path": STEP, "values": [0.01]}], results=["frame", "no/such"]
        ).wait(60)
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=DataFrame)):
            frame = sweep.frame()
        self.assertEqual(made["index"], "row")
        columns = ["row", "session", "state", "warnings", "time/step", "frame", "no/such"]
        self.assertEqual(list(frame), columns)
        self.assertEqual((frame["frame"], frame["time/step"]), ([2.0], [0.01]))
        self.assertNotEqual(frame["no/such"][0], frame["no/such"][0])
        with mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(pliant.PliantError, "pandas is not installed"):
                sweep.frame()

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_a_real_frame_of_pandas(self):
        import pandas

        sweep = self.client.sweep(
            scene(steps=2), {STEP: [0.01, 0.02], "/name": ["a", "b"]},
            results=["frame", "energy/kinetic", "no/such"],
        ).wait(60)
        frame = sweep.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame.index.name, "row")
        self.assertEqual(list(frame.index), [0, 1, 2, 3])
        self.assertEqual(frame["frame"].dtype, float)
        self.assertTrue(frame["no/such"].isna().all())
        self.assertEqual(list(frame.groupby("name")["frame"].sum()), [4.0, 4.0])
        self.assertEqual(frame.loc[3, "time/step"], 0.02)
        read = pandas.read_csv(io.StringIO(sweep.csv()), index_col="row")
        self.assertEqual(list(read["energy/kinetic"]), list(frame["energy/kinetic"]))
        self.assertEqual(list(read["session"]), list(frame["session"]))

    def test_cancel_and_retry(self):
        sweep = self.client.sweep(endless(), {STEP: [0.01, 0.02]}, running=1)
        until(lambda: sweep.refresh().counts["running"] == 1, "a run")
        with self.assertRaises(TimeoutError):
            sweep.wait(0.1)
        sweep.cancel().wait(60)
        self.assertEqual((sweep.state, sweep.counts["skipped"]), ("cancelled", 1))
        self.assertEqual(sweep.retry().state, "running")
        sweep.cancel().wait(60)
        self.assertEqual(sweep.state, "cancelled")
        sweep.delete(sessions=True)

    def test_wrong_rows_are_faults(self):
        with self.assertRaises(pliant.SceneRefused) as caught:
            self.client.sweep(scene(), {STEP: [0.01, -1]})
        self.assertEqual(caught.exception.faults[0].pointer, "/parameters/0")
        with self.assertRaises(pliant.SceneRefused):
            self.client.sweep(scene())


if __name__ == "__main__":
    main()
