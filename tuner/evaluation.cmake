# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# What runs, verifies and times candidates; the rest of the folder decides which.

set(KILN_EVALUATION_SOURCES
    benchmark.cpp candidate.cpp comparison.cpp cublaslt_baselines.cpp device_buffer.cpp
    error_bound.cpp local_evaluator.cpp messages.cpp policy.cpp reference.cpp statistics.cpp
    support_kernels.cpp verifier.cpp wire.cpp worker_evaluator.cpp worker_main.cpp
    worker_process.cpp workload.cpp)
