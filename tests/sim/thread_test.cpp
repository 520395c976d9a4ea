// SPDX-License-Identifier: BSL-1.0
// Host functions, host threads, and programs that wait without a CUDA call.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "sim_fixture.hpp"

extern "C" cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t, cudaHostFn_t, void*);
extern "C" cudaError_t cudaMemsetAsync_ptsz(void*, int, std::size_t, cudaStream_t);
extern "C" cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
extern "C" cudaError_t cudaStreamQuery_ptsz(cudaStream_t);

namespace {

using namespace std::chrono_literals;

class Threads : public SimTest {
 protected:
  // As a program that sets nothing would find it.
  void SetUp() override { sim::reset(sim::Config()); }
};

// A host function that says that it runs and stays until it is let go.
struct Gate {
  std::atomic<bool> entered{false};
  std::atomic<bool> open{false};
  static void stay(void* data) {
    Gate* const gate = static_cast<Gate*>(data);
    gate->entered = true;
    while (!gate->open) std::this_thread::sleep_for(1ms);
  }
};

void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }

template <class Predicate>
bool comes_true(Predicate predicate) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST_F(Threads, AHostFunctionMayNotCallCuda) {
  struct Answers {
    cudaError_t malloc_answer = cudaSuccess;
    cudaError_t wait_answer = cudaSuccess;
    cudaError_t last = cudaSuccess;
  } answers;
  const auto function = [](void* data) {
    Answers* const result = static_cast<Answers*>(data);
    void* pointer = nullptr;
    result->malloc_answer = cudaMalloc(&pointer, 16);
    result->wait_answer = cudaDeviceSynchronize();
    result->last = cudaGetLastError();
  };
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaLaunchHostFunc(stream, function, &answers));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(answers.malloc_answer, cudaErrorNotPermitted);
  EXPECT_EQ(answers.wait_answer, cudaErrorNotPermitted);
  EXPECT_EQ(answers.last, cudaErrorNotPermitted);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST_F(Threads, AProgramMayWaitForAFuture) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  const auto function = [](void* data) { static_cast<std::promise<int>*>(data)->set_value(42); };
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  unsigned char* const pinned = make_pinned(16);
  CUDA_OK(cudaMemsetAsync(device, 9, 16, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaLaunchHostFunc(stream, function, &promise));
  ASSERT_EQ(future.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(future.get(), 42);
  EXPECT_EQ(pinned[3], 9);  // what the function needs ran before
}

TEST_F(Threads, EverythingRunsWhenTheProgramIsQuietForLong) {
  sim::Config config;
  config.idle_everything_ms = 20;
  sim::reset(config);
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  CUDA_OK(cudaMemsetAsync(device, 1, 16, stream));
  EXPECT_EQ(sim::pending(), 1U);
  EXPECT_TRUE(comes_true([] { return sim::pending() == 0; }));
}

TEST_F(Threads, NothingRunsByItselfWhenSwitchedOff) {
  sim::reset(strict());
  std::atomic<int> count{0};
  CUDA_OK(cudaLaunchHostFunc(make_stream(), count_up, &count));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(count, 0);
  sim::run_pending();
  EXPECT_EQ(count, 1);
}

TEST_F(Threads, AnOldHostFunctionRunsThoughCallsNeverStop) {
  sim::Config config;
  config.idle_everything_ms = 50;
  sim::reset(config);
  std::atomic<int> count{0};
  CUDA_OK(cudaLaunchHostFunc(make_stream(), count_up, &count));
  int device = 0;
  EXPECT_TRUE(comes_true([&] { return cudaGetDevice(&device) == cudaSuccess && count == 1; }));
}

TEST_F(Threads, OldHostFunctionsRunThoughTheOldestWaits) {
  sim::Config config;
  config.idle_everything_ms = 50;
  sim::reset(config);
  Gate gate;
  std::atomic<int> count{0};
  std::atomic<bool> opened_by_c{false};
  std::atomic<bool> end{false};
  struct Opener {
    Gate& gate;
    std::atomic<bool>& opened;
  } opener{gate, opened_by_c};
  const auto open = [](void* data) {
    const Opener* const o = static_cast<Opener*>(data);
    o->opened = true;
    o->gate.open = true;
  };
  cudaStream_t first = make_stream();
  CUDA_OK(cudaLaunchHostFunc(first, Gate::stay, &gate));
  CUDA_OK(cudaLaunchHostFunc(first, count_up, &count));  // behind the one that stays
  CUDA_OK(cudaLaunchHostFunc(make_stream(), open, &opener));
  std::thread caller([&] {
    int device = 0;
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!end && std::chrono::steady_clock::now() < limit) {
      EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
      std::this_thread::sleep_for(1ms);
    }
    gate.open = true;
  });
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_TRUE(opened_by_c);
  end = true;
  caller.join();
  EXPECT_EQ(count, 1);
}

