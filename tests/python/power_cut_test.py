"""The power is cut at random moments: everything that the daemon had acknowledged survives.

The state lies on ext4 on a disk that records each write and flush (tests/faults/disk_recorder). A
cut keeps everything before a flush and a random part of later writes, chosen for each page, as a
disk's cache might. A daemon on the disk of each cut must start and have every session, tag, mesh,
token and deletion acknowledged before the flush.
"""

import concurrent.futures
import os
import random
import shutil
import struct
import subprocess
import tempfile
import threading
import unittest

from support import BUILD, LONG, Daemon, main, pliant, scene, until

RECORDER = os.path.join(BUILD, "tests", "disk_recorder")

CUTS = 200 if LONG else 6
DISK = 64 << 20
PAGE = 4096
FLUSH = (1 << 64) - 1
USABLE = (os.geteuid() == 0 and os.access("/dev/fuse", os.W_OK) and os.path.exists(RECORDER)
          and os.path.exists("/dev/loop-control") and shutil.which("losetup")
          and shutil.which("mkfs.ext4"))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done.stdout.strip()


class Loop:
    """A loop device on a file, mounted."""

    def __init__(self, image, mount):
        self.device = run("losetup", "--find", "--show", image)
        self.mounted = None
        try:
            if not image.endswith(".img"):
                run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", self.device)
            run("mount", "-o", "nodiscard", self.device, mount)
            self.mounted = mount
        except AssertionError:
            self.close()
            raise

    def close(self):
        if self.mounted:
            run("umount", self.mounted)
            self.mounted = None
        if self.device:
            run("losetup", "--detach", self.device)
            self.device = None


class Records:
    """The disk's writes and flushes, in order."""

    def __init__(self, path):
        self.entries = []  # (end in the journal, offset, bytes), or (end, None, None): a flush
        with open(path, "rb") as file:
            data = file.read()
        at = 0
        while at + 16 <= len(data):
            offset, size = struct.unpack_from("<QQ", data, at)
            at += 16
            if offset == FLUSH:
                self.entries.append((at, None, None))
            elif at + size <= len(data):
                self.entries.append((at + size, offset, data[at:at + size]))
                at += size
            else:
                break

    def flushes(self, after):
        return [n for n, entry in enumerate(self.entries)
                if entry[1] is None and entry[0] > after]


class PowerCutTest(unittest.TestCase):
    def setUp(self):
        if not USABLE:
            self.skipTest("it takes root, FUSE, loop devices and ext4")
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.root = tempfile.mkdtemp(prefix="pliant-power-", dir=parent)
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.journal = self.path("journal")
        self.acknowledged = []  # (bytes of the journal at that moment, change, object)
        self.lock = threading.Lock()

    def path(self, name):
        return os.path.join(self.root, name)

    def folder(self, name):
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)

    def begin_recording(self):
        recorder = subprocess.Popen([RECORDER, self.folder("recorder"), str(DISK), self.journal])
        disk = self.path("recorder/disk")

        def end():
            recorder.terminate()
            recorder.wait(60)
            subprocess.run(["umount", "--lazy", self.path("recorder")], capture_output=True)

        self.addCleanup(end)
        until(lambda: os.path.exists(disk), "the recording disk")
        loop = Loop(disk, self.folder("disk"))
        self.addCleanup(loop.close)
        return loop

    def acknowledge(self, what, of):
        with self.lock:
            self.acknowledged.append((os.path.getsize(self.journal), what, of))

    def daemon(self, folder):
        """A daemon with its state in `folder`, which may already be a state."""
        daemon = Daemon(directory=folder)
        self.addCleanup(lambda: daemon.end() if daemon.process else None)
        return daemon

    def use(self, daemon, number):
        """Acts as one user, and records everything acknowledged."""
        with pliant.Client(state=daemon.state) as client:
            for n in range(8 if LONG else 3):
                name = f"user{number}-{n}"
                session = client.submit(scene(steps=5, name=name))
                self.acknowledge("session", session.id)
                tag = f"tag-{name}"
                session.patch(labels={"tag": tag})
                self.acknowledge("tag", (session.id, tag))
                token = client.create_token(name)
                self.acknowledge("token", token["id"])
                session.wait(120)
                self.acknowledge("succeeded", session.id)
                if n % 3 == 2:
                    self.acknowledge("deleting", session.id)
                    session.delete()
                    self.acknowledge("deleted", session.id)

    def record(self):
        loop = self.begin_recording()
        start = os.path.getsize(self.journal)
        daemon = self.daemon(self.path("disk"))
        begin = os.path.getsize(self.journal)
        with concurrent.futures.ThreadPoolExecutor(3) as users:
            for used in [users.submit(self.use, daemon, n) for n in range(3)]:
                used.result()
        daemon.end()
        end = os.path.getsize(self.journal)
        loop.close()
        self.assertGreater(begin, start)
        return begin, end

    @staticmethod
    def following(records, flush):
        """The entry of the next flush."""
        return next((n for n in range(flush + 1, len(records.entries))
                     if records.entries[n][1] is None), len(records.entries))

    def cut(self, records, flush, rng):
        """Makes a file with the disk as after a power cut at this flush."""
        image = self.path("cut.img")
        following = self.following(records, flush)
        with open(image, "wb") as file:
            file.truncate(DISK)
            for _, offset, data in records.entries[:flush]:
                if offset is not None:
                    file.seek(offset)
                    file.write(data)
            for _, offset, data in records.entries[flush + 1:following]:
                for at in range(0, len(data), PAGE):
                    if rng.random() < 0.5:
                        file.seek(offset + at)
                        file.write(data[at:at + PAGE])
        return image

    def check(self, client, moment, latest):
        """Changes acknowledged before `moment` must hold; those begun until `latest` may hold."""
        done = [(what, of) for at, what, of in self.acknowledged
                if at <= moment and what != "deleting"]
        leaving = {of for at, what, of in self.acknowledged
                   if at <= latest and what == "deleting"}
        there = {session.id: session for session in client.sessions()}
        tokens = {token["id"] for token in client.tokens()}
        for what, of in done:
            about = of[0] if what == "tag" else of
            if what == "token":
                self.assertIn(of, tokens)
            elif what == "deleted":
                self.assertNotIn(of, there)
            elif about in there or about not in leaving:
                self.assertIn(about, there)
                view = there[about].refresh()
                if what == "tag":
                    self.assertEqual(view.info["labels"], {"tag": of[1]})
                if what == "succeeded":
                    self.assertEqual(view.state, "succeeded")
                    self.assertEqual([frame.number for frame in view.frames()], list(range(6)))
        return len(done)

    def test_power_cuts(self):
        begin, _ = self.record()
        records = Records(self.journal)
        flushes = records.flushes(begin)
        self.assertGreater(len(flushes), 20)
        rng = random.Random(7)
        held = 0
        for number in range(CUTS):
            flush = rng.choice(flushes)
            loop = Loop(self.cut(records, flush, rng), self.folder("cut"))
            try:
                daemon = self.daemon(self.path("cut"))
                with self.subTest(cut=number, flush=flush):
                    with pliant.Client(state=daemon.state) as client:
                        moment = records.entries[flush][0]
                        latest = records.entries[self.following(records, flush) - 1][0]
                        held += self.check(client, moment, latest)
                daemon.cancel_all()
                daemon.end()
            finally:
                loop.close()
        print(f"{CUTS} cuts at {len(flushes)} flushes: {held} acknowledged changes held")
        self.assertGreater(held, CUTS)


if __name__ == "__main__":
    main()
