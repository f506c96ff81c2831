"""Deliberate faults in the CUDA plug-in's host side, each in a copy of its source: on the stand-in
for CUDA's runtime, tests/gpu/cuda_memory_test finds every one. A check tries some of them,
PLIANT_LONG=1 all."""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile
import unittest

import support
from support import LONG, ROOT, main

BUILD = os.path.join(ROOT, support.BUILD)
MEMORY = "engine/backends/cuda/memory_cuda.cu"
JOINT = "engine/backends/device/joint.c"

# Description, file, and pairs of an original text, which occurs once, and its replacement.
FAULTS = [
    ("a large upload is not waited for", MEMORY,
     ('             "copying to the device") &&\n        !pinned)',
      '             "copying to the device") &&\n        false)')),
    ("a small upload's pinned memory is used again at once", MEMORY,
     ('if (pinned && q->staged + room > UP && !wait_for_launches(q, "waiting for copies"))',
      "if (pinned && q->staged + room > UP && (q->staged = 0))")),
    ("a small download is not waited for", MEMORY,
     ('wait_for_launches(q, "waiting for the device")', "true")),
    ("memory is released while it is used", MEMORY,
     ('if (wait_for_launches(q, "waiting to release memory"))', "if (true)")),
    ("a transfer does not wait for what was launched", MEMORY,
     ('good(cudaStreamWaitEvent(t->queue->copies, launched, 0), "making a copy wait") &&', "")),
    ("a transfer's end is not waited for", MEMORY,
     ('came = good(cudaEventSynchronize(arrived), "waiting for a copy");', "came = true;")),
    ("what was launched is noted on the wrong stream", MEMORY,
     ("cudaEventRecord(launched, stream_of(t->queue))",
      "cudaEventRecord(launched, t->queue->copies)")),
    ("a transfer's end is noted on the wrong stream", MEMORY,
     ("cudaEventRecord(static_cast<cudaEvent_t>(t->arrived), t->queue->copies)",
      "cudaEventRecord(static_cast<cudaEvent_t>(t->arrived), t->queue->launches)")),
    ("two sessions share a stream", MEMORY,
     ("static bool make_queue(", "static cudaStream_t one;\nstatic bool make_queue("),
     ("!had(cudaStreamCreateWithFlags(&q->launches, cudaStreamNonBlocking), \"making a stream\")",
      "!had(one ? cudaSuccess : cudaStreamCreateWithFlags(&one, 1), \"\") ||\n"
      "!(q->launches = one)")),
    ("a graph keeps stale arguments", MEMORY,
     ("if (made && cudaGraphExecUpdate(made, graph, &info) != cudaSuccess) {",
      "if (made && info.result == 12345) {")),
    ("a graph is leaked", MEMORY, ("    cudaGraphDestroy(graph);\n", "")),
    ("a graph of other launches is leaked", MEMORY,
     ("        cudaGraphExecDestroy(made);\n        made", "        made")),
    ("an event is leaked", MEMORY,
     ("cudaEventDestroy(static_cast<cudaEvent_t>(t->arrived));", ";")),
    ("pinned memory is leaked", MEMORY, ("        cudaFreeHost(q->pinned);", "        ;")),
    ("a context is leaked where memory is asked for", MEMORY,
     ("        cudaDeviceReset();", "        ;")),
    ("a thread launches on the first card", MEMORY,
     ("    on_device();\n    q->launching", "    q->launching")),
    ("an error of a launch is not looked at", MEMORY,
     ("bool got = pl_joint_get(q->joint, to, from, bytes);\n"
      '    good(cudaGetLastError(), "a kernel\'s launch");',
      "bool got = pl_joint_get(q->joint, to, from, bytes);\n    cudaGetLastError();")),
    ("new memory is not cleared", MEMORY,
     ('good(cudaMemsetAsync(memory, 0, bytes, stream_of(q)), "clearing new memory");', "")),
    ("new memory is cleared on another stream", MEMORY,
     ("cudaMemsetAsync(memory, 0, bytes, stream_of(q))",
      "cudaMemsetAsync(memory, 0, bytes, q->copies)")),
    ("a round does not wait for its members", MEMORY,
     ('good(cudaStreamWaitEvent(stream, q->so_far, 0), "making a round wait");', ";")),
    ("a round is not waited for", MEMORY,
     ('good(cudaStreamSynchronize(stream), "waiting for a round")', "true")),
    ("no memory is taken for a fault", MEMORY,
     ("if (code != cudaErrorMemoryAllocation)", "if (true)")),
    ("a lost device is taken for no memory", MEMORY,
     ("if (code != cudaErrorMemoryAllocation)", "if (code == cudaSuccess)")),
    ("a transfer is destroyed while it is in flight", MEMORY,
     ("    pl_device_transfer_arrived(t, true);\n", "")),
    ("the host reads the device's memory", MEMORY,
     ("memcpy(to, pl_device_read(q, from, bytes), bytes);",
      "pl_device_read(q, from, bytes), memcpy(to, from, bytes);")),
    ("memory is freed twice", MEMORY,
     ('good(cudaFree(memory), "releasing memory");',
      'good(cudaFree(memory), "releasing memory"), good(cudaFree(memory), "again");')),
    ("a recording hinders other threads", MEMORY,
     ("cudaStreamCaptureModeThreadLocal", "cudaStreamCaptureModeGlobal")),
    ("streams wait for the legacy one", MEMORY,
     ("cudaStreamCreateWithFlags(&q->launches, cudaStreamNonBlocking)",
      "cudaStreamCreateWithFlags(&q->launches, 0)")),
    ("a launch of several has the threads of the last", JOINT,
     ("l->most = o->threads > l->most ? o->threads : l->most;", "l->most = o->threads;")),
    ("a list's copies share their bytes", JOINT,
     ("    j->used += (int32_t)aligned(bytes);\n", "    j->used += 16;\n")),
]
QUICK = 6