TEST_F(Threads, AHostFunctionMayWaitForAThreadThatUsesCuda) {
  cudaStream_t stream = make_stream();
  Gate gate;
  CUDA_OK(cudaLaunchHostFunc(stream, Gate::stay, &gate));
  std::thread opener([&] {
    cudaStream_t other = make_stream();
    unsigned char* const device = make_device(64);
    EXPECT_EQ(cudaMemsetAsync(device, 1, 64, other), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    gate.open = true;
  });
  CUDA_OK(cudaStreamSynchronize(stream));
  opener.join();
  EXPECT_TRUE(gate.entered);
}

TEST_F(Threads, AQueryDoesNotBlockOnAHostFunctionThatWaitsForTheCaller) {
  cudaStream_t stream = make_stream();
  Gate gate;
  CUDA_OK(cudaLaunchHostFunc(stream, Gate::stay, &gate));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_TRUE(comes_true([&] { return gate.entered.load(); }));
  gate.open = true;
  EXPECT_TRUE(comes_true([&] { return cudaStreamQuery(stream) == cudaSuccess; }));
}

TEST_F(Threads, EagerDoesNotBlockOnAHostFunctionThatWaitsForTheCaller) {
  sim::set_schedule(sim::Schedule::eager);
  cudaStream_t stream = make_stream();
  cudaStream_t other = make_stream();
  Gate gate;
  std::atomic<int> after{0};
  std::atomic<int> beside{0};
  CUDA_OK(cudaLaunchHostFunc(stream, Gate::stay, &gate));
  for (int i = 0; i < 100; ++i) CUDA_OK(cudaLaunchHostFunc(stream, count_up, &after));
  CUDA_OK(cudaLaunchHostFunc(other, count_up, &beside));
  EXPECT_TRUE(comes_true([&] { return beside == 1; }));
  EXPECT_EQ(after, 0);
  gate.open = true;
  EXPECT_TRUE(comes_true([&] { return after == 100; }));
}

TEST_F(Threads, BlockedHostFunctionsDoNotStopOthers) {
  Gate gates[3];
  for (Gate& gate : gates) CUDA_OK(cudaLaunchHostFunc(make_stream(), Gate::stay, &gate));
  std::atomic<int> count{0};
  CUDA_OK(cudaLaunchHostFunc(make_stream(), count_up, &count));
  EXPECT_TRUE(comes_true(
      [&] { return gates[0].entered && gates[1].entered && gates[2].entered && count == 1; }));
  for (Gate& gate : gates) gate.open = true;
  CUDA_OK(cudaDeviceSynchronize());
}

TEST_F(Threads, TwoThreadsRunTwoHostFunctionsThatMeet) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int present = 0;
  } meeting;
  const auto meet = [](void* data) {
    Meeting* const m = static_cast<Meeting*>(data);
    std::unique_lock<std::mutex> lock(m->mutex);
    ++m->present;
    m->changed.notify_all();
    m->changed.wait(lock, [&] { return m->present == 2; });
  };
  const auto one = [&] {
    cudaStream_t stream = make_stream();
    EXPECT_EQ(cudaLaunchHostFunc(stream, meet, &meeting), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  };
  std::thread first(one);
  std::thread second(one);
  first.join();
  second.join();
  EXPECT_EQ(meeting.present, 2);
}

