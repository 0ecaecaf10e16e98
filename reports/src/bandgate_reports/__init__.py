# SPDX-License-Identifier: Apache-2.0
"""Reports from Bandgate's result files."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("bandgate-reports")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+source"
