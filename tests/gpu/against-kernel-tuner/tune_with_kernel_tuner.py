# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tunes one problem with Kernel Tuner's CuPy backend, and writes the best config as JSON."""

import argparse
import contextlib
import io
import json
import random
import time

import numpy as np

import problems

STRATEGIES = {"random": "random_sample", "genetic": "genetic_algorithm"}


def options_of(problem, strategy, seconds):
    options = {"time_limit": seconds}
    if strategy == "random":
        size = 1
        for values in problem.tunables.values():
            size *= len(values)
        # Of the space; more than any time allows, and not so much that drawing takes long.
        options["fraction"] = min(1.0, 20000 / size)
    return options


def arguments_of(problem):
    """The arguments, constants and settings of tune_kernel for the tuned launch."""
    data = problem.data()
    any_config = {name: values[0] for name, values in problem.tunables.items()}
    launch = problem.tuned_launch(any_config)
    divisors = {f"grid_div_{x}": list(d) for x, d in zip("xyz", problem.divisors)}
    settings = {
        "kernel_name": problem.kernel,
        "kernel_source": problem.source(),
        "problem_size": problem.grid_of,
        "arguments": [data[a] if isinstance(a, str) else a for a in launch.arguments],
        "tune_params": problem.tunables,
        "restrictions": problem.restrictions or None,
        "cmem_args": {array: data[x] for array, x in problem.constants.items()} or None,
        "block_size_names": problem.block_size_names,
        "lang": "CUPY",
        **divisors,
    }
    if problem.runs_factor is not None:
        # A run is several launches, and their number depends on a tunable.
        settings["metrics"] = {"run_ms": lambda p: p["time"] * problem.runs_factor(p)}
        settings["objective"] = "run_ms"
        settings["objective_higher_is_better"] = False
    return settings


def pad_uuids():
    """CuPy ends a GPU's UUID at its first zero byte, and Kernel Tuner then cannot open the GPU."""
    import cupy

    properties_of = cupy.cuda.runtime.getDeviceProperties

    def padded(device):
        properties = properties_of(device)
        properties["uuid"] = properties["uuid"].ljust(16, b"\0")
        return properties

    cupy.cuda.runtime.getDeviceProperties = padded


def tune(problem, strategy, seconds, seed):
    import kernel_tuner  # needs no GPU, but takes a second

    pad_uuids()
    np.random.seed(seed)
    random.seed(seed)
    objective = "run_ms" if problem.runs_factor is not None else "time"
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        results, environment = kernel_tuner.tune_kernel(
            **arguments_of(problem),
            strategy=STRATEGIES[strategy],
            strategy_options=options_of(problem, strategy, seconds),
            seed=seed,
            quiet=True,
        )
    wall_s = time.perf_counter() - start
    good = [r for r in results if isinstance(r.get(objective), float)]
    best = min(good, key=lambda r: r[objective], default=None)
    return {
        "tool": "kernel_tuner " + strategy,
        "version": kernel_tuner.__version__,
        "problem": problem.name,
        "seed": seed,
        "seconds": seconds,
        "wall_s": wall_s,
        "tried": len(results),
        "ok": len(good),
        # None where no configuration could be run
        "own_best_ms": best and float(best[objective]),
        "config": best and {name: int(best[name]) for name in problem.tunables},
        "compile_s": sum(r.get("compile_time", 0) for r in results) / 1e3,
        "benchmark_s": sum(r.get("benchmark_time", 0) for r in results) / 1e3,
        "device": environment.get("device_name", ""),
        "times_ms": [float(r[objective]) for r in good],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=problems.ALL)
    parser.add_argument("strategy", choices=STRATEGIES)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, help="JSON file to write")
    options = parser.parse_args()
    result = tune(problems.ALL[options.problem](), options.strategy, options.seconds, options.seed)
    with open(options.out, "w", encoding="ascii") as file:
        json.dump(result, file, indent=1)
    best = (f"best {result['own_best_ms']:.4f} ms {result['config']}" if result["config"]
            else "no config could be run")
    print(f"{result['problem']}: {result['tool']}: {result['tried']} tried, {result['ok']} ok in "
          f"{result['wall_s']:.1f} s, {best}")


if __name__ == "__main__":
    main()
