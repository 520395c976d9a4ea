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

# For tests, which call it themselves: enabling CMake's CUDA language would require it.
find_program(CULVERT_NVCC nvcc PATHS "${CUDAToolkit_BIN_DIR}" DOC "CUDA's compiler, for tests")
