# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Where CUDA is. Only commands that also work in a script, so that `cmake -P` on this file tells
# tools/quickstart, before configuring, whether the build will find a toolkit.

set(KILN_CUDA_MINIMUM 12.8)

# kiln_probe_cuda(root): sets found_include, found_cudart, found_nvrtc_dir (may be empty),
# found_version, and `problem`, which is empty if all that the build needs is there.
function(kiln_probe_cuda root)
  # A toolkit, a toolkit's per-target folders, unpacked wheels, a distribution's package.
  file(GLOB headers ${root}/include/cuda_runtime_api.h
       ${root}/targets/*-linux/include/cuda_runtime_api.h)
  file(GLOB cudart ${root}/lib64/libcudart_static.a ${root}/lib/libcudart_static.a
       ${root}/targets/*-linux/lib/libcudart_static.a ${root}/lib/*-linux-gnu/libcudart_static.a)
  # Wheels have no libnvrtc.so, only the versioned name.
  file(GLOB nvrtc ${root}/lib64/libnvrtc.so* ${root}/lib/libnvrtc.so*
       ${root}/targets/*-linux/lib/libnvrtc.so* ${root}/lib/*-linux-gnu/libnvrtc.so*)
  set(problem "")
  set(include "")
  set(version "")
  set(nvrtc_dir "")
  if(NOT headers)
    set(problem "no cuda_runtime_api.h")
  else()
    list(GET headers 0 header)
    cmake_path(GET header PARENT_PATH include)
    file(STRINGS ${header} line REGEX "define CUDART_VERSION +[0-9]+")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    math(EXPR major "${number} / 1000")
    math(EXPR minor "${number} % 1000 / 10")
    set(version ${major}.${minor})
    if(version VERSION_LESS KILN_CUDA_MINIMUM)
      set(problem "CUDA ${version} is older than ${KILN_CUDA_MINIMUM}")
    elseif(NOT cudart)
      set(problem "no libcudart_static.a")
    else()
      list(GET cudart 0 cudart)
    endif()
  endif()
  if(nvrtc)
    list(GET nvrtc 0 nvrtc)
    cmake_path(GET nvrtc PARENT_PATH nvrtc_dir)
  endif()
  set(problem "${problem}" PARENT_SCOPE)
  set(found_version "${version}" PARENT_SCOPE)
  set(found_include "${include}" PARENT_SCOPE)
  set(found_cudart "${cudart}" PARENT_SCOPE)
  set(found_nvrtc_dir "${nvrtc_dir}" PARENT_SCOPE)
endfunction()

# kiln_find_cuda(place...): the first suitable place (as kiln_probe_cuda, in the caller's
# scope), or `problem` with a line for each place.
function(kiln_find_cuda)
  set(report "")
  foreach(place IN LISTS ARGN)
    kiln_probe_cuda(${place})
    if(NOT problem)
      break()
    endif()
    string(APPEND report "  ${place}: ${problem}\n")
  endforeach()
  if(problem)
    set(problem "${report}")
  endif()
  foreach(result IN ITEMS problem found_version found_include found_cudart found_nvrtc_dir)
    set(${result} "${${result}}" PARENT_SCOPE)
  endforeach()
endfunction()

# kiln_toolkit_places(out): where FindCUDAToolkit looks, in its order.
function(kiln_toolkit_places out)
  set(places ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH})
  find_program(nvcc nvcc NO_CACHE)
  if(nvcc)
    file(REAL_PATH ${nvcc} nvcc)
    cmake_path(GET nvcc PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
    list(APPEND places ${root})
  endif()
  file(GLOB versions /usr/local/cuda-*)
  list(SORT versions COMPARE NATURAL ORDER DESCENDING)
  list(APPEND places /usr/local/cuda ${versions} /opt/cuda)
  list(REMOVE_DUPLICATES places)
  set(${out} ${places} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_policy(VERSION 3.25)
  kiln_toolkit_places(places)
  kiln_find_cuda(${places})
  if(problem)
    message(FATAL_ERROR "No recent enough CUDA toolkit:\n${problem}")
  endif()
  message(STATUS "CUDA ${found_version}: ${found_include}")
endif()
