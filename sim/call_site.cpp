// SPDX-License-Identifier: BSL-1.0
#include "sim/call_site.hpp"

#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace culvert::sim::detail {
namespace {

constexpr std::size_t most_offsets = 6;  // told where there are no lines

// An address as the file that it was loaded from counts it.
struct Place {
  std::string module;  // its file; empty if nothing was loaded there
  std::uintptr_t offset = 0;
};

struct Line {
  std::string function;
  std::string file;  // with the line
};

Place place_of(const void* address) {
  struct Search {
    std::uintptr_t address;
    Place place;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto* const wanted = static_cast<Search*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& header = object->dlpi_phdr[i];
          const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
          if (header.p_type != PT_LOAD || wanted->address - begin >= header.p_memsz) continue;
          const bool is_program = object->dlpi_name == nullptr || *object->dlpi_name == '\0';
          wanted->place.module = is_program ? "/proc/self/exe" : object->dlpi_name;
          wanted->place.offset = wanted->address - object->dlpi_addr;
          return 1;
        }
        return 0;
      },
      &search);
  return search.place;
}

std::string read_link(const std::string& path) {
  if (path != "/proc/self/exe") return path;
  std::array<char, 4096> text{};
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : path;
}

// For a shell, in which a single quote ends a quoted text.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else {
      result += letter;
    }
  }
  return result + "'";
}

// The calls at a place, innermost first: more than one where some were inlined. Empty if unknown.
std::vector<Line> ask_addr2line(const Place& place) {
  std::array<char, 32> offset{};
  std::snprintf(offset.data(), offset.size(), "0x%llx",
                static_cast<unsigned long long>(place.offset));
  const std::string command = "addr2line -f -C -i -e " + quoted(read_link(place.module)) + " " +
                              offset.data() + " 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::vector<std::string> texts;
  std::array<char, 4096> text{};
  while (std::fgets(text.data(), static_cast<int>(text.size()), pipe) != nullptr) {
    std::string_view line = text.data();
    if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    texts.emplace_back(line.substr(0, line.find(" (discriminator")));
  }
  pclose(pipe);
  std::vector<Line> lines;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    // What is unknown is "??", and some versions name no file at all.
    const bool is_known = texts[i + 1][0] != '?' && texts[i + 1][0] != ':';
    if (is_known) lines.push_back({texts[i], texts[i + 1]});
  }
  return lines;
}

const std::vector<Line>& lines_of(void* address) {
  static auto* const known = new std::map<void*, std::vector<Line>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = known->find(address);
  if (found != known->end()) return found->second;
  // A return address is behind its call.
  const Place place = place_of(static_cast<char*>(address) - 1);
  return (*known)[address] = place.module.empty() ? std::vector<Line>() : ask_addr2line(place);
}

// The folder of this file, with a slash.
std::string_view own_folder() {
  const std::string_view file = __FILE__;
  return file.substr(0, file.rfind('/') + 1);
}

// Of the simulated runtime, of culvert, or of the standard library, which either may have called.
bool is_passed_over(const Line& line) {
  return line.file.find("/include/c++/") != std::string::npos ||
         line.file.substr(0, own_folder().size()) == own_folder() ||
         line.file.find("/include/culvert/") != std::string::npos;
}

std::string offsets_of(const CallSite& site) {
  std::string text;
  for (std::size_t i = 0; i < site.count && i < most_offsets; ++i) {
    const Place place = place_of(static_cast<char*>(site.frames.at(i)) - 1);
    std::array<char, 32> offset{};
    std::snprintf(offset.data(), offset.size(), "+0x%llx",
                  static_cast<unsigned long long>(place.offset));
    const std::string module = read_link(place.module);
    text += (text.empty() ? "" : " ") + module.substr(module.rfind('/') + 1) + offset.data();
  }
  return text;
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto* const site = static_cast<CallSite*>(data);
  if (site->count == CallSite::most_frames) return _URC_END_OF_STACK;
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  if (address == 0) return _URC_END_OF_STACK;
  // Where a signal came it is the instruction itself, elsewhere the one behind a call.
  const std::uintptr_t behind = is_interrupted != 0 ? address + 1 : address;
  site->frames.at(site->count++) = reinterpret_cast<void*>(behind);
  return _URC_NO_REASON;
}

}  // namespace

CallSite CallSite::here() {
  CallSite site;
  // Not backtrace(): sanitizers put a function of their own in its place, whose frame is the first.
  _Unwind_Backtrace(add_frame, &site);
  return site;
}

CallSite CallSite::interrupted() {
  CallSite site;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto* const taken = static_cast<CallSite*>(data);
        int is_interrupted = 0;
        _Unwind_GetIPInfo(context, &is_interrupted);
        if (is_interrupted != 0) taken->count = 0;
        return add_frame(context, data);
      },
      &site);
  return site;
}

std::string describe(const CallSite& site) {
  bool known = false;
  for (std::size_t i = 0; i < site.count; ++i) {
    for (const Line& line : lines_of(site.frames.at(i))) {
      known = true;
      if (!is_passed_over(line)) return line.file + " (" + line.function + ")";
    }
    // What follows the program's own frames, when those have no lines, would be the C library's.
    if (known && lines_of(site.frames.at(i)).empty()) break;
  }
  return offsets_of(site);
}

}  // namespace culvert::sim::detail
