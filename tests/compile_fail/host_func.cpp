// SPDX-License-Identifier: BSL-1.0
#include <culvert/async.hpp>

using namespace culvert;

void correct_use(const Stream& stream, int& calls) {
  const auto count = [&calls] { ++calls; };
  launch_host(stream, count);
  HostFunc reusable(count);
  launch_host(stream, reusable);
  HostFunc moved = std::move(reusable);
  HostFuture<int> future = async_host(stream, [] { return 1; });
  (void)future.get();

#ifdef CASE_LAUNCH_HOST_WITH_ARGUMENTS  // error: callable cannot be called without arguments
  launch_host(stream, [](int) {});
#endif
#ifdef CASE_ASYNC_HOST_WITH_ARGUMENTS  // error: callable cannot be called without arguments
  async_host(stream, [](int) {});
#endif
#ifdef CASE_HOST_FUNC_WITH_ARGUMENTS  // error: callable cannot be called without arguments
  const HostFunc wrong([](int) {});
#endif
#ifdef CASE_NOT_A_CALLABLE  // error: callable cannot be called without arguments
  launch_host(stream, calls);
#endif
#ifdef CASE_LVALUE_OF_A_MOVE_ONLY_CALLABLE  // error: std::move it
  struct MoveOnly {
    MoveOnly() = default;
    MoveOnly(MoveOnly&&) = default;
    void operator()() const {}
  } move_only;
  launch_host(stream, move_only);
#endif
#ifdef CASE_ASYNC_HOST_FUNC  // error: a HostFunc has no result
  async_host(stream, moved);
#endif
#ifdef CASE_HOST_FUNC_COPY  // error: deleted|std::move it
  HostFunc copied = moved;
#endif
#ifdef CASE_HOST_FUTURE_COPY  // error: deleted|std::move it
  HostFuture<int> copied = future;
#endif
#ifdef CASE_NULL_STREAM  // error: deleted|say which default stream
  launch_host(nullptr, count);
#endif
#ifdef CASE_TEMPORARY_STREAM  // error: deleted|ends with the expression
  launch_host(Stream(), count);
#endif
}
