# SPDX-License-Identifier: Apache-2.0
"""The trend report: from tables to a page and to Markdown."""
