// SPDX-License-Identifier: BSL-1.0
#include "sim/device_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace culvert::sim::detail {
namespace {

constexpr std::string_view returns_nothing = "void ";
constexpr std::string_view unnamed = "(anonymous namespace)::";

std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return text ? text.get() : mangled;
}

// Where the parenthesis begins that ends the text.
std::size_t parameters_begin(std::string_view text) {
  if (text.empty() || text.back() != ')') return text.size();
  std::size_t depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

// Without namespaces that nobody can write.
std::string as_written(std::string name) {
  for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;) {
    name.erase(at, unnamed.size());
  }
  return name;
}

}  // namespace

bool DeviceName::is_meant_by(std::string_view wanted) const {
  const std::string all = as_written(name);
  if (wanted.empty() || !all.ends_with(wanted)) return false;
  const std::string_view rest = std::string_view(all).substr(0, all.size() - wanted.size());
  return rest.empty() || rest.ends_with("::");
}

bool DeviceName::is_local() const { return name.find(unnamed) != std::string::npos; }

bool DeviceName::is_template() const { return name.ends_with('>'); }

DeviceName device_name(const char* mangled) {
  // Other names are those of C, which could be taken for mangled types.
  if (std::string_view(mangled).substr(0, 2) != "_Z") return {mangled, {}};
  std::string text = demangled(mangled);
  // The return type is told for instances of templates only.
  if (text.starts_with(returns_nothing)) text.erase(0, returns_nothing.size());
  const std::size_t begin = parameters_begin(text);
  return {text.substr(0, begin), text.substr(begin)};
}

std::string parameters_of_type(const char* mangled_type) {
  const std::string text = demangled(mangled_type);
  return text.substr(parameters_begin(text));
}

std::string definition_hint(const DeviceName& kernel) {
  // A string names what only its own file can name.
  const char* const quote = kernel.is_local() || kernel.is_template() ? "\"" : "";
  const std::string body = kernel.parameters.empty() ? "body" : "[]" + kernel.parameters + " {...}";
  return "culvert::sim::define_kernel(" + (quote + as_written(kernel.name)) + quote + ", " + body +
         ")";
}

}  // namespace culvert::sim::detail
