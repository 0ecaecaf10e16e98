// SPDX-License-Identifier: Apache-2.0
#include "cli/baseline_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/version.hpp"
#include "records/result_store.hpp"
#include "records/schema.hpp"
#include "runner/record.hpp"
#include "runner/resources.hpp"

namespace bandgate::cli {
namespace {

struct record_options : common_options {
  unsigned processes{10};
  std::string to;
  bool per_card{};
  bool yes{};
};

/// Cards that share one baseline file and one reference.
bool same_model(device_identity const& a, device_identity const& b) {
  return a.name == b.name && a.pci_device == b.pci_device && a.pci_subsystem == b.pci_subsystem &&
         a.board_part == b.board_part && a.memory_bytes == b.memory_bytes && a.ecc == b.ecc &&
         a.mig_profile == b.mig_profile;
}

std::vector<std::vector<check_plan::device>> by_model(std::vector<check_plan::device> const& all) {
  std::vector<std::vector<check_plan::device>> groups;
  for (auto const& device : all) {
    auto const group = std::find_if(groups.begin(), groups.end(), [&](auto const& g) {
      return same_model(g.front().identity, device.identity);
    });
    if (group == groups.end())
      groups.push_back({device});
    else
      group->push_back(device);
  }
  return groups;
}

provenance origin_of(std::vector<check_plan::device> const& cards, record_options const& options) {
  provenance p;
  p.kind = "measured";
  p.cards = static_cast<unsigned>(cards.size());
  p.processes = options.processes;
  p.driver = cards.front().identity.driver_version;
  p.date = rfc3339(std::chrono::system_clock::now()).substr(0, 10);
  p.tool = version();
  return p;
}

/// What a tolerance beyond which a reference finds little is worth a warning.
constexpr double wide_tolerance = 0.10;

/// The entries that can be made; a probe whose processes differ too much is named and left out, and
/// `all` becomes false.
std::vector<baseline_entry> entries_of(std::vector<recorded_probe> const& seen,
                                       provenance const& origin, bool per_card, bool& all) {
  std::vector<baseline_entry> entries;
  auto const add = [&](recorded_probe const& probe, std::optional<std::size_t> card) {
    try {
      entries.push_back(make_entry(probe, card, origin));
    } catch (usage_error const& e) {
      err("bandgate: {}\n", e.what());
      all = false;
      return;
    }
    auto const share = -entries.back().lower;
    if (share <= wide_tolerance) return;
    bool const of_the_cards = !card && share < tolerance_for_other_cards(probe) + 0.001;
    err("bandgate: warning: {}: a tolerance of {:.1f} % finds no smaller loss; {}\n",
        probe.what->name, 100 * share,
        of_the_cards ? "so far may healthy cards lie apart, and three or more of them narrow it"
                     : "record it again on an idle machine");
  };
  for (auto const& probe : seen) {
    if (!per_card) add(probe, std::nullopt);
    for (std::size_t card = 0; per_card && card < probe.cards.size(); ++card) add(probe, card);
  }
  return entries;
}

/// What each process gave, so that one that stands out is seen.
void print_medians(std::vector<recorded_probe> const& seen,
                   std::vector<check_plan::device> const& cards) {
  for (auto const& probe : seen)
    for (std::size_t card = 0; card < probe.cards.size(); ++card) {
      bool const time = probe.what->direction == direction::lower_is_better;
      std::string line;
      for (double const value : probe.medians_by_card[card])
        line += probe.what->procedure == procedure::slices
                    ? fmt::format(" {:.4f}", value)
                    : " " + value_text(value, time, unit::gib_per_s);
      auto const who = std::find_if(cards.begin(), cards.end(), [&](auto const& device) {
        return device.identity.uuid == probe.cards[card];
      });
      auto const& declared = probe.what->parameters;
      auto const words = describe(declared, keyed(declared, probe.values));
      out("{} {}{}{}:{}\n", short_id(who->identity, who->index), probe.what->name,
          words.empty() ? "" : " ", words, line);
    }
}

bool confirmed(record_options const& options, std::string const& file) {
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0)
    throw usage_error("nothing written: nobody to ask whether to write " + file +
                      "; repeat with --yes");
  out("write {}? [y/N] ", file);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

/// So many processes there will be.
std::size_t count_processes(machine const& node, std::vector<check_plan::device> const& cards,
                            std::vector<task> const& picked, unsigned processes) {
  std::size_t count = 0;
  for (auto const& card : cards)
    for (auto const& one : picked)
      count += processes * with_peers(one, node.listed.devices, card.index).size();
  return count;
}

/// One recording at a time reads, merges and writes a folder's files; freed with the process.
class folder_lock {
 public:
  explicit folder_lock(std::filesystem::path const& folder)
      : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // Where the file system has no locks, the file is still replaced as a whole.
    if (folder_ >= 0) static_cast<void>(::flock(folder_, LOCK_EX));
  }
  ~folder_lock() {
    if (folder_ >= 0) ::close(folder_);
  }
  folder_lock(folder_lock const&) = delete;
  folder_lock& operator=(folder_lock const&) = delete;

