# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# bash complete.bash SCRIPT LINE [WORDBREAKS]: what bash would offer at the end of the line, one a
# line.
source "$1"
COMP_LINE=$2
COMP_POINT=${#2}
COMP_WORDBREAKS=${3-$' \t\n'}
_kiln
printf '%s\n' "${COMPREPLY[@]}"
