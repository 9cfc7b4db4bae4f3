# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# A tuning run that is killed again and again, and its driver.

add_executable(tune_kill_victim tune_kill_victim.cpp)
target_include_directories(tune_kill_victim PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(tune_kill_victim PRIVATE kiln_tuner kiln_test_support kiln_flags)

kiln_test(fault_tune_kill_test
  SOURCES tune_kill_test.cpp
  LINKS kiln_cache kiln_templates
  LABELS fault
  TIMEOUT 600)
target_compile_definitions(fault_tune_kill_test PRIVATE
  KILN_VICTIM="$<TARGET_FILE:tune_kill_victim>")
add_dependencies(fault_tune_kill_test tune_kill_victim)
