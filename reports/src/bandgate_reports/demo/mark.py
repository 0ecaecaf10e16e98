# SPDX-License-Identifier: Apache-2.0
"""What every report says of synthetic results among those that it shows."""

import pandas as pd

from bandgate_reports.text import count


def notice(results: pd.DataFrame) -> str:
    """One sentence; "" where all of them are real. Needs the column `demo`."""
    number = int(results["demo"].sum())
    if not number:
        return ""
    if number == len(results):
        return (
            "Synthetic demonstration data, made by bandgate-report demo: nothing here was measured."
        )
    real = count(len(results) - number, "real result")
    return (
        f"{count(number, 'result')} of synthetic demonstration data (hosts demo-n...) are mixed "
        f"with {real}: give reports the real folders alone."
    )
