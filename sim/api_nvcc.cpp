// SPDX-License-Identifier: BSL-1.0
// Launches by kernel<<<...>>>(...) in .cu files. nvcc makes three calls of one: a push of what
// stands between the brackets, then, in the kernel's host function, a pop and the launch. The
// arguments are evaluated in between and may launch kernels too, so what was pushed is a stack of
// the thread.
#include "sim/entry.hpp"
#include "sim/report.hpp"

using namespace culvert::sim::detail;

namespace {

// Runs `body(configurations)` for this thread. It is no call of the API: nothing is counted, fails
// or wakes anything.
template <class Body>
auto with_configurations(Body&& body) {
  Process& process = Process::instance();
  const Lock lock(process.mutex);
  return body(process.thread().configurations);
}

}  // namespace

extern "C" {

// Anything but 0 means that the kernel's function is not called.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_memory,
                                     cudaStream_t stream) {
  with_configurations([&](auto& configurations) {
    configurations.push_back({grid, block, shared_memory, stream});
  });
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_memory,
                                       void* stream) {
  LaunchConfiguration top;
  const bool found = with_configurations([&](auto& configurations) {
    if (configurations.empty()) return false;
    top = configurations.back();
    configurations.pop_back();
    return true;
  });
  if (!found) {
    report(
        "a kernel of a .cu file was called as a function: it needs <<<...>>>, or, where it was "
        "given to define_kernel, a body");
    return cudaErrorMissingConfiguration;
  }
  *grid = top.grid;
  *block = top.block;
  *shared_memory = top.shared_memory;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

// A handle is the address by which the kernel was registered, so all that takes a kernel takes
// either. Host code asks once and keeps the answer, so an undefined kernel has a handle, too.
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* kernel) {
  *handle = static_cast<cudaKernel_t>(const_cast<void*>(kernel));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_memory, cudaStream_t stream) {
  return entry::launch_kernel(NullStream::legacy, kernel, grid, block, arguments, shared_memory,
                              stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_memory, cudaStream_t stream) {
  return entry::launch_kernel(NullStream::per_thread, kernel, grid, block, arguments, shared_memory,
                              stream);
}

}  // extern "C"
