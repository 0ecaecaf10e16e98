// SPDX-License-Identifier: Apache-2.0
/// The members of a result under their names in JSON, once for writing and reading alike: `visit`
/// is called with each name and a reference to the member.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include <bandgate/result.hpp>

namespace bandgate::fields {

/// `Of` as a member of a `Whole` that may be const.
template <class Whole, class Of>
using member = std::conditional_t<std::is_const_v<Whole>, Of const, Of>;

/// "B/s" or "s".
template <class Flag>
struct unit_of {
  Flag& is_time;
};

/// {"code", "message"} or null.
template <class Code, class Message>
struct failure_of {
  Code& code;
  Message& message;
};

template <class T, class Type>
concept is = std::is_same_v<std::remove_const_t<T>, Type>;

template <class Visitor>
void each(Visitor& visit, is<run_info> auto& r) {
  visit("id", r.id);
  visit("group_id", r.group_id);
  visit("started", r.started);
  visit("duration_s", r.duration_s);
  visit("attempt", r.attempt);
  visit("host", r.host);
  visit("node", r.node);
  visit("boot_id", r.boot_id);
  visit("kernel", r.kernel);
  visit("kernel_module_flavour", r.kernel_module_flavour);
  visit("gsp_version", r.gsp_version);
  visit("fabric_manager", r.fabric_manager);
  visit("bios", r.bios);
  visit("product", r.product);
  visit("container_image", r.container_image);
  visit("scheduler_job", r.scheduler_job);
  visit("ci_system", r.ci_system);
  visit("ci_job", r.ci_job);
  visit("ci_commit", r.ci_commit);
  visit("labels", r.labels);
  visit("tool_version", r.tool_version);
  visit("tool_build", r.tool_build);
}

template <class Visitor>
void each(Visitor& visit, is<device_identity> auto& d) {
  visit("backend", d.backend);
  visit("name", d.name);
  visit("uuid", d.uuid);
  visit("pci_address", d.pci_address);
  visit("pci_device", d.pci_device);
  visit("pci_subsystem", d.pci_subsystem);
  visit("board_part", d.board_part);
  visit("serial", d.serial);
  visit("memory_bytes", d.memory_bytes);
  visit("bus_width_bits", d.bus_width_bits);
  visit("memory_clock_mhz", d.memory_clock_mhz);
  visit("peak_bytes_per_second", d.peak_bytes_per_second);
  visit("processors", d.processors);
  visit("last_level_cache_bytes", d.last_level_cache_bytes);
  visit("compute_capability", d.compute_capability);
  visit("ecc", d.ecc);
  visit("mig_profile", d.mig_profile);
  visit("mig_parent", d.mig_parent);
  visit("virtualization", d.virtualization);
  visit("power_limit_w", d.power_limit_w);
  visit("power_limit_default_w", d.power_limit_default_w);
  visit("vbios", d.vbios);
  visit("driver_version", d.driver_version);
  visit("runtime_version", d.runtime_version);
  visit("persistence_mode", d.persistence_mode);
  visit("compute_mode", d.compute_mode);
  visit("numa_node", d.numa_node);
  visit("cpu_model", d.cpu_model);
  visit("sockets", d.sockets);
  visit("numa_nodes", d.numa_nodes);
  visit("dimm_mts", d.dimm_mts);
}

template <class Visitor>
void each(Visitor& visit, is<probe_record> auto& p) {
  visit("name", p.name);
  visit("version", p.version);
  visit("parameters", p.parameters);
  visit("shape", p.shape);
  visit("byte_rule", p.byte_rule);
  visit("ceiling", p.ceiling);
  visit("directions", p.directions);
  visit("lower_is_better", p.lower_is_better);
  visit("expected_spread", p.expected_spread);
}

template <class Visitor>
void each(Visitor& visit, is<named_value> auto& f) {
  visit("name", f.name);
  visit("unit", f.unit);
  visit("value", f.value);
}

template <class Visitor>
void each(Visitor& visit, is<series::point> auto& p) {
  visit("at", p.at);
  visit("value", p.value);
  visit("sm_clock_mhz", p.sm_clock_mhz);
  visit("temperature_c", p.temperature_c);
  visit("power_w", p.power_w);
}

template <class Visitor>
void each(Visitor& visit, is<series> auto& s) {
  visit("axis", s.axis);
  visit("step", s.step);
  visit("points", s.points);
}

template <class Visitor, is<measurement> M>
void each(Visitor& visit, M& m) {
  visit("unit", unit_of<member<M, bool>>{m.is_time});
  visit("median", m.median);
  visit("peak", m.peak);
  visit("p05", m.p05);
  visit("p95", m.p95);
  visit("sd", m.sd);
  visit("cv", m.cv);
  visit("slope", m.slope);
  visit("unsettled", m.unsettled);
  visit("samples", m.samples);
  visit("iterations", m.iterations);
  visit("bytes_per_pass", m.bytes_per_pass);
  visit("warm_up_s", m.warm_up_s);
  visit("verified", m.verified);
  visit("more", m.more);
  visit("series", m.series);
  visit("worst", m.worst);
  visit("drop", m.drop);
}

template <class Visitor>
void each(Visitor& visit, is<device_process> auto& p) {
  visit("pid", p.pid);
  visit("name", p.name);
  visit("memory_bytes", p.memory_bytes);
  visit("active", p.active);
}

template <class Visitor>
void each(Visitor& visit, is<health> auto& h) {
  visit("source", h.source);
  visit("idle", h.idle);
  visit("load", h.load);
  visit("change", h.change);
  visit("processes", h.processes);
}

template <class Visitor>
void each(Visitor& visit, is<applied_baseline> auto& b) {
  visit("file", b.file);
  visit("entry", b.entry);
  visit("kind", b.kind);
  visit("statistic", b.statistic);
  visit("generic", b.generic);
  visit("card", b.card);
  visit("reference", b.reference);
  visit("lower", b.lower);
  visit("upper", b.upper);
  visit("ratio", b.ratio);
}

template <class Visitor>
void each(Visitor& visit, is<reason> auto& r) {
  visit("code", r.code);
  visit("sentence", r.sentence);
}

template <class Visitor>
void each(Visitor& visit, is<verdict> auto& v) {
  visit("status", v.status);
  visit("unstable", v.unstable);
  visit("baselines", v.baselines);
  visit("reasons", v.reasons);
  visit("next_step", v.next_step);
}

template <class Visitor, is<result> R>
void each(Visitor& visit, R& r) {
  visit("run", r.run);
  visit("device", r.device);
  visit("probe", r.probe);
  visit("measurement", r.measurement);
  visit("failure", failure_of<member<R, std::optional<failure>>, member<R, std::string>>{
                       r.failure, r.failure_message});
  visit("skip_reason", r.skip_reason);
  visit("notes", r.notes);
  visit("health", r.health);
  visit("verdict", r.verdict);
}

}  // namespace bandgate::fields
