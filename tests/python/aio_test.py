"""The Python client for asyncio."""

import asyncio
import time
import unittest

from support import Daemon, endless, main, pliant, scene

import pliant.aio  # noqa: E402


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    async def test_frames_and_metrics_together(self):
        async with pliant.aio.Client(state=self.daemon.state) as client:
            session = await client.submit(scene(steps=30))

            async def metrics():
                return [m["frame"] async for m in session.metrics()]

            task = asyncio.create_task(metrics())
            self.assertEqual([f.number async for f in session.frames()], list(range(31)))
            self.assertEqual(await task, list(range(31)))
            self.assertEqual((await session.wait(60)).state, "succeeded")
            self.assertEqual((await session.frame(3)).number, 3)
            self.assertEqual((await session.topology()).document["vertices"], 27)
            self.assertIn(session.id, [s.id for s in await client.sessions(name="falls")])
            with self.assertRaises(pliant.SceneRefused):
                await client.submit({})

    async def test_sweeps(self):
        async with pliant.aio.Client(state=self.daemon.state) as client:
            sweep = await client.sweep(
                scene(steps=2), {"/time/step": [0.01, 0.02]}, results=["frame"]
            )
            again = await client.find_sweep(sweep.id)
            done, _ = await asyncio.gather(sweep.wait(60), again.wait(60))
            self.assertEqual((done.state, done.over, done.counts["succeeded"]), ("done", True, 2))
            self.assertEqual([r["frame"] for r in await sweep.rows()], [2, 2])
            self.assertEqual((await sweep.csv()).count("succeeded"), 2)
            self.assertEqual((await sweep.npz())[:2], b"PK")
            self.assertEqual(len((await sweep.table())["items"]), 2)
            self.assertEqual([s.state for s in await sweep.sessions()], ["succeeded"] * 2)
            self.assertIn(sweep.id, [s.id for s in await client.sweeps()])
            falls = scene(steps=3)
            falls["gravity"] = [0, -1, 0]
            falls["output"] = {"probes": [{"name": "y", "quantity": "displacement",
                                           "component": "y", "body": "box"}]}
            fit = await client.fit(
                falls, {"/gravity/1": (-20, 0)}, {"y": [(0.02, -12e-4), (0.03, -24e-4)]}
            )
            await fit.wait(60)
            self.assertAlmostEqual(fit.best["values"]["gravity/1"], -4, delta=0.05)
            self.assertEqual(len((await fit.residuals())[0]["points"]), 2)
            slow = await client.sweep(endless(), {"/time/step": [0.01, 0.02]}, running=1)
            with self.assertRaises(TimeoutError):
                await slow.wait(0.01, poll=0.01)
            await (await slow.cancel()).wait(60)
            self.assertEqual((await slow.retry()).state, "running")
            await (await slow.cancel()).wait(60)
            await slow.delete(sessions=True)
            with self.assertRaises(pliant.NotFound):
                await slow.refresh()

    async def test_methods_side_by_side(self):
        async with pliant.aio.Client(state=self.daemon.state) as client:
            comparison = await client.compare(scene(steps=2), ["newton", "projective_dynamics"])
            rows = await (await comparison.wait(60)).rows()
            self.assertEqual([row["state"] for row in rows], ["succeeded", "rejected"])
            view = await comparison.sessions["newton"].view()
            self.assertEqual([frame.number for frame in view.frames], [0, 1, 2])
            self.assertIn("newton", comparison.sessions["newton"]._repr_html_())
            await comparison.delete()

    async def test_a_stream_is_left_early(self):
        async with pliant.aio.Client(state=self.daemon.state) as client:
            session = await client.submit(endless())
            begun = time.monotonic()
            async with session.frames() as frames, client.events() as events:
                async for frame in frames:
                    if frame.number == 5:
                        break
                waits = asyncio.create_task(events.__anext__())
                await asyncio.sleep(0.1)
                await session.delete()
                self.assertEqual((await waits)["session"]["id"], session.id)
            self.assertLess(time.monotonic() - begun, 40)  # a long poll would have taken a minute


if __name__ == "__main__":
    main()
