# SPDX-License-Identifier: BSL-1.0
#
# Checks that each header under INCLUDE includes only headers before it in LAYERS, so that
# there are no cycles; that LAYERS lists exactly the headers there are; and that culvert.hpp
# reaches every header but those of the simulated runtime.
cmake_minimum_required(VERSION 3.22)

file(STRINGS "${LAYERS}" rows REGEX "^[^#]")
string(REPLACE " " ";" order "${rows}")
file(GLOB_RECURSE headers RELATIVE "${INCLUDE}/culvert" "${INCLUDE}/culvert/*.hpp")

set(faults "")
foreach(header IN LISTS order)
  if(NOT "${header}.hpp" IN_LIST headers)
    string(APPEND faults "${LAYERS} lists ${header}, which does not exist\n")
  endif()
endforeach()

set(reached culvert)
foreach(file IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" "" header "${file}")
  list(FIND order "${header}" position)
  if(position EQUAL -1)
    string(APPEND faults "${LAYERS} does not list ${header}\n")
  endif()
  file(STRINGS "${INCLUDE}/culvert/${file}" includes REGEX "^ *# *include *[<\"]culvert/")
  foreach(include IN LISTS includes)
    string(REGEX MATCH "culvert/(.+)\\.hpp" include "${include}")
    set(include "${CMAKE_MATCH_1}")
    list(FIND order "${include}" include_position)
    if(include_position GREATER_EQUAL position)
      string(APPEND faults "${file} includes ${include}.hpp, which is not below it\n")
    endif()
    list(APPEND reached "${include}")
  endforeach()
endforeach()
foreach(header IN LISTS order)
  if(NOT header IN_LIST reached AND NOT header MATCHES "/")
    string(APPEND faults "no header includes ${header}.hpp: culvert.hpp should\n")
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "${faults}")
endif()
