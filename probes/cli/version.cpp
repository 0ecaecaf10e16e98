// SPDX-License-Identifier: Apache-2.0
#include "cli/version.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

#include <fmt/format.h>

namespace bandgate::cli {
namespace {

constexpr std::size_t aligned(std::size_t size) {
  return (size + 3) & ~std::size_t{3};
}

std::string build_id_in(char const* note, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note + at, sizeof header);
    auto const* name = note + at + sizeof header;
    auto const* body = name + aligned(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0) {
      std::string hex;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        hex += fmt::format("{:02x}", static_cast<unsigned char>(body[i]));
      return hex;
    }
    at += sizeof header + aligned(header.n_namesz) + aligned(header.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info* info, std::size_t, void* out) {
  auto& id = *static_cast<std::string*>(out);
  for (int i = 0; i < info->dlpi_phnum && id.empty(); ++i)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      id = build_id_in(reinterpret_cast<char const*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                       info->dlpi_phdr[i].p_memsz);
  return 1;  // the program itself comes first; nothing else is of interest
}

}  // namespace

std::string version() {
  return BANDGATE_VERSION;
}

std::string build_id() {
  std::string id;
  dl_iterate_phdr(visit, &id);
  return id.substr(0, 16);
}

}  // namespace bandgate::cli
