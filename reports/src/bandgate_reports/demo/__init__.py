# SPDX-License-Identifier: Apache-2.0
"""A synthetic fleet through the real schema: to try every report without hardware.

models: what the cards and probes are; plan: which defects are planted where; values: the numbers;
verdicts: what the gate says of them; documents: the results; write: where they go; mark: how
reports tell them from real ones.
"""
