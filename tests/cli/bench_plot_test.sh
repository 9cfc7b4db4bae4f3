#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# tools/bench-plot makes the table and the drawing of docs/explanation/benchmarks.md from what
# `kiln bench` printed and the database; what it cannot use, it names.
# usage: bench_plot_test.sh KILN WORK
set -euo pipefail
kiln=$1 work=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77

fail() {
  echo "$*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
chmod 700 "$work"
unset KILN_DB KILN_TEMPLATE_PATH KILN_MODE
export KILN_DEVICE=emulated:h200 XDG_CACHE_HOME=$work/../../cache XDG_DATA_HOME=$work/data
db=$work/suite.db
"$kiln" tune gemm --m 16 --n 16 --k 32 --dtype bf16 --layout nt --templates gemm_wmma \
  --max-candidates 1 --db "$db" >/dev/null 2>&1

cat >"$work/log" <<'END'
name problem template choice time rate cublaslt ratio +- verified
small gemm 16 x 16 x 32 bf16 nt  gemm_wmma exact  2.000 us 8.2 GFLOP/s 3.000 us 1.500 0.002 yes
far gemm 64 x 1024 x 512 bf16 nn gemm_mma exact  1.500 ms 44.7 TFLOP/s 1.000 ms 0.667 0.010 yes
wrong gemm 64 x 64 x 64 bf16 nn  gemm_mma exact  1.500 ms 1.0 TFLOP/s 1.000 ms 0.667 0.010 no
END
printf 'before\n<!-- generated: benchmarks -->\nold\n<!-- end -->\nafter\n' >"$work/page.md"
"$root/tools/bench-plot" "$work/log" "$db" "$work/page.md"
# shellcheck disable=SC2016  # backquotes of the page
grep -qF '| 16 x 16 x 32 bf16 nt | `gemm_wmma` | 2.000 us | 8.2 GFLOP/s |' "$work/page.md" ||
  fail "the row is missing: $(cat "$work/page.md")"
grep -qF '| 1.000 ms | 0.667 +- 0.010 |' "$work/page.md" || fail 'the second row is missing'
grep -qF '64 x 64 x 64' "$work/page.md" && fail 'what is not verified has a row'
[ "$(head -n 1 "$work/page.md")$(tail -n 1 "$work/page.md")" = beforeafter ] ||
  fail 'the rest of the page has changed'
grep -q old "$work/page.md" && fail 'the old table is still there'
python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$work/page.svg" ||
  fail 'the drawing is malformed'
grep -q '1.500' "$work/page.svg" || fail 'the drawing lacks a ratio'

if "$root/tools/bench-plot" /dev/null "$db" "$work/page.md" 2>"$work/error"; then
  fail 'an empty log is taken'
fi
grep -q 'no verified line' "$work/error" || fail "the error says: $(cat "$work/error")"
echo 'no marks' >"$work/bare.md"
if "$root/tools/bench-plot" "$work/log" "$db" "$work/bare.md" 2>"$work/error"; then
  fail 'a page without marks is taken'
fi
grep -q 'lacks the marks' "$work/error" || fail "the error says: $(cat "$work/error")"
