# SPDX-License-Identifier: Apache-2.0
"""Result files: the only package that opens them."""

from bandgate_reports.store.files import (
    Conflict,
    Loaded,
    Skipped,
    load,
    read_bytes,
    reason_of,
    result_files,
)

__all__ = ["Conflict", "Loaded", "Skipped", "load", "read_bytes", "reason_of", "result_files"]
