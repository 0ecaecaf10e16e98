// SPDX-License-Identifier: Apache-2.0
#include "device/kernel_module.hpp"

#include <algorithm>
#include <sstream>

#include "device/file_text.hpp"

namespace bandgate {
namespace {

/// "580.159.04" or "418.39": numbers with dots between them.
bool is_version(std::string const& word) {
  return word.find('.') != std::string::npos && word.front() != '.' && word.back() != '.' &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

// The line reads "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu …" or
// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build …".
kernel_module nvidia_kernel_module(std::filesystem::path const& root) {
  auto const text = read_text(root / "proc/driver/nvidia/version");
  kernel_module module;
  if (!text) return module;
  auto const line = value_of(*text, "NVRM version");
  std::istringstream words(line);
  for (std::string word; module.version.empty() && words >> word;)
    if (is_version(word)) module.version = word;
  if (module.version.empty()) module.version = "unknown";
  if (line.find("Kernel Module") != std::string::npos)
    module.flavour = line.find("Open Kernel Module") != std::string::npos ? "open" : "proprietary";
  return module;
}

}  // namespace bandgate
