"""Installs packages into a fresh Debian with a systemd that runs, uses them, follows the operator's
guide word for word, removes them, and compares the file system before and after. package_test.py
runs this in separate namespaces, so that mounts and processes end with it: package_in_root.py ROOT
PACKAGE.deb... Exits with 77 where systemd cannot be started.

debootstrap makes the smallest Debian, from the archive that apt uses on this machine."""

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import threading
import time

from systemd_in_root import Systemd

# Files that change with any package: records of apt and dpkg, caches, and copies that tools of
# /etc/passwd keep.
BOOKS = re.compile(
    r"^(?:proc|dev|sys|run|tmp|var/lib/(?:apt|dpkg)|var/cache/(?:apt|debconf|ldconfig)|var/log"
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
DEPLOY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy")
AS_PLIANT = ["setpriv", "--reuid=pliant", "--regid=pliant", "--clear-groups", "--reset-env"]
PLIANT = ["pliant", "--state", "/var/lib/pliant"]
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
        self.folder, self.systemd = folder, None
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

    def boot(self):
        self.systemd = Systemd(self.folder, self.environment)
        reason = self.systemd.wait()
        if reason:
            print(reason)
            sys.exit(77)

    def inside(self, *words):
        if self.systemd:
            return self.systemd.run(*words)
        return run("chroot", self.folder, *words, env=self.environment)

    def as_pliant(self, *words):
        return self.inside(*AS_PLIANT, *words)

    def pliant(self, *words):
        return self.as_pliant(*PLIANT, *words)

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
    wanted = ["systemd", "systemd-sysv", "dbus", "sudo", "curl"]
    options = ["--no-install-recommends", "--yes"]
    root.inside("apt-get", "install", *options, *wanted)
    own = {os.path.basename(p).split("_")[0] for p in packages}
    plan = root.inside("apt-get", "install", "--simulate", *options, *inside)
    needed = [n for n in re.findall(r"^Inst (\S+)", plan, re.M) if n not in own]
    root.inside("apt-get", "install", *options, *needed)
    return inside


def listed(root, state):
    return re.findall(r'"id": ?"([^"]+)"', root.pliant("--json", "list", "--state", state))


def use(root):
    """Runs a session to its end by the command line and by Python; returns another's ID, which
    keeps running."""
    root.put("short.json", json.dumps(SCENE))
    root.put("endless.json", json.dumps(ENDLESS))
    said = root.pliant("--json", "submit", "/short.json", "--follow")
    assert "succeeded" in said, said
    code = (
        "import pliant; c = pliant.Client(state='/var/lib/pliant'); s = c.submit('/short.json'); "
        "s.wait(check=True); print(s.state)"
    )
    said = root.as_pliant("python3", "-c", code)
    assert said.strip().endswith("succeeded"), said
    root.pliant("submit", "/endless.json")
    # Prepared workers end with the daemon.
    until(lambda: listed(root, "running"), "a session that runs")
    (session,) = listed(root, "running")
    return session


def workers(text=""):
    """Lists the workers' processes with a text in their command lines; their program file may be
    deleted."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and "/pliant-worker" in os.readlink(f"/proc/{name}/exe"):
                with open(f"/proc/{name}/cmdline") as file:
                    if text in file.read():
                        found.append(int(name))
        except OSError:
            pass
    return found


def shown(root, name):
    return root.inside("systemctl", "show", "--value", "--property=" + name, "pliantd").strip()


def answers(root):
    return "ok" in root.systemd.try_run("curl", "-s", "http://127.0.0.1:8080/healthz").stdout


def after(root, action, what):
    """Waits until a different daemon answers than before the action."""
    before = shown(root, "MainPID")
    action()
    until(lambda: shown(root, "MainPID") not in (before, "0") and answers(root), what)


def follow_the_service(root, session):
    """The unit under systemd: reload, restart, a crash, a daemon that hangs. The session's
    worker runs through all of it."""
    assert shown(root, "ActiveState") == "active" and shown(root, "User") == "pliant"
    worker = workers(session)
    assert len(worker) == 1, worker
    config = root.get("etc/pliant/pliantd.conf")
    root.put("etc/pliant/pliantd.conf", config + "\npatience = 31\n")
    root.inside("systemctl", "reload", "pliantd")
    journal = ["journalctl", "--no-pager", "--unit=pliantd"]
    until(lambda: "patience" in root.inside(*journal), "the new configuration")
    root.put("etc/pliant/pliantd.conf", config)
    kill = ["systemctl", "kill", "--kill-whom=main", "pliantd"]
    after(root, lambda: root.inside("systemctl", "restart", "pliantd"), "the restart")
    after(root, lambda: root.inside(*kill, "--signal=KILL"), "the daemon after a crash")
    after(root, lambda: root.inside(*kill, "--signal=STOP"), "the watchdog's restart")
    assert workers(session) == worker, (workers(session), worker)
    assert listed(root, "running") == [session]
    root.inside("systemctl", "start", "pliant-backup.service")
    assert len(os.listdir(root.path("var/backups/pliant"))) == 1
    shutil.rmtree(root.path("var/backups/pliant"))


def follow_the_socket(root):
    """Lines of deploy/README.md; requests wait while the daemon restarts."""
    with open(os.path.join(DEPLOY, "README.md")) as file:
        section = file.read().split("systemd can hold the address")[1].split("\n## ")[0]
    lines = re.findall(r"^    (sudo systemctl .*)$", section, re.M)
    assert len(lines) == 3, lines
    for line in lines:
        root.inside("sh", "-c", line)
    replies, enough = [], threading.Event()

    def ask():
        while not enough.is_set():
            replies.append(answers(root))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        after(root, lambda: root.inside("systemctl", "restart", "pliantd"), "the restart")
    finally:
        enough.set()
        asking.join()
    assert replies and all(replies), replies


class Administrator:
    """Types what deploy/operating.md says."""

    def __init__(self, root):
        self.root = root
        with open(os.path.join(DEPLOY, "operating.md")) as file:
            self.text = file.read()
        self.token = self.backup = None

    def types(self, line):
        if self.backup:
            line = line.replace("20260101T120000Z", self.backup)
        said = self.root.inside("sh", "-c", line.replace(" ID ", f" {self.token} "))
        if " token list" in line:
            self.token = re.search(r"^([0-9a-f]{8,})", said, re.M).group(1)
        elif "pliantd backup " in line:
            (self.backup,) = os.listdir(self.root.path("var/backups/pliant"))

    def follows_lines(self):
        lines = re.findall(r"^    (sudo .*)$", self.text, re.M)
        assert len(lines) > 12, lines
        for line in lines:
            self.types(line)

    def follows_sentences(self, session):
        """Commands in sentences, in full as the guide's beginning shows. The last one deletes."""
        short = "sudo -u pliant " + " ".join(PLIANT) + " "
        assert "\n    " + short + "queue\n" in self.text
        commands = set(re.findall(r"`pliant ([^`]*)`", self.text))
        assert {"show ID", "queue", "delete ID"} <= commands
        for command in sorted(commands, key=lambda c: (c.split()[0] in ("cancel", "delete"), c)):
            files = command.replace("/ab/ID", f"/{session[:2]}/{session}")
            self.types(short + files.replace("ID", session))

    def follows_the_service(self):
        commands = re.findall(r"`((?:systemctl|journalctl) [^`]*)`", self.text)
        assert len(commands) > 4, commands
        for command in commands:
            self.root.inside(*command.split())
            if command.split()[1] == "kill":
                until(lambda: shown(self.root, "ActiveState") == "inactive", "the daemon's end")
                self.root.inside("systemctl", "start", "pliantd")

    def reindexes(self):
        """Damages the database, and types the remedy."""
        (line,) = re.findall(r"`(sudo -u pliant pliantd --reindex [^`]*)`", self.text)
        self.root.inside("systemctl", "stop", "pliantd")
        with open(self.root.path("var/lib/pliant/pliant.db"), "r+b") as file:
            file.write(b"x" * 4096)
        refused = self.root.systemd.try_run("systemctl", "start", "pliantd")
        assert refused.returncode != 0
        journal = self.root.inside("journalctl", "--no-pager", "--unit=pliantd")
        assert "pliant.db is damaged" in journal, journal
        self.root.inside("systemctl", "stop", "pliantd")
        self.types(line)
        self.root.inside("systemctl", "start", "pliantd")


def follow_the_guide(root, session):
    administrator = Administrator(root)
    administrator.follows_lines()
    until(lambda: listed(root, "running") == [session], "the restored session to run")
    done = listed(root, "succeeded")
    assert len(done) == 2, done
    administrator.reindexes()
    administrator.follows_sentences(done[0])
    assert listed(root, "succeeded") == done[1:]
    administrator.follows_the_service()
    until(lambda: listed(root, "running") == [session], "the session that runs on")
    for name in ("var/backups/pliant", "var/lib/pliant.old"):
        shutil.rmtree(root.path(name))


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
    root.boot()
    try:
        live(root, inside)
    finally:
        root.systemd.stop()


def live(root, inside):
    wants = root.path("etc/systemd/system/sockets.target.wants")
    os.makedirs(wants, exist_ok=True)
    root.put(os.path.relpath(wants, root.folder) + "/other.socket", "")  # an empty folder may go
    before = root.snapshot()
    root.inside("dpkg", "--install", *inside)
    until(lambda: answers(root), "the installed service")
    look_at_files(root, inside)
    session = use(root)
    follow_the_service(root, session)
    follow_the_guide(root, session)
    follow_the_socket(root)
    assert workers(session), "the session no longer runs"
    names = [os.path.basename(p).split("_")[0] for p in inside]
    root.inside("dpkg", "--remove", *names)
    assert not workers(), "a worker outlasts its package"
    assert not answers(root), "the service outlasts its package"
    assert os.path.isdir(root.path("var/lib/pliant/sessions")), "a removal takes sessions"
    assert os.path.exists(root.path("etc/pliant/pliantd.conf")), "a removal takes the configuration"
    assert not os.path.lexists(root.path("usr/bin/pliantd"))
    root.inside("dpkg", "--purge", *names)
    for name in ("short.json", "endless.json"):
        os.remove(root.path(name))
    left = difference(before, root.snapshot())
    assert not left, "left behind:\n" + "\n".join(left)
    known = root.inside("dpkg-query", "--show", "--showformat=${Package}\n")
    assert "pliant" not in known, "dpkg still knows of it"
    print("no trace of", *names)


if __name__ == "__main__":
    main()
