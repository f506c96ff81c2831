"""A daemon with many stored sessions: its start-up time, and requests to it: a page of the list,
one session, and searches that find nothing, one old session, or a page. 100,000 sessions of a
hundred users, copied from one that has run: 1 in 1,000 failed, 5 were cancelled. SESSIONS=N in
the environment makes N. The rows have no checksum, so a start does not compute it."""

import http.client
import os
import random
import shutil
import sqlite3
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "python"))
from support import Daemon, pliant, scene  # noqa: E402

SESSIONS = int(os.environ.get("SESSIONS", "100000"))
OWNERS = 100
REQUESTS = 300


def make_rows(state, ids):
    """Copies of the only row, the oldest first."""
    db = sqlite3.connect(os.path.join(state, "pliant.db"))
    db.row_factory = sqlite3.Row
    row = dict(db.execute("SELECT * FROM sessions").fetchone())
    names = ",".join(row)
    begun = row["created_us"] - 1000000 * (len(ids) + 1)
    db.executemany("INSERT INTO users(name, created) VALUES(?, 0)",
                   ((f"user{u}",) for u in range(OWNERS)))
    with db:
        for i, identity in enumerate(ids):
            cancelled, failed = i % 200 == 7, i % 1000 == 1
            row.update(id=identity, crc=None, created_us=begun + 1000000 * i,
                       owner=f"user{i % OWNERS}", name=f"sweep {i // 50} run {i % 50}",
                       labels='{"batch":"%d","kind":"sweep"}' % (i // 50),
                       state="cancelled" if cancelled else "failed" if failed else "succeeded")
            db.execute(f"INSERT INTO sessions({names}) VALUES({','.join('?' * len(row))})",
                       list(row.values()))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def make_sessions(daemon):
    with pliant.Client(state=daemon.state) as client:
        wanted = scene(steps=2, labels={"batch": "first", "kind": "sweep"})
        session = client.submit(wanted).wait(60, check=True).id
    daemon.end()
    numbers = random.Random(1)
    ids = [f"{numbers.getrandbits(128):032x}" for _ in range(SESSIONS)]
    below = os.path.join(daemon.state, "sessions")
    for identity in ids:
        os.makedirs(os.path.join(below, identity[:2]), exist_ok=True)
        os.mkdir(os.path.join(below, identity[:2], identity))
    make_rows(daemon.state, ids)
    return session, ids


def start(daemon):
    begun = time.perf_counter()
    daemon.start()
    listens = time.perf_counter() - begun
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    while True:
        connection.request("GET", "/readyz")
        reply = connection.getresponse()
        reply.read()
        if reply.status == 200:
            break
    ready = time.perf_counter() - begun
    with open(f"/proc/{daemon.process.pid}/status") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    print(f"start: listens after {listens:.2f} s, ready after {ready:.2f} s, "
          f"{memory / 1024:.0f} MB", flush=True)
    return connection


def measure(connection, token, what, target):
    taken = []
    for i in range(REQUESTS):
        begun = time.perf_counter()
        connection.request("GET", target(i), headers={"Authorization": "Bearer " + token})
        reply = connection.getresponse()
        text = reply.read()
        taken.append(1e3 * (time.perf_counter() - begun))
        assert reply.status == 200, text
    taken.sort()
    found = text.count(b'"links":')
    print(f"{what:44} {found:5} {taken[REQUESTS // 2]:8.2f} {taken[REQUESTS * 99 // 100]:8.2f} "
          f"{taken[-1]:8.2f}", flush=True)


def post(daemon, token):
    """The time of a POST with a table of this size: held sessions, one by one."""
    taken = []
    with pliant.Client(state=daemon.state) as client:
        for _ in range(50):
            begun = time.perf_counter()
            client.submit(scene(steps=2, resources={"hold": True}))
            taken.append(1e3 * (time.perf_counter() - begun))
    taken.sort()
    print(f"{'POST of a held session':44} {1:5} {taken[25]:8.2f} {'':8} {taken[-1]:8.2f}")


def run(daemon):
    session, ids = make_sessions(daemon)
    for _ in range(2):
        connection = start(daemon)
        daemon.end()
    connection = start(daemon)
    token = daemon.token
    rows = SESSIONS // 50
    print("request                                      found   median      p99     most, ms")
    cases = [
        ("list, the newest", lambda i: "/v1/sessions"),
        ("list, a page in the middle",
         lambda i: f"/v1/sessions?cursor={1000000 * int(time.time() - SESSIONS // 2)}"),
        ("show one", lambda i: "/v1/sessions/" + ids[i * 7919 % SESSIONS]),
        ("search: a name that none has", lambda i: f"/v1/sessions?name=nothing{i}"),
        ("search: a name that one old has", lambda i: f"/v1/sessions?name=sweep+{i % rows}+run+3"),
        ("search: a label of fifty",
         lambda i: f"/v1/sessions?label=batch:{i % rows}".replace(":", "%3D")),
        ("search: a label that none has", lambda i: f"/v1/sessions?label=colour%3D{i}"),
        ("search: an owner", lambda i: f"/v1/sessions?owner=user{i % OWNERS}"),
        ("search: an owner that none is", lambda i: "/v1/sessions?owner=nobody"),
        ("search: failed", lambda i: "/v1/sessions?state=failed"),
        ("search: failed, of an owner", lambda i: "/v1/sessions?state=failed&owner=user1"),
        ("search: queued (none match)", lambda i: "/v1/sessions?state=queued"),
    ]
    for what, target in cases:
        measure(connection, token, what, target)
    post(daemon, token)


def main():
    print(f"{SESSIONS} stored sessions, load {os.getloadavg()[0]:.1f}")
    daemon = Daemon()
    try:
        run(daemon)
    finally:
        daemon.end()
        shutil.rmtree(daemon.directory, ignore_errors=True)


if __name__ == "__main__":
    main()
