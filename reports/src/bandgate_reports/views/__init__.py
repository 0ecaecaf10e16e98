# SPDX-License-Identifier: Apache-2.0
"""What analyses found, as sections: tables of numbers in, words and tables for people out."""
