"""Installs packages into a fresh Debian, uses them, follows the operator's guide word for word,
removes them, and compares the file system before and after. package_test.py runs this in separate
namespaces, so that mounts and processes end with it: package_in_root.py ROOT PACKAGE.deb...

debootstrap makes the smallest Debian, from the archive that apt uses on this machine."""

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time

# What changes with any package: apt's and dpkg's books, caches, copies that tools of /etc/passwd
# keep.
BOOKS = re.compile(
    r"^(?:proc|dev|sys|var/lib/(?:apt|dpkg)|var/cache/(?:apt|debconf|ldconfig)|var/log"
    r"|etc/(?:passwd|shadow|group|gshadow|subuid|subgid)-|etc/\.pwd\.lock|etc/ld\.so\.cache)(?:/|$)"
)
SCENE = {
    "pliant": 1,
    "time": {"step": 0.01, "steps": 3},
    "materials": {"rubber": {"young": 1e4, "poisson": 0.3, "density": 1000}},
    "bodies": [
        {
            "name": "box",
            "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}},
            "material": "rubber",
        }
    ],
}
AS_PLIANT = ["setpriv", "--reuid=pliant", "--regid=pliant", "--clear-groups", "--reset-env"]
ENDLESS = dict(SCENE, time={"step": 0.01, "pace": "realtime"})


def run(*words, **more):
    ran = subprocess.run(words, capture_output=True, text=True, **more)
    if ran.returncode != 0:
        sys.exit(f"{shlex.join(words)}: {ran.returncode}\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}")
    return ran.stdout


def archives():
    """[site, release, component] of each archive."""
    form = "$(SITE) $(CODENAME) $(COMPONENT)"
    only = ["Created-By: Packages", "Origin: Debian"]
    return [line.split() for line in run("apt-get", "indextargets", "--format", form, *only)
            .splitlines()]


def this_release():
    with open("/etc/os-release") as file:
        return re.search(r"^VERSION_CODENAME=(\w+)$", file.read(), re.M).group(1)


def until(condition, what):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited for {what}")
        time.sleep(0.05)


class Root:
    def __init__(self, folder):
        self.folder = folder
        given = {k: v for k, v in os.environ.items() if not k.startswith(("PLIANT_", "PYTHON"))}
        path = "/usr/sbin:/usr/bin:/sbin:/bin"
        self.environment = dict(given, PATH=path, DEBIAN_FRONTEND="noninteractive", LC_ALL="C")

    def path(self, name):
        return os.path.join(self.folder, name)

    def bootstrap(self):
        """Makes a Debian from the configured Debian archives, and configures all of them in it."""
        lines = archives()
        site, codename, _ = next(n for n in lines if n[1] == this_release())
        run("debootstrap", "--variant=minbase", codename, self.folder, site)
        self.put("etc/apt/sources.list", "".join(f"deb {' '.join(line)}\n" for line in lines))
        shutil.copy("/etc/resolv.conf", self.path("etc/resolv.conf"))
        run("mount", "-t", "proc", "proc", self.path("proc"))
        self.inside("apt-get", "update")

    def inside(self, *words):
        return run("chroot", self.folder, *words, env=self.environment)

    def as_pliant(self, *words):
        return self.inside(*AS_PLIANT, *words)

    def put(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def get(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def snapshot(self):
        """Lists the file system: path -> kind, owner, contents."""
        found = {}
        for at, folders, files in os.walk(self.folder):
            inner = os.path.relpath(at, self.folder)
            folders[:] = [f for f in folders if not BOOKS.match(os.path.normpath(f"{inner}/{f}"))]
            for name in folders + files:
                path = os.path.normpath(f"{inner}/{name}")
                if not BOOKS.match(path):
                    found[path] = describe(os.path.join(at, name))
        return found


def describe(path):
    status = os.lstat(path)
    held = None
    if stat.S_ISLNK(status.st_mode):
        held = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            held = hashlib.sha256(file.read()).hexdigest()
    return (oct(status.st_mode), status.st_uid, status.st_gid, held)


def difference(before, after):
    names = sorted(set(before) | set(after))
    return [f"{n}: {before.get(n)} {after.get(n)}" for n in names if before.get(n) != after.get(n)]


def install_dependencies(root, packages):
    """Installs the packages' dependencies, so that only the packages themselves come and go."""
    inside = ["/packages/" + os.path.basename(p) for p in packages]
    shutil.copytree(os.path.dirname(packages[0]), root.path("packages"))
    wanted = ["systemd-standalone-sysusers", "sudo"]
    options = ["--no-install-recommends", "--yes"]
    root.inside("apt-get", "install", *options, *wanted)
    own = {os.path.basename(p).split("_")[0] for p in packages}
    plan = root.inside("apt-get", "install", "--simulate", *options, *inside)
    needed = [n for n in re.findall(r"^Inst (\S+)", plan, re.M) if n not in own]
    root.inside("apt-get", "install", *options, *needed)
    return inside


def take_any_port(root):
    config = root.get("etc/pliant/pliantd.conf")
    assert "\nlisten = 127.0.0.1:8080\n" in config
    root.put("etc/pliant/pliantd.conf", config.replace("127.0.0.1:8080", "127.0.0.1:0"))


def start_service(root):
    """Starts the service with the command line of its unit."""
    unit = root.get("lib/systemd/system/pliantd.service")
    command = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.M).group(1))
    user = re.search(r"^User=(.*)$", unit, re.M).group(1)
    words = ["setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--no-new-privs"]
    words += ["--inh-caps=-all", "--bounding-set=-all", *command]
    url = root.path("var/lib/pliant/url")
    if os.path.exists(url):
        os.remove(url)
    log = open(root.path("daemon-log"), "wb")
    daemon = subprocess.Popen(["chroot", root.folder, *words], env=root.environment, stderr=log,
                              stdout=log)
    until(lambda: os.path.exists(url) or daemon.poll() is not None, "the daemon's start")
    if daemon.poll() is not None:
        sys.exit("the daemon did not start: " + root.get("daemon-log"))
    return daemon


