"""The Python client's streams: records, frames in every form, and resuming broken streams."""

import os
import signal
import struct
import threading
import time
import unittest
import warnings

from support import (
    Daemon,
    Relay,
    endless,
    main,
    npy,
    pliant,
    records,
    scene,
    until,
    with_and_without_numpy,
)


def record(kind, frame, payload):
    head = struct.pack("<4sHHIIQQQ", b"PLR1", 1, kind, 0, 0, frame, frame, len(payload))
    head += struct.pack("<II", records.crc32c(head), records.crc32c(payload))
    return head + payload + bytes(-len(payload) % 8)


def answer(*parts):
    """A daemon's stream with these bytes, one chunk per part."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks


def point(number):
    values = struct.pack("<IIQdQ", 1, 1, 1, 0.1 * number, number) + struct.pack("<3f", number, 0, 0)
    return record(records.FRAME, number, values)


def session_at(relay):
    """A session whose streams come from the relay."""
    client = pliant.Client(relay.url, "t", retry_for=30)
    return pliant.Session(client._transport, {"id": "0" * 32, "state": "running", "name": ""})


HELLO = record(records.HELLO, 0, b'{"from": 0}')
END = record(records.END, 0, b'{"reason": "succeeded"}')


class RecordsTest(unittest.TestCase):
    def relay(self, answers):
        relay = Relay(1, answer=lambda number: answers[min(number, len(answers) - 1)])
        self.addCleanup(relay.close)
        return relay

    def test_the_checksum_is_castagnolis(self):
        self.assertEqual(records.crc32c(b"123456789"), 0xE3069283)

    def test_chunks_may_fall_anywhere(self):
        whole = HELLO + point(0) + point(1) + END
        for size in (1, 7, 48, 61, len(whole)):
            pieces = [whole[i : i + size] for i in range(0, len(whole), size)]
            relay = self.relay([answer(*pieces)])
            found = list(session_at(relay).frames())
            self.assertEqual([f.number for f in found], [0, 1])
            self.assertEqual(found[1].positions.tolist(), [[1.0, 0.0, 0.0]])
            self.assertEqual((found[1].time, found[1].step), (0.1, 1))

    def test_what_is_no_record_is_said(self):
        flipped = bytearray(point(1))
        flipped[16] ^= 1
        relay = self.relay([answer(HELLO, point(0), bytes(flipped))])
        stream = session_at(relay).frames()
        self.assertEqual(next(stream).number, 0)
        with self.assertRaises(pliant.BrokenStream):
            next(stream)
        self.assertEqual(relay.connections, 2)  # once more, from the frame that is missing
        self.assertIn(b"from=1", relay.requests[1])

    def test_damage_on_the_way_is_asked_for_again(self):
        flipped = bytearray(point(1))
        flipped[16] ^= 1
        relay = self.relay([answer(HELLO, point(0), bytes(flipped)), answer(HELLO, point(1), END)])
        self.assertEqual([f.number for f in session_at(relay).frames()], [0, 1])

    def test_gaps_are_told(self):
        gap = record(records.GAP, 4, b'{"from": 1, "to": 4, "reason": "corrupt"}')
        parts = (HELLO, point(0), gap, point(5), END)
        relay = self.relay([answer(*parts)])
        with self.assertWarns(pliant.FramesMissing):
            stream = session_at(relay).frames()
            self.assertEqual([f.number for f in stream], [0, 5])
        self.assertEqual(stream.gaps, [pliant.Gap(1, 4, "corrupt")])
        told = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(session_at(relay).frames(on_gap=told.append))
        self.assertEqual(told, stream.gaps)

    def test_a_frame_is_never_given_twice(self):
        first = answer(HELLO, point(0), point(1))  # cut: no end
        relay = self.relay([first, answer(HELLO, point(1), point(2), END)])
        stream = session_at(relay).frames()
        self.assertEqual([f.number for f in stream], [0, 1, 2])
        self.assertEqual((stream.reconnects, stream.reason), (1, "succeeded"))

    def test_a_cut_after_a_gap(self):
        gap = record(records.GAP, 4, b'{"from": 1, "to": 4, "reason": "corrupt"}')
        relay = self.relay([answer(HELLO, point(0), gap), answer(HELLO, point(5), END)])
        found = [f.number for f in session_at(relay).frames(on_gap=lambda gap: None)]
        self.assertEqual(found, [0, 5])
        self.assertIn(b"from=5", relay.requests[1])

    def test_what_is_not_kept(self):
        body = b'{"type": "/problems/pruned", "status": 410, "first_available": 7}'
        gone = b"HTTP/1.1 410 Gone\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        relay = self.relay([gone, answer(HELLO, point(7), END)])
        with self.assertRaises(pliant.Gone) as caught:
            next(session_at(relay).frames())
        self.assertEqual((caught.exception.code, caught.exception.first_available), ("pruned", 7))
        relay = self.relay([gone, answer(HELLO, point(7), END)])
        stream = session_at(relay).frames(skip_pruned=True, on_gap=lambda gap: None)
        self.assertEqual([f.number for f in stream], [7])
        self.assertEqual(stream.gaps, [pliant.Gap(0, 6, "pruned")])

    def test_it_gives_up_in_the_end(self):
        relay = self.relay([answer(HELLO, point(0)), b""])
        stream = session_at(relay).frames(patience=0.3)
        self.assertEqual(next(stream).number, 0)
        with self.assertRaises(pliant.Unreachable):
            next(stream)

    @with_and_without_numpy
    def test_arrays_of_no_rows(self):
        empty = npy.header((0, 3), "<i4")
        self.assertEqual((len(empty) % 64, npy.read(empty).tolist()), (0, []))
        values = npy.header((2, 3), "<i4") + struct.pack("<6i", *range(6))
        self.assertEqual(npy.read(values).tolist(), [[0, 1, 2], [3, 4, 5]])


class StreamsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.client = pliant.Client(state=cls.daemon.state)
        wanted = scene(steps=40, cells=3, output={"fields": ["position", "velocity"]})
        cls.done = cls.client.submit(wanted, checked=20).wait(60, check=True)
        cls.values = [f.positions.tolist() for f in cls.done.frames()]

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()

    @with_and_without_numpy
    def test_the_forms_of_a_frame(self):
        whole = self.done.frame(40, dtype="f64", fields=["position", "velocity"])
        self.assertEqual((whole.vertices, whole.fields), (64, ("position", "velocity")))
        self.assertEqual(whole.positions.tolist(), self.values[40])
        self.assertLess(whole.velocities.tolist()[0][1], 0)
        near = self.done.frame(40, dtype="u16", fields=("position", "velocity"))
        for field in ("positions", "velocities"):
            for got, want in zip(getattr(near, field).tolist(), getattr(whole, field).tolist()):
                for a, b in zip(got, want):
                    self.assertAlmostEqual(a, b, delta=9e-6)
        drawn = self.done.topology().surface.tolist()
        outside = self.done.frame(40, vertices="surface").positions.tolist()
        self.assertEqual(outside, [self.values[40][v] for v, in drawn])
        self.assertLess(len(outside), 64)
        only = self.done.frame("latest", fields="velocity")
        self.assertEqual((only.number, only.fields), (40, ("velocity",)))
        with self.assertRaises(KeyError):
            only.positions
        self.assertEqual(len(self.done.topology().tets), len(self.done.topology().tets.tolist()))
        self.assertEqual(self.done.topology().document["vertices"], 64)

    def test_which_frames(self):
        def numbers(**which):
            return [f.number for f in self.done.frames(**which)]

        self.assertEqual(numbers(), list(range(41)))
        self.assertEqual(numbers(start=3, to=6), [3, 4, 5, 6])
        self.assertEqual(numbers(every=20), [0, 20, 40])
        self.assertEqual(numbers(start=38, limit=2), [38, 39])
        self.assertEqual(numbers(mode="latest"), [40])
        with self.assertRaises(pliant.Problem) as caught:
            numbers(dtype="f16")
        self.assertEqual(caught.exception.status, 400)

    def test_metrics_in_buckets(self):
        buckets = self.done.metrics_buckets(4)
        self.assertEqual((buckets[0]["from"], buckets[-1]["to"]), (0, 40))
        self.assertEqual(sum(b["count"] for b in buckets), 41)

    def test_a_branch(self):
        branch = self.done.branch(10, {"name": "lighter", "gravity": [0, -1, 0]})
        found = [f.positions.tolist() for f in branch.frames()]
        self.assertEqual((branch.wait(60, check=True).name, found[0]), ("lighter", self.values[10]))
        self.assertNotEqual(found[1], self.values[11])

    def test_a_snapshot(self):
        self.assertEqual(self.done.snapshot("ten", 10)["frame"], 10)
        self.assertEqual([s["name"] for s in self.done.snapshots()], ["ten"])
        branch = self.done.branch(snapshot="ten").wait(60, check=True)
        self.assertEqual(branch.frame(0).positions.tolist(), self.values[10])
        self.done.delete_snapshot("ten")
        self.assertEqual(self.done.snapshots(), [])

    def test_metrics_and_everything(self):
        metrics = list(self.done.metrics(start=2))
        self.assertEqual([m["frame"] for m in metrics], list(range(2, 41)))
        self.assertIn("kinetic", metrics[0]["energy"])
        mixed = list(self.done.stream(start=0))
        self.assertEqual(mixed[0][0], "state")
        self.assertEqual([v["frame"] for kind, v in mixed if kind == "metrics"], list(range(41)))
        self.assertIn(40, [v.number for kind, v in mixed if kind == "frame"])

    @with_and_without_numpy
    def test_a_stream_that_is_cut_goes_on(self):
        relay = Relay(self.daemon.port, cut=lambda number, sent: sent > 9000)
        self.addCleanup(relay.close)
        client = pliant.Client(relay.url, self.daemon.token)
        session = pliant.Session(client._transport, self.done.info)
        with session.frames(limit=39, every=1) as stream:
            found = [(f.number, f.positions.tolist()) for f in stream]
        self.assertEqual(found, list(enumerate(self.values[:39])))
        self.assertGreater(stream.reconnects, 2)
        with session.metrics() as metrics:
            self.assertEqual([m["frame"] for m in metrics], list(range(41)))
        self.assertGreater(metrics.reconnects, 0)
        with session.stream(start=0) as mixed:
            seen = [v["frame"] for kind, v in mixed if kind == "metrics"]
        self.assertEqual(seen, list(range(41)))

    def test_closing_ends_the_wait(self):
        session = self.client.submit(endless())
        self.addCleanup(session.delete)
        session.pause()
        until(lambda: session.refresh().state == "paused", "the pause")
        for stream in (session.frames(), session.metrics(), session.stream(), session.events()):
            thread = threading.Thread(target=lambda s=stream: [None for _ in s])
            thread.start()
            time.sleep(0.2)
            stream.close()
            thread.join(30)
            self.assertFalse(thread.is_alive(), stream)

    def test_a_deleted_session_ends_its_streams(self):
        session = self.client.submit(endless())
        with session.frames() as stream:
            next(stream)
            session.delete()
            for _ in stream:
                pass
        self.assertEqual(stream.reason, "deleted")


class RestartTest(unittest.TestCase):
    def test_a_new_daemon_is_found(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            daemon = Daemon()
            self.addCleanup(daemon.stop)
            client, other = (pliant.Client(state=daemon.state, retry_for=30) for _ in range(2))
            session = other.submit(endless())
            session = client.session(session.id)
            with session.frames(patience=60) as stream:
                found = [next(stream).number for _ in range(3)]
                daemon.end(number)
                if number == signal.SIGKILL:
                    os.unlink(os.path.join(daemon.state, "url"))
                daemon.start()
                found += [next(stream).number for _ in range(20)]
                self.assertEqual(found, list(range(23)))
                self.assertEqual(client.url, f"http://127.0.0.1:{daemon.port}")
                self.assertEqual(other.version()["name"], "pliant")
                session.cancel()
                found += [f.number for f in stream]
                self.assertEqual(found, list(range(len(found))))
            self.assertEqual((stream.reason, session.wait(60).state), ("cancelled", "cancelled"))


if __name__ == "__main__":
    main()
