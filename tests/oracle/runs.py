"""Runs of the programs for the oracle's tests, and the last line that tests/run-tests reads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))

from support import BUILD, main, npy, records  # noqa: E402,F401

# Scans that Pliant may not distribute: a test is skipped without them.
SCANS = os.path.join(os.path.dirname(ROOT), "shared", "meshes")
SCENES = os.path.join(ROOT, "tests", "oracle", "scenes")


class Run:
    """Results of `pliant run` on a scene: state, metrics records, warnings, last positions; with
    `frames` those of all frames."""

    def __init__(self, scene: Dict[str, Any], timeout: float = 600, frames: bool = False) -> None:
        folder = tempfile.mkdtemp(prefix="pliant-oracle-")
        try:
            path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "run")
            with open(path, "w") as file:
                json.dump(scene, file)
            command = [os.path.join(BUILD, "pliant"), "--json", "run", path, "--out", out]
            command += ["--threads", "1"]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
            self.text = ran.stdout + ran.stderr
            lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
            self.records: List[Dict[str, Any]] = [x for x in lines if "seq" in x]
            end = lines[-1] if lines and lines[-1].get("event") == "end" else {}
            self.state = end.get("state", "refused")
            self.failure = end.get("failure")
            told = end.get("warnings", [])
            self.warnings: Dict[str, Dict[str, Any]] = {w["code"]: w for w in told}
            self.frames: List[Any] = []
            self.positions = self._positions(out, frames) if self.records else None
        finally:
            shutil.rmtree(folder)

    def _positions(self, out: str, frames: bool) -> Any:
        """Of the last frame, as in the log."""
        found = None
        for name in sorted(os.listdir(os.path.join(out, "log"))):
            if not name.endswith(".seg"):
                continue
            with open(os.path.join(out, "log", name), "rb") as file:
                record = records.read_record(file)
                while record is not None:
                    if record.type == records.FRAME:
                        found = records.Frame(record.frame, record.payload)
                        if frames:
                            self.frames.append(found.positions)
                    record = records.read_record(file)
        return None if found is None else found.positions

    def energies(self) -> List[float]:
        kinds = ("kinetic", "elastic", "gravity")
        values = [[r["energy"][k] for k in kinds] for r in self.records]
        return [sum(v) for v in values if None not in v]


def scene_of(name: str, **more: Any) -> Dict[str, Any]:
    """A scene of tests/oracle/scenes, with top-level keys replaced."""
    with open(os.path.join(SCENES, name + ".json")) as file:
        scene: Dict[str, Any] = json.load(file)
    scene.update(more)
    return scene
