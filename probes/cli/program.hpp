// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bandgate::cli {

/// The whole program, for a `main` that links its own probes too.
int program(int argc, char** argv);

}  // namespace bandgate::cli
