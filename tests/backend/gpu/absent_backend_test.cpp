// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/errors.hpp>

#include "backend/gpu/gpu_backend.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(absent_gpu_backend, names_the_preset_that_has_one) {
  EXPECT_STREQ(gpu_backend_version(), "none");
  EXPECT_STREQ(gpu_backend_name(), "cuda");
  auto const backend = make_gpu_backend();
  auto const named = AllOf(HasSubstr("no GPU backend"), HasSubstr("--preset cuda"));
  EXPECT_THAT([&] { backend->devices(); }, ThrowsMessage<usage_error>(named));
  EXPECT_THAT([&] { backend->open(0, {}); }, ThrowsMessage<usage_error>(named));
}

}  // namespace
}  // namespace bandgate::testing
