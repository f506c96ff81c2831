"""Sockets that a service manager opens and passes to the daemon, like systemd's .socket units."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest

import support

# Descriptors begin at 3, and LISTEN_PID is the daemon's process id.
LAUNCH = """n=3; for fd in $FDS; do eval "exec $n<&$fd"; n=$((n + 1)); done
LISTEN_PID=$(($$ + OTHER)) LISTEN_FDS=$((n - 3)) LISTEN_FDNAMES=x exec "$@" """


def ask(where, path="/healthz"):
    """The status of a reply."""
    family = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as peer:
        peer.settimeout(60)
        peer.connect(where)
        return request(peer, path)


def request(peer, path):
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    peer.sendall(head.encode())
    return int(peer.makefile("rb").readline().split()[1])


class Activation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-activation-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemons = []
        self.addCleanup(self.stop_all)

    def stop_all(self):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
            daemon.wait()

    def path(self, name):
        return os.path.join(self.folder, name)

    def address(self, host="127.0.0.1", kind=socket.SOCK_STREAM):
        made = socket.socket(socket.AF_INET, kind)
        self.addCleanup(made.close)
        made.bind((host, 0))
        if kind == socket.SOCK_STREAM:
            made.listen()
        return made

    def unix(self):
        made = socket.socket(socket.AF_UNIX)
        self.addCleanup(made.close)
        made.bind(self.path("socket"))
        made.listen()
        return made

    def launch(self, sockets, *options, other=0):
        # Far from the numbers of the copies.
        numbers = [os.dup2(s.fileno(), 100 + k) for k, s in enumerate(sockets)]
        words = [os.path.join(support.BUILD, "pliantd"), "--state", self.path("state")]
        words += ["--cores", "1", "--no-pin", "--memory-groups", "off"]
        words += options or ("--listen", "127.0.0.1:0")
        given = dict(os.environ, FDS=" ".join(map(str, numbers)), OTHER=str(other))
        with open(self.path("log"), "w") as log:
            daemon = subprocess.Popen(["/bin/bash", "-c", LAUNCH, "launch", *words], env=given,
                                      pass_fds=numbers, stdout=log, stderr=log)
        for number in numbers:
            os.close(number)
        self.daemons.append(daemon)
        return daemon

    def start(self, sockets, **more):
        daemon = self.launch(sockets, **more)
        begun = " listening on "
        support.until(lambda: begun in self.log() or daemon.poll() is not None, "a start")
        self.assertIsNone(daemon.poll(), self.log())
        with open(self.path("state/url")) as file:
            return daemon, file.read().strip()

    def end(self, daemon):
        daemon.terminate()
        self.assertEqual(daemon.wait(60), 0)

    def log(self):
        with open(self.path("log")) as file:
            return file.read()

    def test_connections_wait_for_the_next_daemon(self):
        listening = self.address()
        where = listening.getsockname()
        daemon, url = self.start([listening])
        self.assertEqual(url, "http://127.0.0.1:%d" % where[1])
        self.assertEqual(ask(where), 200)
        # Child processes must not inherit it, and no thread may block in accept().
        with open(f"/proc/{daemon.pid}/fdinfo/3") as file:
            flags = int(file.read().split("flags:")[1].split()[0], 8)
        self.assertEqual(flags & (os.O_CLOEXEC | os.O_NONBLOCK), os.O_CLOEXEC | os.O_NONBLOCK)
        self.end(daemon)
        with socket.create_connection(where, timeout=60) as waiting:
            daemon, _ = self.start([listening])
            self.assertEqual(request(waiting, "/healthz"), 200)
        self.end(daemon)

    def test_unix_socket_stays(self):
        daemon, url = self.start([self.unix()])
        self.assertEqual(url, "unix:" + self.path("socket"))
        # The kernel reports the client's user, which is the owner.
        self.assertEqual(ask(self.path("socket"), "/v1/sessions"), 200)
        self.end(daemon)
        self.assertTrue(os.path.exists(self.path("socket")))

    def test_both(self):
        listening = self.address()
        daemon, url = self.start([self.unix(), listening])
        self.assertEqual(url, "http://127.0.0.1:%d" % listening.getsockname()[1])
        self.assertEqual(ask(self.path("socket"), "/v1/sessions"), 200)
        self.assertEqual(ask(listening.getsockname(), "/v1/sessions"), 401)
        self.end(daemon)

    def test_of_another_process(self):
        listening = self.address()
        daemon, url = self.start([listening], other=1)
        self.assertNotEqual(url, "http://127.0.0.1:%d" % listening.getsockname()[1])
        self.end(daemon)

    def test_refusals(self):
        datagrams = self.address(kind=socket.SOCK_DGRAM)
        for sockets, said in (
            ([datagrams], "not a stream socket that listens"),
            ([self.address(), self.address()], "more than one address"),
            ([self.address("0.0.0.0")], "tokens must not be sent in clear text"),
        ):
            daemon = self.launch(sockets)
            self.assertEqual(daemon.wait(60), 2, self.log())
            self.assertIn(said, self.log())
        daemon = self.launch([self.unix()], "--no-auth")
        self.assertEqual(daemon.wait(60), 2, self.log())


if __name__ == "__main__":
    support.main()
