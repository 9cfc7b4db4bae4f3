# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tunes one problem with Kiln, and writes the best config as JSON and its cubin beside it."""

import argparse
import json
import os
import subprocess
import tempfile
import time

import problems
from problem import SOURCES


def templates_command(kiln, problem):
    return [kiln, "templates", problem.name + "_kernel", *problem.kiln_sizes(),
            "--device", "emulated:h100", "--template-path", SOURCES, "--json"]


def tune_command(kiln, problem, options, folder):
    return [
        kiln, "tune", problem.operation, *problem.kiln_sizes(options.small),
        "--budget", f"{options.seconds:g}s", "--seed", str(options.seed), "--no-wait",
        *stores(folder), *common(options),
    ]


def export_command(kiln, problem, options, folder, cubin):
    return [
        kiln, "export", problem.operation, *problem.kiln_sizes(options.small),
        "--cubin", cubin, *stores(folder), *common(options),
    ]


def stores(folder):
    """A database and a cubin store of this run alone, so that nothing was tuned before."""
    return ["--db", os.path.join(folder, "kiln.db"),
            "--cubin-store", os.path.join(folder, "cubins.db")]


def common(options):
    return ["--device", options.device, "--template-path", SOURCES, "--json"]


def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def times_of_trials(options, folder):
    """The times in ms of all candidates that were timed, in their order."""
    lines = subprocess.run([options.kiln, "export", "--database", *stores(folder)],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    trials = sorted((row for row in map(json.loads, lines) if row.get("outcome") == "ok"),
                    key=lambda row: row["created_unix_ms"])
    return [row["timing"]["median_ns"] / 1e6 for row in trials if "timing" in row]


def tune(problem, options):
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        document = run_json(tune_command(options.kiln, problem, options, folder))
        wall_s = time.perf_counter() - start
        cubin = os.path.splitext(options.out)[0] + ".cubin"
        exported = run_json(export_command(options.kiln, problem, options, folder, cubin))
        times_ms = times_of_trials(options, folder)
    result = document["results"][0]
    best = result["best"]
    if exported["config"] != best["config"]:
        raise SystemExit(f"exported {exported['config']} instead of {best['config']}")
    if not exported["cubin"]["from_store"] and options.device.startswith("cuda"):
        raise SystemExit("the exported cubin is not the one that was timed")
    return {
        "tool": "kiln",
        "version": result["session"]["strategy"].split()[0],
        "problem": problem.name,
        "seed": options.seed,
        "seconds": options.seconds,
        "wall_s": wall_s,
        "tried": result["done"],
        "ok": result["outcomes"].get("ok", 0),
        "outcomes": result["outcomes"],
        "own_best_ms": best["timing"]["median_ns"] / 1e6,
        "config": best["config"],
        "verification": best["verification"],
        "device": best["device"]["name"],
        "cubin": os.path.basename(cubin),
        "compiler": exported["cubin"]["compiler"],
        "launches": exported["launches"],
        "constants": exported["constants"],
        "times_ms": times_ms,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=problems.ALL)
    parser.add_argument("--kiln", default="kiln", help="the program")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--small", action="store_true", help="sizes for an emulated GPU")
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, help="JSON file to write; the cubin has its name")
    options = parser.parse_args()
    result = tune(problems.ALL[options.problem](), options)
    with open(options.out, "w", encoding="ascii") as file:
        json.dump(result, file, indent=1)
    print(f"{result['problem']}: kiln: {result['tried']} tried, {result['outcomes']} in "
          f"{result['wall_s']:.1f} s, best {result['own_best_ms']:.4f} ms {result['config']}")


if __name__ == "__main__":
    main()
