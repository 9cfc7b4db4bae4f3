# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Times the winners of one problem in turns on the same data, and writes the times as JSON.

Each winner runs as its own tool built it: Kernel Tuner's source by CuPy, as Kernel Tuner's CuPy
backend does it, and Kiln's very cubin. Each result is compared with the reference first.
"""

import argparse
import json
import os

import cupy as cp
import numpy as np

import problems

ROUNDS = 25  # of all winners in turn
WARM_RUNS = 3  # of a winner in a round, after the run with a cold L2
FLUSH_BYTES = 512 << 20  # several times the L2


class Winner:
    """The launches of one result, ready to run."""

    def __init__(self, problem, result, folder, data):
        self.problem = problem
        self.result = result
        launches = problem.launches(result["config"])
        if result["tool"] == "kiln":
            self.module = cp.RawModule(path=os.path.join(folder, result["cubin"]))
            check_launches(launches, result["launches"])
            functions = [self.module.get_function(l["symbol"]) for l in result["launches"]]
        else:
            self.module = build_as_kernel_tuner(problem, result["config"])
            functions = [self.module.get_function(l.kernel) for l in launches]
        fill_constants(self.module, problem.constants, data)
        self.runs = [
            (f, l.grid, l.block, tuple(data[a] if isinstance(a, str) else a for a in l.arguments))
            for f, l in zip(functions, launches)
        ]
        self.graph = None
        self.cold_ms = []
        self.warm_ms = []

    def launch_all(self, stream):
        for function, grid, block, arguments in self.runs:
            function(grid, block, arguments, stream=stream)

    def capture(self, stream):
        """One graph of all launches, so that the host's time for launches does not count."""
        with stream:
            stream.begin_capture()
            self.launch_all(stream)
            self.graph = stream.end_capture()


def build_as_kernel_tuner(problem, config):
    from kernel_tuner import util

    name, text = util.prepare_kernel_string(
        problem.kernel, problem.source(), config, problem.grid(config), problem.block_of(config),
        problem.block_size_names, "CUPY", None)
    return cp.RawModule(code=text, options=("--std=c++11",), name_expressions=[name])


def check_launches(ours, of_kiln):
    """That Kiln launches what problems.py says."""
    if len(ours) != len(of_kiln):
        raise SystemExit(f"Kiln has {len(of_kiln)} launches, problems.py {len(ours)}")
    for one, other in zip(ours, of_kiln):
        if one.kernel != other["kernel"] or other["smem_bytes"] != 0:
            raise SystemExit(f"Kiln launches {other}, problems.py {one}")
        if list(one.grid) != other["grid"] or list(one.block) != other["block"]:
            raise SystemExit(f"Kiln launches {other}, problems.py {one}")


def fill_constants(module, constants, data):
    for array, name in constants.items():
        symbol = module.get_global(array)
        value = data[name]
        cp.ndarray(value.shape, value.dtype, symbol)[...] = value


def reference_result(problem, data):
    """What the reference says: expected values and sizes of rounding errors, in float64."""
    reference = problem.reference
    module = cp.RawModule(code=problem.reference_source(), options=("--std=c++17",),
                          name_expressions=[reference.kernel])
    fill_constants(module, reference.constants, data)
    arrays = {}
    for name in reference.arguments:
        if not isinstance(name, str) or name in data:
            continue
        if name == "magnitude":
            arrays[name] = cp.zeros(data[problem.output].shape, cp.float64)
        elif name.endswith(".f64"):
            value = data[name[: -len(".f64")]]
            is_output = name == problem.output + ".f64"
            arrays[name] = (cp.zeros(value.shape, cp.float64) if is_output
                            else value.astype(cp.float64))
    arguments = tuple(arrays.get(a, data.get(a)) if isinstance(a, str) else a
                      for a in reference.arguments)
    module.get_function(reference.kernel)(reference.grid, reference.block, arguments)
    expected = arrays[problem.output + ".f64"]
    return expected, arrays.get("magnitude", cp.abs(expected))


def checked_by_kernel(problem, data):
    """How many elements the checker of src/NAME.cu refuses."""
    reference = problem.reference
    module = cp.RawModule(code=problem.reference_source(), options=("--std=c++17",),
                          name_expressions=[reference.kernel])
    fill_constants(module, reference.constants, data)
    counts = {"wrong": cp.zeros(1, cp.uint64), "first_wrong": cp.full(1, 2**63, cp.uint64)}
    arguments = tuple(counts.get(a, data.get(a)) if isinstance(a, str) else a
                      for a in reference.arguments)
    module.get_function(reference.kernel)(reference.grid, reference.block, arguments)
    return int(counts["wrong"][0])


