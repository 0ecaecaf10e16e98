# SPDX-License-Identifier: Apache-2.0
"""Runs bandgate-report without its start: a server has loaded it, and forks for each call.

The pages call it some forty times, and each start costs 0.8 s of processor time.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import socket
import sys
from pathlib import Path

# What `bandgate-report` is in a sandbox; Python's own site is not needed, and half of the start.
CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({server!r})
call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [call], [0, 1, 2])
sys.exit((server.recv(1) or b"\\x46")[0])
"""
SMALL = ["--nodes", "2", "--gpus", "4", "--nights", "16", "--probes", "read,copy,triad"]
# A reader's devices are real ones, which these leave out where they are scripted.
OF_DEVICES = {"changes", "csv", "curves", "fleet", "junit", "markdown", "prometheus", "trend"}


def client(server: Path) -> str:
    return CLIENT.format(python=sys.executable, server=str(server))


def serve(place: str) -> None:
    import bandgate_reports
    from bandgate_reports.commands import cli

    for module in pkgutil.walk_packages(bandgate_reports.__path__, "bandgate_reports."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(place)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        _reap()
        if os.fork() == 0:
            code = 70
            try:
                _become(connection)
                cli.main()
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                connection.send(bytes([code]))
                os._exit(code)
        connection.close()


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(connection: socket.socket) -> None:
    """The process that called."""
    message, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    arguments, folder, environment = json.loads(message)
    for here, descriptor in enumerate(descriptors):
        os.dup2(descriptor, here)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if arguments[:1] == ["demo"] and "--nodes" not in arguments:
        arguments += SMALL  # the whole fleet takes half a minute
    if arguments[0] in OF_DEVICES and "--help" not in arguments:
        arguments.append("--include-scripted")
    sys.argv = ["bandgate-report", *arguments]


if __name__ == "__main__":
    serve(sys.argv[1])
