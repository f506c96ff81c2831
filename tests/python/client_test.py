"""The Python client's requests against a real daemon."""

import contextlib
import io
import json
import os
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from support import (
    BUILD,
    ROOT,
    Daemon,
    Relay,
    endless,
    main,
    npy,
    pliant,
    scene,
    until,
    with_and_without_numpy,
)

CUBE = os.path.join(ROOT, "tests", "http", "fixtures", "cube.msh")


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.done = cls.client.submit(scene(labels={"kind": "done"}), checked=20)
        cls.done.wait(60, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()

    def write_scene(self, name, mesh):
        path = os.path.join(self.daemon.directory, name)
        value = scene(steps=2)
        value["bodies"][0]["mesh"] = mesh
        with open(path, "w") as file:
            json.dump(value, file)
        return path

    def test_a_session_runs_to_its_end(self):
        session = self.client.submit(scene())
        self.assertEqual([f.number for f in session.frames()], list(range(21)))
        session.wait(60, check=True)
        self.assertEqual((session.state, session.last_frame, session.over), ("succeeded", 20, True))
        self.assertEqual(session.scene()["name"], "falls")
        self.assertIn("gravity", session.scene("effective"))

    def test_all_faults_of_a_scene_come_at_once(self):
        with self.assertRaises(pliant.SceneRefused) as caught:
            self.client.submit({"pliant": 1, "bodys": []})
        self.assertEqual(caught.exception.code, "invalid_scene")
        faults = {f.pointer: f for f in caught.exception.faults}
        self.assertIn("bodies", faults["/bodys"].hint)
        self.assertIn("/bodies", faults)
        self.assertIn("/bodys", str(caught.exception))

    def test_mesh_files_are_uploaded_once(self):
        shutil.copy(CUBE, os.path.join(self.daemon.directory, "cube.msh"))
        path = self.write_scene("meshed.json", {"file": "cube.msh"})
        relay = Relay(self.daemon.port)
        self.addCleanup(relay.close)
        client = pliant.Client(relay.url, self.daemon.token)
        self.addCleanup(client.close)
        for _ in range(2):
            session = client.submit(path).wait(60, check=True)
        puts = [r for r in relay.requests if r.startswith(b"PUT ")]
        self.assertEqual(len(puts), 1)
        self.assertEqual(session.frame(0).vertices, 8)
        mesh = session.scene()["bodies"][0]["mesh"]
        self.assertEqual([mesh["format"], mesh["upload"][:7]], ["gmsh", "sha256:"])
        held = [m["hash"] for m in client.meshes()]
        self.assertIn(mesh["upload"][7:], held)
        self.assertEqual(client.upload(CUBE)["tets"], 6)
        client.forget_mesh(mesh["upload"][7:])
        self.assertNotIn(mesh["upload"][7:], [m["hash"] for m in client.meshes()])

    def test_files_that_can_not_be_read_are_faults(self):
        for mesh, code in (
            ({"file": "none.msh"}, "file_unreadable"),
            ({"file": "x.stp"}, "unknown_format"),
        ):
            with self.assertRaises(pliant.SceneFilesUnreadable) as caught:
                self.client.submit(self.write_scene("bad.json", mesh))
            fault = caught.exception.faults[0]
            self.assertEqual((fault.pointer, fault.code), ("/bodies/0/mesh/file", code))

    def test_the_same_key_makes_one_session(self):
        first = self.client.submit(scene(name="key"), key="python-one")
        again = self.client.submit(scene(name="key"), key="python-one")
        self.assertEqual(first.id, again.id)
        with self.assertRaises(pliant.Problem) as caught:
            self.client.submit(scene(name="other"), key="python-one")
        self.assertEqual(caught.exception.status, 422)

    def test_a_submission_that_is_cut_is_made_once(self):
        # The daemon's answer is lost on the second connection, after it has made the session.
        relay = Relay(self.daemon.port, cut=lambda number, sent: number == 1)
        self.addCleanup(relay.close)
        client = pliant.Client(relay.url, self.daemon.token)
        client.version()
        client.close()
        session = client.submit(scene(steps=1, labels={"cut": "once"}))
        client.close()
        found = list(self.client.sessions(labels={"cut": "once"}))
        self.assertEqual([s.id for s in found], [session.id])
        self.assertEqual(relay.connections, 3)

    def test_a_control_that_is_cut_is_not_sent_again(self):
        session = self.client.submit(endless())
        self.addCleanup(session.delete)
        relay = Relay(self.daemon.port, cut=lambda number, sent: number == 1)
        self.addCleanup(relay.close)
        client = pliant.Client(relay.url, self.daemon.token)
        mine = client.session(session.id)
        client.close()
        with self.assertRaises(pliant.Unreachable):
            mine.control(gravity=[0, -1, 0])
        self.assertEqual(relay.connections, 2)

    def test_a_busy_daemon_is_asked_again(self):
        busy = (
            b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 2\r\n"
            b"Connection: close\r\n\r\n{}"
        )
        relay = Relay(self.daemon.port, answer=lambda number: busy if number < 2 else None)
        self.addCleanup(relay.close)
        with pliant.Client(relay.url, self.daemon.token) as client:
            self.assertEqual(client.version()["name"], "pliant")
        self.assertEqual(relay.connections, 3)
        relay = Relay(self.daemon.port, answer=lambda number: busy.replace(b": 0", b": 30"))
        self.addCleanup(relay.close)
        with self.assertRaises(pliant.Problem) as caught:
            pliant.Client(relay.url, self.daemon.token, retry_for=1).version()
        self.assertEqual(caught.exception.status, 503)

    def test_lists_and_changes(self):
        found = list(self.client.sessions(labels={"kind": "done"}, state="succeeded"))
        self.assertEqual([s.id for s in found], [self.done.id])
        self.assertEqual(self.client.session(self.done.id[:12]).id, self.done.id)
        self.assertEqual(len(list(self.client.sessions(limit=1))), 1)
        stale = self.client.session(self.done.id)
        self.done.patch(name="renamed")
        self.assertEqual(self.client.session(self.done.id).name, "renamed")
        with self.assertRaises(pliant.Problem) as caught:
            stale.patch(name="too late")
        self.assertEqual(caught.exception.status, 412)
        self.assertEqual(caught.exception.code, "changed_meanwhile")

    def test_what_is_deleted_is_not_found(self):
        session = self.client.submit(scene(steps=1)).wait(60)
        events = self.client.events()
        session.delete()
        mine = (e["event"] for e in events if e["session"]["id"] == session.id)
        self.assertTrue(any(word == "deleted" for word in mine))
        with self.assertRaises(pliant.NotFound):
            session.refresh()

    def test_a_live_session_is_steered(self):
        session = self.client.submit(endless(output={"probes": [
            {"name": "low", "quantity": "position", "component": "y", "statistic": "min"}]}))
        self.addCleanup(session.delete)
        with session.metrics() as metrics:
            next(metrics)
            control = session.control(gravity=[0, 5, 0])
            self.assertEqual(control["control_id"], 1)
            self.assertTrue(any(m.get("control") == 1 for m in metrics))
        with self.assertRaises(pliant.SceneRefused) as caught:
            session.control(pins=[{"name": "nobody", "motion": {"velocity": [0, 0, 0]}}])
        self.assertTrue(caught.exception.faults[0].pointer.startswith("/pins"))
        session.pause()
        until(lambda: session.refresh().state == "paused", "the pause")
        here = session.last_frame
        self.assertEqual(session.step(2), here + 2)
        until(
            lambda: session.refresh().last_frame == here + 2 and session.state == "paused",
            "two frames",
        )
        probes = session.probes()
        self.assertEqual(probes["frame"], list(range(here + 3)))
        self.assertEqual((len(probes["low"]), probes["low"][0]), (here + 3, -0.5))
        with self.assertRaises(TimeoutError):
            session.wait(0.2)
        session.resume()
        session.cancel()
        self.assertEqual(session.wait(60).state, "cancelled")
        with self.assertRaises(pliant.SessionFailed):
            session.wait(60, check=True)

    def test_where_the_daemon_is_and_who_asks(self):
        with self.assertRaises(pliant.Unauthorised):
            list(pliant.Client(f"http://127.0.0.1:{self.daemon.port}", "no such token").sessions())
        with self.assertRaises(pliant.Unreachable) as caught:
            pliant.Client("http://127.0.0.1:1", "t").version()
        self.assertIn("is pliantd running there?", str(caught.exception))
        environment = {
            "PLIANT_SERVER": f"http://127.0.0.1:{self.daemon.port}",
            "PLIANT_TOKEN_FILE": os.path.join(self.daemon.state, "token"),
        }
        home = os.path.join(self.daemon.directory, "home", "pliant")
        os.makedirs(home)
        for name in ("url", "token"):
            shutil.copy(os.path.join(self.daemon.state, name), home)
        for more in (environment, {"XDG_STATE_HOME": os.path.dirname(home)}):
            code = "import pliant; print(pliant.Client().me()['user'])"
            path = os.path.join(ROOT, "clients", "python")
            said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], "PYTHONPATH": path, **more})
            self.assertEqual((said.stdout.strip(), said.stderr), ("owner", ""))

    def test_named_servers(self):
        folder = os.path.join(self.daemon.directory, "named")
        os.makedirs(folder)
        config, token = os.path.join(folder, "config"), os.path.join(folder, "token")
        shutil.copy(os.path.join(self.daemon.state, "token"), token)
        url = f"http://127.0.0.1:{self.daemon.port}"
        with open(config, "w") as file:
            file.write(f"# mine\ndefault = lab\n[lab]\nurl = {url}\ntoken-file = {token}\n")
        with mock.patch.dict(os.environ, {"PLIANT_CONFIG": config}):
            self.assertEqual(pliant.Client().me()["user"], "owner")
            self.assertEqual(pliant.Client("lab").url, url)
            with mock.patch.dict(os.environ, {"PLIANT_SERVER": "lab"}):
                self.assertEqual(pliant.Client().url, url)
            with self.assertRaisesRegex(pliant.PliantError, "no server 'lba'"):
                pliant.Client("lba")
            os.chmod(token, 0o644)
            with self.assertRaisesRegex(pliant.PliantError, "chmod 600"):
                pliant.Client("lab")
            with open(config, "a") as file:
                file.write("nonsense\n")
            with self.assertRaisesRegex(pliant.PliantError, "line 6"):
                pliant.Client("lab")

    def test_the_owners_token_goes_nowhere_else(self):
        for url, sent in (
            ("http://127.0.0.1:1", True),
            ("http://localhost:1", True),
            ("unix:/nowhere", True),
            ("http://example.org", False),
            ("http://127.0.0.1.example.org", False),
            ("http://localhost:x@example.org", False),
        ):
            home = os.path.join(self.daemon.directory, "state-home")
            os.makedirs(os.path.join(home, "pliant"), exist_ok=True)
            with open(os.path.join(home, "pliant", "token"), "w") as file:
                file.write("secret")
            with mock.patch.dict(os.environ, {"XDG_STATE_HOME": home}):
                self.assertEqual(pliant.Client(url)._transport.token, "secret" if sent else None)

    def test_tokens(self):
        made = self.client.create_token("reader", ["read"], lifetime=3600)
        self.assertIn(made["id"], [t["id"] for t in self.client.tokens()])
        reader = pliant.Client(f"http://127.0.0.1:{self.daemon.port}", made["token"])
        self.assertEqual(reader.me()["scopes"], ["read"])
        with self.assertRaises(pliant.Problem) as caught:
            reader.submit(scene())
        self.assertEqual(caught.exception.status, 403)
        self.client.revoke_token(made["id"])
        with self.assertRaises(pliant.Unauthorised):
            reader.me()
        with self.assertRaises(pliant.SceneRefused):
            self.client.create_token(scopes="everything")
        self.assertIn("#", self.client.login_url())
        self.assertIn("DELETE", [entry["action"].split()[0] for entry in self.client.audit()])

    def test_links(self):
        link = self.done.share("for you", lifetime=3600)
        self.assertIn("#", link["url"])
        self.assertEqual([one["id"] for one in self.done.links()], [link["id"]])
        self.done.revoke_link(link["id"])
        self.assertEqual(self.done.links(), [])
        self.assertEqual(self.done.controls(), [])

    def test_what_the_daemon_is(self):
        self.assertIn("materials", self.client.capabilities())
        self.assertEqual(self.client.devices()[0]["device"], "cpu")
        self.assertIn("items", self.client.queue())
        self.assertIn("user", self.client.usage())
        used = self.client.usage(by="user")
        self.assertEqual([row["user"] for row in used["items"]], ["owner"])
        self.assertGreater(used["machine"]["core_seconds"], 0)
        self.assertEqual(self.client.usage(by="day", last="2026-01-01")["items"], [])
        self.assertIn("owner", self.client.usage_csv(by="user"))
        spans = self.client.usage_spans()
        self.assertIn(self.done.id, [span["session"] for span in spans["items"]])
        validation = self.client.validate(scene())
        self.assertEqual((validation["valid"], validation["estimate"]["vertices"]), (True, 27))

    def test_the_whole_queue(self):
        """A queue that fills pages; if its first session begins meanwhile, repeated entries are
        listed once."""
        waits = [{"id": c * 32, "name": f"waits {c}", "queue": {"position": 1}} for c in "abc"]
        whole = {"running": 1, "queued": 3, "checking": 0}

        def page(items, cursor):
            return {**whole, "items": items, "next": cursor}

        def queue(*pages):
            parts = [json.dumps(one).encode() for one in pages]
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
            relay = Relay(1, answer=lambda number: head % len(parts[number]) + parts[number])
            self.addCleanup(relay.close)
            return relay

        pages = [page(waits[:2], "b"), page(waits[1:], None)]
        relay = queue(pages[0], *pages)
        found = pliant.Client(relay.url, "t").queue()
        self.assertEqual(found, {**whole, "items": waits})
        self.assertIn(b"cursor=b", relay.requests[2])
        none = {"items": [], "next": None}
        relay = queue(page(waits[:1], "a"), none, none, pages[0], page(waits[2:], None))
        command = [os.path.join(BUILD, "pliant"), "queue", "--server", relay.url, "--token", "t"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stdout.splitlines() if "waits" in line]
        self.assertEqual([line.split()[3] for line in said], ["a", "b", "c"], done.stdout)

    @with_and_without_numpy
    def test_files(self):
        frames = [f.positions.tolist() for f in self.done.frames()]
        path = os.path.join(self.daemon.directory, "saved")
        self.assertEqual(self.done.save(path + ".npy"), 21)
        with open(path + ".npy", "rb") as file:
            self.assertEqual(npy.read(file.read()).tolist(), frames)
        self.assertEqual(self.done.save(path + ".pc2", every=10), 3)
        with open(path + ".pc2", "rb") as file:
            data = file.read()
        self.assertEqual(struct.unpack_from("<12siiffi", data), (b"POINTCACHE2\0", 1, 27, 0, 10, 3))
        self.assertEqual(list(struct.unpack_from("<3f", data, 32 + 27 * 12)), frames[10][0])
        self.assertEqual(self.done.save(path + ".pc2", start=2, limit=4, every=3), 4)
        with open(path + ".pc2", "rb") as file:
            data = file.read()
        self.assertEqual(struct.unpack_from("<2fi", data, 20), (2, 3, 4))
        self.assertEqual(list(struct.unpack_from("<3f", data, 32 + 3 * 27 * 12)), frames[11][0])
        self.assertEqual(self.done.save(path + ".pc2", limit=4, to=0), 1)
        with self.assertRaises(ValueError):
            self.done.save(path + ".pc2", limit=0)
        self.assertEqual(self.done.save(path + ".pc2", vertices="surface", every=10), 3)
        self.assertEqual(os.path.getsize(path + ".pc2"), 32 + 3 * 26 * 12)
        self.done.save(path + ".obj", frame=0)
        with open(path + ".obj") as file:
            lines = file.read().splitlines()
        self.assertEqual(sum(line.startswith("v ") for line in lines), 27)
        corners = [tuple(int(c) - 1 for c in line.split()[1:]) for line in lines if line[0] == "f"]
        self.assertEqual(corners, [tuple(t) for t in self.done.topology().triangles.tolist()])
        self.assertEqual(self.done.save(path + ".csv"), 21)
        with open(path + ".csv") as file:
            head, first = file.readline().strip().split(","), file.readline().strip().split(",")
        self.assertEqual((first[head.index("frame")], len(first)), ("0", len(head)))
        self.assertIn("energy.kinetic", head)
        with self.assertRaises(ValueError):
            self.done.save(path + ".stl")
        self.assertEqual([n for n in os.listdir(self.daemon.directory) if n.endswith(".part")], [])

    def test_a_progress_bar(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        said = Terminal()
        bar = pliant.Progress("falls", 20, said)
        self.done.wait(60, progress=bar)
        last = said.getvalue().split("\r")[-1]
        self.assertIn("frame 20/20", last)
        self.assertIn("[" + "#" * 20, last)
        plain = io.StringIO()
        with contextlib.redirect_stderr(plain):
            self.assertEqual(len(list(pliant.progress(self.done.frames(), 20))), 21)
        self.assertEqual(plain.getvalue().count("\n"), 1)


class OtherWaysTest(unittest.TestCase):
    def test_a_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="pliant-python-socket-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "socket")
        daemon = Daemon("--listen", f"unix:{path}")
        self.addCleanup(daemon.stop)
        with pliant.Client(f"unix:{path}") as client:
            session = client.submit(scene(steps=3))
            self.assertEqual(len(list(session.frames())), 4)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl to make a certificate with")
    def test_tls(self):
        folder = tempfile.mkdtemp(prefix="pliant-python-tls-")
        self.addCleanup(shutil.rmtree, folder)
        key, certificate = os.path.join(folder, "key"), os.path.join(folder, "cert")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-keyout", key, "-out", certificate, "-days", "2"]
            + ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True,
            capture_output=True,
        )
        daemon = Daemon("--tls-cert", certificate, "--tls-key", key)
        url = f"https://127.0.0.1:{daemon.port}"
        with self.assertRaises(pliant.Unreachable):
            pliant.Client(url, daemon.token).version()
        context = ssl.create_default_context(cafile=certificate)
        with pliant.Client(url, daemon.token, context=context) as client:
            session = client.submit(scene(steps=3))
            self.assertEqual(len(list(session.frames())), 4)
            session.wait(60)
        # The client of stop() does not know the certificate.
        daemon.end()
        shutil.rmtree(daemon.directory)


if __name__ == "__main__":
    main()
