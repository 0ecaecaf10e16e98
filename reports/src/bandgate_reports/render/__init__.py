# SPDX-License-Identifier: Apache-2.0
"""Sections as text: terminal, Markdown, JSON, page."""
