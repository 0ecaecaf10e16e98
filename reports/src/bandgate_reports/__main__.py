# SPDX-License-Identifier: Apache-2.0
from bandgate_reports.commands.cli import main

main()
