# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of one controller and several slurmd on this machine, in a folder of its own, with
ports and a munge of its own. Whatever it started is gone after stop()."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("slurmctld", "slurmd", "munged", "sinfo", "scontrol", "sbatch")
PR_SET_CHILD_SUBREAPER = 36
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=bandgate
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
PrologFlags=Alloc
KillWait=1
MinJobAge=300
SchedulerParameters=batch_sched_delay=0
HealthCheckProgram={folder}/healthcheck
HealthCheckInterval=2
HealthCheckNodeState=IDLE,CYCLE
Prolog={folder}/prolog
Epilog={folder}/epilog
{nodes}
PartitionName=main Nodes=ALL Default=YES State=UP
"""


def why_not() -> str:
    """Why no cluster can be brought up here, else empty."""
    missing = [name for name in NEEDED if not shutil.which(name, path=PATH)]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def descendants() -> set[int]:
    """Of this process, which also adopts what its children leave."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


class Cluster:
    """Each node has a file conf/NODE, which its programs read; the scripts around them pass it."""

    def __init__(self, folder: Path, nodes: list[str], wrapper: Callable[[str], str]) -> None:
        self.folder = folder
        self.names = nodes
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.before = descendants()
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM")} | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": PATH,
        }
        for name in ("munge", "state", "log", "conf", *(f"spool/{n}" for n in nodes)):
            (folder / name).mkdir(parents=True)
        for name in ("healthcheck", "prolog", "epilog"):
            script = folder / name
            script.write_text(wrapper(name))
            script.chmod(0o755)
        for number in (0, 1):
            # Slurm wants device files; these are as good as /dev/null.
            os.mknod(folder / f"nvidia{number}", 0o20666, os.makedev(1, 3))
        ports = free_ports(len(nodes) + 1)
        lines = [
            f"NodeName={n} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} "
            "CPUs=2 Gres=gpu:2"
            for n, port in zip(nodes, ports[1:], strict=True)
        ]
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                folder=folder, ports=ports, nodes="\n".join(lines), host=socket.gethostname()
            )
        )
        (folder / "gres.conf").write_text(
            f"NodeName={','.join(nodes)} Name=gpu File={folder}/nvidia[0-1]\n"
        )
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")

    def conf(self, node: str, **settings: str) -> None:
        """The node's configuration, replaced in one step."""
        new = self.folder / f"conf/.{node}"
        new.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        new.rename(self.folder / f"conf/{node}")

    def start_controller(self) -> None:
        munge = self.folder / "munge"
        key = munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = {
            "key-file": "key",
            "socket": "socket",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        options = [f"--{option}={munge / name}" for option, name in files.items()]
        self._daemon("munged", "--foreground", "--force", *options)
        self.until("munge answers", (munge / "socket").exists)
        self._daemon("slurmctld", "-D")
        self.until("slurmctld answers", lambda: self.call("scontrol", "ping").returncode == 0)

    def start_nodes(self) -> None:
        for name in self.names:
            self._daemon("slurmd", "-D", "-N", name)

    def _daemon(self, *command: str) -> None:
        self.daemons.append(
            subprocess.Popen(
                command,
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def call(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def node(self, name: str) -> tuple[str, str]:
        """State and reason, as sinfo says them."""
        out = self.call("sinfo", "-h", "-a", "-N", "-n", name, "-o", "%T|%E").stdout
        state, _, reason = out.splitlines()[0].partition("|") if out else ("", "", "")
        return state, reason

    def until(self, what: str, holds: Callable[[], bool], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds:.0f} s: {what}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self) -> str:
        nodes = self.call("sinfo", "-N", "-o", "%N %T %E").stdout
        lines = [
            f"{p.name}: {line}"
            for p in sorted((self.folder / "log").iterdir())
            for line in p.read_text().splitlines()[-12:]
        ]
        return "\n".join([nodes, *lines])

    def stop(self) -> None:
        """Everything that this cluster started, jobs too."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for _ in range(100):
            left = descendants() - self.before
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            while left:
                try:
                    if os.waitpid(-1, os.WNOHANG)[0] == 0:
                        break
                except ChildProcessError:
                    break
            if not left:
                return
            time.sleep(0.05)
        raise AssertionError(f"still there: {left}")