class ManyThreads : public Threads {
 protected:
  // What each of many threads does: memory in stream order, copies, host functions, events that all
  // record and wait for, and a graph that it captures, launches and destroys.
  static void work_among_others(int number, cudaEvent_t shared, cudaStream_t shared_stream,
                                std::atomic<int>& count) {
    const auto value = static_cast<unsigned char>(number + 1);
    cudaStream_t stream = make_stream(number % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
    unsigned char* const pinned = make_pinned(64);
    unsigned char* const of_graph = make_pinned(64);
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(of_graph, value, 64, stream), cudaSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(stream, count_up, &count), cudaSuccess);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 100; ++i) {
      void* device = nullptr;
      EXPECT_EQ(cudaMallocAsync(&device, 64, stream), cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(device, value, 64, stream), cudaSuccess);
      EXPECT_EQ(cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDeviceToHost, stream), cudaSuccess);
      EXPECT_EQ(cudaFreeAsync(device, stream), cudaSuccess);
      of_graph[63] = 0;
      EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
      EXPECT_EQ(cudaEventRecord(shared, shared_stream), cudaSuccess);
      EXPECT_EQ(cudaStreamWaitEvent(stream, shared, 0), cudaSuccess);
      if (i % 3 == 0) {
        EXPECT_EQ(cudaEventSynchronize(shared), cudaSuccess);
      }
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      EXPECT_EQ(pinned[63], value);
      EXPECT_EQ(of_graph[63], value);
    }
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(of_graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
};

TEST_F(ManyThreads, WorkAtOnce) {
  constexpr int threads = 8;
  for (const auto schedule : {sim::Schedule::late, sim::Schedule::random, sim::Schedule::eager}) {
    sim::Config config;
    config.schedule = schedule;
    sim::reset(config);
    std::atomic<int> count{0};
    cudaEvent_t shared = make_event();
    cudaStream_t shared_stream = make_stream();
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] { work_among_others(t, shared, shared_stream, count); });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(count, threads * 100);
    const sim::Live live = sim::live();
    EXPECT_EQ(live.device_allocations, 0U);
    EXPECT_EQ(live.host_allocations, 0U);
    EXPECT_EQ(live.graphs, 0U);
    EXPECT_EQ(live.streams, 1U);
    CUDA_OK(cudaEventDestroy(shared));
    CUDA_OK(cudaStreamDestroy(shared_stream));
  }
}

TEST_F(Threads, EachThreadHasItsOwnDefaultStream) {
  sim::reset(strict());
  std::atomic<int> here{0};
  std::atomic<int> there{0};
  unsigned long long ids[2] = {0, 0};
  CUDA_OK(cudaLaunchHostFunc_ptsz(nullptr, count_up, &here));
  CUDA_OK(cudaStreamGetId(cudaStreamPerThread, &ids[0]));
  std::thread thread([&] {
    EXPECT_EQ(cudaLaunchHostFunc_ptsz(nullptr, count_up, &there), cudaSuccess);
    EXPECT_EQ(cudaStreamGetId(cudaStreamPerThread, &ids[1]), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), cudaSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(cudaStreamPerThread, count_up, &there), cudaSuccess);
  });
  thread.join();
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(there, 1);
  EXPECT_EQ(here, 0);
  EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), cudaErrorNotReady);
  // The thread is gone; the legacy stream still covers what it left.
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(there, 2);
  EXPECT_EQ(here, 1);
}