def use(root):
    """Runs a session to its end by the command line and by Python; another keeps running."""
    root.put("short.json", json.dumps(SCENE))
    root.put("endless.json", json.dumps(ENDLESS))
    state = ["--state", "/var/lib/pliant"]
    said = root.as_pliant("pliant", *state, "--json", "submit", "/short.json", "--follow")
    assert "succeeded" in said, said
    code = (
        "import pliant; c = pliant.Client(state='/var/lib/pliant'); s = c.submit('/short.json'); "
        "s.wait(check=True); print(s.state)"
    )
    said = root.as_pliant("python3", "-c", code)
    assert said.strip().endswith("succeeded"), said
    root.as_pliant("pliant", *state, "submit", "/endless.json")
    # Prepared workers end with the daemon.
    listed = ["pliant", *state, "--json", "list", "--state"]
    until(lambda: '"running"' in root.as_pliant(*listed, "running"), "a session that runs")


def workers():
    """Lists the workers' processes; their program file may be deleted."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and "/pliant-worker" in os.readlink(f"/proc/{name}/exe"):
                found.append(int(name))
        except OSError:
            pass
    return found


def stop_workers():
    for process in workers():
        os.kill(process, signal.SIGTERM)
    until(lambda: not workers(), "workers to stop")


class Administrator:
    """Types what deploy/operating.md says. Without systemd, its systemctl acts on the processes."""

    def __init__(self, root, daemon):
        self.root, self.daemon = root, daemon
        guide = os.path.join(os.path.dirname(__file__), "..", "..", "deploy", "operating.md")
        with open(guide) as file:
            self.text = file.read()
        self.token = self.backup = None

    def systemctl(self, action):
        if action == "kill":
            self.daemon.terminate()
            stop_workers()
        elif action == "stop":
            self.daemon.wait(120)
        elif action == "start":
            self.daemon = start_service(self.root)
        else:
            sys.exit(f"systemctl {action} is not known here")

    def types(self, line):
        if line.startswith("sudo systemctl "):
            return self.systemctl(line.split()[2])
        if self.backup:
            line = line.replace("20260101T120000Z", self.backup)
        said = self.root.inside("sh", "-c", line.replace(" ID ", f" {self.token} "))
        if " token list" in line:
            self.token = re.search(r"^([0-9a-f]{8,})", said, re.M).group(1)
        elif "pliantd backup " in line:
            (self.backup,) = os.listdir(self.root.path("var/backups/pliant"))
        return said

    def follows_lines(self):
        lines = re.findall(r"^    (sudo .*)$", self.text, re.M)
        assert len(lines) > 12, lines
        for line in lines:
            self.types(line)

    def follows_sentences(self, session):
        """Commands in sentences, in full as the guide's beginning shows. The last one deletes."""
        short = "sudo -u pliant pliant --state /var/lib/pliant "
        assert "\n    " + short + "queue\n" in self.text
        commands = set(re.findall(r"`pliant ([^`]*)`", self.text))
        assert {"show ID", "queue", "delete ID"} <= commands
        for command in sorted(commands, key=lambda c: (c.split()[0] in ("cancel", "delete"), c)):
            files = command.replace("/ab/ID", f"/{session[:2]}/{session}")
            self.types(short + files.replace("ID", session))

    def reindexes(self):
        """Damages the database, and types the remedy."""
        (line,) = re.findall(r"`(sudo -u pliant pliantd --reindex [^`]*)`", self.text)
        self.systemctl("kill")
        self.systemctl("stop")
        with open(self.root.path("var/lib/pliant/pliant.db"), "r+b") as file:
            file.write(b"x" * 4096)
        self.types(line)
        self.systemctl("start")


