// SPDX-License-Identifier: Apache-2.0
#include "records/baseline_entry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "records/text.hpp"

namespace bandgate {
namespace {

constexpr char const* units = "B/s, MB/s, MiB/s, GB/s, GiB/s, us or peak";

/// A parameter may be written as a number or as text ("64MiB").
std::string parameter_text(place const& at) {
  auto const& value = at.value();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_integer())
    at.refuse(shortened(value) + " is not a parameter",
              "write a whole number, or text such as \"64MiB\"");
  return value.dump();
}

parameters read_parameters(place const& entry, probe const* what) {
  parameters values;
  if (what != nullptr) values = complete(what->parameters, {});
  if (!entry.has("parameters")) return values;
  auto const all = entry / "parameters";
  if (!all.value().is_object())
    all.refuse(shortened(all.value()) + " is not an object", "write {...}, {} for the defaults");
  for (auto const& [name, ignored] : all.value().items()) {
    auto const at = all / name;
    auto const text = parameter_text(at);
    if (what == nullptr) {
      values[name] = text;
      continue;
    }
    for (auto const& p : what->parameters)
      if (p.name == name && !p.keyed)
        at.refuse(name + " says where is measured, not what", "remove it: the entry holds for all");
    try {
      values[name] = complete(what->parameters, {{name, text}}).at(name);
    } catch (usage_error const& error) {
      at.refuse(error.what(), "see: bandgate list --verbose");
    }
  }
  return values;
}

void read_tolerance(place const& entry, probe const* what, baseline_entry& into) {
  auto const at = entry / "tolerance";
  at.must_be_object({"lower", "upper"});
  into.lower = (at / "lower").number();
  if (into.lower <= -1 || into.lower >= 0)
    (at / "lower")
        .refuse(shortened((at / "lower").value()) + " is not between -1 and 0",
                "write a share of the value, such as -0.01 for one percent below it");
  auto const upper = at / "upper";
  if (!upper.value().is_null()) {
    into.upper = upper.number();
    if (*into.upper <= 0 || *into.upper > 1)
      upper.refuse(shortened(upper.value()) + " is not above 0 and at most 1",
                   "write a share of the value, such as 0.01 for one percent above it, or null");
  } else if (what != nullptr && what->direction == direction::lower_is_better) {
    upper.refuse("null leaves " + what->name + " unbounded, of which less is better",
                 "write the share above the value that is a regression, such as 0.1");
  }
}

/// The process that measures `what` has to measure the other probe, too.
void check_other_probe(place const& at, baseline_entry const& entry, probe const& what,
                       std::vector<probe> const& probes) {
  if (entry.statistic != "median")
    at.refuse("the ratio to another probe is that of the medians, not of the " + entry.statistic,
              "remove \"statistic\"");
  auto const* other = declared(probes, entry.relative_to);
  if (other == nullptr)
    at.refuse(fmt::format("this program has no probe \"{}\"", entry.relative_to),
              fmt::format("name one that `list` prints, or link that one of Bandgate's: "
                          "bandgate_add_probes(... RELATIVE_TO {})",
                          entry.relative_to));
  auto const kind = [](probe const& p) {
    return p.direction == direction::lower_is_better ? "time" : "throughput";
  };
  if (other->direction != what.direction)
    at.refuse(
        fmt::format("{} is a {}, but {} is a {}", other->name, kind(*other), what.name, kind(what)),
        "name another probe");
  if (other->procedure != procedure::settle)
    at.refuse(other->name + " is measured in parts", "name another probe");
}

void read_relative(place const& entry, probe const* what, std::vector<probe> const& probes,
                   baseline_entry& into) {
  if (entry.has("unit"))
    (entry / "unit").refuse("a ratio to another probe has no unit", "remove unit or relative_to");
  auto const at = entry / "relative_to";
  into.relative_to = at.text();
  if (into.relative_to == into.probe) at.refuse("is the probe itself", "name another probe");
  if (into.relative_to != "median") {
    if (what != nullptr) check_other_probe(at, into, *what, probes);
  } else if (into.statistic != "worst") {
    at.refuse("the median of a series held against itself holds always",
              "add \"statistic\": \"worst\"");
  }
}

void read_unit(place const& entry, probe const* what, baseline_entry& into) {
  auto const at = entry / "unit";
  auto const text = at.text();
  if (text != "peak") into.unit = parse_unit(text);
  if (text != "peak" && !into.unit)
    at.refuse(shortened(at.value()) + " is not a unit", fmt::format("write one of {}", units));
  if (what == nullptr) return;
  bool const time = what->direction == direction::lower_is_better;
  if (time != (into.unit == unit::microseconds))
    at.refuse(fmt::format("{} is a {}", what->name, time ? "time" : "throughput"),
              time ? "write us" : "write a unit of throughput, such as GiB/s");
}

void read_value(place const& entry, baseline_file const& file, probe const* what,
                baseline_entry& into) {
  auto const at = entry / "value";
  into.value = at.number();
  if (into.value <= 0)
    at.refuse(shortened(at.value()) + " is not above 0", "write the reference that is expected");
  bool const share = !into.unit && into.relative_to.empty();
  if (share && into.value > 1)
    at.refuse(shortened(at.value()) + " is above the device's own peak",
              "write a share from 0 to 1");
  bool const streams = what != nullptr && what->ceiling == ceiling::dram;
  if (!streams || !into.unit || !file.peak_gb_s) return;
  double const limit = to_base(*file.peak_gb_s, unit::gb_per_s);
  if (to_base(into.value, *into.unit) > limit)
    at.refuse(fmt::format("{} {} is above the model's peak of {} GB/s ({:.1f} GiB/s)",
                          shortened(at.value()), to_string(*into.unit), *file.peak_gb_s,
                          from_base(limit, unit::gib_per_s)),
              "correct the value, its unit or /gpu/peak_gb_s");
}

bool is_date(std::string const& text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  return true;
}

provenance read_provenance(place const& entry, bool share) {
  auto const at = entry / "provenance";
  at.must_be_object({"kind", "source", "cards", "processes", "driver", "date", "tool", "note"});
  provenance from;
  from.kind = (at / "kind").one_of({"measured", "published", "peak-fraction"});
  if (at.has("source")) from.source = (at / "source").text();
  if (from.kind == "published" && from.source.empty())
    at.refuse("a published figure names no source", "add \"source\"");
  if (from.kind == "peak-fraction" && !share)
    (at / "kind").refuse("a peak-fraction is a share of the peak", "write \"unit\": \"peak\"");
  if (at.has("cards")) from.cards = (at / "cards").count();
  if (at.has("processes")) from.processes = (at / "processes").count();
  if (at.has("driver")) from.driver = (at / "driver").text();
  if (at.has("tool")) from.tool = (at / "tool").text();
  if (at.has("note")) from.note = (at / "note").text();
  if (!at.has("date")) return from;
  from.date = (at / "date").text();
  if (!is_date(from.date))
    (at / "date").refuse(shortened((at / "date").value()) + " is not a date", "write 2026-11-29");
  return from;
}

/// A floor for every model can be nothing that belongs to one.
void check_generic(place const& at, baseline_entry const& entry) {
  if (entry.unit)
    (at / "unit").refuse("holds for every model", "write \"unit\": \"peak\" and a share as value");
  for (auto const* key : {"card", "board_part"})
    if (at.has(key)) (at / key).refuse("the generic file speaks of no single card", "remove it");
}

/// Entries of links that hold on one platform only are kept, but no probe of this version reads
/// them; on any other probe the key would be silently without effect.
void check_platform(place const& at, probe const* what) {
  if (at.has("platform") && what != nullptr)
    (at / "platform").refuse(what->name + " does not depend on the platform", "remove it");
}

}  // namespace

