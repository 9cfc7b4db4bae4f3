# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# CUDA: headers and the static runtime to build with, and the folder of NVRTC, which is loaded at
# run time. Neither nvcc nor a driver is needed. Sets KILN_CUDA_INCLUDE_DIR, KILN_CUDART_LIBRARY,
# KILN_NVRTC_DIR (may be empty) and the target kiln_cudart.

include(KilnFindCuda)
set(KILN_CUDA_ROOT "" CACHE PATH "Toolkit or unpacked wheels; empty: look in the usual places")

if(KILN_CUDA_ROOT)
  set(kiln_cuda_places ${KILN_CUDA_ROOT})
else()
  # After the toolkits, the wheels that tools/cuda-from-wheels unpacks.
  kiln_toolkit_places(kiln_cuda_places)
  list(APPEND kiln_cuda_places ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13)
endif()
kiln_find_cuda(${kiln_cuda_places})
if(problem)
  message(FATAL_ERROR
    "Kiln needs CUDA ${KILN_CUDA_MINIMUM} or newer (headers and libcudart_static.a; not nvcc).\n"
    "Looked in:\n${problem}"
    "Install a toolkit and pass -DKILN_CUDA_ROOT=<its folder>, or run tools/cuda-from-wheels, "
    "which takes what is needed from NVIDIA's Python packages into build/cuda.")
endif()
set(KILN_CUDA_INCLUDE_DIR ${found_include})
set(KILN_CUDART_LIBRARY ${found_cudart})
set(KILN_NVRTC_DIR "${found_nvrtc_dir}")
message(STATUS "CUDA ${found_version}: ${KILN_CUDA_INCLUDE_DIR}")
if(NOT KILN_NVRTC_DIR)
  message(STATUS "No NVRTC beside it: Kiln will look for one at run time")
endif()

add_library(kiln_cudart INTERFACE)
target_include_directories(kiln_cudart SYSTEM INTERFACE ${KILN_CUDA_INCLUDE_DIR})
target_link_libraries(kiln_cudart INTERFACE
  ${KILN_CUDART_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} rt)
