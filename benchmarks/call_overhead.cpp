// SPDX-License-Identifier: BSL-1.0
//
// The host's time for each operation, as raw CUDA and as culvert, interleaved in one run on a
// GPU. Every round times a batch of raw calls, one of culvert's and one of raw calls again, in
// rotating order; the streams are empty before each. See docs/overhead.md.
//
// usage: call_overhead [--rounds N] [--filter TEXT] [--json FILE]
#include "operations.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr double batch_ns = 400'000;
constexpr int most_calls = 400;  // which every stream's queue holds

// Nanoseconds for each of `calls` calls.
double time(Fixture& fixture, void (*work)(Fixture&, int), int calls) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  work(fixture, calls);
  const std::chrono::duration<double, std::nano> taken = Clock::now() - begin;
  fixture.drain();
  return taken.count() / calls;
}

// The value below which this part of the values lies.
double quantile(std::vector<double> values, double part) {
  const auto place = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

enum Verdict { pass, within_spread, above };
constexpr const char* verdict_names[] = {"pass", "within spread", "ABOVE"};

struct Result {
  int calls;
  double raw, culvert;      // median nanoseconds for a call
  double ratio;             // median of culvert / raw
  double low, again, high;  // raw again / raw: 5th percentile, median, 95th
  Verdict verdict;
};

Result measure(Fixture& fixture, const Operation& operation, int rounds) {
  double once = 1e9;
  for (int i = 0; i < 5; ++i) {  // the first ones warm up
    time(fixture, operation.culvert, 20);
    once = std::min(once, time(fixture, operation.raw, 20));
  }
  Result result{};
  result.calls = std::clamp(static_cast<int>(batch_ns / once), 10, most_calls);

  enum { raw, culvert, again, sides };
  void (*const work[sides])(Fixture&, int) = {operation.raw, operation.culvert, operation.raw};
  std::vector<double> raw_times, culvert_times, ratios, raw_ratios;
  for (int round = -3; round < rounds; ++round) {  // three to warm up
    std::array<double, sides> times{};
    for (int i = 0; i < sides; ++i) {
      const auto side = static_cast<std::size_t>((round + sides + i) % sides);
      times[side] = time(fixture, work[side], result.calls);
    }
    if (round < 0) continue;
    raw_times.push_back(times[raw]);
    culvert_times.push_back(times[culvert]);
    ratios.push_back(times[culvert] / times[raw]);
    raw_ratios.push_back(times[again] / times[raw]);
  }
  result.raw = quantile(raw_times, 0.5);
  result.culvert = quantile(culvert_times, 0.5);
  result.ratio = quantile(ratios, 0.5);
  result.low = quantile(raw_ratios, 0.05);
  result.again = quantile(raw_ratios, 0.5);
  result.high = quantile(raw_ratios, 0.95);
  result.verdict = result.ratio <= operation.limit ? pass
                   : result.ratio <= result.high   ? within_spread
                                                   : above;
  return result;
}

void print(const Operation& operation, const Result& result) {
  std::printf("| %-24s | %5d | %8.0f | %8.0f | %6.3f | %5.2f | %.3f %.3f %.3f | %-13s |\n",
              operation.name, result.calls, result.raw, result.culvert, result.ratio,
              operation.limit, result.low, result.again, result.high,
              verdict_names[result.verdict]);
  std::fflush(stdout);
}

void print_json(std::FILE* file, const Operation& operation, const Result& result, bool first) {
  std::fprintf(file,
               "%s\n  {\"operation\": \"%s\", \"calls\": %d, \"raw_ns\": %.1f, \"culvert_ns\": "
               "%.1f, \"ratio\": %.4f, \"limit\": %.2f, \"raw_again\": [%.4f, %.4f, %.4f], "
               "\"verdict\": \"%s\"}",
               first ? "" : ",", operation.name, result.calls, result.raw, result.culvert,
               result.ratio, operation.limit, result.low, result.again, result.high,
               verdict_names[result.verdict]);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 101;
  const char* filter = "";
  const char* json = nullptr;
  for (int i = 1; i < argc; i += 2) {
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value != nullptr && std::strcmp(argv[i], "--rounds") == 0 && std::atoi(value) > 0) {
      rounds = std::atoi(value);
    } else if (value != nullptr && std::strcmp(argv[i], "--filter") == 0) {
      filter = value;
    } else if (value != nullptr && std::strcmp(argv[i], "--json") == 0) {
      json = value;
    } else {
      std::fprintf(stderr, "usage: call_overhead [--rounds N] [--filter TEXT] [--json FILE]\n");
      return 2;
    }
  }

  const culvert::Environment env = culvert::Environment::probe();
  if (!env.usable()) {
    std::printf("skipped: %s\n", env.reason());
    return 77;
  }
  std::FILE* const file = json != nullptr ? std::fopen(json, "w") : nullptr;
  if (json != nullptr && file == nullptr) {
    std::perror(json);
    return 2;
  }

  Fixture fixture;
  std::printf("%s, CUDA runtime %s, driver for CUDA %s, medians of %d rounds\n\n",
              culvert::Device::current().name().c_str(), to_string(env.runtime()).c_str(),
              to_string(env.driver()).c_str(), rounds);
  std::printf(
      "| %-24s | calls |   raw ns |  culvert |  ratio | limit | raw again / raw   | %-13s |\n",
      "operation", "verdict");
  std::printf(
      "| %-24s | ----: | -------: | -------: | -----: | ----: | ----------------- | %-13s |\n",
      "---", "---");
  if (file != nullptr) std::fputc('[', file);
  bool first = true, any_above = false;
  for (const Operation& operation : operations()) {
    if (std::strstr(operation.name, filter) == nullptr) continue;
    const Result result = measure(fixture, operation, rounds);
    print(operation, result);
    if (file != nullptr) print_json(file, operation, result, first);
    first = false;
    any_above = any_above || result.verdict == above;
  }
  if (file != nullptr) {
    std::fputs("\n]\n", file);
    std::fclose(file);
  }
  return any_above ? 1 : 0;
}
