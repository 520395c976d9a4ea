// SPDX-License-Identifier: BSL-1.0
#include "sim/user_object.hpp"

#include "sim/process.hpp"

namespace culvert::sim::detail {

UserObject::~UserObject() {
  Process& process = Process::instance();
  process.graphs.user_objects.remove(handle);
  if (destroy != nullptr) {
    process.internal_thread.add([call = destroy, with = pointer] { call(with); });
  }
}

}  // namespace culvert::sim::detail
