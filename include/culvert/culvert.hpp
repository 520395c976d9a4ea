// SPDX-License-Identifier: BSL-1.0
//
// All of culvert. Include single headers instead to compile faster.
#pragma once

#include <culvert/async.hpp>
#include <culvert/batch_copy.hpp>
#include <culvert/collect.hpp>
#include <culvert/copy.hpp>
#include <culvert/copy_2d.hpp>
#include <culvert/device.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/elapsed.hpp>
#include <culvert/environment.hpp>
#include <culvert/error.hpp>
#include <culvert/event.hpp>
#include <culvert/fill.hpp>
#include <culvert/fill_2d.hpp>
#include <culvert/host_func.hpp>
#include <culvert/launch.hpp>
#include <culvert/memory_pool.hpp>
#include <culvert/occupancy.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/pitched_buffer.hpp>
#include <culvert/registered_buffer.hpp>
#include <culvert/span.hpp>
#include <culvert/span_2d.hpp>
#include <culvert/span_3d.hpp>
#include <culvert/stream.hpp>
#include <culvert/version.hpp>