 private:
  int folder_;
};

/// A file with the new entries, and what changes in it.
struct merged_file {
  std::string text, changes;
};

merged_file merged(std::filesystem::path const& file, device_identity const& model,
                   std::vector<baseline_entry> const& made) {
  std::vector<std::string> warnings;
  std::string before;
  std::vector<baseline_entry> old;
  if (std::filesystem::exists(file)) {
    before = read_text(file, std::uintmax_t{16} << 20);
    old = parse_baseline(before, file.string(), registered_probes(), warnings).entries;
  }
  auto const after = merge_baseline(before, model, made, registered_probes());
  auto const entries = parse_baseline(after, file.string(), registered_probes(), warnings).entries;
  return {after, difference_text(old, entries)};
}

/// Before anything is measured: minutes of it must not end at a folder that cannot be written.
void require_writable(std::filesystem::path const& folder,
                      std::vector<check_plan::device> const& cards) {
  auto there = folder;
  while (!there.empty() && there != there.parent_path() && !std::filesystem::exists(there))
    there = there.parent_path();
  // A name of its own, so that recordings at the same time do not meet.
  auto trial = (there / ".bandgate-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr)
    throw usage_error(folder.string() +
                      ": cannot be written to: " + std::generic_category().message(errno) +
                      "; name another folder with --to DIR");
  ::rmdir(trial.c_str());
  for (auto const& card : cards) {  // also reads what is there, which may be broken
    auto const file = recording_path(folder, card.identity, registered_probes());
    std::vector<std::string> warnings;
    if (std::filesystem::exists(file))
      parse_baseline(read_text(file, std::uintmax_t{16} << 20), file.string(), registered_probes(),
                     warnings);
  }
}

/// What of a recording did not become an entry.
struct shortfall {
  bool nothing{true};  ///< no probe applied
  bool failed{};       ///< a run that no baseline is made of
  bool contended{};    ///< one while the device was in use
  bool usage{};        ///< asked for wrongly, or processes that differ too much
};

void record_group(machine const& node, std::vector<check_plan::device> const& cards,
                  record_options const& options, std::vector<task> const& picked,
                  std::filesystem::path const& folder, shortfall& missing) {
  bool const terminal = isatty(STDERR_FILENO) != 0;
  progress_line progress(terminal);
  std::atomic<unsigned> finished = 0;
  auto const total = count_processes(node, cards, picked, options.processes);
  auto const [seen, left_out, repeated, refused] = record(
      node.runs, {cards, picked, options.processes, node.listed.devices},
      [&](result const& r, unsigned process) {
        ++finished;
        if (!terminal && process == options.processes)
          err("bandgate: recorded {} [{}/{}]\n", r.probe.name, finished.load(), total);
      },
      [&](std::string const& device, std::string const& probe, std::string const& announced) {
        progress.show(device, probe, announced, fmt::format("[{}/{}] ", finished + 1, total));
      });
  progress.clear();
  for (auto const& why : left_out) err("bandgate: left out: {}\n", plain(why));
  for (auto const& why : repeated) err("bandgate: measured again: {}\n", plain(why));
  print_medians(seen, cards);
  for (auto const& [sentence, kind] : refused) {
    err("bandgate: {}\n", plain(sentence));
    missing.failed |= kind == refusal::kind::failed;
    missing.contended |= kind == refusal::kind::contended;
    missing.usage |= kind == refusal::kind::usage;
  }
  missing.nothing &= seen.empty();

  bool all = true;
  auto const made = entries_of(seen, origin_of(cards, options), options.per_card, all);
  missing.usage |= !all;
  if (made.empty()) return;
  auto const& model = cards.front().identity;
  auto const file = recording_path(folder, model, registered_probes());
  auto const proposed = merged(file, model, made);
  out("{} on {} card{}, {} processes each\n{}", plain(baseline_name(model)), cards.size(),
      cards.size() == 1 ? "" : "s", options.processes,
      proposed.changes.empty() ? "no change\n" : proposed.changes);
  if (!confirmed(options, file.string())) {
    out("nothing written\n");
    return;
  }
  std::filesystem::create_directories(folder);
  // Another recording may have written since: what it wrote stays.
  folder_lock const alone(folder);
  auto const target = recording_path(folder, model, registered_probes());
  write_atomically(target, merged(target, model, made).text);
  out("written: {}\n", target.string());
}

void execute(record_options const& options, environment const& env, int& code) {
  auto const picked = choose(options, "quick");
  auto const site = options.to.empty() ? site_baselines(env) : std::filesystem::path(options.to);
  if (!site) throw usage_error("no folder to write to: set HOME, or name one with --to DIR");
  auto const node = open_machine(options, env);
  if (options.to.empty() && node.runs.options().backend.starts_with("scripted:"))
    throw usage_error(
        "a fire drill must not become this site's reference: name another folder with --to DIR");
  for (auto const& p : node.listed.problems) err("bandgate: {}: {}\n", p.code, plain(p.message));
  if (options.per_card)
    for (auto const& device : node.chosen)
      if (device.identity.uuid.empty())
        throw usage_error("--per-card: " + short_id(device.identity, device.index) +
                          " has no UUID to tell it from others; record the model instead");
  if (node.chosen.empty()) {
    out("SKIPPED      no device for backend {} on this machine\n", node.runs.options().backend);
    code = node.listed.problems.empty() ? skipped : measurement_failed;
    return;
  }
  require_writable(*site, node.chosen);
  shortfall missing;
  for (auto const& cards : by_model(node.chosen))
    record_group(node, cards, options, picked, *site, missing);
  code = missing.failed || !node.listed.problems.empty() ? measurement_failed
         : missing.usage                                 ? usage_failed
         : missing.contended                             ? not_judged
         : missing.nothing                               ? skipped
                                                         : ok;
}

}  // namespace

void add_record(CLI::App& parent, environment const& env, int& code) {
  auto* command = parent.add_subcommand(
      "record", "measure in fresh processes and write the figures as the reference");
  auto options = std::make_shared<record_options>();
  command->add_option("probe", options->words, "probes, and parameters such as window=64MiB");
  command->add_option("--suite", options->suite, "all probes of a suite: quick, full or sustained");
  add_device_options(*command, *options, env);
  command->add_option("--processes", options->processes, "fresh processes a card and probe")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  command->add_option("--to", options->to,
                      "folder to write into; default $XDG_CONFIG_HOME/bandgate/baselines");
  command->add_flag("--per-card", options->per_card,
                    "an entry for each single card, beside the model's");
  command->add_flag("--yes", options->yes, "write without asking");
  command->footer(
      "Examples:\n"
      "  bandgate baseline record --suite quick\n"
      "  bandgate baseline record read write --per-card --to /etc/bandgate/baselines --yes\n");
  command->callback([options, &env, &code] { execute(*options, env, code); });
}

}  // namespace bandgate::cli
