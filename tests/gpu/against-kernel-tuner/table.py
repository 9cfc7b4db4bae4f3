# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Prints what `compare` measured: ratios for each problem, their means, and how far roofs are.

A ratio is the time of Kernel Tuner's best winner (of all its strategies) divided by the time of
Kiln's winner: above 1, Kiln's kernel is faster.
"""

import argparse
import glob
import json
import math
import os
import sys

import numpy as np

import problems

# Operations of a multiprocessor in a clock, for compute capability 9.0. An FMA is one operation.
RATES = {"fp32": 128, "fp64": 64, "special": 16, "loads": 32}


def roof_of(work, device):
    """The least time of a run in ms, and the unit that it is of; None without a clock rate."""
    times = {"DRAM": work["dram_bytes"] / device["copy_gbytes_per_s"] / 1e6}
    if not device["mhz"]:
        return None
    for unit, rate in RATES.items():
        if unit in work:
            times[unit] = work[unit] / (rate * device["sms"] * device["mhz"] * 1e3)
    unit = max(times, key=times.get)
    return times[unit], unit


def load(folder):
    documents = []
    for path in sorted(glob.glob(os.path.join(folder, "*_times.json"))):
        with open(path, encoding="ascii") as file:
            documents.append(json.load(file))
    return documents


def ratio_of(document, key):
    rows = document["rows"]
    ours = [row[key] for row in rows if row["tool"] == "kiln" and row["wrong"] == 0]
    theirs = [row[key] for row in rows if row["tool"] != "kiln" and row["wrong"] == 0]
    return min(theirs) / ours[0] if ours and theirs else None


def print_rows(documents):
    print(f"{'problem':<14}{'seed':>4}  {'tool':<22}{'tried':>6}{'ok':>6}{'wall s':>8}"
          f"{'own ms':>10}{'cold ms':>10}{'p10..p90':>19}{'warm ms':>10}{'wrong':>10}")
    for document in documents:
        for r in document["rows"]:
            spread = "{:.4f}..{:.4f}".format(*r["cold_p10_p90_ms"])
            print(f"{r['problem']:<14}{r['seed']:>4}  {r['tool']:<22}{r['tried']:>6}{r['ok']:>6}"
                  f"{r['wall_s']:>8.1f}{r['own_best_ms']:>10.4f}{r['cold_ms']:>10.4f}{spread:>19}"
                  f"{r['warm_ms']:>10.4f}{r['wrong']:>10}")
        for r in document["without_winner"]:
            print(f"{r['problem']:<14}{r['seed']:>4}  {r['tool']:<22}{r['tried']:>6}{r['ok']:>6}"
                  f"{r['wall_s']:>8.1f}  no config could be run")


def print_ratios(documents):
    print(f"\n{'problem':<14}{'seeds':>6}{'cold ratio':>12}{'least':>8}{'warm ratio':>12}"
          f"{'kiln ms':>10}{'roof ms':>10}  of the roof")
    means = {"cold_ms": [], "warm_ms": []}
    for name in problems.ALL:
        of_problem = [d for d in documents if d["problem"] == name]
        ratios = {key: [r for r in (ratio_of(d, key) for d in of_problem) if r] for key in means}
        if not ratios["cold_ms"]:
            continue
        for key, values in ratios.items():
            means[key].append(float(np.mean(values)))
        best = min(r["warm_ms"] for d in of_problem for r in d["rows"]
                   if r["tool"] == "kiln" and r["wrong"] == 0)
        roof = roof_of(of_problem[0]["work"], of_problem[0]["device"])
        if roof is None:
            text = f"{'-':>10}  no clock rate"
        else:
            near = "  (within 5 %)" if roof[0] / best >= 0.95 else ""
            text = f"{roof[0]:>10.4f}  {100 * roof[0] / best:.0f} % of {roof[1]}{near}"
        print(f"{name:<14}{len(ratios['cold_ms']):>6}{means['cold_ms'][-1]:>12.3f}"
              f"{min(ratios['cold_ms']):>8.3f}{means['warm_ms'][-1]:>12.3f}{best:>10.4f}{text}")
    if means["cold_ms"]:
        cold, warm = (math.exp(np.mean(np.log(means[key]))) for key in ("cold_ms", "warm_ms"))
        print(f"{'geometric mean':<20}{cold:>12.3f}{'':>8}{warm:>12.3f}")
    missing = [n for n in problems.ALL if n not in {d["problem"] for d in documents}]
    if missing:
        print("not measured: " + ", ".join(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", default="results", help="the --out of compare")
    documents = load(parser.parse_args().folder)
    if not documents:
        sys.exit("no *_times.json in that folder; run compare first")
    device = documents[0]["device"]
    print(f"{device['name']}, {device['sms']} SMs, {device['mhz']:.0f} MHz, driver "
          f"{device['driver']}, copies at {device['copy_gbytes_per_s']:.0f} GB/s, CuPy "
          f"{device['cupy']}\n")
    print_rows(documents)
    print_ratios(documents)


if __name__ == "__main__":
    main()
