# SPDX-License-Identifier: Apache-2.0
"""How often `fleet` accuses healthy fleets and finds slow cards; prints a table as Markdown.

The tests check the same with fewer fleets: tests/test_fleet_rates.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_fleet_rates import NOISES, rates

SIZES = (4, 7, 8, 16, 64, 512)
HEADINGS = (
    "noise",
    "cards",
    "healthy, 1 night",
    "healthy, 3 nights",
    "one 3 % slow: found, 1 night",
    "3 nights",
    "another accused, 3 nights",
    "half 1.6 % apart, known",
    "not known",
)


def row(kind: str, n: int) -> list[str]:
    fleets = 1000 if n < 100 else 400
    known, unknown = (
        rates(n, kind, 3, half=0.016, known=k, fleets=fleets)[0] for k in (True, False)
    )
    slow = {k: rates(n, kind, k, loss=0.03, fleets=fleets) for k in (1, 3)}
    healthy = [rates(n, kind, k, fleets=fleets)[0] for k in (1, 3)]
    shares = [*healthy, slow[1][1], slow[3][1], slow[3][2], known, unknown]
    return [kind, str(n), *(f"{100 * share:.1f} %" for share in shares)]


def main() -> None:
    bounds = ["**bound**", "", "", "≤ 1 %", "", "≥ 99 %", "≤ 1 %", "≤ 1 %", "≤ 1 %"]
    rows = [row(kind, n) for kind in NOISES for n in SIZES]
    for cells in (HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], bounds, *rows):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
