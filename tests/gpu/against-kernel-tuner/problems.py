# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""The eight problems. problem.py says what a problem is."""

import numpy as np

from problem import Launch, Problem, Reference, ceil_div, powers, problem_of_one_launch

STATIC_SHARED_BYTES = 49152  # of a block, on all devices
HOTSPOT_STEPS = 24
MOST_SUMS = 65536  # of expdist


def pnpoly():
    n, corners = 20_000_000, 600

    def data():
        rng = np.random.default_rng(3)
        vertices = rng.standard_normal((corners, 2), np.float32)
        before = np.roll(vertices, 1, 0)
        slopes = (before[:, 0] - vertices[:, 0]) / (before[:, 1] - vertices[:, 1])
        return {
            "points": rng.standard_normal((n, 2), np.float32),
            "vertices": vertices,
            "slopes": slopes.astype(np.float32),
            "inside": np.empty(n, np.int32),
        }

    return problem_of_one_launch(
        ["inside", "points", np.int32(n)],
        name="pnpoly",
        operation="pnpoly",
        sizes={"n": n},
        small={"n": 500},
        kernel="pnpoly",
        tunables={
            "block_size_x": list(range(32, 993, 32)),
            "tile_size": [1] + list(range(2, 21, 2)),
            "between_method": [0, 1, 2, 3],
            "use_precomputed_slopes": [0, 1],
            "use_method": [0, 1],
        },
        restrictions=[],
        grid_of=(n,),
        divisors=(["block_size_x", "tile_size"], [], []),
        block=("block_size_x",),
        data=data,
        output="inside",
        constants={"d_vertices": "vertices", "d_slopes": "slopes"},
        reference=Reference(
            "pnpoly_checker",
            (ceil_div(n, 256),),
            (256,),
            ["inside", "points", np.int32(n), "wrong", "first_wrong"],
            constants={"polygon_corners": "vertices"},
        ),
        work={"fp32": 5 * corners * n, "dram_bytes": 12 * n},
    )


def cltune_gemm():
    m = n = k = 4096

    def data():
        rng = np.random.default_rng(4)
        return {
            "a": rng.standard_normal((k, m), np.float32),
            "b": rng.standard_normal((k, n), np.float32),
            "c": np.empty((n, m), np.float32),
        }

    sizes = [np.int32(m), np.int32(n), np.int32(k)]
    return problem_of_one_launch(
        sizes + ["a", "b", "c"],
        name="cltune_gemm",
        operation="cltune_gemm",
        sizes={"m": m, "n": n, "k": k},
        small={"m": 128, "n": 128, "k": 32},
        kernel="cltune_gemm",
        tunables={
            "MWG": [16, 32, 64, 128],
            "NWG": [16, 32, 64, 128],
            "KWG": [16, 32],
            "MDIMC": [8, 16, 32],
            "NDIMC": [8, 16, 32],
            "MDIMA": [8, 16, 32],
            "NDIMB": [8, 16, 32],
            "KWI": [2, 8],
            "VWM": [1, 2, 4],
            "VWN": [1, 2, 4],
            "STRM": [0, 1],
            "STRN": [0, 1],
            "SA": [0, 1],
            "SB": [0, 1],
            "PRECISION": [32],
        },
        restrictions=[
            "KWG % KWI == 0",
            "MWG % (MDIMC * VWM) == 0",
            "NWG % (NDIMC * VWN) == 0",
            "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0",
            "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
            "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
        ],
        grid_of=(m, n),
        divisors=(["MWG"], ["NWG"], []),
        block=("MDIMC", "NDIMC"),
        data=data,
        output="c",
        reference=Reference(
            "cltune_gemm_reference",
            (ceil_div(m, 256), n),
            (256,),
            ["c.f64", "magnitude", "a.f64", "b.f64"] + sizes,
            magnitude="magnitude",
            tolerance=(16 + k) * 2.0**-24,
        ),
        work={"fp32": m * n * k, "dram_bytes": 4 * (m * k + k * n + m * n)},
    )


