# SPDX-License-Identifier: BSL-1.0
#
# Defines the targets, for the source tree and for the installed package alike:
#
#   culvert::culvert  headers, and the runtime that the target which links it asks for with
#                     its property CULVERT_RUNTIME:
#                       cuda         the real runtime (default): static as nvcc and CMake link
#                                    it, or as the target's CUDA_RUNTIME_LIBRARY says
#                       cuda_shared  the real runtime as a shared library
#                       cuda_static  the real runtime as a static library
#                       sim          the simulated runtime; CMake links no other for CUDA's
#                                    language, see simulated-runtime-only.cmake
#   culvert::sim      the simulated runtime by itself, for programs that call CUDA directly
#
# Expects this file's folder to have the include/ and sim/ folders beside or above it.

if(TARGET culvert::culvert)
  return()
endif()

get_filename_component(culvert_root "${CMAKE_CURRENT_LIST_DIR}" PATH)
if(DEFINED culvert_PACKAGE_INCLUDE_DIR)  # set by the installed package
  set(culvert_include_dir "${culvert_PACKAGE_INCLUDE_DIR}")
  set(culvert_sim_dir "${culvert_PACKAGE_SIM_DIR}")
else()
  set(culvert_include_dir "${culvert_root}/include")
  set(culvert_sim_dir "${culvert_root}/sim")
endif()

# CUDA's headers are enough for the simulated runtime; the real one needs the toolkit. Plain
# paths are used, since CMake's imported targets are seen only in the folder that found them.
find_package(CUDAToolkit 12.0 QUIET)
if(CUDAToolkit_FOUND)
  set(culvert_cuda_include_dirs "${CUDAToolkit_INCLUDE_DIRS}")
else()
  find_path(CULVERT_CUDA_INCLUDE_DIR cuda_runtime_api.h
    HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include
    DOC "Folder of cuda_runtime_api.h")
  if(NOT CULVERT_CUDA_INCLUDE_DIR)
    message(FATAL_ERROR "culvert needs CUDA's headers, 12.0 or later: install the CUDA toolkit, "
                        "or set CULVERT_CUDA_INCLUDE_DIR to the folder of cuda_runtime_api.h.")
  endif()
  set(culvert_cuda_include_dirs "${CULVERT_CUDA_INCLUDE_DIR}")
endif()

foreach(kind shared static)
  set(target_shared CUDA::cudart)
  set(target_static CUDA::cudart_static)
  set(culvert_cudart_${kind} "")
  if(TARGET ${target_${kind}})
    get_target_property(culvert_cudart_${kind} ${target_${kind}} IMPORTED_IMPLIB)
    if(NOT culvert_cudart_${kind})
      get_target_property(culvert_cudart_${kind} ${target_${kind}} IMPORTED_LOCATION)
    endif()
  endif()
  add_library(culvert_cuda_${kind} INTERFACE)
  add_library(culvert::cuda_${kind} ALIAS culvert_cuda_${kind})
  if(culvert_cudart_${kind})
    target_link_libraries(culvert_cuda_${kind} INTERFACE "${culvert_cudart_${kind}}")
  else()
    # Named so that the linker's message says what is missing.
    target_link_libraries(culvert_cuda_${kind} INTERFACE cudart_${kind}_was_not_found)
  endif()
endforeach()
if(UNIX)
  target_link_libraries(culvert_cuda_static INTERFACE ${CMAKE_DL_LIBS} pthread)
  if(NOT APPLE)
    target_link_libraries(culvert_cuda_static INTERFACE rt)
  endif()
endif()

# The simulated runtime is compiled in the build that uses it, so that its flags, sanitizers
# for one, are those of the program.
include("${culvert_sim_dir}/sources.cmake")
list(TRANSFORM culvert_sim_sources PREPEND "${culvert_sim_dir}/")
add_library(culvert_sim STATIC EXCLUDE_FROM_ALL ${culvert_sim_sources})
add_library(culvert::sim ALIAS culvert_sim)
# Private: a program that calls CUDA directly keeps its own standard.
target_compile_features(culvert_sim PRIVATE cxx_std_20)
target_include_directories(culvert_sim PUBLIC "${culvert_include_dir}"
                           PRIVATE "${culvert_sim_dir}/..")
target_include_directories(culvert_sim SYSTEM PUBLIC ${culvert_cuda_include_dirs})
target_link_libraries(culvert_sim PRIVATE ${CMAKE_DL_LIBS} pthread)
set_target_properties(culvert_sim PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
# Standard headers are most of its compile time. Every source includes what it uses.
target_precompile_headers(culvert_sim PRIVATE <algorithm> <chrono> <condition_variable> <functional>
                          <list> <map> <memory> <mutex> <random> <set> <string> <vector>)

add_library(culvert INTERFACE)
add_library(culvert::culvert ALIAS culvert)
target_compile_features(culvert INTERFACE cxx_std_20)
# CUDA files have a standard of their own, and CMake before 3.26 does not know nvcc's C++20.
set(culvert_newer_cuda "$<VERSION_GREATER:$<TARGET_PROPERTY:CUDA_STANDARD>,20>")
target_compile_options(culvert INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:${culvert_newer_cuda}>>:-std=c++20>")
target_include_directories(culvert INTERFACE "${culvert_include_dir}")
target_include_directories(culvert SYSTEM INTERFACE ${culvert_cuda_include_dirs})

set(culvert_choice "$<TARGET_PROPERTY:CULVERT_RUNTIME>")
set(culvert_cuda_language "$<UPPER_CASE:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>>")
set(culvert_default "$<OR:$<STREQUAL:${culvert_choice},>,$<STREQUAL:${culvert_choice},cuda>>")
set(culvert_known
  "$<OR:${culvert_default},$<STREQUAL:${culvert_choice},cuda_shared>,$<STREQUAL:${culvert_choice},cuda_static>,$<STREQUAL:${culvert_choice},sim>>")
string(CONCAT culvert_runtime
  "$<$<STREQUAL:${culvert_choice},sim>:culvert::sim>"
  "$<$<STREQUAL:${culvert_choice},cuda_shared>:culvert::cuda_shared>"
  "$<$<STREQUAL:${culvert_choice},cuda_static>:culvert::cuda_static>"
  "$<${culvert_default}:culvert::cuda_$<IF:$<STREQUAL:${culvert_cuda_language},SHARED>,shared,static>>"
  # No such target: CMake's message names it.
  "$<$<NOT:${culvert_known}>:culvert::CULVERT_RUNTIME_of_$<TARGET_PROPERTY:NAME>_must_be_cuda_cuda_shared_cuda_static_or_sim>")
target_link_libraries(culvert INTERFACE "${culvert_runtime}")

include("${CMAKE_CURRENT_LIST_DIR}/simulated-runtime-only.cmake")
