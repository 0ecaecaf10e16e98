// SPDX-License-Identifier: Apache-2.0
/// One function a subcommand: adds it to the program; running it sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.hpp"

namespace bandgate::cli {

void add_list(CLI::App& program, environment const& env, int& code);
void add_devices(CLI::App& program, environment const& env, int& code);
void add_run(CLI::App& program, environment const& env, int& code);
void add_check(CLI::App& program, environment const& env, int& code);
void add_baseline(CLI::App& program, environment const& env, int& code);
void add_doctor(CLI::App& program, environment const& env, int& code);
void add_judge(CLI::App& program, environment const& env, int& code);
void add_judged(CLI::App& program, environment const& env, int& code);
void add_status(CLI::App& program, environment const& env, int& code);

/// The body of a worker process: argv[2] is its parent's PID, argv[3] the request.
int worker_main(int argc, char** argv);

}  // namespace bandgate::cli
