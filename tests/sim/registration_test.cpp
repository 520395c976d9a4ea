// SPDX-License-Identifier: BSL-1.0
// What nvcc's objects call, called by hand: kernels and variables of .cu files where there is no
// nvcc.
#include <array>
#include <string>
#include <thread>

#include "sim_fixture.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
}

namespace {

// What nvcc makes of one .cu file.
class Object {
 public:
  Object() : handle_(__cudaRegisterFatBinary(nullptr)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { __cudaUnregisterFatBinary(handle_); }

  void kernel(const char& function, const char* name) {
    __cudaRegisterFunction(handle_, &function, nullptr, name, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
  }
  template <class T>
  void variable(T& symbol, const char* name) {
    __cudaRegisterVar(handle_, reinterpret_cast<char*>(&symbol), nullptr, name, 0, sizeof symbol, 0,
                      0);
  }
  void managed(void*& pointer, const char* name, std::size_t size) {
    __cudaRegisterManagedVar(handle_, &pointer, nullptr, name, 0, size, 0, 0);
  }

 private:
  void** handle_;
};

cudaError_t launch(const char& function, int* pointer) {
  std::array<void*, 1> arguments{&pointer};
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &function), cudaSuccess);
  return __cudaLaunchKernel(kernel, 1, 1, arguments.data(), 0, nullptr);
}

// What is printed by a launch of what has no definition.
std::string printed(const char& function) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(function, nullptr), cudaErrorInvalidDeviceFunction);
  return testing::internal::GetCapturedStderr();
}

// Its address stands for that of the kernel's host function.
char first = 0;
char second = 0;

class Registration : public SimTest {};

TEST_F(Registration, AnUndefinedKernelIsNamed) {
  Object object;
  object.kernel(first, "_Z5scalePffi");
  EXPECT_EQ(printed(first),
            "culvert::sim: the kernel scale(float*, float, int) has no definition: "
            "culvert::sim::define_kernel(scale, [](float*, float, int) {...}) gives it one\n");
  object.kernel(first, "_ZN36_GLOBAL__N__1ce3a087_4_x_cu_35004a264anonEPi");
  EXPECT_EQ(printed(first),
            "culvert::sim: the kernel (anonymous namespace)::anon(int*) has no definition: "
            "culvert::sim::define_kernel(\"anon\", [](int*) {...}) gives it one\n");
  object.kernel(first, "_Z4tmplIiLi3EEvPT_");
  EXPECT_EQ(printed(first),
            "culvert::sim: the kernel tmpl<int, 3>(int*) has no definition: "
            "culvert::sim::define_kernel(\"tmpl<int, 3>\", [](int*) {...}) gives it one\n");
  object.kernel(first, "i");  // extern "C"
  EXPECT_EQ(printed(first),
            "culvert::sim: the kernel i has no definition: culvert::sim::define_kernel(i, body) "
            "gives it one\n");
}

TEST_F(Registration, NamesFindKernels) {
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  sim::define_kernel("by_name", [](int* x) { *sim::memory(x) += 1; });
  sim::define_kernel("inner::by_name",
                     [](const sim::KernelLaunch&, float* x) { *sim::memory(x) = 7; });
  sim::define_kernel("name", [](int* x) { *sim::memory(x) = -1; });  // no end after a "::"
  Object object;
  object.kernel(first, "_ZN5outer5inner7by_nameEPi");
  CUDA_OK(launch(first, pinned));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*pinned, 1);
  object.kernel(second, "_ZN5outer5inner7by_nameEPd");  // for other parameters
  EXPECT_EQ(launch(second, pinned), cudaErrorInvalidDeviceFunction);
  sim::define_kernel("by_name", [](int* x) { *sim::memory(x) += 10; });  // replaces
  CUDA_OK(launch(first, pinned));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*pinned, 11);
  const char* name = nullptr;
  CUDA_OK(cudaFuncGetName(&name, &first));
  EXPECT_STREQ(name, "_ZN5outer5inner7by_nameEPi");
}

TEST_F(Registration, InstancesInSeveralFilesShareADefinition) {
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  Object object;
  Object other;
  object.kernel(first, "_Z6sharedIiEvPT_");
  other.kernel(second, "_Z6sharedIiEvPT_");
  sim::define_kernel(reinterpret_cast<void (*)(int*)>(&first),
                     [](int* x) { *sim::memory(x) += 1; });
  CUDA_OK(launch(first, pinned));
  CUDA_OK(launch(second, pinned));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*pinned, 2);
}

TEST_F(Registration, WhatIsUnloadedIsForgotten) {
  {
    Object object;
    object.kernel(first, "_Z4goneIiEvPT_");
    sim::define_kernel(reinterpret_cast<void (*)(int*)>(&first), [](int*) {});
    CUDA_OK(launch(first, nullptr));
    object.variable(second, "second");
    std::size_t size = 0;
    CUDA_OK(cudaGetSymbolSize(&size, &second));
  }
  EXPECT_EQ(launch(first, nullptr), cudaErrorInvalidDeviceFunction);
  std::size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, &second), cudaErrorInvalidSymbol);
}

