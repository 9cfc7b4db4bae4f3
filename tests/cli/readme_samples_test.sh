#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# The outputs in README.md are those of this build, and tools/readme-samples names any that is not.
# usage: readme_samples_test.sh KILN WORK
set -euo pipefail
kiln=$1 work=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77

fail() {
  echo "$*" >&2
  exit 1
}

"$root/tools/readme-samples" "$kiln" --check || fail 'README.md is stale'

rm -rf "$work"
mkdir -p "$work"
# Prints what --check says of a page whose only sample is stdin.
said_of() {
  { printf '<!-- sample: %s -->\n```\n' "$1"; cat; printf '```\n'; } >"$work/page.md"
  if "$root/tools/readme-samples" "$kiln" --check --page "$work/page.md" 2>&1; then
    fail "a stale sample of $1 passes"
  fi
}
said_of emulated <<<'$ kiln --version
kiln 0.0.1' | grep -q 'stale: \$ kiln --version' || fail 'another output is not named'
said_of gpu <<<'# a GPU, a day, kiln 0.0.1
$ kiln tune gemm --m 64 --n 64 --k 64
  template   gemm_simt
  colour     green' | grep -q 'no report has a line colour' || fail 'a line of the past passes'
said_of gpu <<<'# a GPU, a day, kiln 0.0.1
$ kiln tune gemm --m 64 --n 64 --k 64
  template   gemm_gone
  config     tile_m=64' | grep -q 'gemm_gone' || fail 'a kernel of the past is not named'

printf '<!-- sample: emulated -->\n```\n$ kiln --version\nold\n```\nprose\n' >"$work/page.md"
"$root/tools/readme-samples" "$kiln" --page "$work/page.md"
[ "$(tail -n 1 "$work/page.md")" = prose ] || fail 'the rest of the page has changed'
grep -q '^kiln [0-9]' "$work/page.md" || fail 'the output is missing'
"$root/tools/readme-samples" "$kiln" --check --page "$work/page.md" || fail 'the new page is stale'
