// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/commands.hpp"
#include "runner/child.hpp"
#include "runner/worker.hpp"

namespace bandgate::cli {
namespace {

bool write_all(int file, std::string const& text) {
  for (std::size_t done = 0; done < text.size();) {
    auto const n = write(file, text.data() + done, text.size() - done);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

int worker_main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("bandgate: workers are started by `bandgate check`, not by hand\n", stderr);
    return 2;
  }
  die_with_parent(std::atoi(argv[2]));
  auto const document = answer(request_from_text(argv[3]), [](std::string const& phase) {
    write_all(STDOUT_FILENO, phase + "\n");
  });
  bool const handed_over = write_all(hand_over_descriptor, document);
  // Leave without destructors of libraries: everything is written, and a broken driver may hang in
  // its own.
  std::_Exit(handed_over ? 0 : 2);
}

}  // namespace bandgate::cli
