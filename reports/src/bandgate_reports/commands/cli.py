# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: one command a module, registered here.

All of them are imported for every command and for --help. So that these start at once, what draws
(with Matplotlib) and computes quantiles (with SciPy) is imported by the functions that use it.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from bandgate_reports import __version__
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.ab import ab
from bandgate_reports.commands.baseline import baseline
from bandgate_reports.commands.changes import changes
from bandgate_reports.commands.common import ReportError, flush, warn
from bandgate_reports.commands.curves import curves
from bandgate_reports.commands.demo import demo
from bandgate_reports.commands.export_csv import csv
from bandgate_reports.commands.export_markdown import markdown
from bandgate_reports.commands.fleet import fleet
from bandgate_reports.commands.ingest import ingest
from bandgate_reports.commands.junit import junit
from bandgate_reports.commands.prometheus import prometheus
from bandgate_reports.commands.trend import trend
from bandgate_reports.store import StoreError, reason_of
from bandgate_reports.text import printable

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reports from the result files of bandgate. Exit codes: 0 ok, 1 regression found, "
    "2 error, 4 cannot tell.",
    epilog="Example: bandgate-report trend results --out report",
)


def _brief(command: Callable[..., Any]) -> str:
    """What it is for in the list of commands: the beginning of its docstring, as one line."""
    first = inspect.cleandoc(command.__doc__ or "").split("\n\n")[0]
    return re.split(r"(?<=[.?]) ", " ".join(first.split()))[0]


COMMANDS: tuple[Callable[..., Any], ...] = (
    trend,
    curves,
    changes,
    ab,
    fleet,
    junit,
    markdown,
    csv,
    prometheus,
    ingest,
    demo,
)
for command in COMMANDS:
    app.command(short_help=_brief(command))(command)
app.add_typer(baseline, name="baseline")


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
    # 1 says that a card has lost bandwidth: nothing else may end with it, neither Python nor Typer.
    try:
        app()
    except SystemExit as ended:
        cause = ended.__context__
        if ended.code != Exit.REGRESSION or isinstance(cause, typer.Exit):
            raise
        # The reader of the help has read enough, or somebody gave up.
        sys.exit(int(Exit.OK if isinstance(cause, BrokenPipeError) else Exit.ERROR))
    except (ReportError, StoreError) as error:
        warn(f"bandgate-report: {error}")
    except OSError as error:
        place = error.filename or "its output"
        warn(
            f"bandgate-report: {printable(str(place))}: {reason_of(error)}; mend that and run again"
        )
        flush()
    except Exception:
        warn(
            f"{traceback.format_exc()}bandgate-report: this is a fault of the program, not a "
            "verdict on any device; report it with the lines above and the result files"
        )
    sys.exit(int(Exit.ERROR))
