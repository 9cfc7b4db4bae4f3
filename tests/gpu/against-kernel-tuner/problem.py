# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""What a problem is: its sizes, data, search space, launches and reference, for both tools.

The kernels are in src/NAME_kernel.cu, their operations for Kiln in src/NAME.cu. The space of each
problem is written twice, here for Kernel Tuner and in the front matter for Kiln; `compare
--dry-run` counts both.
"""

import dataclasses
import os
from typing import Callable, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "src")


def ceil_div(a, b):
    return -(-a // b)


def powers(count):
    return [2**i for i in range(count)]


@dataclasses.dataclass
class Launch:
    """One launch of a kernel. An argument is the name of an array, or a NumPy scalar."""

    kernel: str
    grid: tuple
    block: tuple
    arguments: list


@dataclasses.dataclass
class Reference:
    """The reference of src/NAME.cu. "x.f64" is the array x in double precision."""

    kernel: str
    grid: tuple
    block: tuple
    arguments: list
    constants: dict = dataclasses.field(default_factory=dict)
    magnitude: str = ""  # the array with the size of rounded terms; "" for the result's own
    tolerance: float = 0.0  # of the magnitude; 0 for equal


@dataclasses.dataclass
class Problem:
    name: str
    operation: str
    sizes: dict  # of Kiln's problem
    small: dict  # sizes for the emulated GPU
    kernel: str  # that Kernel Tuner tunes
    tunables: dict
    restrictions: list
    grid_of: tuple  # Kernel Tuner's problem size
    divisors: tuple  # of the grid: names of tunables for x, y, z
    block: tuple  # names of tunables
    data: Callable[[], dict]  # inputs by name, and the shapes of outputs
    output: str
    tuned_launch: Callable[[dict], Launch]  # the launch that Kernel Tuner times
    launches: Callable[[dict], list]  # all launches of a run
    reference: Reference
    work: dict  # least work of a run, see README.md
    constants: dict = dataclasses.field(default_factory=dict)  # __constant__ array -> name of data
    runs_factor: Optional[Callable[[dict], float]] = None  # launches of a run, if not 1

    @property
    def source_file(self):
        return os.path.join(SOURCES, self.name + "_kernel.cu")

    def source(self):
        with open(self.source_file, encoding="ascii") as file:
            return file.read()

    def reference_source(self):
        with open(os.path.join(SOURCES, self.name + ".cu"), encoding="ascii") as file:
            return file.read()

    def grid(self, config):
        """The grid of the tuned kernel, as Kernel Tuner computes it."""
        extents = [config[n] if isinstance(n, str) else n for n in self.grid_of]
        extents += [1] * (3 - len(extents))
        for i, names in enumerate(self.divisors):
            divisor = 1
            for name in names:
                divisor *= config[name]
            extents[i] = ceil_div(extents[i], divisor)
        return tuple(extents)

    def block_of(self, config):
        extents = [config[name] for name in self.block]
        return tuple(extents + [1] * (3 - len(extents)))

    @property
    def block_size_names(self):
        """Kernel Tuner's names of the three extents of a block."""
        return list(self.block) + ["block_size_x", "block_size_y", "block_size_z"][len(self.block):]

    def kiln_sizes(self, small=False):
        flags = []
        for name, value in (self.small if small else self.sizes).items():
            flags += ["--" + name, str(value)]
        return flags


def problem_of_one_launch(launch_arguments, before=None, after=None, **fields):
    """A problem whose run is one launch of the tuned kernel, with launches before and after it."""

    def tuned_launch(config):
        p = problem
        return Launch(p.kernel, p.grid(config), p.block_of(config), launch_arguments)

    def launches(config):
        first = before(config) if before else []
        last = after(config) if after else []
        return first + [tuned_launch(config)] + last

    problem = Problem(tuned_launch=tuned_launch, launches=launches, **fields)
    return problem
