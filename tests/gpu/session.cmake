# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Whole tuning sessions on a GPU, with candidates in a worker process.

add_executable(gpu_session_worker session_worker.cpp)
target_include_directories(gpu_session_worker PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gpu_session_worker PRIVATE kiln_tuner kiln_flags)

kiln_test(gpu_session_test
  SOURCES session_test.cpp
  LINKS kiln_tuner kiln_test_support
  LABELS gpu
  TIMEOUT 300)
target_compile_definitions(gpu_session_test PRIVATE
  KILN_SESSION_WORKER="$<TARGET_FILE:gpu_session_worker>")
add_dependencies(gpu_session_test gpu_session_worker)
