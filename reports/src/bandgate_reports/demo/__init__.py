# SPDX-License-Identifier: Apache-2.0
"""A synthetic fleet through the real schema: to try reports without hardware.

models: what the cards and probes are; plan: which defects are planted where; values: the numbers;
verdicts: what the gate says of them; documents: the results; gate: a driver on trial; write: where
all goes; truth: what was planted; mark: what reports say of it.
"""
