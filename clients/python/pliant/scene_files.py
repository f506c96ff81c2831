"""A scene's mesh files become uploads, as the command line makes them: {"file": "bunny.msh"} in the
meshes of bodies and obstacles becomes {"upload": "sha256:...", "format": "gmsh"}."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .errors import Fault, SceneFilesUnreadable

Scene = Union[Mapping[str, Any], str, "os.PathLike[str]"]
_FORMATS = {
    ".msh": "gmsh",
    ".mesh": "medit",
    ".obj": "obj",
    ".vtk": "vtk",
    ".vtu": "vtu",
    ".veg": "vega",
    ".inp": "abaqus",
    ".stl": "stl",
    ".ply": "ply",
    ".node": "tetgen",
    ".ele": "tetgen",
}


class SceneFiles:
    """`scene`, ready to post, and `files`: paths, by hash, of the files to upload."""

    def __init__(self, scene: Scene, folder: Optional[str] = None) -> None:
        text, self._folder = _read(scene, folder)
        self.files: Dict[str, str] = {}
        self._hashes: Dict[str, str] = {}
        self._faults: List[Fault] = []
        self.scene: Dict[str, Any] = dict(text)
        for name in ("bodies", "obstacles"):
            members = self.scene.get(name)
            if isinstance(members, list):
                self.scene[name] = [
                    self._member(m, f"/{name}/{i}/mesh/") for i, m in enumerate(members)
                ]
        if self._faults:
            raise SceneFilesUnreadable(self._faults)

    def _member(self, member: Any, pointer: str) -> Any:
        mesh = member.get("mesh") if isinstance(member, dict) else None
        if not isinstance(mesh, dict) or not isinstance(mesh.get("file"), str):
            return member
        return {**member, "mesh": self._mesh(mesh, pointer)}

    def _mesh(self, mesh: Dict[str, Any], pointer: str) -> Dict[str, Any]:
        name = mesh["file"]
        stem, ending = os.path.splitext(name)
        form = mesh.get("format") or _FORMATS.get(ending.lower())
        if not form:
            expected = f"a name ending in one of {' '.join(_FORMATS)}"
            hint = 'or give it, as in "format": "gmsh"'
            self._faults.append(Fault(pointer + "file", "unknown_format", name, expected, hint))
            return mesh
        rest = {k: v for k, v in mesh.items() if k not in ("file", "format", "ele")}
        if form == "tetgen":
            node = stem + ".node" if ending.lower() == ".ele" else name
            upload: Any = {
                "node": self._add(node, pointer + "file"),
                "ele": self._add(
                    mesh.get("ele") or stem + ".ele",
                    pointer + ("ele" if mesh.get("ele") else "file"),
                ),
            }
        else:
            upload = self._add(name, pointer + "file")
        return {"upload": upload, "format": form, **rest}

    def _add(self, name: str, pointer: str) -> str:
        path = os.path.join(self._folder, name)
        if path not in self._hashes:
            try:
                self._hashes[path] = _hash(path)
            except OSError as error:
                got = f"{path}: {error.strerror or error}"
                hint = "paths are relative to the scene file's folder"
                expected = "a readable mesh file"
                self._faults.append(Fault(pointer, "file_unreadable", got, expected, hint))
                return ""
            self.files[self._hashes[path]] = path
        return "sha256:" + self._hashes[path]


def _hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


def _read(scene: Scene, folder: Optional[str]) -> Tuple[Mapping[str, Any], str]:
    if isinstance(scene, Mapping):
        return scene, folder or "."
    path = os.fspath(scene)
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    if not isinstance(value, dict):
        raise ValueError(f"{path} is not a scene: a scene is a JSON object")
    return value, folder or os.path.dirname(path) or "."