def follow_the_guide(root, daemon):
    administrator = Administrator(root, daemon)
    administrator.follows_lines()
    listed = ["pliant", "--state", "/var/lib/pliant", "--json", "list", "--state"]
    until(lambda: '"running"' in root.as_pliant(*listed, "running"), "the restored session to run")
    sessions = re.findall(r'"id": ?"([^"]+)"', root.as_pliant(*listed, "succeeded"))
    assert len(sessions) == 2, sessions
    administrator.reindexes()
    administrator.follows_sentences(sessions[0])
    left = re.findall(r'"id": ?"([^"]+)"', root.as_pliant(*listed, "succeeded"))
    assert left == sessions[1:], left
    until(lambda: '"running"' in root.as_pliant(*listed, "running"), "a session that runs on")
    for name in ("var/backups/pliant", "var/lib/pliant.old"):
        shutil.rmtree(root.path(name))
    os.remove(root.path("tmp/pliant.zip"))
    return administrator.daemon


def look_at_files(root, inside):
    """The programs print their versions, and the manuals exist."""
    version = inside[0].split("_")[1]
    for program in ("pliant", "pliantd"):
        assert version in root.inside(program, "--version"), program
        assert os.path.exists(root.path(f"usr/share/man/man1/{program}.1.gz"))
    status = os.stat(root.path("var/lib/pliant"))
    assert stat.S_IMODE(status.st_mode) == 0o700 and status.st_uid != 0
    assert root.inside("getent", "passwd", "pliant").count(":") == 6


def main():
    root = Root(sys.argv[1])
    packages = sys.argv[2:]
    root.bootstrap()
    inside = install_dependencies(root, packages)
    wants = root.path("etc/systemd/system/sockets.target.wants")
    os.makedirs(wants, exist_ok=True)
    root.put(os.path.relpath(wants, root.folder) + "/other.socket", "")  # an empty folder may go
    before = root.snapshot()
    root.inside("dpkg", "--install", *inside)
    look_at_files(root, inside)
    take_any_port(root)
    daemon = start_service(root)
    use(root)
    daemon = follow_the_guide(root, daemon)
    daemon.terminate()
    daemon.wait(120)
    assert workers(), "the worker ended with the daemon"
    # Does the same as systemctl enable.
    os.symlink("/lib/systemd/system/pliantd.socket", wants + "/pliantd.socket")
    names = [os.path.basename(p).split("_")[0] for p in packages]
    root.inside("dpkg", "--remove", *names)
    assert not workers(), "a worker outlasts its package"
    assert os.path.isdir(root.path("var/lib/pliant/sessions")), "a removal takes sessions"
    assert "127.0.0.1:0" in root.get("etc/pliant/pliantd.conf"), "a removal takes the configuration"
    assert not os.path.lexists(root.path("usr/bin/pliantd"))
    root.inside("dpkg", "--purge", *names)
    for name in ("short.json", "endless.json", "daemon-log"):
        os.remove(root.path(name))
    left = difference(before, root.snapshot())
    assert not left, "left behind:\n" + "\n".join(left)
    known = root.inside("dpkg-query", "--show", "--showformat=${Package}\n")
    assert "pliant" not in known, "dpkg still knows of it"
    print("no trace of", *names)


if __name__ == "__main__":
    main()
