"""deploy/proxy in front of a real daemon: Debian's nginx with TLS. Only replies to share links come
from its cache; streams are not buffered; clients' addresses and Secure cookies are as configured.
caddy checks its file. PLIANT_LONG=1: 10,000 readers of a stored session, and their cost for the
daemon."""

import ctypes
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before PLIANT_* is cleared

from support import ROOT, Daemon, endless, main, pliant, scene, until  # noqa: E402

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CADDY = shutil.which("caddy")
OPTIONS = ["--behind-proxy", "--secure-cookies", "--allow-host", "localhost",
           "--shared-cache", "60"]
MAIN = """
worker_processes 1;
{user}
pid {folder}/pid;
error_log {folder}/error.log notice;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def end_with_parent():
    """Ends nginx, which ends its workers."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Nginx:
    """nginx with deploy/proxy/nginx.conf for this daemon, on a free port."""

    def __init__(self, daemon):
        self.folder = tempfile.mkdtemp(prefix="pliant-proxy-")
        self.daemon = daemon
        self.certificate = os.path.join(self.folder, "pliant.pem")
        self.process = None
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-keyout", self.folder + "/pliant.key",
             "-out", self.certificate],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(20):  # another process may take the port
            self.port = free_port()
            self.write()
            if self.begin():
                break
        else:
            raise AssertionError(self.log())
        self.context = ssl.create_default_context(cafile=self.certificate)

    def write(self):
        """The original file except its marked lines, ports and paths."""
        with open(os.path.join(ROOT, "deploy", "proxy", "nginx.conf")) as file:
            site = file.read()
        changes = [("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
                   ("pliant.example.org;", "localhost;"),
                   ("/etc/ssl/certs/pliant.pem", self.certificate),
                   ("/etc/ssl/private/pliant.key", self.folder + "/pliant.key"),
                   ("server 127.0.0.1:8080;", f"server 127.0.0.1:{self.daemon.port};"),
                   ("/var/cache/nginx/pliant", self.folder + "/cache")]
        for old, new in changes:
            assert site.count(old) == 1, old
            site = site.replace(old, new)
        with open(self.folder + "/site.conf", "w") as file:
            file.write(site)
        user = "user root;" if os.geteuid() == 0 else ""
        with open(self.folder + "/nginx.conf", "w") as file:
            file.write(MAIN.format(folder=self.folder, user=user))

    def begin(self):
        self.process = subprocess.Popen(
            [NGINX, "-p", self.folder, "-c", self.folder + "/nginx.conf", "-g", "daemon off;"],
            preexec_fn=end_with_parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.process.poll() is not None or self.answers(), "nginx")
        return self.process.poll() is None

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return os.path.exists(self.folder + "/pid")
        except OSError:
            return False

    def log(self):
        with open(self.folder + "/error.log") as file:
            return file.read()

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self):
        return http.client.HTTPSConnection("localhost", self.port, timeout=60,
                                           context=self.context)

    def ask(self, path, method="GET", body=None, **headers):
        """The status, the headers, the body."""
        connection = self.open()
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


