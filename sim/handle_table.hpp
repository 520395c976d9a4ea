// SPDX-License-Identifier: BSL-1.0
// Handles that are numbers: checked by looking them up, never by following them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace culvert::sim::detail {

enum class HandleKind : std::uintptr_t {
  stream = 1,
  event = 2,
  pool = 3,
  graph = 4,
  graph_node = 5,
  graph_exec = 6,
  user_object = 7
};

// A value is used once in the life of the process, so a handle kept too long is seen as such. No
// x86-64 or AArch64 user address looks like it: following one faults.
template <class T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind)
      : base_(std::uintptr_t{0x0C00'0000'0000'0000} + (static_cast<std::uintptr_t>(kind) << 52)) {}

  std::uintptr_t add(std::shared_ptr<T> object) {
    const std::uintptr_t handle = base_ + (++issued_ << 4);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  // Null for what never was a handle or is none any more.
  std::shared_ptr<T> find(std::uintptr_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  void remove(std::uintptr_t handle) { objects_.erase(handle); }

  template <class Predicate>
  void remove_if(Predicate predicate) {
    std::erase_if(objects_, [&](const auto& entry) { return predicate(*entry.second); });
  }

  // Whether it is, or once was, a handle of this kind.
  bool issued(std::uintptr_t handle) const {
    return handle > base_ && handle <= base_ + (issued_ << 4) && handle % 16 == 0;
  }

  std::size_t size() const { return objects_.size(); }

  template <class Function>
  void for_each_handle(Function function) const {
    for (const auto& [handle, object] : objects_) function(handle, *object);
  }

  template <class Function>
  void for_each(Function function) const {
    for (const auto& [handle, object] : objects_) function(*object);
  }

 private:
  std::uintptr_t base_;
  std::uintptr_t issued_ = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace culvert::sim::detail
