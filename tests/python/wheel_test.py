"""The Python package as a wheel and a source archive, built without a network: they have the right
files, each build gives the same bytes, and pip installs them."""

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import support

SOURCE = os.path.join(support.ROOT, "clients", "python")
BUILD = """import sys
sys.path.insert(0, ".")
import build_backend
print(getattr(build_backend, "build_" + sys.argv[1])(sys.argv[2]))"""


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-wheel-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_python(self, *words, at=SOURCE):
        given = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHONPATH"))}
        given["PYTHONDONTWRITEBYTECODE"] = "1"
        ran = subprocess.run(words, cwd=at, env=given, capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout.strip()

    def build(self, kind, source=SOURCE, to=None):
        folder = os.path.join(self.folder, to or kind)
        os.makedirs(folder, exist_ok=True)
        name = self.run_python(sys.executable, "-c", BUILD, kind, folder, at=source)
        return os.path.join(folder, name)

    def test_wheel_has_the_package(self):
        wheel = self.build("wheel")
        self.assertEqual(os.path.basename(wheel), "pliant-0.1.0-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            files = {name: archive.read(name) for name in names}
        sources = {n for n in os.listdir(SOURCE + "/pliant") if n != "__pycache__"}
        packed = {n[7:] for n in names if n.startswith("pliant/")}
        self.assertEqual(packed, sources)
        for name in sources:
            self.assertEqual(files["pliant/" + name], read(SOURCE, "pliant", name))
        self.check_record(files)
        metadata = files["pliant-0.1.0.dist-info/METADATA"].decode()
        self.assertIn("\nRequires-Python: >=3.9\n", metadata)
        self.assertIn("\nRequires-Dist: numpy>=1.19 ; extra == 'numpy'\n", metadata)

    def check_record(self, files):
        record = "pliant-0.1.0.dist-info/RECORD"
        lines = [line.split(",") for line in files[record].decode().splitlines()]
        self.assertEqual({line[0] for line in lines}, set(files))
        for path, digest, size in lines:
            if path == record:
                continue
            found = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=")
            self.assertEqual(digest, "sha256=" + found.decode())
            self.assertEqual(int(size), len(files[path]))

    def test_same_bytes(self):
        for kind in ("wheel", "sdist"):
            self.assertEqual(read(self.build(kind)), read(self.build(kind, to="again")))

    def test_sdist_builds_the_same_wheel(self):
        with tarfile.open(self.build("sdist")) as archive:
            names = archive.getnames()
            self.assertTrue(all(n.startswith("pliant-0.1.0/") for n in names), names)
            archive.extractall(self.folder)
        unpacked = os.path.join(self.folder, "pliant-0.1.0")
        self.assertIn(b"Name: pliant\nVersion: 0.1.0\n", read(unpacked, "PKG-INFO"))
        self.assertEqual(read(self.build("wheel", unpacked, "from")), read(self.build("wheel")))

    def test_versions_agree(self):
        project = read(SOURCE, "pyproject.toml").decode()
        makefile = read(support.ROOT, "Makefile").decode()
        version = re.search(r"^VERSION := (.*)$", makefile, re.M).group(1)
        self.assertIn(f'\nversion = "{version}"\n', project)

    def test_runs_from_the_wheel(self):
        """A wheel is an archive that Python imports from; the viewer is found in it."""
        code = "import sys; sys.path.insert(0, sys.argv[1]); from pliant import view; "
        code += "import pkgutil; print(view.__file__, len(pkgutil.get_data('pliant', 'viewer.js')))"
        wheel = self.build("wheel")
        said = self.run_python(sys.executable, "-I", "-c", code, wheel, at=self.folder).split()
        size = os.path.getsize(os.path.join(SOURCE, "pliant", "viewer.js"))
        self.assertEqual(said, [os.path.join(wheel, "pliant", "view.py"), str(size)])

    @unittest.skipUnless(support.LONG and importlib.util.find_spec("ensurepip"),
                         "runs with PLIANT_LONG=1, where python3-venv is")
    def test_the_readme_installs_it(self):
        """The lines of the README, word for word, in a separate home folder."""
        lines = re.findall("^    (.*pliant-env.*)$", read(SOURCE, "README.md").decode(), re.M)
        self.assertEqual(len(lines), 2)
        self.build("wheel", to=os.path.join("build", "wheel"))
        program = "~/pliant-env/bin/python -c 'import pliant; print(pliant.__file__)'"
        script = "\n".join(["set -e", f"HOME={self.folder}", *lines, program])
        said = self.run_python("sh", "-c", script, at=self.folder)
        self.assertIn(os.path.join(self.folder, "pliant-env", "lib"), said)

    @unittest.skipUnless(support.LONG and shutil.which("mypy"), "mypy runs with PLIANT_LONG=1")
    def test_types(self):
        cache = os.path.join(self.folder, "cache")
        self.run_python("mypy", "--strict", "--cache-dir", cache, "pliant")

    @unittest.skipUnless(importlib.util.find_spec("pip"), "pip is missing")
    def test_pip(self):
        """Installs the wheel, and the folder through the backend, into separate environments."""
        environment = os.path.join(self.folder, "environment")
        self.run_python(sys.executable, "-m", "venv", "--without-pip", environment)
        python = os.path.join(environment, "bin", "python")
        pip = [sys.executable, "-W", "ignore", "-m", "pip", "--python", python]
        given = ["--no-index", "--no-cache-dir", "--disable-pip-version-check"]
        source = [self.build("wheel")]
        if support.LONG:
            # Uses a copy, because pip builds in the folder itself.
            copy = os.path.join(self.folder, "copy")
            shutil.copytree(SOURCE, copy)
            source.append(copy)
        for what in source:
            self.run_python(*pip, "install", *given, "--force-reinstall", what)
            code = (
                "import pliant, importlib.metadata; "
                "print(pliant.__file__, importlib.metadata.version('pliant'))"
            )
            said = self.run_python(python, "-I", "-c", code, at=self.folder)
            self.assertTrue(said.startswith(environment) and said.endswith(" 0.1.0"), said)
        self.run_python(*pip, "uninstall", "--yes", "pliant")
        left = [n for _, folders, files in os.walk(environment) for n in folders + files]
        self.assertEqual([n for n in left if "pliant" in n], [])


if __name__ == "__main__":
    support.main()
