# SPDX-License-Identifier: BSL-1.0
#
# Where .cu files are in a program, its own or a library's, CMake links CUDA's runtime as its
# property CUDA_RUNTIME_LIBRARY says, by default the static one. For targets whose CULVERT_RUNTIME
# is sim that has to be none. The property can be set after the target is made, so this is done when
# the whole project is configured.

# For the targets of a folder and the folders below.
function(culvert_link_no_other_runtime folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(runtime ${target} CULVERT_RUNTIME)
    if(runtime STREQUAL "sim")
      set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None)
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    culvert_link_no_other_runtime("${below}")
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}"
               CALL culvert_link_no_other_runtime "${CMAKE_SOURCE_DIR}")
