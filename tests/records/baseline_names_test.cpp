// SPDX-License-Identifier: Apache-2.0
#include <clocale>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

TEST(normalized_name, puts_the_spellings_of_one_model_together) {
  EXPECT_EQ(normalized_name("GTX 970"), "gtx 970");
  EXPECT_EQ(normalized_name("GeForce GTX 970"), "gtx 970");
  EXPECT_EQ(normalized_name("NVIDIA GeForce GTX 970"), "gtx 970");
  EXPECT_EQ(normalized_name("  nvidia\tGeForce  GTX 970 \n"), "gtx 970");
  EXPECT_EQ(normalized_name("NVIDIA Tesla V100-SXM2-16GB"), "v100-sxm2-16gb");
  EXPECT_EQ(normalized_name("Intel(R) Xeon(R) Processor"), "intel xeon processor");
  EXPECT_EQ(normalized_name("NVIDIA TITAN(TM) V"), "titan v");
}

TEST(normalized_name, keeps_models_apart) {
  EXPECT_EQ(normalized_name("A100-SXM4-40GB"), "a100-sxm4-40gb");
  EXPECT_EQ(normalized_name("A100-SXM4-80GB"), "a100-sxm4-80gb");
  EXPECT_EQ(normalized_name("NVIDIA H200 NVL"), "h200 nvl");
  EXPECT_EQ(normalized_name("NVIDIA H200"), "h200");
  EXPECT_EQ(normalized_name("Teslabox 1"), "teslabox 1");
  EXPECT_EQ(normalized_name("Acme NVIDIA 1"), "acme nvidia 1");
  EXPECT_EQ(normalized_name("NVIDIA"), "nvidia");
}

TEST(normalized_name, does_not_depend_on_the_locale) {
  std::string const before = std::setlocale(LC_ALL, nullptr);
  for (auto const* locale : {"tr_TR.UTF-8", "de_DE.UTF-8"}) {
    std::setlocale(LC_ALL, locale);  // nothing happens where it is not installed
    EXPECT_EQ(normalized_name("NVIDIA TITAN I"), "titan i");
    EXPECT_EQ(file_name_for("NVIDIA TITAN I"), "nvidia-titan-i");
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(baseline_name, tells_hosts_of_one_cpu_model_apart_by_their_threads) {
  EXPECT_EQ(baseline_name(host(2)), "Intel(R) Xeon(R) Processor x2 threads");
  EXPECT_EQ(baseline_name(host(96)), "Intel(R) Xeon(R) Processor x96 threads");
  auto unknown = host(2);
  unknown.processors.reset();
  unknown.cpu_model = "AMD EPYC 9654";
  EXPECT_EQ(baseline_name(unknown), "AMD EPYC 9654");
  auto gpu = h200();
  gpu.processors = 132;
  EXPECT_EQ(baseline_name(gpu), "NVIDIA H200");
}

TEST(file_name_for, is_safe_for_any_model) {
  EXPECT_EQ(file_name_for("NVIDIA H200"), "nvidia-h200");
  EXPECT_EQ(file_name_for("AMD Radeon(TM) Pro W7900 "), "amd-radeon-pro-w7900");
  EXPECT_EQ(file_name_for("../../etc/passwd"), "etc-passwd");
  EXPECT_EQ(file_name_for("a \"quoted\" 'name' \\ <b>"), "a-quoted-name-b");
  EXPECT_EQ(file_name_for("_generic"), "generic");
  EXPECT_EQ(file_name_for(std::string("A\0B\x1b[1mC", 8)), "a-b-1mc");
}

TEST(file_name_for, is_never_empty) {
  EXPECT_EQ(file_name_for(""), "device-811c9dc5");
  EXPECT_THAT(file_name_for("\xe5\x8d\xa1"), ::testing::MatchesRegex("device-[0-9a-f]+"));
  EXPECT_NE(file_name_for("///"), file_name_for("???"));
}

TEST(file_name_for, cuts_long_names_and_keeps_them_apart) {
  std::string const text(200, 'x');
  auto const name = file_name_for(text);
  EXPECT_EQ(name.size(), 64U);
  EXPECT_EQ(name.substr(0, 56), std::string(55, 'x') + "-");
  EXPECT_NE(name, file_name_for(text + "y"));
  EXPECT_EQ(file_name_for(std::string(64, 'x')), std::string(64, 'x'));
}

}  // namespace
}  // namespace bandgate::testing
