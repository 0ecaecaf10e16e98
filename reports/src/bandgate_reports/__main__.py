# SPDX-License-Identifier: Apache-2.0
from bandgate_reports.cli import main

main()
