# SPDX-License-Identifier: BSL-1.0
#
# Runs the listing PROGRAM, with ARGUMENTS, and checks its exit code and its output: lines of
# Name=Value, the last of which is "LISTING Passed=True". VARIABLE and EXPECT=skipped are for a
# runtime that cannot be used.
include(${CMAKE_CURRENT_LIST_DIR}/../../tests/example/run_program.cmake)

run_program(${ARGUMENTS})
if(result EQUAL 77 AND NOT output MATCHES "^${LISTING}=Skipped [^\n]+\n$")
  message(FATAL_ERROR "not so: the output is one line, ${LISTING}=Skipped and the reason")
endif()
end_where_skipped("LISTING SKIPPED")
if(EXPECT STREQUAL skipped)
  if(NOT result EQUAL 77)
    message(FATAL_ERROR "not so: the exit code is 77, not ${result}")
  endif()
  return()
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
