// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/speech.hpp"
#include "cli/version.hpp"
#include "runner/backends.hpp"

namespace bandgate::cli {
namespace {

environment read_environment() {
  environment env;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (char const* equals = std::strchr(*entry, '='))
      env[std::string(*entry, static_cast<std::size_t>(equals - *entry))] = equals + 1;
  return env;
}

/// What a run that ended early is to say, to people always and to a monitor that asked.
int ended(dialect in, std::string const& why, status what, int code) {
  err("bandgate: {}\n", why);
  if (in == dialect::none) return code;
  return say_failure(in, code == usage_failed ? configuration_line(why)
                                              : report_line{.what = what, .message = why});
}

int run_program(int argc, char** argv, dialect in) {
  auto const env = read_environment();
  int code = ok;
  // A project's own probes are in a program of another name.
  auto const name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "bandgate";
  CLI::App program{"Measures GPU memory bandwidth and judges it against a baseline.", name};
  program.require_subcommand(1);
  program.set_version_flag("--version", fmt::format("bandgate {} (build {}, gpu backend {})",
                                                    version(), build_id(), gpu_support()));
  program.footer(
      "Exit codes: 0 within tolerance, 1 regression, 2 usage, configuration or recording error,\n"
      "3 the measurement failed, 4 could not be judged, 77 skipped.\n\n"
      "Examples:\n"
      "  bandgate check                         the quick suite on every device\n"
      "  bandgate check read copy --device 0    two probes on the first device\n"
      "  bandgate baseline record --yes         make today's figures the reference\n");
  add_list(program, env, code);
  add_devices(program, env, code);
  add_check(program, env, code);
  add_run(program, env, code);
  add_baseline(program, env, code);
  add_doctor(program, env, code);
  add_judge(program, env, code);
  add_judged(program, env, code);
  add_status(program, env, code);
  try {
    program.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    // The parser's own words are that a command is missing.
    if (argc > 1 && argv[1][0] != '-' && program.get_subcommands().empty())
      return ended(in, fmt::format("unknown command '{}'; `bandgate --help` lists them", argv[1]),
                   status::error, usage_failed);
    code = program.exit(e) == 0 ? ok : usage_failed;
    if (code != ok && in != dialect::none) code = say_failure(in, configuration_line(e.what()));
  }
  // Output that nobody received must not look like success.
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    // What was refused earlier is refused without a reason by now.
    err("bandgate: cannot write standard output: {}\n",
        errno != 0 ? std::strerror(errno) : "its reader has gone, or there is no room left");
    if (code == ok || code == skipped)
      return in == dialect::none ? usage_failed : speak(in, {configuration_line("unheard")}).code;
  }
  return code;
}

/// A closed 0, 1 or 2 would be given to the next file that is opened, a result for instance, which
/// then receives what is printed. Opened the wrong way round: what is printed fails, as it must.
void open_standard_streams() {
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int program(int argc, char** argv) {
  // A full disk, a file size limit or a reader that left is an error to report, not a death.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // Inherited as ignored, it would make every child look like one that cannot be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  open_standard_streams();
  auto const in = asked_dialect(argc, argv);
  try {
    if (argc > 1 && std::strcmp(argv[1], worker_command) == 0) return worker_main(argc, argv);
    return run_program(argc, argv, in);
  } catch (measurement_error const& e) {
    bool const busy = e.code() == failure::exclusively_held || e.code() == failure::contended;
    return ended(in, e.what(), busy ? status::inconclusive : status::error,
                 busy ? not_judged : measurement_failed);
  } catch (std::exception const& e) {
    return ended(in, e.what(), status::error, usage_failed);
  }
}

}  // namespace bandgate::cli
