// SPDX-License-Identifier: BSL-1.0
#include "sim/managed_range.hpp"

#include "sim/memory_words.hpp"
#include "sim/place.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {

bool find_managed(const Call& call, const char* function, const void* pointer, std::size_t size,
                  ManagedRange& range) {
  Place place;
  if (size != 0 && find_place(call.process, pointer, size, place) &&
      place.memory == Memory::managed) {
    range = {place.block, place.offset, size};
    return true;
  }
  report("%s: no managed memory: %s", function,
         describe_range(call.process, pointer, size).c_str());
  return false;
}

bool is_location(const Call& call, const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return location.id >= 0 && location.id < call.process.config.devices;
#if CUDART_VERSION >= 12020
    case cudaMemLocationTypeHost:
      return true;
    case cudaMemLocationTypeHostNuma:
      return location.id == 0;  // the only node
    case cudaMemLocationTypeHostNumaCurrent:
      return true;
#endif
    default:
      return false;
  }
}

void enqueue_prefetch(Call& call, const StreamPtr& stream, const char* function,
                      const ManagedRange& range, const cudaMemLocation& location) {
  const bool to_device = location.type == cudaMemLocationTypeDevice;
  call.process.enqueue(
      call.lock, stream,
      {.kind = OpKind::copy,
       .name = function,
       .touches = {{range.block, range.offset, range.size}},
       .cost = {.engine = to_device ? Engine::to_device : Engine::to_host, .bytes = range.size}});
  // What was asked for, whether it has happened or not.
  for (PageAdvice& page : range) page.prefetched = location;
}

void enqueue_discard(Call& call, const StreamPtr& stream, const char* function,
                     const ManagedRange& range) {
  call.process.enqueue(call.lock, stream,
                       {.kind = OpKind::fill,
                        .name = function,
                        .touches = {{range.block, range.offset, range.size}},
                        .action = [bytes = range.block->bytes + range.offset, size = range.size] {
                          fill_with_poison(bytes, size);
                        }});
}

}  // namespace culvert::sim::detail