COMPILE = {
    MEMORY: ["g++", "-x", "c++", "-std=c++20", "-I", "tests/gpu/standin/include"],
    JOINT: ["gcc", "-x", "c", "-std=gnu17"],
}


def run(command, seconds=120):
    """Its exit status and output."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=seconds, text=True, errors="replace")
    return done.returncode, done.stdout


@unittest.skipUnless(shutil.which("g++"), "SKIP seeded_faults: no g++")
class SeededFaults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-seeded-")
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, number, file, pairs):
        """cuda_memory_test with these places of the file replaced."""
        with open(os.path.join(ROOT, file), encoding="utf-8") as f:
            text = f.read()
        for before, after in pairs:
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        path = os.path.join(self.folder, str(number))
        with open(path + ".source", "w", encoding="utf-8") as f:
            f.write(text)
        status, said = run([*COMPILE[file], "-O0", "-w", "-fPIC", "-pthread", "-D_GNU_SOURCE",
                            "-I", ".", "-c", "-o", path + ".o", path + ".source"])
        self.assertEqual(status, 0, said)
        status, said = run(["gcc", "-o", path, "-Wl,--wrap=pl_round_begin",
                            f"{BUILD}/obj/tests/gpu/cuda_memory_test.o", path + ".o",
                            f"{BUILD}/libstandin.a", f"{BUILD}/libdescent.a",
                            "-fopenmp", "-pthread", "-lcheck", "-lsubunit", "-lrt", "-lstdc++",
                            "-lm"])
        self.assertEqual(status, 0, said)
        return path

    def is_found(self, number, fault):
        """True if any of these orders of streams reveals it."""
        what, file, *pairs = fault
        program = self.build(number, file, pairs)
        for case in ("memory", "devices"):
            status, said = run(["env", f"CK_RUN_CASE={case}", "CK_DEFAULT_TIMEOUT=20", program])
            if status != 0:
                return True
        return what

    def test_each_is_found(self):
        self.assertEqual([run([self.build("none", MEMORY, [])])[0],
                          run([self.build("none", JOINT, [])])[0]], [0, 0])
        few = FAULTS if LONG else FAULTS[::max(1, len(FAULTS) // QUICK)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(self.is_found, range(len(few)), few))
        self.assertEqual([what for what in found if what is not True], [])


if __name__ == "__main__":
    main()
