#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# kernel_tuner_test.sh KILN FOLDER: Kernel Tuner's own code reads what `kiln export` writes, and
# pandas reads its tables. The packages come from the Python that KILN_TEST_PYTHON names, else from
# python3, else with KILN_TEST_PIP=1 from pip (550 MB, kept in FOLDER). Exit code 77: skipped.
set -euo pipefail

kiln=$1
work=$2
source=$(cd "$(dirname "$0")/../.." && pwd)

skip() {
  echo "skipped: $*"
  exit 77
}

has_packages() {
  command -v "$1" >/dev/null && "$1" -c 'import kernel_tuner, pandas' 2>/dev/null
}

mkdir -p "$work"
python=${KILN_TEST_PYTHON:-python3}
if ! has_packages "$python"; then
  python=$work/venv/bin/python
  if ! has_packages "$python"; then
    [ "${KILN_TEST_PIP:-0}" = 1 ] ||
      skip "no Python package kernel-tuner here; KILN_TEST_PIP=1 lets the test install it with pip"
    { python3 -m venv "$work/venv" &&
      timeout 150 "$work/venv/bin/pip" install -q --retries 1 --timeout 10 kernel-tuner pandas; } ||
      skip "pip cannot install kernel-tuner"
  fi
fi

export HOME=$work/home XDG_DATA_HOME=$work/home XDG_CACHE_HOME=$work/home
rm -rf "$HOME"
mkdir -p "$HOME"
cd "$work"
problem=(convolution --height 64 --width 64 --template-path "$source/examples/adopted/convolution")

# Results of another autotuner, with and without a time.
cat >cache.json <<'END'
{"device_name": "NVIDIA A100", "kernel_name": "convolution_tiled", "problem_size": [64, 64],
"tune_params_keys": ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "use_padding"],
"tune_params": {"block_size_x": [8, 16, 32, 64], "block_size_y": [1, 2, 4, 8, 16],
"tile_size_x": [1, 2, 4, 8], "tile_size_y": [1, 2, 4, 8], "use_padding": [0, 1]},
"objective": "time",
"cache": {
"16,8,2,1,0": {"block_size_x": 16, "block_size_y": 8, "tile_size_x": 2, "tile_size_y": 1,
"use_padding": 0, "time": 0.125, "times": [0.1, 0.15], "compile_time": 300.5,
"verification_time": 0, "benchmark_time": 1.5, "strategy_time": 0, "framework_time": 0.5,
"timestamp": "2024-05-06 07:08:09.123456+00:00"},
"64,16,8,8,1": {"block_size_x": 64, "block_size_y": 16, "tile_size_x": 8, "tile_size_y": 8,
"use_padding": 1, "time": "RuntimeFailedConfig", "compile_time": 300.5, "verification_time": 0,
"benchmark_time": 0, "strategy_time": 0, "framework_time": 0.5,
"timestamp": "2024-05-06 07:08:10.123456+00:00"},
END
"$kiln" import cache.json "${problem[@]}" --template convolution_tiled --arch sm_80
"$kiln" export "${problem[@]}" --format kernel_tuner -o exported.json
"$kiln" export "${problem[@]}" --format t4 -o t4.json
"$kiln" export --format csv -o trials.csv

"$python" - <<'END'
import json

import jsonschema
from kernel_tuner import file_utils, util

before = util.read_cache("cache.json", open_cache=False)
after = util.read_cache("exported.json", open_cache=False)
assert before == after, (before, after)
# A closed file stays one when Kernel Tuner opens it to add results.
util.read_cache("exported.json", open_cache=True)
assert util.read_cache("exported.json", open_cache=False) == before

_, schema = file_utils.output_file_schema("results")
t4 = json.load(open("t4.json"))
jsonschema.validate(t4, schema)
theirs = file_utils.get_t4_results(list(before["cache"].values()), before["tune_params"])
configurations = [[r["configuration"] for r in one["results"]] for one in (t4, theirs)]
assert configurations[0] == configurations[1]
for ours, other in zip(t4["results"], theirs["results"]):
    assert ours["invalidity"] == other["invalidity"]
    assert ours["timestamp"] == other["timestamp"]
    assert ours["times"].get("runtimes", []) == other["times"]["runtimes"]
    for name in ("compilation", "benchmark", "framework", "search_algorithm", "validation"):
        assert ours["times"][name] == other["times"][name], name
print("Kernel Tuner reads the cache file and the T4 file")
END

# The example of docs/how-to/exchange-results.md.
sed -n '/^```python$/,/^```$/p' "$source/docs/how-to/exchange-results.md" | grep -v '^```' >best.py
"$python" best.py | tee best.txt
grep -q convolution_tiled best.txt
grep -q 0.125 best.txt
