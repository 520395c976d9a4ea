// SPDX-License-Identifier: BSL-1.0
// What the objects that nvcc makes of .cu files call before main: they tell which kernels and
// variables they have. No header of CUDA declares these functions for other compilers. They ask
// nothing of a device, so they work on a machine without one.
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "sim/device_image.hpp"
#include "sim/kernels.hpp"
#include "sim/report.hpp"
#include "sim/variables.hpp"

namespace {

using namespace culvert::sim::detail;

// One object of nvcc, by whose address the others are known.
struct Object {
  void* image;  // its device code
};

Variable variable_of(void** handle, const char* mangled_name, std::size_t size) {
  Variable variable;
  variable.owner = handle;
  variable.size = size;
  variable.name = device_name(mangled_name);
  const auto* const object = reinterpret_cast<const Object*>(handle);
  variable.initial = initial_value(object->image, mangled_name, size);
  return variable;
}

// Memory that host code and kernels use alike. It is never freed: the program holds its address,
// and may use it until its very end. So it comes from the system, where no leak checker looks for
// it.
BlockPtr managed_memory(const Variable& variable) {
  void* const bytes =
      mmap(nullptr, variable.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) refuse("no memory for the variable %s", variable.name.name.c_str());
  auto block = std::make_shared<Block>();
  block->address = reinterpret_cast<std::uintptr_t>(bytes);
  block->bytes = static_cast<std::byte*>(bytes);
  block->size = variable.size;
  block->capacity = variable.size;
  block->kind = BlockKind::registered;
  block->is_variable = true;
  if (variable.initial) {
    std::copy(variable.initial->begin(), variable.initial->end(), block->bytes);
  } else {
    report("the initial value of the variable %s is not known: it begins as zeros",
           variable.name.name.c_str());
  }
  return block;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* image) { return reinterpret_cast<void**>(new Object{image}); }

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  if (handle == nullptr) return;
  Kernels::instance().remove_all(handle);
  Variables::instance().remove_all(handle);
  delete reinterpret_cast<Object*>(handle);
}

// True: managed variables can be used. Host code asks before it first uses one.
char __cudaInitModule(void** /*handle*/) { return 1; }

void __cudaRegisterFunction(void** handle, const char* kernel, char* /*device_function*/,
                            const char* name, int /*thread_limit*/, uint3* /*thread*/,
                            uint3* /*block*/, dim3* /*block_size*/, dim3* /*grid_size*/,
                            int* /*warp_size*/) {
  Kernels::instance().add(handle, kernel, name);
}

void __cudaRegisterVar(void** handle, char* symbol, char* /*device_address*/, const char* name,
                       int /*is_external*/, std::size_t size, int /*is_constant*/,
                       int /*is_global*/) {
  Variable variable = variable_of(handle, name, size);
  variable.symbol = reinterpret_cast<std::uintptr_t>(symbol);
  Variables::instance().add(std::move(variable));
}

// Host code reaches the variable through a pointer, which is set here.
void __cudaRegisterManagedVar(void** handle, void** pointer, char* /*device_address*/,
                              const char* name, int /*is_external*/, std::size_t size,
                              int /*is_constant*/, int /*is_global*/) {
  Variable variable = variable_of(handle, name, size);
  variable.managed = managed_memory(variable);
  variable.symbol = variable.managed->address;
  *pointer = variable.managed->bytes;
  Variables::instance().add(std::move(variable));
}

}  // extern "C"
