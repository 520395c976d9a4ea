// SPDX-License-Identifier: BSL-1.0
//
// All of culvert. Include single headers instead to compile faster.
#pragma once

#include <culvert/async.hpp>
#include <culvert/collect.hpp>
#include <culvert/copy.hpp>
#include <culvert/device.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/elapsed.hpp>
#include <culvert/environment.hpp>
#include <culvert/error.hpp>
#include <culvert/event.hpp>
#include <culvert/fill.hpp>
#include <culvert/host_func.hpp>
#include <culvert/launch.hpp>
#include <culvert/memory_pool.hpp>
#include <culvert/occupancy.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/span.hpp>
#include <culvert/stream.hpp>
#include <culvert/version.hpp>
