"""Many small sessions: sessions per second through a daemon with all cores, and processor time
of each besides solving: 200 sessions of 480 tetrahedra and 100 frames, of 10 frames, and of one,
which is only start-up. Each with normally started workers and checks (--prepared 0), and with
prepared processes. SESSIONS=N in the environment runs N of each."""

import os
import resource
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "python"))
from support import Daemon, pliant, scene  # noqa: E402

SESSIONS = int(os.environ.get("SESSIONS", "200"))
TICK = 1e3 / os.sysconf("SC_CLK_TCK")  # ms


def spent(pid):
    """ms of processor time: the daemon's, its ended children's, this process's."""
    with open(f"/proc/{pid}/stat") as stat:
        field = [int(x) for x in stat.read().rsplit(")", 1)[1].split()[11:15]]
    own = resource.getrusage(resource.RUSAGE_SELF)
    return (TICK * (field[0] + field[1]), TICK * (field[2] + field[3]),
            1e3 * (own.ru_utime + own.ru_stime))


def solving(session):
    """ms spent on frames, according to the session; on a busy machine more than processor time."""
    return sum(line["ms"]["step"] for line in session.metrics())


def measure(daemon, client, frames, start):
    wanted = scene(steps=frames, solver={"iterations": 5, "tolerance": 0},
                   bodies=[{"name": "box", "mesh": {"box": {"cells": [5, 4, 4]}}}])
    for _ in range(2):
        client.submit(wanted).wait(60, check=True)
    before, begun = spent(daemon.process.pid), time.perf_counter()
    sessions = [client.submit(wanted) for _ in range(SESSIONS)]
    for session in sessions:
        session.wait(600, check=True)
    wall = time.perf_counter() - begun
    used = [b - a for a, b in zip(before, spent(daemon.process.pid))]
    each = [u / SESSIONS for u in used]
    some = sessions[::max(1, SESSIONS // 20)]
    solved = sum(solving(s) for s in some) / len(some)
    cores = len(os.sched_getaffinity(0))
    print(f"{frames:6}  {start:8} {SESSIONS / wall:10.1f} {each[0]:8.1f} {each[1]:17.1f} "
          f"{each[2]:7.1f} {solved:8.1f} ms {SESSIONS * solved / (wall * cores) / 10:8.0f} %",
          flush=True)


def run(start, prepared, frames):
    cores = len(os.sched_getaffinity(0))
    daemon = Daemon("--cores", str(cores), "--prepared", str(prepared))
    try:
        with pliant.Client(state=daemon.state) as client:
            measure(daemon, client, frames, start)
    finally:
        daemon.stop()


def main():
    cores = len(os.sched_getaffinity(0))
    print(f"{SESSIONS} sessions of 480 tetrahedra on {cores} cores, load "
          f"{os.getloadavg()[0]:.1f}; processor time of each, and of the cores' time in frames")
    print("frames  start    sessions/s   daemon  check and worker  client   frames")
    for frames in (100, 10, 1):
        for start, prepared in (("afresh", 0), ("prepared", 8)):
            run(start, prepared, frames)


if __name__ == "__main__":
    main()