def wrong_elements(problem, data, truth):
    if truth is None:
        return checked_by_kernel(problem, data)
    expected, magnitude = truth
    got = data[problem.output].astype(cp.float64)
    allowed = problem.reference.tolerance * magnitude + 2.0**-24 * cp.abs(expected)
    if problem.reference.tolerance == 0:
        allowed = cp.zeros_like(expected)
    return int((~(cp.abs(got - expected) <= allowed)).sum())  # a NaN is wrong, too


def poison(array):
    array.view(cp.uint8)[...] = 0xFF  # NaN, or -1


def device_facts():
    attributes = cp.cuda.Device().attributes
    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    buffer = cp.zeros(1 << 30, cp.uint8)
    other = cp.empty_like(buffer)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    times = []
    for _ in range(12):
        start.record()
        cp.cuda.runtime.memcpyAsync(other.data.ptr, buffer.data.ptr, buffer.nbytes, 3,
                                    cp.cuda.get_current_stream().ptr)
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end))
    return {
        "name": properties["name"].decode(),
        "sms": attributes["MultiProcessorCount"],
        "mhz": attributes.get("ClockRate", 0) / 1e3,
        "l2_bytes": attributes["L2CacheSize"],
        "driver": cp.cuda.runtime.driverGetVersion(),
        "cupy": cp.__version__,
        "copy_gbytes_per_s": 2 * buffer.nbytes / float(np.median(times[2:])) / 1e6,
    }


def measure(winners):
    stream = cp.cuda.Stream(non_blocking=True)
    flush = cp.zeros(FLUSH_BYTES, cp.uint8)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    cp.cuda.Device().synchronize()
    for winner in winners:
        winner.capture(stream)

    def time_of(winner):
        start.record(stream)
        winner.graph.launch(stream)
        end.record(stream)
        end.synchronize()
        return cp.cuda.get_elapsed_time(start, end)

    for winner in winners:
        time_of(winner)
    for i in range(ROUNDS):
        turn = i % len(winners)
        for winner in winners[turn:] + winners[:turn]:
            with stream:
                flush.fill(i)
            winner.cold_ms.append(time_of(winner))
            winner.warm_ms += [time_of(winner) for _ in range(WARM_RUNS)]


def facts_of(result):
    keys = ("tool", "version", "problem", "seed", "seconds", "wall_s", "tried", "ok",
            "own_best_ms", "config")
    return {key: result[key] for key in keys}


def row_of(winner, wrong):
    return {
        **facts_of(winner.result),
        "cold_ms": float(np.median(winner.cold_ms)),
        "cold_p10_p90_ms": [float(np.percentile(winner.cold_ms, p)) for p in (10, 90)],
        "warm_ms": float(np.median(winner.warm_ms)),
        "wrong": wrong,
        "registers": max(run[0].num_regs for run in winner.runs),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("results", nargs="+", help="JSON files of the tuning scripts")
    parser.add_argument("--out", required=True, help="JSON file to write")
    options = parser.parse_args()
    results = []
    for path in options.results:
        with open(path, encoding="ascii") as file:
            results.append((json.load(file), os.path.dirname(path)))
    problem = problems.ALL[results[0][0]["problem"]]()
    data = {name: cp.asarray(value) for name, value in problem.data().items()}
    checker = problem.reference.kernel.endswith("_checker")
    truth = None if checker else reference_result(problem, data)
    winners = [Winner(problem, result, folder, data) for result, folder in results
               if result["config"]]
    wrong = []
    for winner in winners:
        poison(data[problem.output])
        winner.launch_all(cp.cuda.get_current_stream())
        cp.cuda.Device().synchronize()
        wrong.append(wrong_elements(problem, data, truth))
    del truth
    cp.get_default_memory_pool().free_all_blocks()
    measure(winners)
    document = {
        "problem": problem.name,
        "device": device_facts(),
        "work": problem.work,
        "rows": [row_of(winner, count) for winner, count in zip(winners, wrong)],
        "without_winner": [facts_of(result) for result, _ in results if not result["config"]],
    }
    with open(options.out, "w", encoding="ascii") as file:
        json.dump(document, file, indent=1)
    for row in document["rows"]:
        print(f"{row['problem']}: {row['tool']}: cold {row['cold_ms']:.4f} ms, warm "
              f"{row['warm_ms']:.4f} ms, {row['wrong']} wrong elements")


if __name__ == "__main__":
    main()
