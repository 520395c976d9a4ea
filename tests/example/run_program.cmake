# SPDX-License-Identifier: BSL-1.0
#
# What the checks of example programs share.

# Runs PROGRAM with arguments. VARIABLE is a setting of the environment as NAME=VALUE. The exit
# code is in `result` afterwards, what it wrote in `output` and `errors`.
macro(run_program)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${VARIABLE} "${PROGRAM}" ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  message("${output}${errors}")
endmacro()

# Ends the script where the runtime cannot be used (exit code 77) and EXPECT is not `skipped`, with
# a text by which CTest knows. On a machine that must have a GPU that is a failure.
macro(end_where_skipped text)
  if(result EQUAL 77 AND NOT EXPECT STREQUAL skipped)
    if("$ENV{CULVERT_REQUIRE_GPU}" STREQUAL "1")
      message(FATAL_ERROR "a GPU is required")
    endif()
    message("${text}")
    return()
  endif()
endmacro()
