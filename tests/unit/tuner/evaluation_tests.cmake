# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Tests of what runs, verifies and times candidates, and the worker process that they start.

set(KILN_EVALUATION_TESTS
    benchmark_test.cpp comparison_test.cpp error_bound_test.cpp local_evaluator_test.cpp
    planted_kernels.cpp statistics_test.cpp verifier_test.cpp wire_test.cpp worker_test.cpp)

add_executable(planted_worker planted_worker.cpp planted_kernels.cpp)
target_link_libraries(planted_worker PRIVATE kiln_tuner kiln_test_support kiln_flags)
# The tests find the program beside their own; their target is defined further on.
cmake_language(DEFER CALL add_dependencies unit_tuner_test planted_worker)
