# SPDX-License-Identifier: Apache-2.0
"""Figures for people: curves, peer matrices, memory maps, rates over time."""
