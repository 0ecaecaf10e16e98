// SPDX-License-Identifier: Apache-2.0
// What the static parts of the compiler's runtime ask of the glibc they were built beside, and an
// older one lacks. Linked with --wrap, so that a binary built on Debian 12 (glibc 2.36) or Ubuntu
// 24.04 (2.39) runs on every node with glibc 2.34.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

namespace {

/// Finds the loaded object that holds an address, as unwinders did before glibc 2.35.
struct object_search {
  std::uintptr_t address{};
  std::uintptr_t start{};
  std::uintptr_t end{};
  void* eh_frame{};
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<object_search*>(data);
  bool holds = false;
  void* eh_frame = nullptr;
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    auto const& header = info->dlpi_phdr[i];
    auto const start = static_cast<std::uintptr_t>(info->dlpi_addr + header.p_vaddr);
    auto const end = start + static_cast<std::uintptr_t>(header.p_memsz);
    if (header.p_type == PT_GNU_EH_FRAME) eh_frame = reinterpret_cast<void*>(start);
    if (header.p_type == PT_LOAD && search.address >= start && search.address < end) {
      holds = true;
      search.start = start;
      search.end = end;
    }
  }
  if (!holds || eh_frame == nullptr) return 0;
  search.eh_frame = eh_frame;
  return 1;
}

}  // namespace

extern "C" {

/// Since glibc 2.38 the headers turn these calls into the ones of the newer C, which know "0b".
#define BANDGATE_OLDER(type, name)                                      \
  type bandgate_older_##name(char const*, char**, int) __asm__(#name);  \
  type __wrap___isoc23_##name(char const* text, char** end, int base) { \
    return bandgate_older_##name(text, end, base);                      \
  }
BANDGATE_OLDER(long, strtol)
BANDGATE_OLDER(unsigned long, strtoul)
BANDGATE_OLDER(long long, strtoll)
BANDGATE_OLDER(unsigned long long, strtoull)
#undef BANDGATE_OLDER

/// Since glibc 2.36; the seed of std::random_device.
std::uint32_t __wrap_arc4random() {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
/// Since glibc 2.35; every exception thrown passes through it.
int __wrap__dl_find_object(void* address, dl_find_object* result) {
  object_search search;
  search.address = reinterpret_cast<std::uintptr_t>(address);
  if (dl_iterate_phdr(visit, &search) != 1) return -1;
  *result = {};
  result->dlfo_map_start = reinterpret_cast<void*>(search.start);
  result->dlfo_map_end = reinterpret_cast<void*>(search.end);
  result->dlfo_eh_frame = search.eh_frame;
  return 0;
}
#endif
}