def convolution():
    w = h = 4096
    extent = 17

    def data():
        rng = np.random.default_rng(1)
        return {
            "input": rng.standard_normal((h + extent - 1, w + extent - 1), np.float32),
            "filter": rng.standard_normal((extent, extent), np.float32),
            "output": np.empty((h, w), np.float32),
        }

    return problem_of_one_launch(
        ["output", "input", np.int32(w), np.int32(h)],
        name="convolution",
        operation="convolution17",
        sizes={"height": h, "width": w},
        small={"height": 20, "width": 40},
        kernel="convolution",
        tunables={
            "block_size_x": list(range(16, 129, 16)),
            "block_size_y": powers(6),
            "tile_size_x": list(range(1, 9)),
            "tile_size_y": list(range(1, 9)),
            "use_padding": [0, 1],
            "read_only": [0, 1],
        },
        restrictions=["use_padding == 0 or block_size_x % 32 != 0"],
        grid_of=(w, h),
        divisors=(["block_size_x", "tile_size_x"], ["block_size_y", "tile_size_y"], []),
        block=("block_size_x", "block_size_y"),
        data=data,
        output="output",
        constants={"d_filter": "filter"},
        reference=Reference(
            "convolution17_reference",
            (65536,),
            (256,),
            ["output.f64", "magnitude", "input.f64", "filter.f64", np.int32(h), np.int32(w)],
            magnitude="magnitude",
            tolerance=300 * 2.0**-24,
        ),
        work={"fp32": w * h * extent**2, "dram_bytes": 4 * (w * h + (w + 16) * (h + 16))},
    )


def _arrays(bodies, beyond):
    """Four arrays of an n x 4 array, each as long as a multiple of four."""
    length = ceil_div(len(bodies), 4) * 4
    arrays = np.empty((4, length), np.float32)
    arrays[:] = np.array(beyond, np.float32)[:, None]
    arrays[:, : len(bodies)] = bodies.T
    return arrays


def hotspot():
    w = h = 4096
    steps = HOTSPOT_STEPS
    scalars = [np.int32(w), np.int32(h)] + [np.float32(x) for x in (0.0625, 0.125, 0.03125, 0.5)]

    def data():
        rng = np.random.default_rng(5)
        return {
            "temperature": rng.standard_normal((h, w), np.float32),
            "power": rng.standard_normal((h, w), np.float32),
            "workspace": np.empty((h, w), np.float32),
            "result": np.empty((h, w), np.float32),
        }

    def launch(config, i, of):
        return Launch("hotspot", problem.grid(config), problem.block_of(config),
                      ["result", "workspace", "temperature", "power"] + scalars
                      + [np.int32(i), np.int32(of)])

    def launches(config):
        count = steps // config["temporal_tiling_factor"]
        return [launch(config, i, count) for i in range(count)]

    problem = Problem(
        name="hotspot",
        operation="hotspot",
        sizes={"height": h, "width": w, "steps": steps},
        small={"height": 40, "width": 70},
        kernel="hotspot",
        tunables={
            "block_size_x": powers(5) + list(range(32, 1025, 32)),
            "block_size_y": powers(6),
            "tile_size_x": list(range(1, 11)),
            "tile_size_y": list(range(1, 11)),
            "temporal_tiling_factor": [1, 2, 3, 4, 6, 8],
            "unroll_time": [1, 2, 3, 4, 6, 8],
            "sh_power": [0, 1],
            "blocks_per_sm": [0, 1, 2, 3, 4],
        },
        restrictions=[
            "block_size_x * block_size_y >= 32",
            "temporal_tiling_factor % unroll_time == 0",
            "blocks_per_sm * block_size_x * block_size_y <= 2048",
            "4 * (2 + sh_power) * (block_size_x * tile_size_x + 2 * temporal_tiling_factor)"
            " * (block_size_y * tile_size_y + 2 * temporal_tiling_factor)"
            f" <= {STATIC_SHARED_BYTES}",
        ],
        grid_of=(w, h),
        divisors=(["block_size_x", "tile_size_x"], ["block_size_y", "tile_size_y"], []),
        block=("block_size_x", "block_size_y"),
        data=data,
        output="result",
        # One launch alone is from the temperatures to the result.
        tuned_launch=lambda config: launch(config, 0, 1),
        launches=launches,
        runs_factor=lambda config: steps // config["temporal_tiling_factor"],
        reference=Reference(
            "hotspot_reference",
            (1,),
            (1024,),
            ["result.f64", "magnitude", "temperature.f64", "power.f64"] + scalars[:2]
            + [np.int32(steps)] + scalars[2:],
            magnitude="magnitude",
            tolerance=16 * steps * 2.0**-24,
        ),
        work={"fp32": 8 * steps * w * h, "dram_bytes": 12 * w * h},
    )
    return problem


