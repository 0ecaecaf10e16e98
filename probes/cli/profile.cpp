// SPDX-License-Identifier: Apache-2.0
#include "cli/profile.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"

#include <fmt/format.h>

#include "runner/attempt.hpp"
#include "runner/backends.hpp"
#include "runner/worker.hpp"

namespace bandgate::cli {

int profile_run(common_options const& options, environment const& env) {
  auto const picked = choose(options, "");
  if (picked.size() != 1)
    throw usage_error("--profile takes exactly one probe: bandgate run read --profile --device 0");
  auto const& what = *picked.front().what;
  auto const source =
      make_backend(chosen_backend(options.backend, gpus_of(env)), options_from(env));
  auto const listed = source->devices();
  bool configuration = false;
  for (auto const& p : listed.problems) {
    err("bandgate: {}: {}\n", p.code, plain(p.message));
    configuration |= p.usage;
  }
  if (listed.devices.empty() && configuration) return usage_failed;
  auto const index = select_device(listed, options.device == "all" ? "0" : options.device);
  auto const device = source->open(index, {});
  // Of several peers the first: one launch shows what there is to see.
  auto const one = with_peers(picked.front(), listed.devices, index).front();
  profile_launch(*device, what, complete(what.parameters, one.given));
  out("PROFILED     {}: one launch, nothing verified, timed or stored\n", what.name);
  return 0;
}

}  // namespace bandgate::cli
