# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Finds CUDA: headers and the static runtime to build with, and the folder of NVRTC, which is loaded
# at run time. Neither nvcc nor a driver is needed. Sets KILN_CUDA_INCLUDE_DIR, KILN_CUDART_LIBRARY,
# KILN_NVRTC_DIR (may be empty), KILN_CUDA_VERSION and the target kiln_cudart.

set(KILN_CUDA_MINIMUM 12.8)
set(KILN_CUDA_ROOT "" CACHE PATH "Toolkit or unpacked wheels (include/, lib64/ or lib/); empty: find")

# kiln_probe_cuda(root): sets found_include, found_cudart, found_nvrtc_dir, found_version, and
# `problem`, which is empty when all that the build needs is there.
function(kiln_probe_cuda root)
  set(arch ${CMAKE_SYSTEM_PROCESSOR})
  if(arch STREQUAL aarch64)
    set(arch sbsa)
  endif()
  set(problem "")
  set(version "")
  unset(include)
  unset(cudart)
  unset(nvrtc)
  find_path(include cuda_runtime_api.h PATHS ${root} NO_CACHE NO_DEFAULT_PATH
            PATH_SUFFIXES include targets/${arch}-linux/include)
  set(lib_folders lib64 lib targets/${arch}-linux/lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  find_library(cudart NAMES libcudart_static.a PATHS ${root} NO_CACHE NO_DEFAULT_PATH
               PATH_SUFFIXES ${lib_folders})
  # Wheels hold only the versioned name.
  find_file(nvrtc NAMES libnvrtc.so libnvrtc.so.14 libnvrtc.so.13 libnvrtc.so.12 PATHS ${root}
            NO_CACHE NO_DEFAULT_PATH PATH_SUFFIXES ${lib_folders})
  if(include)
    string(REGEX REPLACE "/$" "" include ${include})
    file(STRINGS ${include}/cuda_runtime_api.h line REGEX "define CUDART_VERSION +[0-9]+")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    math(EXPR major "${number} / 1000")
    math(EXPR minor "${number} % 1000 / 10")
    set(version ${major}.${minor})
  endif()
  if(NOT include)
    set(problem "no cuda_runtime_api.h")
  elseif(version VERSION_LESS KILN_CUDA_MINIMUM)
    set(problem "CUDA ${version} is older than ${KILN_CUDA_MINIMUM}")
  elseif(NOT cudart)
    set(problem "no libcudart_static.a")
  endif()
  set(problem "${problem}" PARENT_SCOPE)
  set(found_version "${version}" PARENT_SCOPE)
  set(found_include "${include}" PARENT_SCOPE)
  set(found_cudart "${cudart}" PARENT_SCOPE)
  set(found_nvrtc_dir "" PARENT_SCOPE)
  if(nvrtc)
    cmake_path(GET nvrtc PARENT_PATH nvrtc_dir)
    set(found_nvrtc_dir ${nvrtc_dir} PARENT_SCOPE)
  endif()
endfunction()

# Where FindCUDAToolkit looks, in its order, then the wheels that tools/cuda-from-wheels unpacks.
if(KILN_CUDA_ROOT)
  set(kiln_cuda_places ${KILN_CUDA_ROOT})
else()
  set(kiln_cuda_places ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH})
  find_program(kiln_nvcc nvcc NO_CACHE)
  if(kiln_nvcc)
    file(REAL_PATH ${kiln_nvcc} kiln_nvcc)
    cmake_path(GET kiln_nvcc PARENT_PATH kiln_nvcc_dir)
    cmake_path(GET kiln_nvcc_dir PARENT_PATH kiln_nvcc_root)
    list(APPEND kiln_cuda_places ${kiln_nvcc_root})
  endif()
  file(GLOB kiln_cuda_versions /usr/local/cuda-*)
  list(SORT kiln_cuda_versions COMPARE NATURAL ORDER DESCENDING)
  list(APPEND kiln_cuda_places /usr/local/cuda ${kiln_cuda_versions} /opt/cuda
       ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13)
  list(REMOVE_DUPLICATES kiln_cuda_places)
endif()

unset(KILN_CUDA_INCLUDE_DIR)
set(kiln_cuda_report "")
foreach(place IN LISTS kiln_cuda_places)
  kiln_probe_cuda(${place})
  if(NOT problem)
    set(KILN_CUDA_INCLUDE_DIR ${found_include})
    set(KILN_CUDART_LIBRARY ${found_cudart})
    set(KILN_NVRTC_DIR "${found_nvrtc_dir}")
    set(KILN_CUDA_VERSION ${found_version})
    break()
  endif()
  string(APPEND kiln_cuda_report "  ${place}: ${problem}\n")
endforeach()

if(NOT KILN_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR
    "Kiln needs CUDA ${KILN_CUDA_MINIMUM} or newer (headers and libcudart_static.a; not nvcc).\n"
    "Looked in:\n${kiln_cuda_report}"
    "Install a toolkit and say -DKILN_CUDA_ROOT=<its folder>, or run tools/cuda-from-wheels, which "
    "takes what is needed from NVIDIA's Python packages into build/cuda.")
endif()
message(STATUS "CUDA ${KILN_CUDA_VERSION}: ${KILN_CUDA_INCLUDE_DIR}")
if(NOT KILN_NVRTC_DIR)
  message(STATUS "No NVRTC beside it: Kiln will look for one when it runs")
endif()

add_library(kiln_cudart INTERFACE)
target_include_directories(kiln_cudart SYSTEM INTERFACE ${KILN_CUDA_INCLUDE_DIR})
target_link_libraries(kiln_cudart INTERFACE ${KILN_CUDART_LIBRARY} Threads::Threads
                      ${CMAKE_DL_LIBS} rt)
