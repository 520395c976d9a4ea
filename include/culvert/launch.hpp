// SPDX-License-Identifier: BSL-1.0
//
// Kernel launches whose arguments are checked against the kernel's parameters.
#pragma once

#include <culvert/stream.hpp>
#include <culvert/view.hpp>

#include <climits>
#include <memory>
#include <optional>

namespace culvert::inline CULVERT_ABI {

// A size in one, two or three dimensions: of a grid or cluster in blocks, of a block in
// threads. It converts from integers of any type, and from dim3.
class Dimensions {
 public:
  // @throws Error where a number is negative or does not fit 32 bits, which dim3 would cut off.
  template <std::integral X>
  constexpr Dimensions(X x, SourceLocation where = SourceLocation::current())
      : value_(checked(x, where)) {}
  template <std::integral X, std::integral Y>
  constexpr Dimensions(X x, Y y, SourceLocation where = SourceLocation::current())
      : value_(checked(x, where), checked(y, where)) {}
  template <std::integral X, std::integral Y, std::integral Z>
  constexpr Dimensions(X x, Y y, Z z, SourceLocation where = SourceLocation::current())
      : value_(checked(x, where), checked(y, where), checked(z, where)) {}
  // From dim3 itself, and not from what converts to it, such as a floating-point number.
  template <std::same_as<dim3> D>
  constexpr Dimensions(D value) noexcept : value_(value) {}

  [[nodiscard]] constexpr operator dim3() const noexcept { return value_; }
  [[nodiscard]] constexpr unsigned x() const noexcept { return value_.x; }
  [[nodiscard]] constexpr unsigned y() const noexcept { return value_.y; }
  [[nodiscard]] constexpr unsigned z() const noexcept { return value_.z; }

 private:
  template <class Number>
  static constexpr unsigned checked(Number number, SourceLocation where) {
    static_assert(!std::is_same_v<Number, bool>, "a dimension is a number, not a bool");
    return detail::checked_unsigned(number, "culvert::Dimensions", where);
  }

  dim3 value_;
};

// How a kernel is launched. Every member has a default; name those that differ:
//
//   launch(stream, {.grid = grid_for(n, 256), .block = 256}, scale, x, 2.0f, n);
struct LaunchConfig {
  // Blocks in the grid. At least 1 in each dimension.
  Dimensions grid = 1;
  // Threads in a block. At least 1 in each dimension; 1024 in all on known devices.
  Dimensions block = 1;
  // Bytes of dynamic shared memory (`extern __shared__`) for each block. For more than 48 KiB
  // call allow_shared_memory first.
  std::size_t shared_memory_bytes = 0;
  // Blocks in a cluster; the grid is a multiple of it. Default, all 0: as the kernel was compiled
  // (`__cluster_dims__`), else no clusters. Compute capability 9.0 and later.
  Dimensions cluster = dim3(0, 0, 0);
  // All blocks run at the same time, so that the kernel may synchronize its whole grid
  // (cooperative_groups::this_grid().sync()). The grid must fit the device: see
  // blocks_per_multiprocessor.
  bool cooperative = false;
  // Default: the stream's priority.
  std::optional<Priority> priority = std::nullopt;
  // Programmatic dependent launch (cudaLaunchAttributeProgrammaticStreamSerialization): this
  // kernel may start before the kernel ahead of it in the stream has finished, once each of its
  // blocks has called cudaTriggerProgrammaticLaunchCompletion() or ended. This kernel must call
  // cudaGridDependencySynchronize() before it touches what the other writes: that waits until the
  // other has finished and its writes are visible. Without that call there is no order between
  // the two. Where the device cannot overlap them (compute capability below 9.0) they run one
  // after the other.
  bool programmatic_serialization = false;
  // Further attributes, as CUDA has them.
  std::span<const cudaLaunchAttribute> attributes = {};
  // The caller's place, for error texts.
  SourceLocation where = SourceLocation::current();
};

namespace detail {

inline constexpr std::size_t max_launch_attributes = 16;

// Room for the attributes of a launch.
struct LaunchAttributes {
  cudaLaunchAttribute values[max_launch_attributes];
  unsigned count = 0;

