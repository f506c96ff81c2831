"""Many small sessions: sessions a second through a daemon of all cores, and processor time of each
beside solving. 200 sessions of 480 tetrahedra and 100 frames, then the same of one frame, which are
start-up alone."""

import os
import resource
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "python"))
from support import Daemon, pliant, scene  # noqa: E402

SESSIONS = 200
TICK = 1e3 / os.sysconf("SC_CLK_TCK")  # ms


def spent(pid):
    """ms of processor time: of the daemon, of its children that have ended, of this process."""
    with open(f"/proc/{pid}/stat") as stat:
        field = [int(x) for x in stat.read().rsplit(")", 1)[1].split()[11:15]]
    own = resource.getrusage(resource.RUSAGE_SELF)
    return (TICK * (field[0] + field[1]), TICK * (field[2] + field[3]),
            1e3 * (own.ru_utime + own.ru_stime))


def measure(daemon, client, frames):
    wanted = scene(steps=frames, solver={"iterations": 5, "tolerance": 0},
                   bodies=[{"name": "box", "mesh": {"box": {"cells": [5, 4, 4]}}}])
    client.submit(wanted).wait(60, check=True)
    before, start = spent(daemon.process.pid), time.perf_counter()
    sessions = [client.submit(wanted) for _ in range(SESSIONS)]
    for session in sessions:
        session.wait(600, check=True)
    wall = time.perf_counter() - start
    used = [b - a for a, b in zip(before, spent(daemon.process.pid))]
    each = [u / SESSIONS for u in used]
    print(f"{frames:6} {SESSIONS / wall:10.1f} {each[0]:8.1f} {each[1]:20.1f} {each[2]:8.1f} ms")


def main():
    cores = len(os.sched_getaffinity(0))
    daemon = Daemon("--cores", str(cores))
    try:
        with pliant.Client(state=daemon.state) as client:
            print(f"{SESSIONS} sessions of 480 tetrahedra on {cores} cores; processor time of each")
            print("frames  sessions/s  daemon  check and worker     client")
            for frames in (100, 1):
                measure(daemon, client, frames)
    finally:
        daemon.stop()


if __name__ == "__main__":
    main()
