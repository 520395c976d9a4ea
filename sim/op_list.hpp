// SPDX-License-Identifier: BSL-1.0
// Operations in the order in which they were added, without an allocation for each.
#pragma once

#include <cstddef>

#include "sim/op.hpp"

namespace culvert::sim::detail {

// The operations hold the links; whoever adds one keeps it alive. An operation is once in a list.
template <OpLinks Op::*links>
class OpList {
 public:
  class Iterator {
   public:
    explicit Iterator(Op* op) : op_(op) {}
    Op& operator*() const { return *op_; }
    Iterator& operator++() {
      op_ = (op_->*links).next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return op_ != other.op_; }

   private:
    Op* op_;
  };

  void add(Op& op) {
    OpLinks& own = op.*links;
    own = {.previous = last_, .next = nullptr, .in_list = true};
    (last_ == nullptr ? first_ : (last_->*links).next) = &op;
    last_ = &op;
    ++size_;
  }

  // Nothing if it is not in the list.
  void remove(Op& op) {
    OpLinks& own = op.*links;
    if (!own.in_list) return;
    (own.previous == nullptr ? first_ : (own.previous->*links).next) = own.next;
    (own.next == nullptr ? last_ : (own.next->*links).previous) = own.previous;
    own = {};
    --size_;
  }

  Op* first() const { return first_; }
  std::size_t size() const { return size_; }
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }

 private:
  Op* first_ = nullptr;
  Op* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace culvert::sim::detail
