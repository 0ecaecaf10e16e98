# SPDX-License-Identifier: Apache-2.0
"""The command bandgate-report: the only package that prints, writes files and sets exit codes."""
