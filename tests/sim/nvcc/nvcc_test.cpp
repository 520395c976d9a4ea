// SPDX-License-Identifier: BSL-1.0
// Kernels and variables of .cu files that nvcc compiled, defined from a .cpp file.
#include "app.hpp"
#include "sim/sim_fixture.hpp"
#include "test_kernels.hpp"

namespace {

class Nvcc : public SimTest {
 protected:
  Nvcc() { define_fill(); }

  static int* make_int() { return reinterpret_cast<int*>(make_pinned(sizeof(int))); }
};

TEST_F(Nvcc, ALaunchCallsTheBodyInOrder) {
  std::vector<sim::KernelLaunch> launches;
  sim::define_kernel(app::scale,
                     [&](const sim::KernelLaunch& launch, float* x, float factor, int count) {
                       launches.push_back(launch);
                       float* const values = sim::memory(x, static_cast<std::size_t>(count));
                       for (int i = 0; i < count; ++i) values[i] *= factor;
                     });
  cudaStream_t stream = make_stream();
  auto* const pinned = reinterpret_cast<float*>(make_pinned(3 * sizeof(float)));
  pinned[2] = 1.5F;
  app::run_scale(pinned, 2, 3, stream);
  app::run_scale(pinned, 4, 3, stream);
  CUDA_OK(cudaGetLastError());
  EXPECT_EQ(sim::pending(), 2U);
  EXPECT_EQ(pinned[2], 1.5F);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(pinned[2], 12.0F);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].grid.y, 3U);
  EXPECT_EQ(launches[0].block.x, 64U);
  EXPECT_EQ(launches[0].shared_memory_bytes, 128U);
  EXPECT_EQ(sim::call_count("cudaLaunchKernel"), 2U);

  sim::fail("cudaLaunchKernel", cudaErrorLaunchOutOfResources);
  app::run_scale(pinned, 2, 3, stream);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchOutOfResources);
}

TEST_F(Nvcc, KernelsThatOnlyTheirFileCanName) {
  sim::define_kernel("hidden", [](int* x) { *sim::memory(x) += 1; });
  sim::define_kernel("static_kernel", [](int* x) { *sim::memory(x) += 10; });
  sim::define_kernel("app::structure", [](double* x, app::Line line) {
    double& value = *sim::memory(x);
    value = line.slope * value + line.offset;
  });
  bool called = false;
  sim::define_kernel("c_kernel", [&] { called = true; });
  int* const number = make_int();
  auto* const real = reinterpret_cast<double*>(make_pinned(sizeof(double)));
  *real = 3;
  cudaStream_t stream = make_stream();
  app::run_hidden(number, stream);
  app::run_static(number, stream);
  app::run_structure(real, {.slope = 2, .offset = 0.5}, stream);
  app::run_c(stream);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(*number, 11);
  EXPECT_EQ(*real, 6.5);
  EXPECT_TRUE(called);
}

TEST_F(Nvcc, ADefinitionServesAllFilesInstances) {
  int* const number = make_int();
  app::run_template(number, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*number, 3);
}

TEST_F(Nvcc, ALaunchInTheArgumentsOfAnother) {
  std::vector<unsigned> grids;
  sim::define_kernel(
      "hidden", [&](const sim::KernelLaunch& launch, int*) { grids.push_back(launch.grid.x); });
  int* const number = make_int();
  app::run_nested(number, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(grids, std::vector<unsigned>{1});
  EXPECT_EQ(*number, 3);
}

TEST_F(Nvcc, AnUndefinedKernelIsNamed) {
  testing::internal::CaptureStderr();
  app::run_undefined(nullptr, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "culvert::sim: the kernel app::undefined(int*, app::Line) has no definition: "
            "culvert::sim::define_kernel(app::undefined, [](int*, app::Line) {...}) gives it "
            "one\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  // It may be defined later.
  int calls = 0;
  sim::define_kernel("undefined", [&](int*, app::Line) { ++calls; });
  app::run_undefined(nullptr, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(calls, 1);
}

TEST_F(Nvcc, PerThreadDefaultStreams) {
  int* const number = make_int();
  run_in_per_thread_stream(number);
  CUDA_OK(cudaGetLastError());
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(*number, 3);
}

TEST_F(Nvcc, VariablesBeginWithTheirValues) {
  float table[4] = {};
  CUDA_OK(app::get_table(table));
  EXPECT_EQ(table[0], 1);
  EXPECT_EQ(table[3], 4);
  int start = 0;
  CUDA_OK(app::get_start(start));
  EXPECT_EQ(start, 77);
  EXPECT_EQ(app::managed(), 5);
}

TEST_F(Nvcc, BodiesReachVariables) {
  float seen = 0;
  sim::define_kernel("hidden", [&](int*) {
    seen = sim::variable<float>("table", 4)[2];
    *sim::variable<long>("app::hidden_counter") += *sim::variable<int>("start");
    *sim::variable<int>("managed_value") += 1;
  });
  cudaStream_t stream = make_stream();
  CUDA_OK(app::set_table({5, 6, 7, 8}, stream));
  const int before = app::managed();
  app::run_hidden(nullptr, stream);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(seen, 7);
  void* address = nullptr;
  CUDA_OK(app::address_of_hidden_counter(&address));
  long counter = 0;
  CUDA_OK(cudaMemcpy(&counter, address, sizeof counter, cudaMemcpyDeviceToHost));
  EXPECT_EQ(counter, 77);
  EXPECT_EQ(app::managed(), before + 1);
}

TEST_F(Nvcc, WhatAFileDefinesItself) {
  EXPECT_EQ(found_in_symbol(make_stream()), 12);
  EXPECT_TRUE(handles_are_taken(make_stream()));
}

}  // namespace
