// SPDX-License-Identifier: BSL-1.0
//
// Two streams, ordered by events, with every byte checked.
//
//   1. Streams A and B each fill device memory (A 0x11, B 0x22) and read it back to pinned
//      memory. Nothing orders A and B. The host waits for an event of each.
//   2. Stream A fills its memory with 0x33 and records an event. Stream B waits for the event
//      on the device, without blocking the host, and reads A's memory back.
//
// usage: multi_stream [--bytes N] [--json FILE]
//   --bytes N    bytes in each buffer, 1 or more (default 4096)
//   --json FILE  also write the result to FILE as JSON
// exit code: 0 passed, 1 a byte was wrong, 2 bad usage or a CUDA error, 77 CUDA cannot be used
#include <culvert/culvert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The build gives the SHA-256 of this file, so that a record names the source it is of.
#ifndef MULTI_STREAM_SOURCE_SHA256
#define MULTI_STREAM_SOURCE_SHA256 "unknown"
#endif

namespace {

using culvert::DeviceBuffer;
using culvert::Environment;
using culvert::Event;
using culvert::PinnedBuffer;
using culvert::Stream;
using culvert::StreamKind;

constexpr int exit_wrong = 1;
constexpr int exit_error = 2;
constexpr int exit_skipped = 77;

// What the host buffers hold before a copy, so that a copy that did not happen is seen.
constexpr std::byte poison{0xee};

struct Options {
  std::size_t bytes = 4096;
  std::string json;
};

// One comparison of every byte.
struct Check {
  std::string name;
  std::string ordering;  // what to look at where it fails
  std::size_t bytes = 0;
  std::size_t wrong = 0;
  std::size_t first_offset = 0;
  std::byte expected{};
  std::byte found{};
  bool passed() const { return wrong == 0; }
};

struct Record {
  bool skipped = false;
  std::string error;  // what a CUDA call threw
  std::string device;
  unsigned long long id_a = 0;
  unsigned long long id_b = 0;
  StreamKind kind_a{};
  StreamKind kind_b{};
  std::vector<Check> checks;
  bool passed() const {
    return !skipped && error.empty() && !checks.empty() &&
           std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.passed(); });
  }
};

Check compare(std::string name, std::string ordering, const PinnedBuffer<std::byte>& found,
              std::byte expected) {
  Check check{std::move(name), std::move(ordering), found.size(), 0, 0, expected, {}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected) continue;
    if (check.wrong++ == 0) {
      check.first_offset = i;
      check.found = found[i];
    }
  }
  return check;
}

void run(std::size_t bytes, Record& record) {
  record.device = culvert::Device::current().name();

  // The streams come first: a buffer's home stream must outlive it.
  Stream a, b;
  DeviceBuffer<std::byte> device_a(bytes, a), device_b(bytes, b);
  PinnedBuffer<std::byte> host_a(bytes), host_b(bytes), host_cross(bytes);
  for (auto* host : {&host_a, &host_b, &host_cross}) {
    std::fill(host->begin(), host->end(), poison);
  }
  record.id_a = a.id();
  record.id_b = b.id();
  record.kind_a = a.kind();
  record.kind_b = b.kind();

  // 1. Independent streams.
  culvert::fill(device_a, std::byte{0x11}, a);
  culvert::copy(host_a, device_a, a);
  const Event done_a = a.record();

  culvert::fill(device_b, std::byte{0x22}, b);
  culvert::copy(host_b, device_b, b);
  const Event done_b = b.record();

  done_a.synchronize();
  done_b.synchronize();
  record.checks.push_back(compare("A", "in stream A: fill, copy, event, host waits for the event",
                                  host_a, std::byte{0x11}));
  record.checks.push_back(compare("B", "in stream B: fill, copy, event, host waits for the event",
                                  host_b, std::byte{0x22}));

  // 2. Stream B reads what stream A wrote.
  culvert::fill(device_a, std::byte{0x33}, a);
  const Event ordered = a.record();
  b.wait(ordered);
  culvert::copy(host_cross, device_a, b);
  b.synchronize();
  record.checks.push_back(compare("CrossStreamWait",
                                  "across streams: A fills and records an event, B waits for it "
                                  "before it copies, host waits for B",
                                  host_cross, std::byte{0x33}));
}

const char* text(bool value) { return value ? "True" : "False"; }
const char* text(StreamKind kind) {
  return kind == StreamKind::non_blocking ? "NonBlocking" : "Blocking";
}
std::string hex(std::byte value) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "0x%02x", std::to_integer<unsigned>(value));
  return buffer;
}

