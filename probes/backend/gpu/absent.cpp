// SPDX-License-Identifier: Apache-2.0
/// The GPU backend of a build without a GPU compiler: it only says so.
#include <bandgate/errors.hpp>

#include "backend/gpu/gpu_backend.hpp"

namespace bandgate {
namespace {

[[noreturn]] void refuse() {
  throw usage_error(
      "this build has no GPU backend: it was configured without CUDA; with nvcc on PATH build it "
      "by "
      "`cmake --workflow --preset cuda`, or use --backend host");
}

class absent_backend final : public backend {
 public:
  device_list devices() override { refuse(); }
  health inspect(std::size_t) override { refuse(); }
  std::unique_ptr<session> open(std::size_t, open_options const&) override { refuse(); }
};

}  // namespace

char const* gpu_backend_version() {
  return "none";
}

char const* gpu_backend_name() {
  return "cuda";
}

std::unique_ptr<backend> make_gpu_backend(gpu_backend_options) {
  return std::make_unique<absent_backend>();
}

}  // namespace bandgate
