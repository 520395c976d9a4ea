// SPDX-License-Identifier: BSL-1.0
#include "sim/experiment.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "sim/error_table.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

bool read_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value != 0;
}

// The part before the separator; `text` keeps what is behind it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

bool read_error(std::string_view text, int& code) {
  std::uint64_t number = 0;
  if (read_number(text, number)) {
    code = static_cast<int>(number);
    return find_error(code) != nullptr;
  }
  const ErrorText* const named = find_error_named(std::string(text).c_str());
  code = named == nullptr ? 0 : named->code;
  return code != 0;
}

void read_fault(std::string_view text, Faults& faults) {
  const std::string whole(text);
  const bool on = !text.empty() && text.back() == '+';
  if (on) text.remove_suffix(1);
  const std::string function(take(text, ':'));
  const std::string_view error_text = take(text, ':');
  std::uint64_t nth = 1;
  int error = 0;
  const bool is_function = function == "*" || function.substr(0, 2) == "cu";
  if (!is_function || !read_error(error_text, error) ||
      (!text.empty() && !read_number(text, nth))) {
    refuse("CULVERT_SIM_FAIL has \"%s\": FUNCTION:ERROR or FUNCTION:ERROR:NTH is needed",
           whole.c_str());
  }
  faults.add(function == "*" ? nullptr : function.c_str(), error, nth, on);
}

}  // namespace

Experiment experiment_from_environment() {
  Experiment experiment;
  std::string_view faults = variable("CULVERT_SIM_FAIL");
  while (!faults.empty()) read_fault(take(faults, ','), experiment.faults);

  std::string_view wait = variable("CULVERT_SIM_SKIP_WAIT");
  if (!wait.empty()) {
    const std::string whole(wait);
    std::uint64_t number = 0;
    const bool is_number = read_number(take(wait, ':'), number);
    if (!is_number || wait.substr(0, 4) != "cuda") {
      refuse("CULVERT_SIM_SKIP_WAIT is \"%s\": NUMBER:FUNCTION is needed", whole.c_str());
    }
    experiment.waits.leave_out(number, std::string(wait));
  }
  experiment.journal = variable("CULVERT_SIM_JOURNAL");
  if (!experiment.journal.empty()) {
    experiment.faults.keep_names();
    experiment.waits.keep();
  }
  return experiment;
}

namespace {

void write_journal(const Experiment& experiment) {
  if (experiment.journal.empty()) return;
  std::FILE* const file = std::fopen(experiment.journal.c_str(), "w");
  if (file == nullptr) {
    report("CULVERT_SIM_JOURNAL: %s cannot be written", experiment.journal.c_str());
    return;
  }
  std::uint64_t number = 0;
  for (const char* const name : experiment.faults.names()) {
    std::fprintf(file, "call %llu %s\n", static_cast<unsigned long long>(++number), name);
  }
  number = 0;
  for (const Waits::Wait& wait : experiment.waits.made()) {
    std::fprintf(file, "%s %llu %s %s\n", wait.waits ? "wait" : "query",
                 static_cast<unsigned long long>(++number), wait.function,
                 describe(wait.where).c_str());
  }
  std::fclose(file);
}

}  // namespace

void end_experiment(const Experiment& experiment) {
  write_journal(experiment);
  for (const std::string& function : experiment.faults.not_happened()) {
    const char* const name = function == "*" ? nullptr : function.c_str();
    report("CULVERT_SIM_FAIL: a fault did not happen: the program made %llu calls of %s",
           static_cast<unsigned long long>(experiment.faults.calls(name)),
           name == nullptr ? "CUDA" : name);
  }
  if (experiment.waits.is_missed()) {
    report("CULVERT_SIM_SKIP_WAIT: no wait was left out: it is not among the %llu of the program",
           static_cast<unsigned long long>(experiment.waits.count()));
  }
}

}  // namespace culvert::sim::detail
