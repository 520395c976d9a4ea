// SPDX-License-Identifier: BSL-1.0
#include "sim/device_image.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "fatbinary_section.h"

namespace culvert::sim::detail {
namespace {

using Bytes = std::span<const std::byte>;
using Value = std::optional<std::vector<std::byte>>;

// How nvcc 13.0 lays out the data: a header, and entries with a header and a payload each. The
// fields are named for what they were seen to hold; anything else ends the search.
struct ImageHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  // of the entries
};
constexpr std::uint32_t image_magic = 0xBA55ED50;

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t payload_size;
};
constexpr std::uint16_t machine_code = 2;

// False if there are too few bytes.
template <class T>
bool read(Bytes bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

bool has_name(Bytes names, std::uint64_t offset, std::string_view name) {
  const Bytes found = part(names, offset, name.size() + 1);
  return !found.empty() && std::memcmp(found.data(), name.data(), name.size()) == 0 &&
         found.back() == std::byte{0};
}

Value value_of(Bytes file, const Elf64_Ehdr& header, const Elf64_Sym& symbol, std::size_t size) {
  Elf64_Shdr section;
  if (symbol.st_size != size || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header.e_shnum ||
      !read(file, header.e_shoff + std::uint64_t{symbol.st_shndx} * sizeof section, section)) {
    return std::nullopt;
  }
  if (section.sh_type == SHT_NOBITS) return std::vector<std::byte>(size);
  const Bytes bytes =
      part(part(file, section.sh_offset, section.sh_size), symbol.st_value, symbol.st_size);
  if (bytes.empty()) return std::nullopt;
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

// In machine code, which is an ELF file.
Value search(Bytes file, std::string_view name, std::size_t size) {
  Elf64_Ehdr header;
  if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table;
    Elf64_Shdr strings;
    if (!read(file, header.e_shoff + i * sizeof table, table)) return std::nullopt;
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum ||
        !read(file, header.e_shoff + table.sh_link * sizeof strings, strings)) {
      continue;
    }
    const Bytes names = part(file, strings.sh_offset, strings.sh_size);
    const Bytes symbols = part(file, table.sh_offset, table.sh_size);
    Elf64_Sym symbol;
    for (std::uint64_t at = 0; read(symbols, at, symbol); at += sizeof symbol) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && has_name(names, symbol.st_name, name)) {
        return value_of(file, header, symbol, size);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Value initial_value(const void* image, const char* name, std::size_t size) {
  if (image == nullptr) return std::nullopt;
  const auto& wrapper = *static_cast<const __fatBinC_Wrapper_t*>(image);
  if (wrapper.magic != FATBINC_MAGIC || wrapper.data == nullptr) return std::nullopt;
  const auto* const begin = reinterpret_cast<const std::byte*>(wrapper.data);
  ImageHeader header;
  std::memcpy(&header, begin, sizeof header);
  if (header.magic != image_magic) return std::nullopt;
  const Bytes entries(begin + header.header_size, header.size);
  EntryHeader entry;
  // Code for each architecture; the values are the same in all.
  for (std::uint64_t at = 0; read(entries, at, entry);
       at += entry.header_size + entry.payload_size) {
    if (entry.header_size < sizeof entry) break;
    if (entry.kind != machine_code) continue;
    if (Value found =
            search(part(entries, at + entry.header_size, entry.payload_size), name, size)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace culvert::sim::detail
