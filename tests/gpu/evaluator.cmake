# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Verification, timing and fault isolation of single candidates on a GPU.

kiln_test(gpu_evaluator_test
  SOURCES evaluator_test.cpp
  LINKS kiln_tuner kiln_test_support
  LABELS gpu
  TIMEOUT 300)
target_compile_definitions(gpu_evaluator_test PRIVATE
  KILN_EVALUATOR_WORKER="$<TARGET_FILE:gpu_session_worker>")
add_dependencies(gpu_evaluator_test gpu_session_worker)
