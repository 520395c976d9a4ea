// SPDX-License-Identifier: BSL-1.0
// User objects.
#include <climits>

#include "sim/graph_calls.hpp"

namespace {

using namespace culvert::sim::detail;

bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

// Null for what is none (any more).
std::shared_ptr<UserObjectEntry> find(const Call& call, cudaUserObject_t handle) {
  return call.process.graphs.user_objects.find(reinterpret_cast<std::uintptr_t>(handle));
}

// Gives up references of the program. With the last one the object may end, and its entry too.
void release(UserObjectEntry& entry, unsigned count) {
  entry.count -= count;
  if (entry.count != 0) return;
  const UserObjectPtr last = std::move(entry.held);
}

}  // namespace

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* result, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return api("cudaUserObjectCreate", [&](Call& call) {
    if (result == nullptr || destroy == nullptr || !is_count(references) ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    const auto object = std::make_shared<UserObject>();
    const auto entry = std::make_shared<UserObjectEntry>();
    entry->object = object;
    entry->held = object;
    entry->count = references;
    object->handle = call.process.graphs.user_objects.add(entry);
    object->pointer = pointer;
    object->destroy = destroy;
    *result = reinterpret_cast<cudaUserObject_t>(object->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return api("cudaUserObjectRetain", [&](Call& call) {
    const auto entry = find(call, handle);
    if (!entry || !is_count(count)) return cudaErrorInvalidValue;
    entry->held = entry->object.lock();
    entry->count += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return api("cudaUserObjectRelease", [&](Call& call) {
    const auto entry = find(call, handle);
    if (!entry || !is_count(count) || entry->count < count) return cudaErrorInvalidValue;
    release(*entry, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle,
                                      unsigned count, unsigned flags) {
  return api("cudaGraphRetainUserObject", [&](Call& call) {
    const GraphPtr graph = find_graph(call, graph_handle);
    const auto entry = find(call, handle);
    const bool moves = flags == cudaGraphUserObjectMove;
    if (!graph || !entry || !is_count(count) || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0 ||
        (moves && entry->count < count)) {
      return cudaErrorInvalidValue;
    }
    graph->user_objects[entry->object.lock()] += count;
    if (moves) release(*entry, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle,
                                       unsigned count) {
  return api("cudaGraphReleaseUserObject", [&](Call& call) {
    const GraphPtr graph = find_graph(call, graph_handle);
    const auto entry = find(call, handle);
    if (!graph || !entry || !is_count(count)) return cudaErrorInvalidValue;
    const auto found = graph->user_objects.find(entry->object.lock());
    if (found == graph->user_objects.end() || found->second < count) return cudaErrorInvalidValue;
    found->second -= count;
    if (found->second == 0) graph->user_objects.erase(found);
    return cudaSuccess;
  });
}

}  // extern "C"
