// SPDX-License-Identifier: Apache-2.0
#include "cli/prometheus.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "cli/newest_stored.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/result_store.hpp"
#include "records/stored_results.hpp"

namespace bandgate::cli {
namespace {

/// As long as `status` misses a probe: a week beyond the day that a nightly run may be late.
constexpr std::chrono::hours shown_for{8 * 24};

using labels = std::vector<std::pair<char const*, std::string>>;

std::string text_of(labels const& all) {
  std::string text;
  for (auto const& [name, value] : all) {
    if (value.empty()) continue;  // an empty label is the same as none
    text += text.empty() ? "{" : ",";
    text += fmt::format("{}=\"", name);
    for (char const c : plain(value)) {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text.empty() ? text : text + "}";
}

struct family {
  char const* name;
  char const* help;
  std::string lines{};

  void add(labels const& of, double value) {
    if (std::isfinite(value)) lines += fmt::format("{}{} {}\n", name, text_of(of), number(value));
  }
  static std::string number(double value) {
    return std::trunc(value) == value && std::fabs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                 : fmt::format("{}", value);
  }
};

/// Of what counts something; every other whole number is a size in bytes.
bool is_count(std::string const& parameter) {
  static constexpr std::array<std::string_view, 8> counts{
      "span", "elements", "blocks", "threads", "seconds", "duration", "index", "width"};
  return std::find(counts.begin(), counts.end(), parameter) != counts.end();
}

/// 64MiB, 2^20, 30.
std::string parameter_text(std::string const& name, std::int64_t value) {
  bool const power_of_two = value > 0 && (value & (value - 1)) == 0;
  if (is_count(name)) {
    int power = 0;
    while (power_of_two && value >> power > 1) ++power;
    return power >= 13 ? fmt::format("2^{}", power) : fmt::format("{}", value);
  }
  for (auto const& [power, suffix] : {std::pair{40, "TiB"}, {30, "GiB"}, {20, "MiB"}})
    if (value != 0 && value % (std::int64_t{1} << power) == 0)
      return fmt::format("{}{}", value >> power, suffix);
  return fmt::format("{}", value);
}

std::string parameters_text(parameters const& all) {
  std::string text;
  for (auto const& [name, value] : all) {
    auto const shown = std::visit(
        [&](auto const& v) -> std::string {
          if constexpr (std::is_convertible_v<decltype(v), std::string>)
            return v;
          else
            return parameter_text(name, static_cast<std::int64_t>(v));
        },
        value);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, shown);
  }
  return text;
}

std::string first_of(std::initializer_list<std::string> names) {
  for (auto const& name : names)
    if (!name.empty()) return name;
  return "";
}

labels device_labels(result const& r) {
  bool const host = r.device.backend == "host";
  auto device =
      first_of({r.device.uuid, r.device.pci_address, host ? "host" : "unidentified device"});
  if (r.device.backend == "scripted") device += " (scripted)";
  return {{"backend", r.device.backend},
          {"node", first_of({r.run.node, r.run.host, "unknown host"})},
          {"model",
           first_of({r.device.name, r.device.cpu_model, host ? "host CPU" : "unknown device"})},
          {"device", device}};
}

labels info_labels(result const& r) {
  auto const& d = r.device;
  auto const who = device_labels(r);
  auto const watts = d.power_limit_w ? fmt::format("{} W", *d.power_limit_w) : std::string();
  auto const demo = r.run.labels.find("demo");
  bool const made_up = demo != r.run.labels.end() && demo->second == "synthetic";
  return {who[0],
          who[1],
          who[3],
          who[2],
          {"uuid", d.uuid},
          {"pci_address", d.pci_address},
          {"board_part", d.board_part},
          {"driver", d.driver_version},
          {"vbios", d.vbios},
          {"kernel", r.run.kernel},
          {"ecc", d.ecc ? (*d.ecc ? "on" : "off") : ""},
          {"mig", d.mig_profile},
          {"power_limit", watts},
          {"tool_version", r.run.tool_version},
          {"demo", made_up ? "true" : ""}};
}

/// The baseline that the verdict is about: one that does not hold, else the card's, else the
/// model's.
applied_baseline const* binding(verdict const& v) {
  auto const order = [](applied_baseline const& b) {
    double const value = b.reference * b.ratio;
    bool const holds = (!b.lower || value >= *b.lower) && (!b.upper || value <= *b.upper);
    return std::pair(holds, !b.card);
  };
  auto const found =
      std::min_element(v.baselines.begin(), v.baselines.end(),
                       [&](auto const& a, auto const& b) { return order(a) < order(b); });
  return found == v.baselines.end() ? nullptr : &*found;
}

std::optional<double> judged_value(measurement const& m, applied_baseline const* by) {
  if (by && by->statistic == "peak") return m.peak;
  if (by && by->statistic == "worst") return m.worst;
  return m.median;
}

class exposition {
 public:
  void add(result const& r) {
    auto of = device_labels(r);
    if (seen_.insert(text_of(of)).second) info_.add(info_labels(r), 1);
    of.emplace_back("probe", r.probe.name);
    of.emplace_back("parameters", parameters_text(r.probe.parameters));
    if (!seen_.insert(text_of(of)).second) return;  // no series may be there twice
    auto const* by = binding(r.verdict);
    if (auto const value = r.measurement ? judged_value(*r.measurement, by) : std::nullopt) {
      (r.measurement->is_time ? latency_ : bandwidth_).add(of, *value);
      if (by && by->ratio > 0) ratio_.add(of, r.probe.lower_is_better ? 1 / by->ratio : by->ratio);
    }
    for (auto const s :
         {status::regression, status::error, status::inconclusive, status::no_baseline,
          status::improved, status::pass, status::measured, status::skipped}) {
      auto with = of;
      with.emplace_back("status", to_string(s));
      status_.add(with, r.verdict.status == s ? 1 : 0);
    }
    unstable_.add(of, r.verdict.unstable ? 1 : 0);
    using seconds = std::chrono::duration<double>;
    if (auto const at = parse_time(r.run.started))
      last_run_.add(of, std::round(seconds(at->time_since_epoch()).count() * 1e3) / 1e3);
  }

  std::string text(std::size_t unread) {
    skipped_.add({}, static_cast<double>(unread));
    untimed_.add({}, 0);
    std::string all;
    for (auto const* f : {&bandwidth_, &latency_, &ratio_, &status_, &unstable_, &last_run_, &info_,
                          &skipped_, &untimed_})
      if (!f->lines.empty())
        all +=
            fmt::format("# HELP {} {}\n# TYPE {} gauge\n{}", f->name, f->help, f->name, f->lines);
    return all;
  }

 private:
  std::set<std::string> seen_;
  family bandwidth_{"bandgate_bandwidth_bytes_per_second",
                    "Newest bandwidth, by the statistic that it was judged by."};
  family latency_{"bandgate_latency_seconds", "Newest time of a probe where less is better."};
  family ratio_{"bandgate_ratio",
                "Performance against the reference: 1 as expected, less is worse (value / "
                "reference; where less is better, reference / value)."};
  family status_{"bandgate_status", "1 for the newest verdict, 0 for the others."};
  family unstable_{"bandgate_unstable", "1 if the newest verdict took a second attempt to pass."};
  family last_run_{"bandgate_last_run_timestamp_seconds", "When the newest verdict was measured."};
  family info_{"bandgate_info", "1; what is known of the device."};
  family skipped_{"bandgate_skipped_files",
                  "Files in the result folders that hold no valid result."};
  family untimed_{"bandgate_untimed_failures",
                  "Regressions and errors whose time stamp is impossible, and which no other line "
                  "shows."};
};

}  // namespace

std::string prometheus_text(std::vector<checked> const& all, std::size_t unread) {
  std::vector<result const*> finals;
  for (auto const& pair : all) finals.push_back(&pair.final());
  // Of a name that is there twice the newest stays.
  std::stable_sort(finals.begin(), finals.end(),
                   [](auto const* a, auto const* b) { return a->run.started > b->run.started; });
  exposition metrics;
  for (auto const* r : finals) metrics.add(*r);
  return metrics.text(unread);
}

void require_prometheus_folder(std::filesystem::path const& folder) {
  // Tried, since what the mode says binds neither root nor a file system that is read-only.
  auto trial = (folder / ".bandgate-XXXXXX").string();
  int const file = mkstemp(trial.data());
  if (file < 0)
    throw usage_error("--prometheus " + folder.string() + ": no file can be made there: " +
                      std::strerror(errno) + "; name the folder that node_exporter reads " +
                      "(--collector.textfile.directory), create it with mkdir -p, and let this " +
                      "user write to it");
  close(file);
  unlink(trial.c_str());
}

void write_prometheus(std::filesystem::path const& folder, std::vector<checked> const& all,
                      std::string const& node, std::string const& backend,
                      std::filesystem::path const& results) {
  std::size_t unread = 0;
  auto shown = all;
  if (!results.empty()) {
    auto const stored = newest_stored(
        results, std::chrono::system_clock::now() - shown_for, node,
        [&](result const& r) { return r.device.backend == backend; },
        [&](std::string const&) { ++unread; });
    shown.insert(shown.end(), stored.begin(), stored.end());
  }
  auto const file = folder / "bandgate.prom";
  try {
    write_atomically(file, prometheus_text(shown, unread));
    // The collector is another user, whatever this one's umask is.
    using std::filesystem::perms;
    std::filesystem::permissions(
        file, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
  } catch (std::filesystem::filesystem_error const& e) {
    throw usage_error(e.what());
  }
}

}  // namespace bandgate::cli
