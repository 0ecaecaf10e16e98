# SPDX-License-Identifier: Apache-2.0
"""How often `bandgate-report ab` errs: a table of rates over seeded simulations.

Run: python reports/benchmarks/ab_rates.py [--simulations 2000]
"""

import argparse
import math
import sys

import numpy as np
import pandas as pd

from bandgate_reports.analysis import ab_numbers

MARGIN = 0.01
# loss, sd between processes, processes a side, probes, cards, tails
CASES = [
    (0.00, 0.004, 10, 1, 1, "normal"),
    (0.00, 0.004, 10, 16, 1, "normal"),
    (0.00, 0.004, 5, 16, 1, "t3"),
    (0.00, 0.004, 10, 5, 8, "t3"),
    (0.00, 0.010, 10, 5, 1, "normal"),
    (0.00, 0.030, 5, 5, 1, "normal"),
    (0.00, 0.100, 5, 5, 1, "t3"),
    (0.00, 0.100, 5, 5, 4, "normal"),
    (0.005, 0.004, 10, 5, 1, "normal"),
    (0.01, 0.004, 10, 1, 1, "normal"),
    (0.02, 0.004, 10, 1, 1, "normal"),
    (0.02, 0.004, 10, 16, 1, "normal"),
    (0.02, 0.004, 10, 16, 1, "t3"),
    (0.02, 0.004, 5, 1, 1, "normal"),
    (0.02, 0.010, 10, 1, 1, "normal"),
    (0.094, 0.010, 10, 1, 1, "normal"),
]


def simulated(
    rng: np.random.Generator, simulations: int, case: tuple[float, float, int, int, int, str]
) -> pd.DataFrame:
    loss, sd, k, probes, cards, tails = case
    shape = (simulations, probes, cards, 2, k)
    noise = rng.standard_t(3, shape) / math.sqrt(3) if tails == "t3" else rng.normal(size=shape)
    log = sd * noise
    log[:, 0, :, 1, :] += math.log1p(-loss)  # one probe loses, on every card
    family, test, card, after, _ = np.indices(shape).reshape(5, -1)
    return pd.DataFrame(
        {"family": family, "test": test, "card": card, "after": after == 1, "log": log.ravel()}
    )


def rates(values: pd.DataFrame) -> tuple[float, float, float]:
    """Shares of simulations: the first probe fails, any other does, all pass."""
    tests, _ = ab_numbers.judged(ab_numbers.by_card(values), MARGIN)
    fails = tests["verdict"] == "FAIL"
    first = fails[tests["test"] == 0].mean()
    other = (fails & (tests["test"] > 0)).groupby(tests["family"]).any().mean()
    passed = (tests["verdict"] == "PASS").groupby(tests["family"]).all().mean()
    return float(first), float(other), float(passed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    wanted = parser.parse_args().simulations
    rng = np.random.default_rng(20261130)
    head = ["loss", "sd", "K", "probes", "cards", "tails", "FAIL", "other FAIL", "all PASS"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for case in CASES:
        done: list[tuple[float, float, float]] = []
        for begin in range(0, wanted, 500):
            done.append(rates(simulated(rng, min(500, wanted - begin), case)))
        shares = [f"{100 * v:.2f} %" for v in np.mean(done, axis=0)]
        loss, sd, *rest = case
        cells = [f"{loss:.1%}", f"{sd:.1%}", *map(str, rest), *shares]
        lines.append(f"| {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
