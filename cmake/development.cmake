# SPDX-License-Identifier: BSL-1.0
#
# What culvert's own tests and examples share; not installed.

# Warnings for a target of this repository.
function(culvert_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>
    $<$<AND:$<BOOL:${CULVERT_WARNINGS_AS_ERRORS}>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>>:-Werror>)
endfunction()

culvert_warnings(culvert_sim)

# Whether the real runtime can be linked: the toolkit's library, not only its headers.
if(culvert_cudart_static)
  set(culvert_have_cuda ON)
else()
  set(culvert_have_cuda OFF)
  message(STATUS "culvert: no CUDA runtime library found: only the simulated runtime is built")
endif()

# For builds with sanitizers, which are of no use to what runs on a GPU.
option(CULVERT_SIM_TESTS_ONLY "Build only the tests on the simulated runtime" OFF)

# CUDA's compiler is not required: what has kernels is built where it is there.
find_program(CULVERT_NVCC nvcc PATHS "${CUDAToolkit_BIN_DIR}" DOC "CUDA's compiler, for tests")

if(CULVERT_NVCC AND culvert_have_cuda AND NOT CULVERT_SIM_TESTS_ONLY)
  set(culvert_have_nvcc ON)
else()
  set(culvert_have_nvcc OFF)
endif()

# Lets .cu files be compiled: for every GPU of compute capability 7.5 or later, or, on a machine
# without one, for one only, which is faster.
macro(culvert_enable_cuda_language)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(EXISTS /proc/driver/nvidia OR EXISTS /dev/nvidiactl)
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CULVERT_NVCC}")
  endif()
  if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER)
    set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
  endif()
  enable_language(CUDA)
endmacro()
