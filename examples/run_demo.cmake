# SPDX-License-Identifier: BSL-1.0
#
# Runs the main example with the real runtime; where that cannot use CUDA (exit code 77),
# with the simulated one. Fails where the example fails.
set(result 77)
if(REAL)
  execute_process(COMMAND "${REAL}" RESULT_VARIABLE result OUTPUT_VARIABLE output)
else()
  set(output "MultiStream=Skipped The CUDA runtime library was not found at configuration.\n")
endif()
if(result EQUAL 77)
  string(REPLACE "MultiStream=Skipped " "" reason "${output}")
  message("No GPU: ${reason}Running on the simulated runtime instead:")
  execute_process(COMMAND "${SIM}" RESULT_VARIABLE result)
else()
  message("Running on the GPU:\n${output}")
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "multi_stream failed: ${result}")
endif()
