# SPDX-License-Identifier: BSL-1.0
#
# Runs the listing PROGRAM, with ARGUMENTS, and checks its exit code and its output: lines of
# Name=Value, the last of which is "LISTING Passed=True". VARIABLE, a setting of the environment
# as NAME=VALUE, and EXPECT=skipped are for a runtime that cannot be used.
execute_process(COMMAND ${CMAKE_COMMAND} -E env ${VARIABLE} "${PROGRAM}" ${ARGUMENTS}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")

if(result EQUAL 77)
  if(NOT output MATCHES "^${LISTING}=Skipped [^\n]+\n$")
    message(FATAL_ERROR "not so: the output is one line, ${LISTING}=Skipped and the reason")
  endif()
  if(EXPECT STREQUAL skipped)
    return()
  endif()
  if("$ENV{CULVERT_REQUIRE_GPU}" STREQUAL "1")
    message(FATAL_ERROR "a GPU is required")
  endif()
  message("LISTING SKIPPED")
  return()
endif()
if(EXPECT STREQUAL skipped)
  message(FATAL_ERROR "not so: the exit code is 77, not ${result}")
endif()

if(NOT result EQUAL 0)
  message(FATAL_ERROR "not so: the exit code is 0, not ${result}")
endif()
if(NOT output MATCHES "^([A-Z][A-Za-z]*=[^\n]+\n)*${LISTING} Passed=True\n$")
  message(FATAL_ERROR "not so: the output is lines of Name=Value, and ${LISTING} Passed=True")
endif()
foreach(line IN LISTS LINES)
  if(NOT output MATCHES "(^|\n)${line}\n")
    message(FATAL_ERROR "not so: a line is ${line}")
  endif()
endforeach()
if(NOT errors STREQUAL "")
  message(FATAL_ERROR "not so: nothing is on standard error")
endif()
