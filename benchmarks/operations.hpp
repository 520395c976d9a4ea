// SPDX-License-Identifier: BSL-1.0
//
// The operations whose cost is measured, each as raw CUDA and as culvert, on the same streams,
// events and memory. call_overhead.cpp takes their time on a GPU, instructions.cpp counts their
// instructions.
#pragma once

#include <culvert/culvert.hpp>

#include <span>

// What the operations work on, and the raw handles of the same.
struct Fixture {
  static constexpr std::size_t size = 4096;  // bytes in each buffer

  culvert::Stream a, b;
  culvert::Event event;
  culvert::PinnedBuffer<std::byte> host{size};
  culvert::DeviceBuffer<std::byte> bytes{size, a}, more_bytes{size, a};
  culvert::DeviceBuffer<float> floats{size / sizeof(float), a};

  std::byte byte{0x5a};
  float value = 1.5f;
  int number = 7;
  long sum = 0;  // what the host functions change
  struct Addition {
    long* total;
    int number;
    void operator()() const { *total += number; }
  } addition{&sum, number};
  culvert::HostFunc<Addition> host_func{addition};

  struct Raw {
    cudaStream_t a, b;
    cudaEvent_t event;
    void *host, *bytes, *more_bytes;
    float* floats;
    std::size_t size = Fixture::size;
    CUresult (*set_32)(CUdeviceptr, unsigned, std::size_t, CUstream);
  } raw;

  Fixture();
  // Waits until the streams are empty.
  void drain() const;
};

struct Operation {
  const char* name;
  double limit;  // of the time's ratio to raw CUDA
  // Make this many calls, in loops of the same shape.
  void (*raw)(Fixture&, int calls);
  void (*culvert)(Fixture&, int calls);
};

std::span<const Operation> operations();
