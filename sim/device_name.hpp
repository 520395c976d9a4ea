// SPDX-License-Identifier: BSL-1.0
// The names of kernels and variables as a person writes them.
#pragma once

#include <string>
#include <string_view>

namespace culvert::sim::detail {

// What nvcc calls "_ZN3app5scaleEPfi" is "app::scale", with the parameter types "(float*, int)".
struct DeviceName {
  std::string name;
  std::string parameters;  // empty for variables and for kernels that are extern "C"

  // Whether a person means it by `wanted`: the whole name, or the end of it after a "::". Unnamed
  // namespaces are left out.
  bool is_meant_by(std::string_view wanted) const;
  // Whether only the file that has it can name it.
  bool is_local() const;
  // Whether it is an instance of a template. Each file has its own of the same name.
  bool is_template() const;
};

DeviceName device_name(const char* mangled);

// The parameter types of a function type, as std::type_info names it.
std::string parameters_of_type(const char* mangled_type);

// How to define the kernel, as C++.
std::string definition_hint(const DeviceName& kernel);

}  // namespace culvert::sim::detail
