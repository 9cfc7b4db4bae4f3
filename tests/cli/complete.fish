# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# fish complete.fish SCRIPT LINE: what fish would offer at the end of the line, one a line.
source $argv[1]
complete -C $argv[2] | string replace -r '\t.*' ''
exit 0 # whether there was anything to replace or not
