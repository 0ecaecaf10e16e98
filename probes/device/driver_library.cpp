// SPDX-License-Identifier: Apache-2.0
#include "device/driver_library.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "device/file_text.hpp"

namespace bandgate {
namespace {

constexpr char const* library_name = "libcuda.so.1";

/// Where distributions, container runtimes (/usr/local/nvidia), NixOS (/run/opengl-driver) and WSL
/// put it.
constexpr char const* usual_folders[] = {"/usr/lib/x86_64-linux-gnu",
                                         "/usr/lib/aarch64-linux-gnu",
                                         "/usr/lib/powerpc64le-linux-gnu",
                                         "/lib/x86_64-linux-gnu",
                                         "/lib/aarch64-linux-gnu",
                                         "/usr/lib64",
                                         "/lib64",
                                         "/usr/lib",
                                         "/lib",
                                         "/usr/local/nvidia/lib64",
                                         "/usr/local/nvidia/lib",
                                         "/run/opengl-driver/lib",
                                         "/usr/lib/wsl/lib",
                                         "/usr/local/lib64",
                                         "/usr/local/lib"};

void add_path_list(std::vector<std::string>& folders, std::string_view list) {
  while (!list.empty()) {
    auto const end = std::min(list.find(':'), list.size());
    if (list.front() == '/') folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// The folders that a file of ld.so names. Its cache has the same ones, in a binary form.
void add_loader_folders(std::vector<std::string>& folders, std::filesystem::path const& file) {
  for (auto const& line : lines_of(read_text(file).value_or(""))) {
    auto const folder = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
}

/// A toolkit's stub has every symbol and no driver behind it.
bool is_stub(std::filesystem::path const& file) {
  std::error_code failed;
  auto const resolved = std::filesystem::weakly_canonical(file, failed);
  auto const& path = failed ? file : resolved;
  return std::find(path.begin(), path.end(), "stubs") != path.end() ||
         std::find(file.begin(), file.end(), "stubs") != file.end();
}

/// A dangling link counts: somebody installed a driver here, and it is broken.
bool is_there(std::filesystem::path const& file) {
  std::error_code failed;
  return std::filesystem::exists(std::filesystem::symlink_status(file, failed)) && !is_stub(file);
}

}  // namespace

std::string find_driver_library(std::filesystem::path const& root,
                                std::string const& library_path) {
  std::vector<std::string> folders;
  add_path_list(folders, library_path);
  add_loader_folders(folders, root / "etc/ld.so.conf");
  for (auto const& name : names_in(root / "etc/ld.so.conf.d"))
    if (name.ends_with(".conf")) add_loader_folders(folders, root / "etc/ld.so.conf.d" / name);
  folders.insert(folders.end(), std::begin(usual_folders), std::end(usual_folders));

  for (std::filesystem::path const folder : folders) {
    auto const file = root / folder.relative_path() / library_name;
    if (is_there(file)) return (folder / library_name).string();
  }
  return {};
}

}  // namespace bandgate
