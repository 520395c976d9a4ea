# SPDX-License-Identifier: BSL-1.0
#
# As part of another project culvert brings its libraries only.
foreach(option CULVERT_BUILD_TESTS CULVERT_BUILD_EXAMPLES CULVERT_BUILD_BENCHMARKS
               CULVERT_INSTALL)
  if(NOT DEFINED ${option} OR ${option})
    message(FATAL_ERROR "${option} is not off by default in a subproject")
  endif()
endforeach()
