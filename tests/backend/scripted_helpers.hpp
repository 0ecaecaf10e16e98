// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bandgate/errors.hpp>
#include <bandgate/probe.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace bandgate::scripted_test {

/// A script in a file of its own, removed at the end.
class script_file {
 public:
  explicit script_file(std::string const& text)
      : path_(testing::TempDir() + "bandgate-script-" + std::to_string(::getpid()) + "-" +
              std::to_string(next()) + ".json") {
    std::ofstream(path_) << text;
  }
  explicit script_file(nlohmann::json const& document) : script_file(document.dump()) {}
  script_file(script_file const&) = delete;
  script_file& operator=(script_file const&) = delete;
  ~script_file() { std::filesystem::remove(path_); }
  std::string const& path() const { return path_; }

 private:
  static int next() {
    static int count = 0;
    return ++count;
  }
  std::string path_;
};

inline nlohmann::json healthy_attempt() {
  return {{"unit", "GB/s"}, {"samples", {100}}};
}

/// One device with one attempt of probe "read"; 1 GiB of memory, of which 0.5 are free.
inline nlohmann::json one_device(nlohmann::json attempt = healthy_attempt()) {
  return {{"identity",
           {{"name", "Card"},
            {"uuid", "GPU-1"},
            {"pci_address", "0000:1b:00.0"},
            {"memory_bytes", 1 << 30}}},
          {"memory_free_bytes", 1 << 29},
          {"probes", {{"read", {{"attempts", {std::move(attempt)}}}}}}};
}

inline nlohmann::json script_of(nlohmann::json device) {
  return {{"schema", "bandgate.scripted/1"}, {"devices", {std::move(device)}}};
}

/// 1 GB a pass, so that N GB/s are 1/N seconds.
inline probe a_probe(std::string name = "read") {
  probe p;
  p.name = std::move(name);
  p.plan = [](parameters const&, device_facts const&) {
    return work{.bytes_per_pass = 1000000000, .min_iterations = 2, .buffers = {{"data", mib(256)}}};
  };
  p.shapes = [](parameters const&, device_facts const&) {
    return std::vector<launch_shape>{{{"threads", 128}}, {{"threads", 256}}};
  };
  return p;
}

/// "out-of-memory: message" of the measurement_error, or "no exception".
template <class Action>
std::string failure_of(Action const& action) {
  try {
    action();
    return "no exception";
  } catch (measurement_error const& e) {
    return std::string(to_string(e.code())) + ": " + e.what();
  }
}

}  // namespace bandgate::scripted_test
