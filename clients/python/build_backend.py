"""Builds the wheel and the source archive by PEP 517 with the standard library alone:
`pip install ./clients/python` downloads nothing. The same sources give the same bytes."""

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip file
SDIST_FILES = ("README.md", "build_backend.py", "pyproject.toml")


def _field(name):
    """Reads a string, or the only string of a list, from its own line in pyproject.toml: Python 3.9
    has no TOML reader."""
    with open("pyproject.toml", encoding="utf-8") as file:
        found = re.search(rf'^{name} = \[?"(.*?)"\]?$', file.read(), re.M)
    if not found:
        raise ValueError(f"pyproject.toml has no {name}")
    return found.group(1)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _package():
    """Paths and contents of the package's files."""
    names = sorted(n for n in os.listdir("pliant") if n.endswith((".py", ".js", ".typed")))
    return [("pliant/" + name, _read("pliant/" + name)) for name in names]


def _metadata():
    lines = [
        "Metadata-Version: 2.1",
        "Name: " + _field("name"),
        "Version: " + _field("version"),
        "Summary: " + _field("description"),
        "Requires-Python: " + _field("requires-python"),
        "Provides-Extra: numpy",
        f"Requires-Dist: {_field('numpy')} ; extra == 'numpy'",
        "Description-Content-Type: text/markdown",
        "",
    ]
    return "\n".join(lines).encode() + b"\n" + _read("README.md")


def _stem():
    return f"{_field('name')}-{_field('version')}"


def _dist_info():
    folder = _stem() + ".dist-info/"
    wheel = b"Wheel-Version: 1.0\nGenerator: pliant\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return [(folder + "METADATA", _metadata()), (folder + "WHEEL", wheel)]


def _record(files):
    """The list of a wheel's files with their hashes; its own line has no hash."""
    lines = []
    for path, content in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    path = _stem() + ".dist-info/RECORD"
    return path, ("".join(lines) + path + ",,\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = _package() + _dist_info()
    name = _stem() + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as archive:
        for path, content in files + [_record(files)]:
            info = zipfile.ZipInfo(path, EPOCH)
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    for path, content in _dist_info():
        target = os.path.join(metadata_directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
    return _stem() + ".dist-info"


def build_sdist(sdist_directory, config_settings=None):
    files = [(name, _read(name)) for name in SDIST_FILES] + _package()
    files.append(("PKG-INFO", _metadata()))
    name = _stem() + ".tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as out:
        with gzip.GzipFile("", "wb", 9, out, 0) as packed:
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
                for path, content in sorted(files):
                    info = tarfile.TarInfo(f"{_stem()}/{path}")
                    info.size, info.mode = len(content), 0o644
                    archive.addfile(info, io.BytesIO(content))
    return name
