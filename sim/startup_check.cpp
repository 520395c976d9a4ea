// SPDX-License-Identifier: BSL-1.0
#include "sim/startup_check.hpp"

#include <link.h>

#include <string_view>

#include "culvert/sim/sim.hpp"
#include "sim/leaks.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

int refuse_real_runtime(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (file.substr(0, 12) == "libcudart.so") {
    refuse("the real CUDA runtime (%s) is loaded too; link one runtime, see CULVERT_RUNTIME",
           object->dlpi_name);
  }
  return 0;
}

bool check() {
  dl_iterate_phdr(refuse_real_runtime, nullptr);
  config_from_environment();  // these end the process on a bad value
  leak_check_from_environment();
  return true;
}

}  // namespace

void check_startup() { [[maybe_unused]] static const bool checked = check(); }

namespace {

[[maybe_unused]] const bool checked_before_main = (check_startup(), true);

}  // namespace
}  // namespace culvert::sim::detail
