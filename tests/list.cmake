# SPDX-License-Identifier: BSL-1.0
#
# The tests: one file for each header, and those of the whole.

culvert_add_test(async_test)
culvert_add_test(copy_test)
culvert_add_test(device_buffer_test)
culvert_add_test(device_test)
culvert_add_test(driver_sim_test SIM_ONLY)
culvert_add_test(elapsed_test)
culvert_add_test(environment_test)
culvert_add_test(environment_sim_test SIM_ONLY)
culvert_add_test(error_test)
culvert_add_test(event_test)
culvert_add_test(fill_test)
culvert_add_test(host_func_test)
culvert_add_test(host_func_sim_test SIM_ONLY)
culvert_add_test(launch_test KERNELS)
culvert_add_test(memory_pool_test)
culvert_add_test(occupancy_test KERNELS)
culvert_add_test(pinned_buffer_test)
culvert_add_test(process_state_test)
culvert_add_test(process_state_sim_test SIM_ONLY)
culvert_add_test(runtime_test)
culvert_add_test(span_test)
culvert_add_test(stream_test)
culvert_add_test(unique_handle_test)

culvert_add_test(bad_input_test)
culvert_add_test(faults_sim_test SIM_ONLY)
culvert_add_test(multi_device_sim_test SIM_ONLY)
culvert_add_test(no_pools_sim_test SIM_ONLY)
culvert_add_test(ordering_test)
culvert_add_test(regressions_sim_test SIM_ONLY)
culvert_add_test(threads_test)

# The same tests again; sanitizers would find the same again.
if(NOT CULVERT_SIM_TESTS_ONLY)
  culvert_add_test(per_thread_stream_test
    SOURCES per_thread_stream_test.cpp copy_test.cpp ordering_test.cpp stream_test.cpp
    DEFINITIONS CUDA_API_PER_THREAD_DEFAULT_STREAM)
endif()
culvert_add_test(capture_test)
culvert_add_test(host_func_stress_test)
culvert_add_test(sticky_test KERNELS)
if(culvert_have_nvcc)
  culvert_add_test(launch_cuda_test GPU_ONLY SOURCES launch_cuda_test.cu)
endif()
culvert_add_test(mixed_default_streams_test
  SOURCES mixed_default_streams_test.cpp mixed_default_streams_per_thread.cpp)

# The longest is begun first.
set_tests_properties(sim.copy_test PROPERTIES COST 100)

culvert_add_program(exit_test)
culvert_add_program(no_exceptions_sim_test SIM_ONLY OPTIONS -fno-exceptions)

# Needs two devices: on a machine with one GPU it is skipped.
culvert_add_program(two_devices_test)
set_tests_properties(sim.two_devices_test PROPERTIES ENVIRONMENT CULVERT_SIM_DEVICES=2)