TEST_F(Registration, ConfigurationsAreAStackOfTheThread) {
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4), 5, cudaStreamLegacy), 0U);
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(6), dim3(7), 8, cudaStreamPerThread), 0U);
  dim3 grid;
  dim3 block;
  std::size_t shared_memory = 0;
  cudaStream_t stream = nullptr;
  const auto pop = [&] {
    return __cudaPopCallConfiguration(&grid, &block, &shared_memory, &stream);
  };
  std::thread([&] { EXPECT_EQ(pop(), cudaErrorMissingConfiguration); }).join();
  CUDA_OK(pop());
  EXPECT_EQ(grid.x, 6U);
  EXPECT_EQ(shared_memory, 8U);
  EXPECT_EQ(stream, cudaStreamPerThread);
  CUDA_OK(pop());
  EXPECT_EQ(grid.z, 3U);
  EXPECT_EQ(block.x, 4U);
  EXPECT_EQ(pop(), cudaErrorMissingConfiguration);
}

TEST_F(Registration, AVariableHasMemoryOnEachDevice) {
  sim::Config two = strict();
  two.devices = 2;
  sim::reset(two);
  Object object;
  std::array<int, 4> symbol{};
  object.variable(symbol, "_ZN3app5tableE");
  std::array<int, 4> values{1, 2, 3, 4};
  CUDA_OK(cudaMemcpyToSymbol(&symbol, values.data(), sizeof values, 0, cudaMemcpyHostToDevice));
  CUDA_OK(cudaSetDevice(1));
  int one = -1;
  CUDA_OK(cudaMemcpyFromSymbol(&one, &symbol, sizeof one, 8, cudaMemcpyDeviceToHost));
  EXPECT_EQ(one, 0);  // it begins as zeros, on each device
  void* there = nullptr;
  CUDA_OK(cudaGetSymbolAddress(&there, &symbol));
  CUDA_OK(cudaSetDevice(0));
  void* here = nullptr;
  CUDA_OK(cudaGetSymbolAddress(&here, &symbol));
  EXPECT_NE(here, there);
  std::size_t size = 0;
  CUDA_OK(cudaGetSymbolSize(&size, &symbol));
  EXPECT_EQ(size, sizeof symbol);

  // Bodies reach that of their device.
  object.kernel(first, "_Z3seePi");
  int sum = 0;
  sim::define_kernel("see", [&](int*) {
    const int* const table = sim::variable<int>("app::table", 4);
    sum = table[0] + table[3] + sim::memory(symbol.data(), 4)[1];
  });
  CUDA_OK(launch(first, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(sum, 7);

  // It is no allocation of the program.
  EXPECT_EQ(sim::live().device_allocations, 0U);
  EXPECT_EQ(sim::live().device_bytes, 0U);
  EXPECT_EQ(cudaFree(here), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(here, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(here, 0, sizeof symbol), cudaSuccess);
  CUDA_OK(cudaMemcpyFromSymbol(values.data(), &symbol, sizeof values, 0, cudaMemcpyDefault));
  EXPECT_EQ(values[3], 0);
  CUDA_OK(cudaDeviceReset());
  CUDA_OK(cudaMemcpyFromSymbol(values.data(), &symbol, sizeof values, 0, cudaMemcpyDefault));
}

TEST_F(Registration, CopiesOfVariablesAreChecked) {
  Object object;
  int symbol = 0;
  int value = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(&symbol, &value, 1, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  object.variable(symbol, "symbol");
  EXPECT_EQ(cudaMemcpyToSymbol(&symbol, &value, 4, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&symbol, &value, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &symbol, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidMemcpyDirection);
  void* pointer = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&pointer, &value), cudaErrorInvalidSymbol);
}

TEST_F(Registration, CopiesOfVariablesRunInOrder) {
  Object object;
  int symbol = 0;
  object.variable(symbol, "symbol");
  cudaStream_t stream = make_stream();
  int* const pinned = reinterpret_cast<int*>(make_pinned(2 * sizeof(int)));
  pinned[0] = 5;
  CUDA_OK(cudaMemcpyToSymbolAsync(&symbol, &pinned[0], 4, 0, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpyFromSymbolAsync(&pinned[1], &symbol, 4, 0, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(sim::pending(), 2U);
  EXPECT_EQ(pinned[1], 0);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(pinned[1], 5);
}

TEST_F(Registration, ManagedVariables) {
  Object object;
  void* pointer = nullptr;
  object.managed(pointer, "managed", sizeof(int));
  auto* const managed = static_cast<int*>(pointer);
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(*managed, 0);
  *managed = 4;
  object.kernel(first, "_Z6doublePi");
  sim::define_kernel("double", [](int* x) { *sim::memory(x) *= 2; });
  CUDA_OK(launch(first, managed));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*managed, 8);
  void* address = nullptr;
  CUDA_OK(cudaGetSymbolAddress(&address, managed));
  EXPECT_EQ(address, managed);
  const int value = 9;
  CUDA_OK(cudaMemcpyToSymbol(managed, &value, sizeof value, 0, cudaMemcpyHostToDevice));
  EXPECT_EQ(*managed, 9);
}

using RegistrationDeathTest = Registration;

TEST_F(RegistrationDeathTest, AVariableOfNoOrOfSeveralNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((void)sim::variable<int>("nowhere"), testing::ExitedWithCode(2),
              "variable: there are 0 variables of the name nowhere");
}

}  // namespace