def nbody():
    n = 131072

    def data():
        bodies = np.random.default_rng(6).random((n, 4), np.float32)
        return {
            "bodies": bodies,
            "workspace": _arrays(bodies, (0, 0, 0, 0)),
            "pull": np.empty((n, 3), np.float32),
        }

    def before(config):
        if config["use_soa"] == 0:
            return []
        return [Launch("nbody_arrays", (ceil_div(ceil_div(n, 4) * 4, 256), 1, 1), (256, 1, 1),
                       ["workspace", "bodies", np.int32(n)])]

    unrolls = [0, 1, 2, 4, 8, 16, 32]
    return problem_of_one_launch(
        ["pull", "bodies", "workspace", np.int32(n), np.float32(2.0**-10)],
        before=before,
        name="nbody",
        operation="nbody",
        sizes={"n": n},
        small={"n": 200},
        kernel="nbody",
        tunables={
            "block_size_x": [64, 128, 256, 512],
            "outer_unroll_factor": [1, 2, 4, 8],
            "inner_unroll_factor1": unrolls,
            "inner_unroll_factor2": unrolls,
            "use_soa": [0, 1],
            "local_mem": [0, 1],
            "vector_type": [1, 2, 4],
        },
        restrictions=[
            "local_mem == 1 or inner_unroll_factor2 == 0",
            "local_mem == 0 or inner_unroll_factor1 == 0",
            "use_soa == 1 or vector_type == 1",
        ],
        grid_of=(n,),
        divisors=(["block_size_x", "outer_unroll_factor"], [], []),
        block=("block_size_x",),
        data=data,
        output="pull",
        reference=Reference(
            "nbody_reference",
            (ceil_div(n, 128),),
            (128,),
            ["pull.f64", "magnitude", "bodies.f64", np.int32(n), np.float32(2.0**-10)],
            magnitude="magnitude",
            tolerance=(64 + n // 64) * 2.0**-24,
        ),
        work={"fp32": 12 * n * n, "special": n * n, "dram_bytes": 28 * n},
    )


def dedispersion():
    dms, length, channels = 2048, 25000, 1536
    sizes = [np.int32(dms), np.int32(length), np.int32(channels)]

    def data():
        rng = np.random.default_rng(7)
        return {
            "input": rng.integers(0, 256, (channels, length + dms), np.uint8),
            "shifts": rng.random(channels, np.float32),
            "sums": np.empty((dms, length), np.float32),
        }

    return problem_of_one_launch(
        ["sums", "input", "shifts"] + sizes,
        name="dedispersion",
        operation="dedispersion",
        sizes={"dms": dms, "length": length, "channels": channels},
        small={"dms": 40, "length": 70, "channels": 6},
        kernel="dedispersion",
        tunables={
            "block_size_x": powers(6),
            "block_size_y": list(range(32, 257, 8)),
            "tile_size_x": list(range(1, 5)),
            "tile_size_y": list(range(1, 9)),
            "tile_stride_x": [0, 1],
            "tile_stride_y": [0, 1],
            "unroll_channels": [0, 1, 2, 4, 8],
        },
        restrictions=[
            "block_size_x * block_size_y >= 32",
            "tile_size_x > 1 or tile_stride_x == 0",
            "tile_size_y > 1 or tile_stride_y == 0",
        ],
        grid_of=(dms, length),
        divisors=(["block_size_x", "tile_size_x"], ["block_size_y", "tile_size_y"], []),
        block=("block_size_x", "block_size_y"),
        data=data,
        output="sums",
        reference=Reference(
            "dedispersion_reference",
            (ceil_div(length, 256), dms),
            (256,),
            ["sums.f64", "input", "shifts"] + sizes,
        ),
        work={
            "fp32": dms * length * channels,
            "loads": dms * length * channels,
            "dram_bytes": channels * (length + dms) + 4 * dms * length,
        },
    )


def expdist():
    n = 32768

    def data():
        rng = np.random.default_rng(8)
        return {
            "a": rng.standard_normal((n, 2)),
            "b": rng.standard_normal((n, 2)),
            "scale_a": rng.random(n) + 0.0625,
            "scale_b": rng.random(n) + 0.0625,
            "workspace": np.empty(MOST_SUMS),
            "distance": np.empty(1),
        }

    def after(config):
        grid = problem.grid(config)
        return [Launch("expdist_sum", (1, 1, 1), (1024, 1, 1),
                       ["distance", "workspace", np.int32(grid[0] * grid[1])])]

    problem = problem_of_one_launch(
        ["workspace", "a", "b", "scale_a", "scale_b", np.int32(n)],
        after=after,
        name="expdist",
        operation="expdist",
        sizes={"n": n},
        small={"n": 150},
        kernel="expdist",
        tunables={
            "block_size_x": [32, 64, 128, 256, 512, 1024],
            "block_size_y": powers(6),
            "tile_size_x": list(range(1, 9)),
            "tile_size_y": list(range(1, 9)),
            "unroll_x": list(range(1, 9)),
            "unroll_y": list(range(1, 9)),
            "use_shared_mem": [0, 1, 2],
            "use_separate_acc": [0, 1],
            "n_y_blocks": powers(11),
        },
        restrictions=[
            "tile_size_x % unroll_x == 0",
            "tile_size_y % unroll_y == 0",
            # Kernel Tuner does not parse two comparisons in one string.
            "24 * (use_shared_mem // 2 * block_size_x * tile_size_x"
            " + (use_shared_mem + 1) // 2 * block_size_y * tile_size_y)"
            f" <= {STATIC_SHARED_BYTES - 256}",
            f"(({n} + block_size_x * tile_size_x - 1) // (block_size_x * tile_size_x))"
            f" * n_y_blocks <= {MOST_SUMS}",
        ],
        grid_of=(n, "n_y_blocks"),
        divisors=(["block_size_x", "tile_size_x"], [], []),
        block=("block_size_x", "block_size_y"),
        data=data,
        output="distance",
        reference=Reference(
            "expdist_reference",
            (1,),
            (1024,),
            ["distance.f64", "a.f64", "b.f64", "scale_a.f64", "scale_b.f64", np.int32(n)],
            tolerance=1e-10,
        ),
        work={"fp64": 28 * n * n, "dram_bytes": 48 * n},
    )
    return problem


def coulomb():
    width = height = depth = 256
    count = 4096
    spacing = np.float32(1 / 256)

    def data():
        atoms = np.random.default_rng(9).random((count, 4), np.float32)
        return {
            "atoms": atoms,
            "workspace": _arrays(atoms, (-1, -1, -1, 0)),
            "potential": np.empty((depth, height, width), np.float32),
        }

    def before(config):
        if config["use_soa"] == 0:
            return []
        return [Launch("coulomb_arrays", (ceil_div(count, 256), 1, 1), (256, 1, 1),
                       ["workspace", "atoms", np.int32(count)])]

    points = width * height * depth
    return problem_of_one_launch(
        ["potential", "atoms", "workspace", np.int32(count), np.int32(width), np.int32(height),
         np.int32(depth), spacing],
        before=before,
        name="coulomb",
        operation="coulomb",
        sizes={"depth": depth, "height": height, "width": width, "count": count},
        small={"depth": 6, "height": 10, "width": 40, "count": 70},
        kernel="coulomb",
        tunables={
            "block_size_x": [16, 32, 64],
            "block_size_y": powers(5),
            "z_iterations": powers(6),
            "inner_unroll_factor": [0, 1, 2, 4, 8, 16, 32],
            "use_constant_memory": [0, 1],
            "use_soa": [0, 1],
            "vector_size": [1, 2, 4],
        },
        restrictions=[
            "use_constant_memory == 0 or use_soa == 0",
            "use_soa == 1 or vector_size == 1",
        ],
        grid_of=(width, height, depth),
        divisors=(["block_size_x"], ["block_size_y"], ["z_iterations"]),
        block=("block_size_x", "block_size_y"),
        data=data,
        output="potential",
        constants={"d_atoms": "atoms"},
        reference=Reference(
            "coulomb_reference",
            (ceil_div(width, 64), height, depth),
            (64,),
            ["potential.f64", "atoms.f64", np.int32(count), np.int32(width), np.int32(height),
             spacing],
            tolerance=(256 + count // 4) * 2.0**-24,
        ),
        work={"fp32": 3 * points * count, "special": points * count, "dram_bytes": 4 * points},
    )


ALL = {
    maker.__name__: maker
    for maker in (pnpoly, cltune_gemm, convolution, hotspot, nbody, dedispersion, expdist, coulomb)
}
