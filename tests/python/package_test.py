"""The Debian packages: versions, files and dependencies agree with the rest of the tree. With
PLIANT_LONG=1 they are built, checked by lintian, installed into a fresh Debian, used, and purged
without a trace."""

import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

ROOT = support.ROOT
DEBIAN = os.path.join(ROOT, "deploy", "debian")
# Debian's build-essential has these.
ESSENTIAL = {"gcc", "make", "libc6-dev"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def stanzas(text):
    """Paragraphs of a control file, each as a dictionary."""
    found = []
    for part in re.split(r"\n\s*\n", text.strip()):
        fields = re.findall(r"^(\S+):(.*(?:\n[ \t].*)*)", part, re.M)
        found.append({name: re.sub(r"\s+", " ", value).strip() for name, value in fields})
    return found


def names_of(dependencies):
    parts = re.split(r"[,|]", dependencies)
    return {re.sub(r"[( ].*", "", part.strip()) for part in parts if part.strip()}


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-package-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.source, *self.packages = stanzas(read(DEBIAN, "control"))

    def test_versions_agree(self):
        version = re.search(r"^VERSION := (.*)$", read(ROOT, "Makefile"), re.M).group(1)
        self.assertTrue(read(DEBIAN, "changelog").startswith(f"pliant ({version}) "))
        self.assertIn(f"\n## {version}", read(ROOT, "deploy", "CHANGELOG.md"))

    def test_control_fields(self):
        names = [package["Package"] for package in self.packages]
        self.assertEqual(names, ["pliant", "pliant-cuda", "python3-pliant"])
        for field in ("Maintainer", "Section", "Standards-Version", "Build-Depends"):
            self.assertIn(field, self.source)
        for package in self.packages:
            for field in ("Architecture", "Depends", "Description"):
                self.assertIn(field, package)
            self.assertIn("${misc:Depends}", package["Depends"])
        self.assertEqual(self.packages[1]["Build-Profiles"], "<pkg.pliant.cuda>")

    def test_build_needs_what_install_deps_installs(self):
        listed = re.search(r"^packages=\(([^)]*)\)", read(ROOT, "deploy", "install-deps"), re.M)
        needed = set(listed.group(1).split()) - ESSENTIAL
        self.assertEqual(needed - names_of(self.source["Build-Depends"]), set())

    def install(self):
        """Paths of the files that the rules put into debian/tmp."""
        if not os.path.exists(os.path.join(support.BUILD, "pliant.1")):
            self.skipTest("this build has no manuals")
        given = dict(os.environ, DESTDIR=self.folder, PREFIX="/usr", SYSCONFDIR="/etc")
        given.update(UNITDIR="/lib/systemd/system", BUILD=os.path.abspath(support.BUILD))
        given.update(PYTHON=sys.executable)
        given.pop("PYTHONDIR", None)
        program = os.path.join(ROOT, "deploy", "install")
        ran = subprocess.run([program, "install"], env=given, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        found = [
            os.path.relpath(os.path.join(at, name), self.folder)
            for at, folders, names in os.walk(self.folder)
            for name in names
        ]
        rule = r"^\tinstall -D .* debian/tmp/(\S+)$"
        return found + re.findall(rule, read(DEBIAN, "rules"), re.M)

    def test_each_file_is_in_one_package(self):
        files = self.install()
        owners = {name: [] for name in files}
        for package in (p["Package"] for p in self.packages):
            for pattern in read(DEBIAN, package + ".install").split():
                matches = [n for n in files if fnmatch.fnmatchcase(n, pattern)
                           or n.startswith(pattern + "/")]
                if not pattern.endswith("libpliant_cuda.so"):
                    self.assertTrue(matches, f"{package}.install names {pattern}")
                for name in matches:
                    owners[name].append(package)
        wrong = {name: packages for name, packages in owners.items() if len(packages) != 1}
        self.assertEqual(wrong, {})

    def test_scripts(self):
        scripts = [n for n in glob.glob(DEBIAN + "/*.p*") if not n.endswith(".install")]
        self.assertGreater(len(scripts), 4)
        for script in scripts:
            text = read(script)
            self.assertTrue(text.startswith("#!/bin/sh\nset -e\n"), script)
            self.assertEqual(text.count("\n#DEBHELPER#\n"), 1, script)
            ran = subprocess.run(["sh", "-n", script], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def call(self, *words, at=ROOT):
        program = os.path.join(at, "deploy", "package")
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=3000)

    def test_refusals(self):
        ran = self.call("--sources")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("unknown option --sources", ran.stderr)
        if not all(shutil.which(name) for name in ("dpkg-buildpackage", "dh", "dh_python3")):
            self.skipTest("debhelper or dh-python is missing")
        shutil.copytree(os.path.join(ROOT, "deploy"), os.path.join(self.folder, "deploy"))
        makefile = read(ROOT, "Makefile").replace("\nVERSION := ", "\nVERSION := 9")
        with open(os.path.join(self.folder, "Makefile"), "w") as file:
            file.write(makefile)
        ran = self.call("--out", self.folder + "/out", at=self.folder)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the Makefile of another", ran.stderr)
        self.assertFalse(os.path.exists(self.folder + "/out"))

    @unittest.skipUnless(support.LONG, "the long form builds the packages")
    def test_no_trace(self):
        missing = [n for n in ("dh", "dh_python3", "lintian", "debootstrap", "unshare")
                   if not shutil.which(n)]
        if missing:
            self.skipTest("missing: " + " ".join(missing))
        spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0 or subprocess.run([*spaces, "true"], capture_output=True).returncode:
            self.skipTest("it takes root, and namespaces")
        out = os.path.join(self.folder, "out")
        ran = self.call("--out", out)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-4000:])
        (changes,) = glob.glob(out + "/*.changes")
        ran = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", changes],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        packages = os.path.join(self.folder, "packages")
        os.mkdir(packages)
        for file in glob.glob(out + "/*.deb"):
            if "-dbgsym_" not in file:
                shutil.copy(file, packages)
        program = os.path.join(ROOT, "tests", "python", "package_in_root.py")
        root = os.path.join(self.folder, "root")
        words = [*spaces, sys.executable, program, root, *sorted(glob.glob(packages + "/*.deb"))]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=3000)
        if ran.returncode == 77:
            self.skipTest(ran.stdout)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("no trace of", ran.stdout)


if __name__ == "__main__":
    support.main()
