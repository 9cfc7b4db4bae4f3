# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, static wherever Debian has them, so that a build folder runs elsewhere.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_library(KILN_SQLITE_LIBRARY NAMES libsqlite3.a REQUIRED)
find_library(KILN_XXHASH_LIBRARY NAMES libxxhash.a REQUIRED)

add_library(kiln_fmt INTERFACE)
target_link_libraries(kiln_fmt INTERFACE fmt::fmt-header-only)
add_library(kiln_xxhash INTERFACE)
target_link_libraries(kiln_xxhash INTERFACE ${KILN_XXHASH_LIBRARY})
find_library(KILN_SQLITECPP_LIBRARY NAMES libSQLiteCpp.a REQUIRED)
add_library(kiln_sqlite INTERFACE)
target_link_libraries(kiln_sqlite INTERFACE ${KILN_SQLITECPP_LIBRARY} ${KILN_SQLITE_LIBRARY}
                      Threads::Threads ${CMAKE_DL_LIBS} m)

# CUDA: headers and the static runtime only; NVRTC and the driver are loaded at run time.
set(KILN_CUDA_ROOT "" CACHE PATH "Toolkit or unpacked wheels (include/, lib64/ or lib/); empty: find")
if(KILN_CUDA_ROOT)
  set(CUDAToolkit_ROOT ${KILN_CUDA_ROOT})
endif()
find_path(KILN_CUDA_INCLUDE_DIR cuda_runtime_api.h
          HINTS ${KILN_CUDA_ROOT}/include ENV CUDA_HOME ENV CUDA_PATH
          PATHS /usr/local/cuda PATH_SUFFIXES include REQUIRED)
find_library(KILN_CUDART_LIBRARY NAMES libcudart_static.a
             HINTS ${KILN_CUDA_ROOT}/lib64 ${KILN_CUDA_ROOT}/lib ENV CUDA_HOME ENV CUDA_PATH
             PATHS /usr/local/cuda PATH_SUFFIXES lib64 lib REQUIRED)
add_library(kiln_cudart INTERFACE)
target_include_directories(kiln_cudart SYSTEM INTERFACE ${KILN_CUDA_INCLUDE_DIR})
target_link_libraries(kiln_cudart INTERFACE ${KILN_CUDART_LIBRARY} Threads::Threads
                      ${CMAKE_DL_LIBS} rt)

if(KILN_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
