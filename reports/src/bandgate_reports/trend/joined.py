# SPDX-License-Identifier: Apache-2.0
"""What the other analyses find in the results of a page: in its charts, and as parts of it."""

import pandas as pd

from bandgate_reports.analysis import fleet
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Section
from bandgate_reports.trend.histories import NOTHING_FOUND, Analyses
from bandgate_reports.units import RateUnit
from bandgate_reports.views import fleet as fleet_view


def joined(table: pd.DataFrame, rate: RateUnit) -> tuple[Analyses, tuple[Section, ...]]:
    """`table` as series.identify() gives it, without the sweeps."""
    compared = fleet.compare(table)
    sections = []
    if compared.exit is not Exit.CANNOT_TELL:  # no four cards alike: nothing to be said
        sections.append(fleet_view.section(compared, rate))
    return NOTHING_FOUND, tuple(sections)
