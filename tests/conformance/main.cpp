// SPDX-License-Identifier: BSL-1.0
//
// Prints facts about the CUDA runtime that it is linked with, one a line.
//   facts            every group, each in a process of its own, after a line about the machine
//   facts --jobs N   the same, N at a time
//   facts GROUP      that group, in this process
//   facts --list     the groups' names
// Ends with 77 where CUDA cannot be used, with 1 if a group did not come to its end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "run.hpp"

namespace {

using namespace facts;

constexpr int group_limit_seconds = 20;
constexpr int skipped = 77;
constexpr const char* probe = "--probe";

// In a child of its own, since the parent must not begin to use CUDA.
int probe_device() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) error = cudaFree(nullptr);
  cudaDeviceProp properties{};
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess) {
    int driver = 0;
    need(cudaDriverGetVersion(&driver));
    std::printf("# %s, CUDA runtime %d, driver for CUDA %d\n", properties.name, CUDART_VERSION,
                driver);
    return 0;
  }
  std::printf("skipped: %s: %s\n", name_of(error).c_str(), cudaGetErrorString(error));
  return skipped;
}

// Whether it came to its end.
bool print_ending(const char* group, const Ending& ending) {
  std::fputs(ending.output.c_str(), stdout);
  if (!ending.output.empty() && ending.output.back() != '\n') std::puts("");
  if (ending.hung) {
    std::printf("%s = hung\n", group);
  } else if (ending.signal != 0) {
    std::printf("%s = crashed (signal %d)\n", group, ending.signal);
  } else if (ending.status != 0) {
    std::printf("%s = ended early (status %d)\n", group, ending.status);
  }
  std::fflush(stdout);
  return !ending.hung && ending.signal == 0 && ending.status == 0;
}

int run_all(std::size_t jobs) {
  const Ending device = run_child(probe, group_limit_seconds);
  if (device.hung || device.signal != 0 || device.status != 0) {
    if (device.status == skipped) return std::fputs(device.output.c_str(), stdout), skipped;
    print_ending("the probe for a device", device);
    return 1;
  }
  std::fputs(device.output.c_str(), stdout);
  std::vector<std::future<Ending>> endings;
  const auto start = [&] {
    endings.push_back(std::async(std::launch::async, run_child, groups[endings.size()].name,
                                 group_limit_seconds));
  };
  bool all_ended = true;
  for (std::size_t i = 0; i < group_count; ++i) {
    while (endings.size() < group_count && endings.size() < i + jobs) start();
    all_ended &= print_ending(groups[i].name, endings[i].get());
  }
  return all_ended ? 0 : 1;
}

int run_one(std::string_view name) {
  for (std::size_t i = 0; i < group_count; ++i) {
    if (name != groups[i].name) continue;
    if (const int status = probe_device(); status != 0) return status;
    run_group(groups[i]);
    // Without the end of static objects and of CUDA, which are no fact.
    std::fflush(stdout);
    std::_Exit(0);
  }
  std::fprintf(stderr, "facts: there is no group \"%.*s\"\n", static_cast<int>(name.size()),
               name.data());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 1) return run_all(1);
  if (argc == 3 && first == "--jobs" && std::atoi(argv[2]) > 0) {
    return run_all(static_cast<std::size_t>(std::atoi(argv[2])));
  }
  if (argc == 2 && first == probe) return probe_device();
  if (argc == 2 && first == "--list") {
    for (std::size_t i = 0; i < group_count; ++i) std::puts(groups[i].name);
    return 0;
  }
  if (argc == 2) return run_one(first);
  std::fputs("usage: facts [--jobs N | --list | GROUP]\n", stderr);
  return 2;
}