  cudaLaunchAttributeValue& add(cudaLaunchAttributeID id) {
    cudaLaunchAttribute& attribute = values[count++];
    attribute = {};
    attribute.id = id;
    return attribute.val;
  }
};

[[nodiscard]] inline bool has_cluster(const LaunchConfig& config) noexcept {
  return (config.cluster.x() | config.cluster.y() | config.cluster.z()) != 0;
}

[[nodiscard]] inline bool has_attributes(const LaunchConfig& config) noexcept {
  return has_cluster(config) || config.cooperative || config.priority ||
         config.programmatic_serialization || !config.attributes.empty();
}

inline void collect_attributes(const LaunchConfig& config, LaunchAttributes& result) {
  if (has_cluster(config)) {
    auto& cluster = result.add(cudaLaunchAttributeClusterDimension).clusterDim;
    cluster.x = config.cluster.x();
    cluster.y = config.cluster.y();
    cluster.z = config.cluster.z();
  }
  if (config.cooperative) result.add(cudaLaunchAttributeCooperative).cooperative = 1;
  if (config.priority) {
    result.add(cudaLaunchAttributePriority).priority =
        priority_number(*config.priority, "culvert::launch", config.where);
  }
  if (config.programmatic_serialization) {
    result.add(cudaLaunchAttributeProgrammaticStreamSerialization)
        .programmaticStreamSerializationAllowed = 1;
  }
  if (config.attributes.size() > max_launch_attributes - result.count) {
    refuse(config.where, "culvert::launch",
           "more than " + std::to_string(max_launch_attributes) + " attributes");
  }
  for (const cudaLaunchAttribute& attribute : config.attributes) {
    result.values[result.count++] = attribute;
  }
}

[[nodiscard, gnu::noinline]] inline cudaError_t launch_with_attributes(const LaunchConfig& config,
                                                                       cudaLaunchConfig_t& raw,
                                                                       const void* kernel,
                                                                       void** arguments) {
  LaunchAttributes attributes;
  collect_attributes(config, attributes);
  raw.attrs = attributes.values;
  raw.numAttrs = attributes.count;
  return try_call(cudaLaunchKernelExC, &raw, kernel, arguments);
}

[[nodiscard]] inline std::string text_of(dim3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_launch(const LaunchConfig& config,
                                                               const char* function,
                                                               cudaError_t status) {
  std::string text = "grid " + text_of(config.grid) + ", block " + text_of(config.block) + ", " +
                     std::to_string(config.shared_memory_bytes) + " bytes of dynamic shared memory";
  if (has_cluster(config)) text += ", cluster " + text_of(config.cluster);
  if (config.shared_memory_bytes > (std::size_t{48} << 10)) {
    text += " (more than 48 KiB needs allow_shared_memory)";
  }
  if (config.cooperative) text += ", cooperative";
  if (status == cudaErrorInvalidResourceHandle) {
    text += " (the stream is of another device than the current one, or of nothing that exists)";
  }
  raise(status, function, config.where, text);
}

inline void launch_kernel(StreamRef stream, const LaunchConfig& config, const void* kernel,
                          void** arguments) {
  const dim3 grid = config.grid;
  const dim3 block = config.block;
  if (kernel == nullptr) [[unlikely]] {
    refuse(config.where, "culvert::launch", "the kernel is null", cudaErrorInvalidDeviceFunction);
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
      [[unlikely]] {
    refuse(
        config.where, "culvert::launch",
        [=] { return "a dimension is 0: grid " + text_of(grid) + ", block " + text_of(block); },
        cudaErrorInvalidConfiguration);
  }
  cudaLaunchConfig_t raw;
  raw.gridDim = grid;
  raw.blockDim = block;
  raw.dynamicSmemBytes = config.shared_memory_bytes;
  raw.stream = stream.get();
  raw.attrs = nullptr;
  raw.numAttrs = 0;
  cudaError_t status;
  if (!has_attributes(config)) [[likely]] {
    status = try_call(cudaLaunchKernelExC, &raw, kernel, arguments);
  } else {
    status = launch_with_attributes(config, raw, kernel, arguments);
  }
  if (status != cudaSuccess) [[unlikely]] {
    fail_launch(config, "cudaLaunchKernelExC", status);
  }
}

// A kernel's pointer parameter takes memory of its own element type, or any for void; const is
// respected.
template <class Element, class Parameter>
concept ElementPointer = std::is_convertible_v<Element*, Parameter> &&
    (std::is_void_v<std::remove_pointer_t<Parameter>> ||
     std::is_same_v<std::remove_cv_t<Element>, std::remove_cv_t<std::remove_pointer_t<Parameter>>>);

// Owners of memory that a device can read: device memory, and pinned memory by its host address.
template <class X>
concept KernelMemory = DeviceRange<X> || requires(X& x, SourceLocation where) {
  {x.host_span(where)};
};

// Whether an argument can be passed for a parameter. Where it cannot, one assertion says why.
template <class Parameter, class Argument>
[[nodiscard]] consteval bool passes() {
  static_assert(!std::is_reference_v<Parameter>, "launch: a kernel's parameters must be values");
  using Value = std::remove_cvref_t<Argument>;
  constexpr bool pointer = std::is_pointer_v<Parameter>;
  constexpr bool to_span = DeviceRange<Parameter> && DeviceRange<Value>;
  if constexpr ((pointer && KernelMemory<Value>) || to_span) {
    using Memory = std::remove_reference_t<Argument>;
    if constexpr (TemporaryOwner<Argument>) {
      static_assert(!std::is_same_v<Argument, Argument>,
                    "launch: a buffer argument is a temporary that ends with this call: give it a "
                    "name");
      return false;
    } else if constexpr (to_span) {
      static_assert(std::is_convertible_v<Memory&, Parameter>,
                    "launch: a buffer's element type is not that of the kernel's span parameter, "
                    "or it is const and the parameter is not");
      return std::is_convertible_v<Memory&, Parameter>;
    } else {
      using Element = typename decltype(view_of(std::declval<Memory&>(), SourceLocation::none(),
                                                ""))::element_type;
      static_assert(ElementPointer<Element, Parameter>,
                    "launch: a buffer's element type is not that of the kernel's pointer "
                    "parameter, or it is const and the parameter is not");
      return ElementPointer<Element, Parameter>;
    }
  } else if constexpr (pointer && HostRange<std::remove_reference_t<Argument>>) {
    static_assert(!std::is_same_v<Argument, Argument>,
                  "launch: an argument is ordinary host memory, which a kernel cannot be relied on "
                  "to read: copy it to a DeviceBuffer, or pass its pointer if the device can");
    return false;
  } else if constexpr (std::is_arithmetic_v<Parameter>) {
    // As braces judge it: no value of the argument's type is changed.
    constexpr bool fits =
        std::is_convertible_v<Argument, Parameter> && requires(Argument && argument) {
      Parameter{static_cast<Argument&&>(argument)};
    };
    constexpr bool boolean = !std::is_same_v<Parameter, bool> || std::is_same_v<Value, bool>;
    static_assert(fits && boolean,
                  "launch: an argument does not convert to the kernel's parameter without "
                  "narrowing: write a value of the parameter's type, such as 1.0f for float or 1u "
                  "for unsigned, or static_cast");
    return fits && boolean;
  } else {
    static_assert(std::is_convertible_v<Argument, Parameter>,
                  "launch: an argument does not convert to the kernel's parameter");
    return std::is_convertible_v<Argument, Parameter>;
  }
}

template <class Parameter, class Argument>
[[nodiscard]] Parameter kernel_argument(Argument&& argument, SourceLocation where) {
  if constexpr (std::is_pointer_v<Parameter> && KernelMemory<std::remove_cvref_t<Argument>>) {
    return view_of(argument, where, "culvert::launch").data;
  } else if constexpr (DeviceRange<Parameter> && DeviceRange<std::remove_cvref_t<Argument>>) {
    return argument.device_span(where);
  } else if constexpr (std::is_arithmetic_v<Parameter>) {
    return Parameter{static_cast<Argument&&>(argument)};
  } else {
    return static_cast<Argument&&>(argument);
  }
}

struct Launch {
  template <class... Parameters, class... Arguments>
  void operator()(StreamRef stream, const LaunchConfig& config, void (*kernel)(Parameters...),
                  Arguments&&... arguments) const {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "launch: the kernel takes another number of arguments");
    if constexpr (sizeof...(Parameters) == sizeof...(Arguments)) {
      if constexpr ((passes<Parameters, Arguments>() && ...)) {
        enqueue<Parameters...>(
            stream, config, reinterpret_cast<const void*>(kernel),
            kernel_argument<Parameters>(static_cast<Arguments&&>(arguments), config.where)...);
      }
    }
  }

 private:
  // The arguments as the kernel's own types, which CUDA copies during the call.
  template <class... Parameters>
  static void enqueue(StreamRef stream, const LaunchConfig& config, const void* kernel,
                      Parameters... arguments) {
    void* addresses[sizeof...(Parameters) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(std::addressof(arguments)))...};
    launch_kernel(stream, config, kernel, addresses);
  }
};

}  // namespace detail

// launch(stream, config, kernel, arguments...): launches a kernel in the order of the stream
// (cudaLaunchKernelExC). Does not block the host. The kernel is a `__global__` function: from a
// .cu file, or declared in a .cpp file as the plain function that it looks like to host code and
// compiled elsewhere.
//
// The arguments' number and types are checked against the kernel's parameters when this is
// compiled. Device and pinned buffers and spans pass as pointers, const respected; numbers must
// convert without narrowing; all else as in a call. Values are copied during the call; memory
// that pointers lead to must live until the stream has passed the kernel.
//
// The current device must be the stream's.
//
// @throws Error where a dimension is 0, a buffer was moved from or the kernel is null, before any
// CUDA call; and what CUDA answers, with the configuration in the text. Errors of the kernel's
// run come from later calls: see docs/guide.md, "Errors".
inline constexpr detail::Launch launch{};

}  // namespace culvert::inline CULVERT_ABI
