# SPDX-License-Identifier: Apache-2.0
"""Results as they lie in files and stores: the only package that opens them."""

from bandgate_reports.store.dataset import StoreError, Wanted
from bandgate_reports.store.files import Conflict, Loaded, load
from bandgate_reports.store.found import Skipped, read_bytes, reason_of, result_files

__all__ = [
    "Conflict",
    "Loaded",
    "Skipped",
    "StoreError",
    "Wanted",
    "load",
    "read_bytes",
    "reason_of",
    "result_files",
]