probe const* declared(std::vector<probe> const& probes, std::string const& name) {
  auto const found =
      std::find_if(probes.begin(), probes.end(), [&](probe const& p) { return p.name == name; });
  return found == probes.end() ? nullptr : &*found;
}

baseline_entry read_entry(place const& at, baseline_file const& file,
                          std::vector<probe> const& probes, std::vector<std::string>& warnings) {
  at.must_be_object({"probe", "parameters", "statistic", "unit", "relative_to", "value",
                     "tolerance", "card", "board_part", "platform", "provenance"});
  baseline_entry entry;
  entry.file = file.origin;
  entry.pointer = at.pointer();
  entry.generic = file.generic;
  entry.ecc = file.ecc;
  if (file.peak_gb_s) entry.model_peak_bytes_per_second = to_base(*file.peak_gb_s, unit::gb_per_s);
  entry.probe = (at / "probe").text();
  auto const* what = declared(probes, entry.probe);
  if (what == nullptr)
    warnings.push_back(
        fmt::format("{}: {}/probe: this program has no probe \"{}\"; the entry is "
                    "kept and not used",
                    file.origin, entry.pointer, entry.probe));
  entry.parameters = read_parameters(at, what);
  if (at.has("statistic")) entry.statistic = (at / "statistic").one_of({"median", "peak", "worst"});
  if (entry.statistic == "worst" && what != nullptr && what->procedure == procedure::settle)
    (at / "statistic")
        .refuse(what->name + " is not measured in parts", "write \"median\" or \"peak\"");
  if (at.has("relative_to"))
    read_relative(at, what, probes, entry);
  else
    read_unit(at, what, entry);
  read_value(at, file, what, entry);
  read_tolerance(at, what, entry);
  if (at.has("card")) entry.card = (at / "card").text();
  if (at.has("board_part")) entry.board_part = (at / "board_part").text();
  check_platform(at, what);
  entry.provenance = read_provenance(at, !entry.unit && entry.relative_to.empty());
  if (file.generic) check_generic(at, entry);
  return entry;
}

}  // namespace bandgate
