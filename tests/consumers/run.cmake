# SPDX-License-Identifier: BSL-1.0
#
# Configures, builds and tests the consumer project WAY in FOLDER, and checks what it installs
# and what a wrong CULVERT_RUNTIME says.
cmake_minimum_required(VERSION 3.22)

# Runs a command. Its output is in `output` afterwards, and is shown where it fails.
function(run)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
set(arguments "-DCULVERT_SOURCE_DIR=${CULVERT_SOURCE_DIR}")
if(WAY STREQUAL "find_package")
  # Moved after the installation: the package must not know where it was installed to.
  run(${CMAKE_COMMAND} --install "${CULVERT_BINARY_DIR}" --prefix "${FOLDER}/elsewhere")
  file(RENAME "${FOLDER}/elsewhere" "${FOLDER}/prefix")
  set(arguments "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix")
endif()

set(configure ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/${WAY}" -B "${FOLDER}/build"
    -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}")
# CUDA's language takes CMake long to enable, so one way has it.
if(NVCC AND WAY STREQUAL "find_package")
  list(APPEND arguments "-DCMAKE_CUDA_COMPILER=${NVCC}" "-DCMAKE_CUDA_HOST_COMPILER=${COMPILER}")
endif()
run(${configure} ${arguments})
run(${CMAKE_COMMAND} --build "${FOLDER}/build" --parallel 2)
run(${CMAKE_CTEST_COMMAND} --test-dir "${FOLDER}/build" --output-on-failure --no-tests=error)

# A consumer's installation holds its own files, and nothing of culvert.
run(${CMAKE_COMMAND} --install "${FOLDER}/build" --prefix "${FOLDER}/installed")
file(GLOB_RECURSE installed RELATIVE "${FOLDER}/installed" "${FOLDER}/installed/*")
if(NOT installed MATCHES "^(bin/simulated)?$")
  message(FATAL_ERROR "the consumer installs: ${installed}")
endif()

execute_process(COMMAND ${configure} -DWRONG_RUNTIME=ON
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "must_be_cuda_cuda_shared_cuda_static_or_sim")
  message(FATAL_ERROR "a wrong CULVERT_RUNTIME is not refused with the values it takes:\n"
                      "${output}")
endif()
