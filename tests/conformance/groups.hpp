// SPDX-License-Identifier: BSL-1.0
//
// The groups, by their functions.
#pragma once

namespace facts {

void creation();
void default_streams();
void events();
void copies();
void copy_kinds();
void copy_ranges();
void freed_memory();
void copies_2d();
void copies_3d();
void batches();
void sets();
void allocation();
void registration();
void pointers();
void managed();
void pools();
void pool_memory();
void busy();
void blocking_copies();
void blocking_memory();
void blocking_objects();
void blocking_graphs();
void blocking_managed();
void last_error();
void host_functions();
void callbacks();
void capture();
void capture_modes();
void capture_work();
void capture_ends();
void graphs();
void graph_nodes();
void graph_launches();
void graph_updates();
void user_objects();
void devices();
void device_limits();
void device_reset();

}  // namespace facts
