"""A private Slurm of some nodes on loopback, with its own munged, slurmctld and slurmd, with fake
GPUs, without systemd and control groups. Everything is stopped by process id."""

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from support import BUILD, until

PROGRAMS = ("/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch")
CONFIGURATION = """
ClusterName=pliant
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
GresTypes=gpu
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmdTimeout=10
KillWait=5
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10
"""


def why_not():
    """The reason why no cluster can be started here; None if one can."""
    missing = [p for p in PROGRAMS if not os.path.exists(p)]
    if missing:
        return f"{missing[0]} is missing: deploy/install-deps --slurm"
    return "it needs root" if os.geteuid() != 0 else None


def why_no_views():
    """The reason why no folder can be viewed as from another machine; None if one can."""
    for path in (NODE_VIEW, "/dev/fuse", "/usr/bin/setpriv"):
        if not os.path.exists(path):
            return f"{path} is missing"
    return None


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


NODE_VIEW = os.path.join(BUILD, "tests", "node_view")
# As NFS by default: attributes are kept 3 s, names 30 s. Written bytes are not kept: FUSE that
# keeps them never sees what others append. faults/other_node_test has that part.
IN_VIEW = """
setpriv --pdeathsig TERM "$0" "$1" "$1" 3 30 0 &
until mountpoint -q "$1"; do sleep 0.05; kill -0 $! || exit 1; done
shift
exec "$@"
"""


def in_view_of(folder, command):
    """The command as if on another machine: it sees the folder as a network file system."""
    return ["unshare", "--mount", "sh", "-c", IN_VIEW, NODE_VIEW, folder, *command]


class Cluster:
    """With `shared`, nodes see that folder as a network file system."""

    def __init__(self, nodes, shared=None):
        self.shared = shared
        self.folder = tempfile.mkdtemp(prefix="pliant-slurm-")
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.processes = {}
        atexit.register(self.stop)
        for name in ("munge", "ctld", *self.nodes):
            os.mkdir(self._path(name), 0o700)
        with open(self._path("munge", "key"), "wb") as key:
            os.fchmod(key.fileno(), 0o400)
            key.write(os.urandom(1024))
        self._configure()
        os.environ["SLURM_CONF"] = self._path("slurm.conf")
        munge = self._path("munge")
        self._run("munged", "/usr/sbin/munged", "--foreground", "--force",
                  f"--socket={munge}/socket", f"--key-file={munge}/key",
                  f"--log-file={munge}/log", f"--pid-file={munge}/pid",
                  f"--seed-file={munge}/seed")
        until(lambda: os.path.exists(f"{munge}/socket"), "munged")
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        until(lambda: self.states() == ["idle"] * nodes, "the nodes")

    def _path(self, *parts):
        return os.path.join(self.folder, *parts)

    def _configure(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(self.nodes))
        text = CONFIGURATION.format(host=host, port=ports[0], folder=self.folder)
        gres = ""
        for node, port in zip(self.nodes, ports[1:]):
            device = self._path(f"gpu-{node}")
            os.mknod(device, 0o600 | 0o020000, os.makedev(1, 3))
            text += (f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8"
                     " RealMemory=64000 Gres=gpu:1\n")
            gres += f"NodeName={node} Name=gpu File={device}\n"
        for name, what in (("slurm.conf", text), ("gres.conf", gres)):
            with open(self._path(name), "w") as file:
                file.write(what)

    def _run(self, name, *command):
        with open(self._path(f"{name}.out"), "ab") as out:
            self.processes[name] = subprocess.Popen(command, stdout=out, stderr=out)

    def start_controller(self):
        self._run("ctld", "/usr/sbin/slurmctld", "-D")

    def start_node(self, node):
        command = ["/usr/sbin/slurmd", "-D", "-N", node]
        self._run(node, *(in_view_of(self.shared, command) if self.shared else command))

    def kill(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(60)

    def root_of(self, name):
        """The root folder as that process sees it."""
        return f"/proc/{self.processes[name].pid}/root"

    def call(self, *command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def states(self):
        found = subprocess.run(["sinfo", "-N", "-h", "-p", "low", "-o", "%t"],
                               capture_output=True, text=True).stdout
        return found.split()

    def jobs(self):
        """[id, name, state, node] of every job that Slurm still knows."""
        lines = self.call("squeue", "-h", "-t", "all", "-o", "%A|%j|%T|%N").splitlines()
        return [line.split("|") for line in lines]

    def _steps(self):
        """Process ids of this cluster's step daemons and of their programs."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    mine = self.folder.encode() in file.read()
                with open(f"/proc/{pid}/stat") as file:
                    name = re.search(r"\((.*)\)", file.read()).group(1)
            except OSError:
                continue
            if mine and name == "slurmstepd":
                found.append(int(pid))
        return found

    def children(self, pid):
        return [int(child) for child in self.call("ps", "-o", "pid=", "--ppid", str(pid)).split()]

    def stop(self):
        if not os.path.exists(self.folder):
            return
        if "ctld" in self.processes:
            subprocess.run(["scancel", "--user=root"], capture_output=True)
            try:
                until(lambda: all(j[2] not in ("PENDING", "RUNNING", "COMPLETING")
                                  for j in self.jobs()), "the end of the jobs")
            except (AssertionError, subprocess.CalledProcessError):
                pass
        for name in list(self.processes):
            self.kill(name, signal.SIGTERM if name == "ctld" else signal.SIGKILL)
        for pid in self._steps():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
