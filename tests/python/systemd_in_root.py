"""Boots the systemd of a root directory in separate namespaces: processes, mounts, control
groups, network. Its services are those of a freshly booted machine. Works as root if a control
group hierarchy may be mounted; otherwise why_not() says why not."""

import os
import signal
import subprocess
import sys
import time

# Runs inside the namespaces, in sh: an init's requirements of a container's manager.
BOOT = r"""
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys 2>/dev/null || mount --rbind /sys sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
    mknod -m 666 "dev/$device" c $(stat -c '0x%t 0x%T' "/dev/$device")
done
ln -s /proc/self/fd dev/fd
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs dev/shm
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
    mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
fi
mkdir run/old
pivot_root . run/old
umount -l /run/old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --log-target=console --show-status=no
"""
SPACES = ["--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net", "--fork", "--kill-child"]


class Systemd:
    def __init__(self, folder, environment):
        self.environment = environment
        self.log = open(folder.rstrip("/") + ".boot-log", "w+b")
        words = ["unshare", *SPACES, "sh", "-c", BOOT, "boot", os.path.abspath(folder)]
        self.manager = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, start_new_session=True)
        self.init = None

    def wait(self, seconds=120):
        """None once systemd says that the machine is up; otherwise why it is not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.manager.poll() is None:
            self.init = self.child()
            if self.init:
                ran = self.try_run("systemctl", "is-system-running")
                if ran.stdout.strip() in ("running", "degraded"):
                    return None
            time.sleep(0.2)
        self.log.seek(0)
        said = self.log.read().decode(errors="replace")[-2000:]
        self.stop()
        return f"systemd does not start here: {said}"

    def child(self):
        """The process that is number 1 inside, once it is systemd."""
        with open(f"/proc/{self.manager.pid}/task/{self.manager.pid}/children") as file:
            numbers = file.read().split()
        try:
            with open(f"/proc/{numbers[0]}/comm") as file:
                return numbers[0] if file.read().strip() == "systemd" else None
        except (IndexError, OSError):
            return None

    def command(self, words):
        return ["nsenter", "--target", self.init, "--mount", "--pid", "--cgroup", "--uts", "--ipc",
                "--net", *words]

    def try_run(self, *words):
        return subprocess.run(self.command(words), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment, timeout=600)

    def run(self, *words):
        ran = self.try_run(*words)
        if ran.returncode != 0:
            journal = self.try_run("journalctl", "--no-pager", "--lines=60").stdout
            sys.exit(f"{' '.join(words)}: {ran.returncode}\n{ran.stdout}{ran.stderr}\n{journal}")
        return ran.stdout

    def stop(self):
        if self.manager.poll() is None:
            if self.init:
                os.kill(int(self.init), signal.SIGKILL)  # and with it all that it started
            self.manager.kill()
        self.manager.wait(60)
        self.log.close()
        os.remove(self.log.name)