TEST_F(Threads, LastErrorAndDeviceBelongToTheThread) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  EXPECT_EQ(cudaSetDevice(5), cudaErrorInvalidDevice);
  std::thread([] {
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  }).join();
  int device = -1;
  CUDA_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Threads, AForkedChildCannotUseCuda) {
  CUDA_OK(cudaMemsetAsync(make_device(16), 1, 16, make_stream()));
  const pid_t child = fork();
  if (child == 0) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CUDA_OK(cudaDeviceSynchronize());
}

// Two host functions, of which the first goes on when the second has started.
struct Meeting {
  std::atomic<bool> second_started{false};
};

void wait_for_the_second(void* data) {
  const auto* const meeting = static_cast<const Meeting*>(data);
  while (!meeting->second_started) std::this_thread::yield();
}

void second(void* data) { static_cast<Meeting*>(data)->second_started = true; }

TEST_F(Threads, HostFunctionsOfTwoStreamsMayMeet) {
  sim::reset(sim::Config{});
  Meeting meeting;
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  CUDA_OK(cudaLaunchHostFunc(a, wait_for_the_second, &meeting));
  CUDA_OK(cudaLaunchHostFunc(b, second, &meeting));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_TRUE(meeting.second_started);
}

TEST_F(Threads, SerializedHostFunctionsRunOneAtATime) {
  sim::Config config;
  config.serialize_host_functions = true;
  sim::reset(config);
  struct Counter {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> runs{0};
  } counter;
  const auto enter = [](void* data) {
    auto* const count = static_cast<Counter*>(data);
    const int inside = ++count->inside;
    if (inside > count->most) count->most = inside;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --count->inside;
    ++count->runs;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      cudaStream_t stream = make_stream();
      for (int j = 0; j < 10; ++j) {
        EXPECT_EQ(cudaLaunchHostFunc(stream, enter, &counter), cudaSuccess);
      }
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.most, 1);
  EXPECT_EQ(counter.runs, 40);
}

TEST(ThreadsDeathTest, AHostFunctionThatNeverReturnsIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto never = [](void*) {
    for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const auto stuck = [&] {
    sim::Config config;
    config.host_function_limit_ms = 50;
    sim::reset(config);
    cudaStream_t a = nullptr;
    cudaStream_t b = nullptr;
    cudaEvent_t event = nullptr;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaLaunchHostFunc(a, never, nullptr);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    cudaStreamSynchronize(b);
  };
  EXPECT_EXIT(stuck(), testing::ExitedWithCode(2),
              "cudaLaunchHostFunc.* has been running for 50 ms(.|\n)*"
              "stream 13 .*2 unfinished; .*runs(.|\n)*"
              "stream 14 .*1 unfinished; .*waits for cudaEventRecord.*stream 13(.|\n)*"
              "the program is stuck");
}

TEST(ThreadsDeathTest, AHostFunctionMayNotStartTheRuntimeAfresh) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto call = [](cudaHostFn_t function) {
    cudaLaunchHostFunc(cudaStreamPerThread, function, nullptr);
    cudaStreamSynchronize(cudaStreamPerThread);
  };
  EXPECT_EXIT(call([](void*) { sim::reset(); }), testing::ExitedWithCode(2),
              "reset in a host function");
  EXPECT_EXIT(call([](void*) { sim::run_pending(); }), testing::ExitedWithCode(2),
              "run_pending in a host function");
}

// What CUDA may do to such functions is seen here.
TEST(ThreadsDeathTest, SerializedHostFunctionsThatMustMeetAreStuck) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stuck = [] {
    sim::Config config;
    config.serialize_host_functions = true;
    config.host_function_limit_ms = 50;
    sim::reset(config);
    static Meeting meeting;
    cudaStream_t a = nullptr;
    cudaStream_t b = nullptr;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaLaunchHostFunc(b, second, &meeting);
    cudaLaunchHostFunc(a, wait_for_the_second, &meeting);  // runs first
    cudaDeviceSynchronize();
  };
  EXPECT_EXIT(stuck(), testing::ExitedWithCode(2), "the program is stuck");
}

}  // namespace
