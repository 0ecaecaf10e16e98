# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: one command a module, registered here."""

import sys
import traceback
from typing import Annotated

import typer

from bandgate_reports import __version__
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import ReportError, on_stderr
from bandgate_reports.commands.curves import curves
from bandgate_reports.commands.trend import trend

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reports from the result files of bandgate. Exit codes: 0 ok, 1 regression found, "
    "2 error, 4 cannot tell.",
)

for command in (trend, curves):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bandgate-report {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit."),
    ] = False,
) -> None:
    del version  # handled by its callback


def main() -> None:
    try:
        app()
    except ReportError as error:
        on_stderr().print(f"bandgate-report: {error}")
        sys.exit(int(Exit.ERROR))
    except Exception:
        # Python's own exit code would be 1, which says that a card has lost bandwidth.
        traceback.print_exc()
        sys.stderr.write(
            "bandgate-report: this is a fault of the program, not a verdict on any device; report "
            "it with the lines above and the result files\n"
        )
        sys.exit(int(Exit.ERROR))
