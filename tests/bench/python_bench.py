"""How fast the Python client follows stored frames into arrays: GB per second by the wall clock
and of its own processor time, with numpy and without. A session of 17,576 vertices (211 KB per
frame)."""

import os
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "python"))
from support import Daemon, npy, pliant, records, scene  # noqa: E402

FRAMES, ROUNDS = 400, 5


def follow(session, dtype):
    wall, cpu, size = time.perf_counter(), time.process_time(), 0
    with session.frames(dtype=dtype) as frames:
        for frame in frames:
            size += frame.vertices * 12
            frame.positions  # noqa: B018
    return size / (time.perf_counter() - wall) / 1e9, size / (time.process_time() - cpu) / 1e9


def main():
    numpy = records.numpy
    daemon = Daemon()
    try:
        with pliant.Client(state=daemon.state) as client:
            solver = {"method": "gradient_descent", "iterations": 1}
            wanted = scene(steps=FRAMES, cells=25, solver=solver)
            session = client.submit(wanted, checked=30).wait(600, check=True)
            print("Python client following stored frames:", end=" ")
            print("GB/s by the clock, of its processor time (best)")
            for name, module, dtype in (("f32, numpy", numpy, None), ("u16, numpy", numpy, "u16"),
                                        ("f32, no numpy", None, None)):
                if "no numpy" not in name and numpy is None:
                    print(f"{name:16} SKIP: no numpy here")
                    continue
                records.numpy = npy.numpy = module
                rounds = [follow(session, dtype) for _ in range(ROUNDS)]
                wall, cpu = max(r[0] for r in rounds), max(r[1] for r in rounds)
                print(f"{name:16} {wall:6.2f} {cpu:6.2f}")
    finally:
        records.numpy = npy.numpy = numpy
        daemon.stop()


if __name__ == "__main__":
    main()
