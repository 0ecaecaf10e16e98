# SPDX-License-Identifier: Apache-2.0
"""Runs bandgate-report without its start: a server has loaded it, and forks for each call.

The pages call it some forty times, and each start costs a second of processor time.
"""

from __future__ import annotations

import contextlib
import json
import os
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


def serve(place: Path) -> None:
    """Made-up results lie beside the socket once it is there."""
    demo = str(place.with_name("demo"))
    _call(["demo", "--out", demo])
    _call(["trend", demo, "--out", str(place.with_name("report"))])  # loads all that it needs
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(place))
    listener.listen()
    while True:
        connection, _ = listener.accept()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            code = 70
            try:
                code = _call(_become(connection))
            finally:
                connection.send(bytes([code]))
                os._exit(code)
        connection.close()


def _call(arguments: list[str]) -> int:
    from bandgate_reports.commands import cli

    if arguments[:1] == ["demo"] and "--nodes" not in arguments:
        arguments = [*arguments, *SMALL]  # the whole fleet takes half a minute
    elif arguments[0] in OF_DEVICES and "--help" not in arguments:
        arguments = [*arguments, "--include-scripted"]
    sys.argv = ["bandgate-report", *arguments]
    code: object = None
    try:
        cli.main()
    except SystemExit as ended:
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def _become(connection: socket.socket) -> list[str]:
    """The process that called, and what it asks."""
    message, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    arguments, folder, environment = json.loads(message)
    for here, descriptor in enumerate(descriptors):
        os.dup2(descriptor, here)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return [str(argument) for argument in arguments]


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
