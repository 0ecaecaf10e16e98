// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace bandgate {

/// dlopen, with the reason where it fails.
inline void* load_library(std::string const& name, std::string& why) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  char const* const reason = dlerror();
  why = reason == nullptr ? "cannot load " + name : std::string(reason);
  return nullptr;
}

/// The first of them that can be loaded, with the reason of the first where none can.
inline void* load_library(std::vector<std::string> const& names, std::string& why) {
  std::string reason;
  for (auto const& name : names) {
    void* const library = load_library(name, why.empty() ? why : reason);
    if (library == nullptr) continue;
    why.clear();
    return library;
  }
  return nullptr;
}

/// A function of a loaded library, under the first of its names that there is; or none.
template <class Function>
struct symbol {
  char const* name{};  ///< that it was found under, or the newest
  Function* call{};

  symbol(void* library, std::initializer_list<char const*> names) : name(*names.begin()) {
    for (char const* const candidate : names) {
      if (library == nullptr || call != nullptr) break;
      call = reinterpret_cast<Function*>(dlsym(library, candidate));
      if (call != nullptr) name = candidate;
    }
  }
};

}  // namespace bandgate
