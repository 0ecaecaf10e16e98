# SPDX-License-Identifier: Apache-2.0
"""Statistics: tables in, tables out. Nothing here reads, prints or draws."""
