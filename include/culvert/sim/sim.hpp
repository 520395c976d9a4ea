// SPDX-License-Identifier: BSL-1.0
// Controls of the simulated CUDA runtime.
//
// A program that links the simulated runtime in place of the real one makes the same cuda* calls.
// These functions set it up, look into it and make it fail. They are defined only there: a program
// that links the real runtime and calls one does not link. Nothing it answers is a GPU result.
//
// Virtual time: an operation starts when all that it depends on has finished and what it runs on is
// free, and takes the time that CostModel says, however long the simulation needs for it.
// cudaEventElapsedTime tells the difference of two such times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"

namespace culvert::sim {

/// When pending work runs. Either way an operation runs after all that it depends on.
enum class Schedule {
  late,    ///< Only what something waits for, as late as possible, and what nothing orders last one
           ///< first: a missing wait shows stale bytes.
  random,  ///< As a seed says: at each call some of what can run, at each wait others beside what it
           ///< needs. The same seed and the same calls give the same order again.
  eager,   ///< At the call that enqueues it. A host function runs on another thread at once; the
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

/// What operations take in virtual time. A gigabyte is 10^9 bytes. Speeds and the latency of a
/// kernel were measured on an H200; those marked "assumed" were not. A speed is 0.001 or more, a
/// time 10^15 ns (eleven days) at most; others end the process with status 2.
struct CostModel {
  double host_to_device_gb_per_s = 55;
  double device_to_host_gb_per_s = 55;
  /// Of both directions together. Each has a copy engine, which does one copy at a time. A copy
  /// that finds the other engine busy has what that one leaves.
  double both_directions_gb_per_s = 93;
  /// Of copies and fills on the device; bytes read and bytes written both count. They do not
  /// slow each other down.
  double device_gb_per_s = 3900;
  double host_to_host_gb_per_s = 10;     ///< Assumed.
  std::uint64_t copy_latency_ns = 1600;  ///< Of each copy and fill beside its bytes. Assumed.
  /// Of each kernel beside its own time, which set_kernel_time() gives: from one
  /// kernel to the next in a stream.
  std::uint64_t kernel_launch_ns = 1600;
  std::uint64_t event_record_ns = 1000;   ///< Assumed.
  std::uint64_t host_function_ns = 1000;  ///< However long it really runs. Assumed.
  /// Kernels of one device that run at a time. They do not slow each other down.
  int concurrent_kernels = 128;
};

/// How the simulated machine looks and behaves.
struct Config {
  /// Number of devices, 0 to 8. With 0 every call answers cudaErrorNoDevice.
  int devices = 1;
  /// Memory of each device in bytes, from 1 MiB to 1 TiB, rounded up to 64 KiB. It is reserved
  /// address space: only what a program allocates takes real memory.
  std::size_t device_memory = std::size_t{4} << 30;
  Schedule schedule = Schedule::late;
  /// Of the random schedule.
  std::uint64_t seed = 0;
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
  /// Whether host functions run one at a time, in all streams and devices together, as CUDA may do.
  bool serialize_host_functions = false;
  /// Whether cudaMemcpyAsync and its like treat pageable memory as they do pinned memory: they
  /// return at once, and the bytes are read and written when the copy runs. A GPU was not seen to
  /// do so, and CUDA documents that a copy to pageable memory is complete on return; but a program
  /// that relies on neither stays right when its memory is pinned later. A missing wait then shows.
  /// Memory that ends before its copy has run is used after its end: run with AddressSanitizer.
  bool late_pageable_copies = false;
  /// Milliseconds after which a host function or a kernel's body that still runs ends the process
  /// with status 2, with a report of what each stream waits for. 0: never.
  unsigned host_function_limit_ms = 30000;
  CostModel cost = {};
};

/// The defaults, changed by these variables of the environment: CULVERT_SIM_DEVICES (0 to 8),
/// CULVERT_SIM_DEVICE_MEMORY (bytes), CULVERT_SIM_SCHEDULE (late, eager,
/// random, or random:SEED), CULVERT_SIM_DRIVER_VERSION (13000 for 13.0; 0 for no driver),
/// CULVERT_SIM_LATE_PAGEABLE_COPIES (0 or 1). CUDA_LAUNCH_BLOCKING=1 chooses the
/// eager schedule where CULVERT_SIM_SCHEDULE does not choose another. A bad value is told on stderr
/// and ends the process with status 2, already at start-up.
Config config_from_environment();

/// Starts afresh: drops pending work without running it, ends every stream, event, pool and
/// allocation, forgets errors, faults, counts and each thread's current device. Waits for host
/// functions that are running.
/// In a host function it ends the process with status 2.
/// @pre No other thread makes CUDA calls meanwhile.
void reset(const Config& config = config_from_environment());

/// The configuration in force.
Config config();

/// Changes the schedule for operations enqueued from now on.
void set_schedule(Schedule schedule);

/// Runs all pending work and waits for it. In a host function it ends the process with status 2.
void run_pending();

/// Number of operations that were enqueued and have not finished.
std::size_t pending();

/// Number of counted calls since the start or the last reset. cudaGetLastError,
/// cudaPeekAtLastError, cudaGetErrorName and cudaGetErrorString are not counted.
std::uint64_t call_count();

/// As above, for one function by its name in CUDA's documentation, say "cudaMemcpyAsync". A driver
/// entry point counts under its own name, say "cuMemsetD32Async".
std::uint64_t call_count(const char* function);

/// Whether a fault happens once or to every such call after it too, until clear_faults().
enum class Repeat { once, from_then_on };

/// Makes a later call fail with `error` and without any effect: the nth one (1 is the next) of
/// `function`, or of all counted functions if that is null. Several faults may wait at a time. The
/// environment's CULVERT_SIM_FAIL does the same from the start of the program: FUNCTION:ERROR or
/// FUNCTION:ERROR:NTH, with a + behind it for from_then_on; FUNCTION may be *, ERROR is a number or
/// a name, and a comma separates several. An nth of 0, an error of 0 and a name that does not begin
/// with "cu" end the process with status 2. What the environment asks for and has not happened by
/// the end of the program is told on stderr then.
void fail(const char* function, cudaError_t error, std::uint64_t nth = 1,
          Repeat repeat = Repeat::once);

/// Breaks the stream's device when it comes to the nth operation that is enqueued in the stream
/// from now on (1 is the next), as an illegal address in a kernel does; see raise_sticky(). A
/// handle that is no stream ends the process with status 2.
void fail_operation(cudaStream_t stream, cudaError_t error, std::uint64_t nth = 1);

/// Forgets the faults that have not happened yet.
void clear_faults();

/// Breaks a device, as an illegal address in a kernel does: its pending work is dropped, host
/// functions too, and calls answer `error`. cudaDeviceReset does not mend it; reset() does. A
/// device that does not exist and cudaSuccess end the process with status 2.
void raise_sticky(int device, cudaError_t error);

/// What the program holds now. Default streams and default pools are not counted.
struct Live {
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t pools = 0;
  std::size_t graphs = 0;  ///< Also those that a capture is filling; not those inside a node.
  std::size_t graph_execs = 0;
  std::size_t device_allocations = 0;
  std::size_t device_bytes = 0;      ///< As asked for, without rounding.
  std::size_t host_allocations = 0;  ///< cudaHostAlloc and cudaMallocHost.
  std::size_t host_bytes = 0;
  std::size_t host_registrations = 0;  ///< cudaHostRegister.
  std::size_t managed_allocations = 0;
  std::size_t managed_bytes = 0;
};
Live live();

/// Prints on standard error what live() counts, by kind and by the line that made it, and answers
/// how many there are. The events that culvert keeps for itself are not among them. The same is
/// printed when the program ends, after the destructors of its static objects;
/// CULVERT_SIM_LEAKS=fail also ends it with status 2 then, and off prints nothing. A program that
/// ends by abort() or _Exit() tells nothing.
std::size_t report_leaks();

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

/// What a kernel takes of virtual time, in nanoseconds, beside CostModel::kernel_launch_ns.
using KernelTime = std::function<std::uint64_t(const KernelLaunch&)>;

namespace detail {

// Runs a kernel whose parameters it holds.
using KernelAction = std::function<void(const KernelLaunch&)>;
// Copies the parameters that the launch points to.
using KernelBinder = std::function<KernelAction(void** arguments)>;

struct KernelDefinition {
  std::vector<std::size_t> sizes;  // of the parameters
  std::vector<std::size_t> alignments;
  KernelBinder bind;
};

void define_kernel(const void* kernel, KernelDefinition definition);
// `type` is that of the kernel as a function, as std::type_info names it.
void define_kernel(const char* name, const char* type, KernelDefinition definition);
void set_kernel_time(const void* kernel, KernelTime time);
void set_kernel_time(const char* name, KernelTime time);
void* memory(const void* pointer, std::size_t count, std::size_t element_size);
void* variable(const char* name, std::size_t count, std::size_t element_size);

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

template <class... Parameters, class Body>
KernelDefinition make_definition(Body body) {
  static_assert(std::is_invocable_v<Body&, const KernelLaunch&, const Parameters&...> ||
                    std::is_invocable_v<Body&, const Parameters&...>,
                "define_kernel: the body takes neither the kernel's parameters nor a "
                "const KernelLaunch& and the kernel's parameters");
  return {{sizeof(Parameters)...},
          {alignof(Parameters)...},
          [shared = std::make_shared<Body>(std::move(body))](void** arguments) {
            return bind_kernel<Parameters...>(shared, arguments,
                                              std::index_sequence_for<Parameters...>());
          }};
}

// The parameters of the kernel that a body stands for.
template <class Result, class... Parameters, class Body>
void define_by_name(const char* name, Body&& body, std::function<Result(Parameters...)>*) {
  define_kernel(name, typeid(void(std::remove_cv_t<std::remove_reference_t<Parameters>>...)).name(),
                make_definition<std::remove_cv_t<std::remove_reference_t<Parameters>>...>(
                    std::forward<Body>(body)));
}
template <class Result, class... Parameters, class Body>
void define_by_name(const char* name, Body&& body,
                    std::function<Result(const KernelLaunch&, Parameters...)>*) {
  define_by_name(name, std::forward<Body>(body),
                 static_cast<std::function<Result(Parameters...)>*>(nullptr));
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
///
/// For instances of a template in .cu files the definition is that of all files' instances.
template <class... Parameters, class Body>
void define_kernel(void (*kernel)(Parameters...), Body body) {
  detail::define_kernel(reinterpret_cast<const void*>(kernel),
                        detail::make_definition<Parameters...>(std::move(body)));
}

/// The same with the function itself as the body, where it is host code.
template <class... Parameters>
void define_kernel(void (*kernel)(Parameters...)) {
  define_kernel(kernel, kernel);
}

/// The same for kernels that another file cannot name, such as those of an anonymous namespace in a
/// .cu file: "scale", "algorithms::scale" or "scale<float, 3>", and the body's parameter types,
/// which have to be the kernel's. Namespaces may be left out from the left, and unnamed ones always
/// are. Kernels that have a definition of their own keep it.
template <class Body>
void define_kernel(const char* name, Body body) {
  detail::define_by_name(name, std::move(body),
                         static_cast<decltype(std::function(std::declval<Body&>()))*>(nullptr));
}

/// Says how long a kernel takes in virtual time, before or after it is defined: nanoseconds, or a
/// function of the launch. It is called at the launch and makes no CUDA calls. Without it a kernel
/// takes no time of its own. 10^15 ns are the most; more ends the process with status 2. A name is
/// one as for define_kernel(). reset() keeps it.
template <class... Parameters>
void set_kernel_time(void (*kernel)(Parameters...), KernelTime time) {
  detail::set_kernel_time(reinterpret_cast<const void*>(kernel), std::move(time));
}
inline void set_kernel_time(const char* name, KernelTime time) {
  detail::set_kernel_time(name, std::move(time));
}
template <class... Parameters>
void set_kernel_time(void (*kernel)(Parameters...), std::uint64_t time_ns) {
  set_kernel_time(kernel, [time_ns](const KernelLaunch&) { return time_ns; });
}
inline void set_kernel_time(const char* name, std::uint64_t time_ns) {
  set_kernel_time(name, [time_ns](const KernelLaunch&) { return time_ns; });
}

/// In a kernel's body: where host code reads and writes the memory that a pointer leads to. A
/// pointer to device memory becomes another one to the same bytes, a pointer to pinned memory is
/// answered unchanged, and the address of a __device__ or __constant__ variable of a .cu file leads
/// to the variable on the device of the launch. `count` elements have to be in one allocation that
/// is live and that the device can access. If they are not the body ends here, by an exception of
/// no public type, and that is an illegal address: a line on stderr and a sticky error. Elsewhere
/// than in a body a call ends the process with status 2.
template <class T>
T* memory(T* pointer, std::size_t count = 1) {
  std::size_t size = 1;
  if constexpr (!std::is_void_v<T>) size = sizeof(T);
  return static_cast<T*>(detail::memory(pointer, count, size));
}

/// The same for a __device__, __constant__ or __managed__ variable by its name, where the file of
/// the body cannot name it. Namespaces may be left out from the left. A name of no variable, or of
/// several, ends the process with status 2.
template <class T>
T* variable(const char* name, std::size_t count = 1) {
  return static_cast<T*>(detail::variable(name, count, sizeof(T)));
}

}  // namespace culvert::sim
