#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# The road of docs/explanation/matmul-road.md: every step is a valid configuration and stands on the
# page, tools/road measures steps on the emulated GPU, and tools/road-plot makes the same tables and
# a well-formed drawing of the database and of its export.
# usage: road_test.sh KILN WORK
set -euo pipefail
kiln=$1 work=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77
page=$root/docs/explanation/matmul-road.md

fail() {
  echo "$*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
chmod 700 "$work"
unset KILN_DB KILN_TEMPLATE_PATH KILN_MODE
export KILN_DEVICE=emulated:h200 XDG_CACHE_HOME=$work/../../cache XDG_DATA_HOME=$work/data

# Step by step: `# name: label` and the command.
"$root/tools/road" --dry-run --kiln "$kiln" >"$work/commands"
steps=0
while read -r mark name label && read -r program verb operation sizes; do
  [ "$mark$program$verb$operation" = '#kilntunegemm' ] || fail "not a step: $name $label"
  name=${name%:}
  sizes=${sizes/--max-candidates 1/}
  template=$(sed -n 's/.*--templates \([a-z_]*\) .*/\1/p' <<<"$sizes")
  # shellcheck disable=SC2086  # words of the command
  "$kiln" render "$template" ${sizes/--templates $template/} --arch sm_90a >"$work/rendered.cu" ||
    fail "$name is no valid configuration"
  grep -q "\`$name\`" "$page" || fail "$page has no step $name"
  steps=$((steps + 1))
done <"$work/commands"
[ "$steps" -gt 50 ] || fail "only $steps steps"

! "$root/tools/road" --size many 2>"$work/refused" || fail "--size takes a word"
! "$root/tools/road" --only nothing --dry-run 2>>"$work/refused" || fail "no step, and no error"

"$root/tools/road" --kiln "$kiln" --db "$work/road.db" --size 48 --only '^f32[.](block|tiled)$' \
  >"$work/measured"
[ "$(grep -c '^f32[.]' "$work/measured")" -eq 2 ] || fail "$(cat "$work/measured")"
"$kiln" export --database --db "$work/road.db" >"$work/road.json"

plot() {
  "$root/tools/road-plot" "$@" --size 48
}
plot "$work/road.db" >"$work/tables"
plot "$work/road.json" | diff - "$work/tables" || fail "the export gives other tables"
# Two rows, of which the second is compared with the first.
# shellcheck disable=SC2016  # Markdown's own quotes
[ "$(grep -c '^| `f32' "$work/tables")" -eq 2 ] || fail "$(cat "$work/tables")"
# shellcheck disable=SC2016
grep -q '^| `f32.tiled`.*| x [0-9.]* |' "$work/tables" || fail "$(cat "$work/tables")"
printf 'before\n<!-- road: f32 -->\nold\n<!-- end -->\nafter\n' >"$work/page.md"
plot "$work/road.db" --page "$work/page.md" --svg "$work/road.svg"
[ "$(grep -c '^before$\|^after$' "$work/page.md")" -eq 2 ] || fail "the page is damaged"
# shellcheck disable=SC2016
grep -q '^| `f32.block`' "$work/page.md" || fail "the page has no table"
! grep -q '^old' "$work/page.md" || fail "the page has its old table"
python3 - "$work/road.svg" <<'END'
import sys
import xml.etree.ElementTree as tree
bars = tree.parse(sys.argv[1]).getroot().findall("{http://www.w3.org/2000/svg}rect")
widths = [float(bar.get("width")) for bar in bars]
assert len(widths) == 2 and max(widths) == 400.0 and min(widths) > 0.0, widths
END
! plot "$root/tools/lib/road.txt" 2>>"$work/refused" || fail "no database, and no error"
