# SPDX-License-Identifier: BSL-1.0
#
# What projects have in common that culvert is a part of. It brings them its libraries only.
foreach(option CULVERT_BUILD_TESTS CULVERT_BUILD_EXAMPLES CULVERT_BUILD_BENCHMARKS
               CULVERT_INSTALL)
  if(NOT DEFINED ${option} OR ${option})
    message(FATAL_ERROR "${option} is not off by default in a subproject")
  endif()
endforeach()

# A program of the top folder, with the default runtime alone: program/ shows all of them.
add_executable(here "${CMAKE_CURRENT_LIST_DIR}/program/main.cpp"
                    "${CMAKE_CURRENT_LIST_DIR}/program/work.cpp")
target_link_libraries(here PRIVATE culvert::culvert)
find_package(CUDAToolkit QUIET)
if(NOT TARGET CUDA::cudart)  # with CUDA's headers only
  set_target_properties(here PROPERTIES CULVERT_RUNTIME sim)
endif()
add_test(NAME here COMMAND here)
