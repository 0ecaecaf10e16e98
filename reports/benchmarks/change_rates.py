# SPDX-License-Identifier: Apache-2.0
"""How often `changes` cries wolf and how soon it finds steps, as Markdown; and how long it takes.

The tests check the same with fewer series: tests/test_changes_rates.py.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bandgate_reports.analysis import changes
from test_changes_rates import false_alarms, planted

from made_nights import NIGHTS, NOISES, nights, noise, stepped

SERIES = 4000
HEADINGS = (
    "noise",
    "false alarms a series-year, sd 0.3 %",
    "sd 0.5 %",
    "sd 1 %",
    "2 % step: found",
    "within 5 nights",
    "on its night",
    "1.5 % step: found",
    "within 5 nights",
)


def row(kind: str) -> list[str]:
    alarms = [false_alarms(kind, SERIES, sd) for sd in (0.003, 0.005, 0.01)]
    two, less = planted(kind, 0.02, SERIES), planted(kind, 0.015, SERIES)
    shares = [
        np.abs(two.off) <= 2,
        two.delay <= 5,
        two.off == 0,
        np.abs(less.off) <= 2,
        less.delay <= 5,
    ]
    return [kind, *(f"{a:.3f}" for a in alarms), *(f"{100 * s.mean():.2f} %" for s in shares)]


def fleet() -> pd.DataFrame:
    """5 600 series: a tenth with a step of 2 %, 1 % of the nights bad."""
    chance = np.random.default_rng(1)
    values = noise("white", chance, 5600)
    values = np.where(chance.random(values.shape) < 0.01, 0.95 * values, values)
    first = chance.integers(20, NIGHTS - 10, 5600)
    step = np.where(chance.random(5600) < 0.1, -0.02, 0.0)
    return nights(stepped(values, first, step))


def main() -> None:
    say = sys.stdout.write
    bounds = ["**bound**", "≤ 0.1", "", "", "", "100 % (white)", "", "", ""]
    for cells in (HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], bounds):
        say(f"| {' | '.join(cells)} |\n")
    for kind in NOISES:
        say(f"| {' | '.join(row(kind))} |\n")
    table, direction = fleet(), dict.fromkeys(range(5600), False)
    began, spent = time.perf_counter(), time.process_time()
    found = changes.find(table, direction)
    wall, cpu = time.perf_counter() - began, time.process_time() - spent
    say(
        f"\n5 600 series of {NIGHTS} nights: {cpu:.1f} s of one core ({wall:.1f} s by the clock), "
        f"{len(found.changes)} changes, {len(found.bad_nights)} bad nights\n"
    )


if __name__ == "__main__":
    main()
