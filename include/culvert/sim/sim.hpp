// SPDX-License-Identifier: BSL-1.0
// Controls of the simulated CUDA runtime.
//
// A program that links the simulated runtime in place of the real one makes the same cuda* calls.
// These functions set it up, look into it and make it fail. They are defined only there: a program
// that links the real runtime and calls one does not link. Nothing it answers is a GPU result.
//
// Virtual time: an operation starts when all that it depends on has finished, takes 1 microsecond
// and 1 nanosecond for every 16 bytes it moves, and cudaEventElapsedTime tells the difference of
// two finishing times. A host function takes 1 microsecond, however long it really ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"

namespace culvert::sim {

/// When pending work runs. Either way an operation runs after all that it depends on.
enum class Schedule {
  late,   ///< Only what something waits for, as late as possible: a missing wait shows stale bytes.
  eager,  ///< At the call that enqueues it. A host function runs on another thread at once; the
          ///< call waits some milliseconds for it, so that one which blocks does not block the
          ///< call.
};

/// The byte that fills device memory when it is allocated and when it is freed. Of a block larger
/// than 64 MiB only the first and the last 32 MiB are filled.
inline constexpr unsigned char poison = 0xA5;

/// The alignment of every device allocation, in bytes.
inline constexpr std::size_t device_alignment = 512;

/// The largest number of devices.
inline constexpr int max_devices = 8;

/// How the simulated machine looks and behaves.
struct Config {
  /// Number of devices, 0 to 8. With 0 every call answers cudaErrorNoDevice.
  int devices = 1;
  /// Memory of each device in bytes, from 1 MiB to 1 TiB, rounded up to 64 KiB. It is reserved
  /// address space: only what a program allocates takes real memory.
  std::size_t device_memory = std::size_t{4} << 30;
  Schedule schedule = Schedule::late;
  /// What cudaDriverGetVersion tells. 0 is a machine without a driver; with it, and with a version
  /// whose major number is below the runtime's, calls answer cudaErrorInsufficientDriver.
  int driver_version = CUDART_VERSION;
  /// How often a query of the same work answers cudaErrorNotReady before it runs that work.
  int not_ready_answers = 3;
  /// Milliseconds without a CUDA call after which pending host functions run, with all that they
  /// need. Queries are not counted as calls here. 0: never.
  unsigned idle_host_functions_ms = 5;
  /// Milliseconds without a CUDA call after which everything pending runs. A host function that has
  /// been pending for so long runs even if the calls never stop. 0: never.
  unsigned idle_everything_ms = 1000;
  /// Whether devices have memory pools. Without them cudaMallocAsync and its like answer
  /// cudaErrorNotSupported, and cudaDevAttrMemoryPoolsSupported is 0.
  bool memory_pools = true;
};

/// The defaults, changed by these variables of the environment: CULVERT_SIM_DEVICES (0 to 8),
/// CULVERT_SIM_DEVICE_MEMORY (bytes), CULVERT_SIM_SCHEDULE (late, eager),
/// CULVERT_SIM_DRIVER_VERSION (13000 for 13.0; 0 for no driver). CUDA_LAUNCH_BLOCKING=1 chooses the
/// eager schedule where CULVERT_SIM_SCHEDULE does not choose another. A bad value is told on stderr and
/// ends the process with status 2, already at start-up.
Config config_from_environment();

/// Starts afresh: drops pending work without running it, ends every stream, event, pool and
/// allocation, forgets errors, faults, counts and each thread's current device. Waits for host
/// functions that are running.
/// @pre No other thread makes CUDA calls meanwhile.
void reset(const Config& config = config_from_environment());

/// The configuration in force.
Config config();

/// Changes the schedule for operations enqueued from now on.
void set_schedule(Schedule schedule);

/// Runs all pending work and waits for it.
void run_pending();

/// Number of operations that were enqueued and have not finished.
std::size_t pending();

/// Number of counted calls since the start or the last reset. cudaGetLastError,
/// cudaPeekAtLastError, cudaGetErrorName and cudaGetErrorString are not counted.
std::uint64_t call_count();

/// As above, for one function by its name in CUDA's documentation, say "cudaMemcpyAsync". A driver
/// entry point counts under its own name, say "cuMemsetD32Async".
std::uint64_t call_count(const char* function);

/// Makes a later call fail with `error` and without any effect: the nth one (1 is the next) of
/// `function`, or of all counted functions if that is null. Several faults may wait at a time.
void fail_nth_call(const char* function, cudaError_t error, std::uint64_t nth = 1);

/// Forgets the faults that have not happened yet.
void clear_faults();

/// Breaks a device, as an illegal address in a kernel does: its pending work is dropped, host
/// functions too, and calls answer `error`. cudaDeviceReset does not mend it; reset() does.
void raise_sticky(int device, cudaError_t error);

/// What the program holds now. Default streams and default pools are not counted.
struct Live {
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t pools = 0;
  std::size_t device_allocations = 0;
  std::size_t device_bytes = 0;      ///< As asked for, without rounding.
  std::size_t host_allocations = 0;  ///< cudaHostAlloc and cudaMallocHost.
  std::size_t host_bytes = 0;
  std::size_t host_registrations = 0;  ///< cudaHostRegister.
};
Live live();

/// True: the process runs on the simulated runtime.
bool is_simulated();

/// How a kernel was launched.
struct KernelLaunch {
  dim3 grid;     ///< In blocks.
  dim3 block;    ///< In threads.
  dim3 cluster;  ///< In blocks; 1 x 1 x 1 without clusters.
  std::size_t shared_memory_bytes = 0;
  bool cooperative = false;
  bool programmatic_serialization = false;
  int priority = 0;  ///< Of the launch, or else of the stream.
  int device = 0;
};

namespace detail {

// Runs a kernel whose parameters it holds.
using KernelAction = std::function<void(const KernelLaunch&)>;
// Copies the parameters that the launch points to.
using KernelBinder = std::function<KernelAction(void** arguments)>;

void define_kernel(const void* kernel, std::size_t parameters, KernelBinder bind);
void* memory(const void* pointer, std::size_t count, std::size_t element_size);

template <class... Parameters, class Body, std::size_t... I>
KernelAction bind_kernel(const std::shared_ptr<Body>& body, [[maybe_unused]] void** arguments,
                         std::index_sequence<I...>) {
  return
      [body, values = std::tuple<Parameters...>(*static_cast<const Parameters*>(arguments[I])...)](
          [[maybe_unused]] const KernelLaunch& launch) {
        static_cast<void>(values);  // of a kernel without parameters
        if constexpr (std::is_invocable_v<Body&, const KernelLaunch&, const Parameters&...>) {
          (*body)(launch, std::get<I>(values)...);
        } else {
          (*body)(std::get<I>(values)...);
        }
      };
}

}  // namespace detail

/// Says what a kernel does here, where no GPU code runs: `body(parameters...)` or
/// `body(launch, parameters...)`, `launch` being a `const KernelLaunch&`, is called once for a
/// launch, whatever the grid. It replaces an earlier definition. Launches of a kernel that has none
/// answer cudaErrorInvalidDeviceFunction. Definitions describe the program: reset() keeps them.
///
/// The parameters are copied at the launch. The body runs in the order of the stream when the
/// schedule says so, on any thread. It reaches memory by memory(). CUDA calls that it makes answer
/// cudaErrorNotPermitted, and an exception that leaves it ends the process.
template <class... Parameters, class Body>
void define_kernel(void (*kernel)(Parameters...), Body body) {
  static_assert(std::is_invocable_v<Body&, const KernelLaunch&, const Parameters&...> ||
                    std::is_invocable_v<Body&, const Parameters&...>,
                "define_kernel: the body takes neither the kernel's parameters nor a "
                "const KernelLaunch& and the kernel's parameters");
  detail::define_kernel(reinterpret_cast<const void*>(kernel), sizeof...(Parameters),
                        [shared = std::make_shared<Body>(std::move(body))](void** arguments) {
                          return detail::bind_kernel<Parameters...>(
                              shared, arguments, std::index_sequence_for<Parameters...>());
                        });
}

/// The same with the function itself as the body, where it is host code.
template <class... Parameters>
void define_kernel(void (*kernel)(Parameters...)) {
  define_kernel(kernel, kernel);
}

/// In a kernel's body: where host code reads and writes the memory that a pointer leads to. A
/// pointer to device memory becomes another one to the same bytes, a pointer to pinned memory is
/// answered unchanged. `count` elements have to be in one allocation that is live and that the
/// device can access. If they are not the body ends here, by an exception of no public type, and
/// that is an illegal address: a line on stderr and a sticky error. Elsewhere than in a body a
/// call ends the process with status 2.
template <class T>
T* memory(T* pointer, std::size_t count = 1) {
  std::size_t size = 1;
  if constexpr (!std::is_void_v<T>) size = sizeof(T);
  return static_cast<T*>(detail::memory(pointer, count, size));
}

}  // namespace culvert::sim
