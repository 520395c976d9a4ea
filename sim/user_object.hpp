// SPDX-License-Identifier: BSL-1.0
// User objects: data of the program that lives as long as graphs refer to it.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda_runtime_api.h"

namespace culvert::sim::detail {

// Graphs, executable graphs and pending launches share it. The program's own references are one
// more owner, in its UserObjectEntry. When the last is gone the internal thread calls `destroy`.
struct UserObject {
  std::uintptr_t handle = 0;
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;

  UserObject() = default;
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject();
};

using UserObjectPtr = std::shared_ptr<UserObject>;

// What the handle leads to, while there is the object.
struct UserObjectEntry {
  std::weak_ptr<UserObject> object;
  UserObjectPtr held;       // while the program has references of its own
  std::uint64_t count = 0;  // of them
};

}  // namespace culvert::sim::detail
