// SPDX-License-Identifier: BSL-1.0
//
// The groups in the order of their output. What can end a group early comes late in it.
#include "groups.hpp"

#include "facts.hpp"

namespace facts {

const Group groups[] = {
    {"creation", creation},
    {"default_streams", default_streams},
    {"events", events},
    {"copies", copies},
    {"copy_kinds", copy_kinds},
    {"copy_ranges", copy_ranges},
    {"freed_memory", freed_memory},
    {"copies_2d", copies_2d},
    {"copies_3d", copies_3d},
    {"batches", batches},
    {"sets", sets},
    {"allocation", allocation},
    {"registration", registration},
    {"pointers", pointers},
    {"managed", managed},
    {"pools", pools},
    {"pool_memory", pool_memory},
    {"busy", busy},
    {"blocking_copies", blocking_copies},
    {"blocking_memory", blocking_memory},
    {"blocking_objects", blocking_objects},
    {"blocking_graphs", blocking_graphs},
    {"blocking_managed", blocking_managed},
    {"last_error", last_error},
    {"host_functions", host_functions},
    {"callbacks", callbacks},
    {"capture", capture},
    {"capture_modes", capture_modes},
    {"capture_work", capture_work},
    {"capture_ends", capture_ends},
    {"graphs", graphs},
    {"graph_nodes", graph_nodes},
    {"graph_launches", graph_launches},
    {"graph_updates", graph_updates},
    {"user_objects", user_objects},
    {"devices", devices},
    {"device_limits", device_limits},
    {"device_reset", device_reset},
};
const std::size_t group_count = sizeof groups / sizeof groups[0];

}  // namespace facts