void print(const Record& record, const Environment& env) {
  const Check& a = record.checks[0];
  const Check& b = record.checks[1];
  const Check& cross = record.checks[2];
  std::cout << "CUDA Toolkit=" << to_string(env.toolkit())
            << " Runtime=" << to_string(env.runtime()) << " Driver=" << to_string(env.driver())
            << " DeviceCount=" << env.device_count() << " Device=" << record.device << '\n'
            << "IndependentStreams=" << text(a.passed() && b.passed()) << " A=" << text(a.passed())
            << " B=" << text(b.passed()) << " Bytes=" << a.bytes << '\n'
            << "CrossStreamWait=" << text(cross.passed())
            << " ProducerStream=" << text(record.kind_a)
            << " ConsumerStream=" << text(record.kind_b) << '\n'
            << "StreamIds A=" << record.id_a << " B=" << record.id_b << '\n'
            << "MultiStream Passed=" << text(record.passed()) << std::endl;
  for (const Check& check : record.checks) {
    if (check.passed()) continue;
    std::cerr << "Check " << check.name << ": " << check.wrong << " of " << check.bytes
              << " bytes are wrong; the first at offset " << check.first_offset << ": expected "
              << hex(check.expected) << ", found " << hex(check.found)
              << (check.found == poison ? " (never written)" : "") << ". Look at the ordering "
              << check.ordering << ".\n";
  }
}

std::string quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
      result += buffer;
    } else {
      result += c;
    }
  }
  return result + '"';
}

const char* status_of(const Record& record) {
  if (record.skipped) return "skipped";
  if (!record.error.empty()) return "error";
  return record.passed() ? "passed" : "failed";
}

void write_json(const std::string& path, const Record& record, const Environment& env,
                double milliseconds) {
  char time[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));

  std::ofstream out(path);
  out << "{\n"
      << "  \"program\": \"multi_stream\",\n"
      << "  \"source_sha256\": " << quoted(MULTI_STREAM_SOURCE_SHA256) << ",\n"
      << "  \"time\": " << quoted(time) << ",\n"
      << "  \"milliseconds\": " << milliseconds << ",\n"
      << "  \"environment\": {\n"
      << "    \"culvert\": " << quoted(CULVERT_VERSION_STRING) << ",\n"
      << "    \"toolkit\": " << quoted(to_string(env.toolkit())) << ",\n"
      << "    \"runtime\": " << quoted(to_string(env.runtime())) << ",\n"
      << "    \"driver\": " << quoted(to_string(env.driver())) << ",\n"
      << "    \"device_count\": " << env.device_count() << ",\n"
      << "    \"device\": " << quoted(record.device) << "\n  },\n"
      << "  \"status\": " << quoted(status_of(record)) << ",\n"
      << "  \"reason\": " << quoted(record.skipped ? env.reason() : record.error) << ",\n";
  if (!record.checks.empty()) {
    out << "  \"streams\": {\n"
        << "    \"A\": {\"id\": " << record.id_a << ", \"kind\": " << quoted(text(record.kind_a))
        << "},\n"
        << "    \"B\": {\"id\": " << record.id_b << ", \"kind\": " << quoted(text(record.kind_b))
        << "}\n  },\n";
  }
  out << "  \"checks\": [";
  const char* separator = "\n";
  for (const Check& check : record.checks) {
    out << separator << "    {\"name\": " << quoted(check.name)
        << ", \"passed\": " << (check.passed() ? "true" : "false") << ", \"bytes\": " << check.bytes
        << ", \"wrong_bytes\": " << check.wrong
        << ", \"expected\": " << quoted(hex(check.expected));
    if (!check.passed()) {
      out << ", \"first_wrong_offset\": " << check.first_offset
          << ", \"found\": " << quoted(hex(check.found));
    }
    out << "}";
    separator = ",\n";
  }
  out << (record.checks.empty() ? "]\n}\n" : "\n  ]\n}\n");
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

// False where the arguments are bad; the reason is printed.
bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      std::cout << "usage: multi_stream [--bytes N] [--json FILE]\n";
      std::exit(0);
    }
    if (argument != "--bytes" && argument != "--json") {
      std::cerr << "unknown argument " << argument << "; see --help\n";
      return false;
    }
    if (++i == argc) {
      std::cerr << argument << " needs a value; see --help\n";
      return false;
    }
    const std::string value = argv[i];
    if (argument == "--json") {
      options.json = value;
      continue;
    }
    const bool digits = !value.empty() && value.size() <= 18 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    options.bytes = digits ? std::stoull(value) : 0;
    if (options.bytes == 0) {
      std::cerr << "--bytes needs a whole number, 1 or more, not '" << value << "'\n";
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  if (!parse(argc, argv, options)) return exit_error;

  const auto start = std::chrono::steady_clock::now();
  const Environment env = Environment::probe();
  Record record;
  record.skipped = !env.usable();
  if (!record.skipped) {
    try {
      run(options.bytes, record);
    } catch (const culvert::Error& error) {
      record.error = error.what();
    }
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;

  if (record.skipped) {
    std::cout << "MultiStream=Skipped " << env.reason() << std::endl;
  } else if (!record.error.empty()) {
    std::cerr << "multi_stream: " << record.error << '\n';
  } else {
    print(record, env);
  }
  if (!options.json.empty()) write_json(options.json, record, env, took.count());
  if (record.skipped) return exit_skipped;
  if (!record.error.empty()) return exit_error;
  return record.passed() ? 0 : exit_wrong;
} catch (const std::exception& error) {
  std::cerr << "multi_stream: " << error.what() << '\n';
  return exit_error;
}