@unittest.skipUnless(NGINX, "nginx is not installed")
class NginxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*OPTIONS)
        cls.addClassCleanup(cls.daemon.stop)
        cls.nginx = Nginx(cls.daemon)
        cls.addClassCleanup(cls.nginx.stop)
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.addClassCleanup(cls.client.close)
        cls.origin = f"https://localhost:{cls.nginx.port}"
        cls.bearer = "Bearer " + cls.daemon.token

    def stored(self):
        return self.client.submit(scene(steps=6)).wait(60)

    def cookie_of(self, session):
        """The cookie of a browser that opened a share link through nginx."""
        secret = session.share()["secret"]
        status, headers, _ = self.nginx.ask(
            "/v1/links/open", "POST", json.dumps({"secret": secret}), Origin=self.origin,
            Content_Type="application/json")
        self.assertEqual(status, 200)
        self.assertIn("; Secure", headers["Set-Cookie"])
        return headers["Set-Cookie"].split(";")[0]

    def requests(self):
        """Number of requests for frames that the daemon has answered."""
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=60)
        connection.request("GET", "/metrics", headers={"Authorization": self.bearer})
        page = connection.getresponse().read().decode()
        connection.close()
        found = re.findall(
            r'pliant_http_request_seconds_count\{.*/frames/\{.*\} (\d+)', page)
        return sum(int(n) for n in found)

    def test_a_link_is_served_from_the_cache(self):
        session = self.stored()
        cookie = self.cookie_of(session)
        path = f"/v1/sessions/{session.id}/frames/3"
        before = self.requests()
        kinds = ["application/x-npy", "application/vnd.pliant.frames"]
        bodies = {}
        for turn, kind in [(turn, kind) for turn in range(4) for kind in kinds]:
            status, headers, body = self.nginx.ask(path, Cookie=cookie, Accept=kind)
            self.assertEqual(status, 200)
            self.assertEqual(headers["X-Cache"], "HIT" if turn else "MISS")
            self.assertEqual(headers["Content-Type"], kind)
            self.assertRegex(headers["Cache-Control"],
                             r"^public, max-age=31536000, s-maxage=(60|5\d), immutable$")
            self.assertEqual(headers["Vary"], "Accept, Cookie")
            self.assertEqual(bodies.setdefault(kind, body), body)
        self.assertEqual(self.requests() - before, 2)
        direct = self.client._transport.request("GET", path, headers={"Accept": kinds[0]})
        self.assertEqual(bodies[kinds[0]], direct.body)
        _, headers, _ = self.nginx.ask(path, Cookie=cookie, Accept=kinds[0])
        status, _, body = self.nginx.ask(path, Cookie=cookie, Accept=kinds[0],
                                         If_None_Match=headers["ETag"])
        self.assertEqual((status, body), (304, b""))
        for part in ("scene", "topology", "export?format=npz", "metrics?buckets=2"):
            for cached in ("MISS", "HIT"):
                _, headers, _ = self.nginx.ask(f"/v1/sessions/{session.id}/{part}", Cookie=cookie)
                self.assertEqual(headers["X-Cache"], cached)
        self.check_nobody_else_reads_it(session, path, kinds[0])

    def check_nobody_else_reads_it(self, session, path, kind):
        """Cached replies are only for readers with the link."""
        other = self.cookie_of(self.stored())
        again = self.cookie_of(session)  # another link to it has its own entries
        wrong = other.split("=")[0] + "=" + "x" * 43
        for given, expected in [({}, 401), ({"Cookie": wrong}, 401), ({"Cookie": other}, 404),
                                ({"Authorization": "Bearer nothing"}, 401)]:
            status, headers, _ = self.nginx.ask(path, Accept=kind, **given)
            self.assertEqual(status, expected, given)
            self.assertEqual(headers["Cache-Control"], "no-store")
        _, headers, _ = self.nginx.ask(path, Accept=kind, Cookie=again)
        self.assertEqual(headers["X-Cache"], "MISS")
        for _ in range(2):
            status, headers, _ = self.nginx.ask(path, Accept=kind, Authorization=self.bearer)
            self.assertEqual((status, headers["X-Cache"]), (200, "MISS"))
            self.assertEqual(headers["Cache-Control"], "private, max-age=31536000, immutable")

    def test_a_signed_address_is_kept_until_it_expires(self):
        session = self.stored()
        signed = self.client._transport.json(
            "POST", f"/v1/sessions/{session.id}/sign",
            {"path": f"/v1/sessions/{session.id}/frames/2"})
        address = "/v1/" + signed["url"].split("/v1/", 1)[1]
        for cached in ("MISS", "HIT"):
            status, headers, _ = self.nginx.ask(address)
            self.assertEqual((status, headers["X-Cache"]), (200, cached))
            self.assertRegex(headers["Cache-Control"], r"s-maxage=(60|[1-5]?\d),")
        status, _, _ = self.nginx.ask(address[:-1] + ("0" if address[-1] != "0" else "1"))
        self.assertEqual(status, 401)

    def test_streams_are_not_buffered(self):
        """A paused session's records do not fill a buffer; they arrive nevertheless, although the
        stream does not end."""
        session = self.client.submit(endless())
        until(lambda: (session.refresh().info["progress"]["frame"] or 0) >= 2, "frames")
        session.pause()
        until(lambda: session.refresh().state == "paused", "the pause")
        connection = self.nginx.open()
        for kind in ("application/x-ndjson", "text/event-stream"):
            connection.request("GET", f"/v1/sessions/{session.id}/metrics?from=1&follow=1",
                               headers={"Authorization": self.bearer, "Accept": kind})
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            while b'"frame":1' not in answer.readline().replace(b" ", b""):
                pass
            connection.close()
        session.delete()

    def test_logins_and_addresses(self):
        status, headers, _ = self.nginx.ask(
            "/v1/login", "POST", json.dumps({"token": self.daemon.token}), Origin=self.origin,
            Content_Type="application/json", X_Forwarded_For="10.9.8.7")
        self.assertEqual(status, 200)
        self.assertIn("; Secure", headers["Set-Cookie"])
        cookie = headers["Set-Cookie"].split(";")[0]
        status, headers, _ = self.nginx.ask("/v1/me", Cookie=cookie)
        self.assertEqual((status, headers["Cache-Control"]), (200, "no-store"))
        logins = []

        def is_told():
            logins[:] = [r["address"] for r in self.client.audit() if "/v1/login" in r["action"]]
            return bool(logins)

        until(is_told, "the audit")
        self.assertEqual(set(logins), {"127.0.0.1"})  # the client's own header is dropped

    def test_a_mesh_goes_through(self):
        """An upload larger than nginx keeps in memory."""
        n = 150
        lines = [f"v {i} {j} 0" for i in range(n) for j in range(n)]
        lines += [f"f {a} {a + 1} {a + n}" for a in range(1, n * (n - 1)) if a % n]
        data = "\n".join(lines).encode()
        digest = hashlib.sha256(data).hexdigest()
        status, _, _ = self.nginx.ask(f"/v1/meshes/{digest}", "PUT", data,
                                      Authorization=self.bearer,
                                      Content_Type="application/octet-stream")
        self.assertIn(status, (200, 201))

    @unittest.skipUnless(LONG, "PLIANT_LONG is not set")
    def test_ten_thousand_readers(self):
        """Each reader has its own connection, and reads scene, topology and every frame."""
        readers, threads = 10000, 16
        session = self.client.submit(scene(steps=20, cells=4)).wait(60)
        cookie = self.cookie_of(session)
        parts = ["scene", "topology", *(f"frames/{k}" for k in range(21))]
        text = "".join(
            f"GET /v1/sessions/{session.id}/{part} HTTP/1.1\r\nHost: localhost\r\n"
            f"Cookie: {cookie}\r\nAccept: */*\r\n"
            + ("Connection: close\r\n" if part == parts[-1] else "") + "\r\n"
            for part in parts).encode()
        first = self.read(text)
        before, begun = (self.processor_time(), self.requests()), time.monotonic()
        wrong = []

        def read_many(count):
            wrong.extend(1 for _ in range(count) if self.read(text) != first)

        running = [threading.Thread(target=read_many, args=(readers // threads,))
                   for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        wall = time.monotonic() - begun
        spent, asked = self.processor_time() - before[0], self.requests() - before[1]
        print(f"{readers} readers of {len(parts)} parts in {wall:.1f} s, {first[1]} bytes each: "
              f"{asked} requests for frames and {spent:.2f} s of processor time at the daemon, "
              f"{100 * spent / wall:.2f} % of a core")
        self.assertEqual((first[0], wrong), (len(parts), []))
        self.assertLess(spent / wall, 0.05)

    def processor_time(self):
        with open(f"/proc/{self.daemon.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read(self, text):
        """Number of replies with status 200, and bytes of all bodies."""
        with socket.create_connection(("localhost", self.nginx.port), 60) as plain:
            with self.nginx.context.wrap_socket(plain, server_hostname="localhost") as tls:
                tls.sendall(text)
                pieces = []
                while data := tls.recv(1 << 18):
                    pieces.append(data)
        whole = b"".join(pieces)
        lengths = re.findall(rb"\r\nContent-Length: (\d+)\r\n", whole)
        return whole.count(b"HTTP/1.1 200 OK\r\n"), sum(int(n) for n in lengths)


@unittest.skipUnless(CADDY, "caddy is not installed")
class CaddyTest(unittest.TestCase):
    def test_its_file_is_valid(self):
        path = os.path.join(ROOT, "deploy", "proxy", "Caddyfile")
        with tempfile.TemporaryDirectory(prefix="pliant-proxy-") as home:
            done = subprocess.run(
                [CADDY, "validate", "--config", path, "--adapter", "caddyfile"],
                env={"PATH": os.environ["PATH"], "HOME": home},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == "__main__":
    main()
