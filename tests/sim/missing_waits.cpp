// SPDX-License-Identifier: BSL-1.0
#include "missing_waits.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t size = 64;

// An error makes the bytes wrong, too: a missing wait may be an illegal address.
bool failed = false;

void ok(cudaError_t error) {
  if (error != cudaSuccess) failed = true;
}

struct Stream {
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    ok(cudaStreamCreateWithFlags(&handle, flags));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ok(cudaStreamDestroy(handle)); }
  operator cudaStream_t() const { return handle; }
  void synchronize() const { ok(cudaStreamSynchronize(handle)); }
  cudaStream_t handle = nullptr;
};

struct Event {
  Event() { ok(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { ok(cudaEventDestroy(handle)); }
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};

struct Device {
  explicit Device(unsigned char value = 0, std::size_t bytes = size) {
    void* pointer = nullptr;
    ok(cudaMalloc(&pointer, bytes));
    data = static_cast<unsigned char*>(pointer);
    ok(cudaMemset(data, value, bytes));
    ok(cudaDeviceSynchronize());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { ok(cudaFree(data)); }
  operator unsigned char*() const { return data; }
  unsigned char* data = nullptr;
};

struct Pinned {
  explicit Pinned(unsigned char value = 0) {
    void* pointer = nullptr;
    ok(cudaMallocHost(&pointer, size));
    data = static_cast<unsigned char*>(pointer);
    std::memset(data, value, size);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { ok(cudaFreeHost(data)); }
  operator unsigned char*() const { return data; }
  [[nodiscard]] bool all(unsigned char value) const {
    return std::all_of(data, data + size, [=](unsigned char byte) { return byte == value; });
  }
  unsigned char* data = nullptr;
};

void fill(unsigned char* to, int value, cudaStream_t stream, std::size_t bytes = size) {
  ok(cudaMemsetAsync(to, value, bytes, stream));
}

void copy(unsigned char* to, const unsigned char* from, cudaStream_t stream,
          std::size_t bytes = size) {
  ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void join(cudaStream_t waiter, cudaStream_t producer) {
  const Event event;
  ok(cudaEventRecord(event, producer));
  ok(cudaStreamWaitEvent(waiter, event, 0));
}

void drain() { ok(cudaDeviceSynchronize()); }

// Reads what another stream writes.
bool read_after_write(bool with_wait) {
  const Stream a;
  const Stream b;
  const Device x(1);
  const Pinned host;
  fill(x, 2, a);
  if (with_wait) join(b, a);
  copy(host, x, b);
  b.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// Writes what another stream still reads; the reader is waited for first.
bool write_after_read(bool with_wait) {
  const Stream a;
  const Stream b;
  const Device x(1);
  const Pinned host;
  copy(host, x, a);
  if (with_wait) join(b, a);
  fill(x, 2, b);
  a.synchronize();
  const bool right = host.all(1);
  drain();
  return right;
}

// The later of two writers has to be the last.
bool write_after_write(bool with_wait) {
  const Stream a;
  const Stream b;
  const Device x;
  const Pinned host;
  fill(x, 1, a);
  if (with_wait) join(b, a);
  fill(x, 2, b);
  drain();
  copy(host, x, a);
  a.synchronize();
  return host.all(2);
}

// The host reads pinned memory.
bool host_reads(bool with_wait) {
  const Stream a;
  const Device x(3);
  const Pinned host;
  copy(host, x, a);
  if (with_wait) a.synchronize();
  const bool right = host.all(3);
  drain();
  return right;
}

// The host writes pinned memory again while a copy of it is under way.
bool host_writes(bool with_wait) {
  const Stream a;
  const Device x;
  const Pinned host(1);
  copy(x, host, a);
  if (with_wait) a.synchronize();
  std::memset(host, 2, size);
  copy(host, x, a);
  a.synchronize();
  return host.all(1);
}

bool host_reads_behind_event(bool with_wait) {
  const Stream a;
  const Event done;
  const Device x(5);
  const Pinned host;
  copy(host, x, a);
  ok(cudaEventRecord(done, a));
  if (with_wait) ok(cudaEventSynchronize(done));
  const bool right = host.all(5);
  drain();
  return right;
}

// The wait is there, but for a record made too early.
bool record_too_early(bool with_wait) {
  const Stream a;
  const Stream b;
  const Event event;
  const Device x(1);
  const Pinned host;
  ok(cudaEventRecord(event, a));
  fill(x, 2, a);
  if (with_wait) ok(cudaEventRecord(event, a));
  ok(cudaStreamWaitEvent(b, event, 0));
  copy(host, x, b);
  b.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// The wait stands before the record, where it waits for nothing.
bool wait_before_record(bool with_wait) {
  const Stream a;
  const Stream b;
  const Event event;
  const Device x(1);
  const Pinned host;
  if (!with_wait) ok(cudaStreamWaitEvent(b, event, 0));
  fill(x, 2, a);
  ok(cudaEventRecord(event, a));
  if (with_wait) ok(cudaStreamWaitEvent(b, event, 0));
  copy(host, x, b);
  b.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// A chain of three streams of which the middle one does not wait.
bool chain(bool with_wait) {
  const Stream a;
  const Stream b;
  const Stream c;
  const Device x(1);
  const Device y(1);
  const Pinned host;
  fill(x, 2, a);
  if (with_wait) join(b, a);
  copy(y, x, b);
  join(c, b);
  copy(host, y, c);
  c.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// Two producers, of which the consumer waits for one.
bool two_producers(bool with_wait) {
  const Stream a;
  const Stream b;
  const Stream c;
  const Device x(1);
  const Pinned host;
  fill(x, 2, a, size / 2);
  fill(x + size / 2, 2, b, size / 2);
  join(c, a);
  if (with_wait) join(c, b);
  copy(host, x, c);
  c.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// Two buffers in turn: the second round must not overwrite what the first still reads.
bool double_buffer(bool with_wait) {
  const Stream fills;
  const Stream copies;
  const Device buffers[2] = {Device(), Device()};
  const Pinned results[4];
  Event filled[2];
  Event copied[2];
  for (int round = 0; round < 4; ++round) {
    const int at = round % 2;
    if (with_wait) ok(cudaStreamWaitEvent(fills, copied[at], 0));
    fill(buffers[at], round + 1, fills);
    ok(cudaEventRecord(filled[at], fills));
    ok(cudaStreamWaitEvent(copies, filled[at], 0));
    copy(results[round], buffers[at], copies);
    ok(cudaEventRecord(copied[at], copies));
  }
  copies.synchronize();
  bool right = true;
  for (int round = 0; round < 4; ++round) {
    right = right && results[round].all(static_cast<unsigned char>(round + 1));
  }
  drain();
  return right;
}

// A non-blocking stream does not wait for the legacy default stream.
bool legacy_stream(bool with_wait) {
  const Stream a;
  const Device x(1);
  const Pinned host;
  fill(x, 2, nullptr);
  if (with_wait) ok(cudaStreamSynchronize(nullptr));
  copy(host, x, a);
  a.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// Nor does the legacy default stream wait for it.
bool legacy_reads(bool with_wait) {
  const Stream a;
  const Device x(1);
  const Pinned host;
  fill(x, 2, a);
  if (with_wait) a.synchronize();
  copy(host, x, nullptr);
  ok(cudaStreamSynchronize(nullptr));
  const bool right = host.all(2);
  drain();
  return right;
}

// Two blocking streams are not ordered against each other.
bool blocking_streams(bool with_wait) {
  const Stream a(cudaStreamDefault);
  const Stream b(cudaStreamDefault);
  const Device x(1);
  const Pinned host;
  fill(x, 2, a);
  if (with_wait) join(b, a);
  copy(host, x, b);
  b.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// cudaMemset of device memory returns before it is done.
bool memset_does_not_wait(bool with_wait) {
  const Stream a;
  const Device x(1);
  const Pinned host;
  ok(cudaMemset(x, 2, size));
  if (with_wait) drain();
  copy(host, x, a);
  a.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// So does cudaMemcpy from device to device.
bool memcpy_on_the_device_does_not_wait(bool with_wait) {
  const Stream a;
  const Device x(2);
  const Device y(1);
  const Pinned host;
  ok(cudaMemcpy(y, x, size, cudaMemcpyDeviceToDevice));
  if (with_wait) drain();
  copy(host, y, a);
  a.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// Memory that is freed in one stream while another still reads it. The next allocation may have it
// at once, and here it does.
bool freed_in_use(bool with_wait) {
  const Stream a;
  const Stream b;
  void* first = nullptr;
  void* second = nullptr;
  const Pinned host;
  ok(cudaMallocAsync(&first, size, a));
  fill(static_cast<unsigned char*>(first), 1, a);
  join(b, a);
  copy(host, static_cast<unsigned char*>(first), b);
  if (with_wait) join(a, b);
  ok(cudaFreeAsync(first, a));
  ok(cudaStreamSynchronize(a));
  ok(cudaMallocAsync(&second, size, a));
  fill(static_cast<unsigned char*>(second), 2, a);
  ok(cudaStreamSynchronize(a));
  ok(cudaStreamSynchronize(b));
  const bool right = host.all(1);
  ok(cudaFreeAsync(second, a));
  drain();
  return right;
}

struct Sum {
  const unsigned char* bytes;
  unsigned sum;
};

void add_up(void* data) {
  auto* const sum = static_cast<Sum*>(data);
  sum->sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum->sum += sum->bytes[i];
}

// A host function in another stream than the copy that it reads.
bool host_function_reads(bool with_wait) {
  const Stream a;
  const Stream b;
  const Device x(2);
  const Pinned host;
  Sum sum{host, 0};
  copy(host, x, a);
  if (with_wait) join(b, a);
  ok(cudaLaunchHostFunc(b, add_up, &sum));
  b.synchronize();
  const bool right = sum.sum == 2 * size;
  drain();
  return right;
}

struct Store {
  unsigned char* bytes;
  unsigned char value;
};

void store(void* data) {
  const auto* const wanted = static_cast<const Store*>(data);
  std::memset(wanted->bytes, wanted->value, size);
}

// A host function makes the bytes that another stream copies.
bool host_function_writes(bool with_wait) {
  const Stream a;
  const Stream b;
  const Device x;
  const Pinned host(1);
  const Pinned back;
  Store wanted{host, 4};
  ok(cudaLaunchHostFunc(a, store, &wanted));
  if (with_wait) join(b, a);
  copy(x, host, b);
  copy(back, x, b);
  b.synchronize();
  const bool right = back.all(4);
  drain();
  return right;
}

// The host uses what a host function wrote.
bool host_function_result(bool with_wait) {
  const Stream a;
  const Pinned host(7);
  Sum sum{host, 0};
  ok(cudaLaunchHostFunc(a, add_up, &sum));
  if (with_wait) a.synchronize();
  const bool right = sum.sum == 7 * size;
  drain();
  return right;
}

// Work of a destroyed stream still runs, and nothing waits for it by itself.
bool destroyed_stream(bool with_wait) {
  const Stream b;
  const Device x(1);
  const Pinned host;
  {
    const Stream a;
    fill(x, 2, a);
    if (with_wait) join(b, a);
  }
  copy(host, x, b);
  b.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

// A pipeline of pinned staging memory that is filled again too early.
bool staging(bool with_wait) {
  const Stream a;
  const Event taken;
  const Device parts(0, 2 * size);
  const Pinned stage;
  const Pinned first;
  const Pinned second;
  std::memset(stage, 1, size);
  copy(parts, stage, a);
  ok(cudaEventRecord(taken, a));
  if (with_wait) ok(cudaEventSynchronize(taken));
  std::memset(stage, 2, size);
  copy(parts + size, stage, a);
  copy(first, parts, a);
  copy(second, parts + size, a);
  a.synchronize();
  return first.all(1) && second.all(2);
}

// A query is made, but its answer is not heeded.
bool query_not_heeded(bool with_wait) {
  const Stream a;
  const Device x(9);
  const Pinned host;
  copy(host, x, a);
  while (cudaStreamQuery(a) == cudaErrorNotReady && with_wait) {
  }
  const bool right = host.all(9);
  drain();
  return right;
}

// Every stream of a fan-out waits, and the join misses one of them.
bool fan_out(bool with_wait) {
  constexpr std::size_t count = 4;
  constexpr std::size_t part = size / count;
  const Stream a;
  const Stream streams[count];
  const Device x(1);
  const Pinned host;
  for (std::size_t i = 0; i < count; ++i) {
    join(streams[i], a);
    fill(x + i * part, 2, streams[i], part);
    if (with_wait || i != count - 1) join(a, streams[i]);
  }
  copy(host, x, a);
  a.synchronize();
  const bool right = host.all(2);
  drain();
  return right;
}

constexpr MissingWait programs[] = {
    {"read_after_write", read_after_write},
    {"write_after_read", write_after_read},
    {"write_after_write", write_after_write},
    {"host_reads", host_reads},
    {"host_writes", host_writes},
    {"host_reads_behind_event", host_reads_behind_event},
    {"record_too_early", record_too_early},
    {"wait_before_record", wait_before_record},
    {"chain", chain},
    {"two_producers", two_producers},
    {"double_buffer", double_buffer},
    {"legacy_stream", legacy_stream},
    {"legacy_reads", legacy_reads},
    {"blocking_streams", blocking_streams},
    {"memset_does_not_wait", memset_does_not_wait},
    {"memcpy_on_the_device_does_not_wait", memcpy_on_the_device_does_not_wait},
    {"freed_in_use", freed_in_use},
    {"host_function_reads", host_function_reads},
    {"host_function_writes", host_function_writes},
    {"host_function_result", host_function_result},
    {"destroyed_stream", destroyed_stream},
    {"staging", staging},
    {"query_not_heeded", query_not_heeded},
    {"fan_out", fan_out},
};

}  // namespace

std::span<const MissingWait> missing_waits() { return programs; }

bool MissingWait::run(bool with_wait) const {
  failed = false;
  const bool right = program(with_wait);
  return right && !failed;
}
