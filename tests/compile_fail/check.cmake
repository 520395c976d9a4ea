# SPDX-License-Identifier: BSL-1.0
#
# Compiles one case of FILE with COMPILER and INCLUDES. CASE is `correct_use`, which must
# compile, or the macro of a block, which must not; see CMakeLists.txt.
cmake_minimum_required(VERSION 3.22)

set(command "${COMPILER}" -std=c++20 -fsyntax-only ${INCLUDES})
if(NOT CASE STREQUAL "correct_use")
  list(APPEND command -D${CASE})
endif()
execute_process(COMMAND ${command} "${FILE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(CASE STREQUAL "correct_use")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The correct use does not compile:\n${output}")
  endif()
  return()
endif()

file(STRINGS "${FILE}" line REGEX "^#ifdef ${CASE} ")
if(NOT line MATCHES "// error: (.+)$")
  message(FATAL_ERROR "${FILE}: ${CASE} names no text that the compiler must say")
endif()
set(expected "${CMAKE_MATCH_1}")
# A compiler that could not start also ends with a status that is not 0.
if(status EQUAL 0)
  message(FATAL_ERROR "${CASE} compiles, and must not")
elseif(NOT output MATCHES "${expected}")
  message(FATAL_ERROR "${CASE} does not compile, but the compiler does not say\n"
                      "  ${expected}\nIt says:\n${output}")
endif()
