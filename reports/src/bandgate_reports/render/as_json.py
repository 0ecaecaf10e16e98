# SPDX-License-Identifier: Apache-2.0
"""A section's numbers as JSON that every strict parser takes."""

import json

from bandgate_reports.section import Section


def render(section: Section) -> str:
    """Raises ValueError for NaN and infinities: an analysis writes None for what is not known."""
    document = {
        "schema": f"bandgate.{section.key}/1",
        "headline": section.headline,
        "exit_code": int(section.exit),
        **(section.data or {}),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
