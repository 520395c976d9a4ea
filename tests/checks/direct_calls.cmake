# SPDX-License-Identifier: BSL-1.0
#
# Checks that the headers under INCLUDE reach the CUDA runtime through runtime.hpp alone, but
# for the calls allowed here.
cmake_minimum_required(VERSION 3.22)

set(error_calls cudaGetErrorName cudaGetErrorString cudaGetLastError cudaPeekAtLastError)
set(allowed_error.hpp ${error_calls})
set(allowed_process_state.hpp ${error_calls})
set(allowed_runtime.hpp ${error_calls})
set(allowed_environment.hpp cudaGetErrorString)    # the text for any other status
set(allowed_device.hpp cudaGetDeviceProperties)    # a macro in CUDA 12

set(faults "")
file(GLOB headers RELATIVE "${INCLUDE}/culvert" "${INCLUDE}/culvert/*.hpp")
foreach(header IN LISTS headers)
  file(READ "${INCLUDE}/culvert/${header}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" "" text "${text}")
  string(REPLACE ";" " " text "${text}")
  string(REGEX MATCHALL "[^A-Za-z0-9_](cuda|cu)[A-Z][A-Za-z0-9_]*[ \n]*\\([^*]" calls "${text}")
  foreach(call IN LISTS calls)
    string(REGEX MATCH "cu[A-Za-z0-9_]+" call "${call}")
    if(NOT call IN_LIST allowed_${header})
      string(APPEND faults "${header} calls ${call} directly: use detail::call of runtime.hpp\n")
    endif()
  endforeach()
endforeach()

if(faults)
  message(FATAL_ERROR "${faults}")
endif()
