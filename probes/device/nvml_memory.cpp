// SPDX-License-Identifier: Apache-2.0
/// The card's memory: its errors, what is done about them, how much is taken.
#include "device/nvml_fields.hpp"
#include "device/nvml_table.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;

void add_row_remapping(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  struct rows {
    unsigned correctable, uncorrectable, pending, failed;
  };
  answer<rows> got{nvml_abi::function_not_found, {}, symbols.remapped_rows.name};
  auto& r = got.value;
  if (symbols.remapped_rows.call != nullptr)
    got.code =
        symbols.remapped_rows.call(card, &r.correctable, &r.uncorrectable, &r.pending, &r.failed);
  fields["row_remap_pending"] = got ? known(r.pending != 0) : refused(got);
  fields["row_remap_failure"] = got ? known(r.failed != 0) : refused(got);
}

health_field ecc_errors(nvml_symbols const& symbols, device card, int error, int counter) {
  return count(ask<unsigned long long>(symbols.ecc_errors, card, error, counter));
}

}  // namespace

void add_memory_errors(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  auto const ecc = ask_two<int>(symbols.ecc, card);
  fields["ecc_enabled"] = ecc ? known(ecc.value.current != 0) : refused(ecc);
  fields["ecc_pending"] = ecc ? known(ecc.value.pending != 0) : refused(ecc);
  fields["ecc_corrected_volatile"] =
      ecc_errors(symbols, card, nvml_abi::memory_error_corrected, nvml_abi::ecc_volatile);
  fields["ecc_uncorrected_volatile"] =
      ecc_errors(symbols, card, nvml_abi::memory_error_uncorrected, nvml_abi::ecc_volatile);
  fields["ecc_uncorrected_aggregate"] =
      ecc_errors(symbols, card, nvml_abi::memory_error_uncorrected, nvml_abi::ecc_aggregate);
  add_row_remapping(fields, symbols, card);
  fields["page_retirement_pending"] = flag(ask<int>(symbols.page_retirement, card));
  auto const repair = ask_version<nvml_abi::repair_v1>(1, symbols.repair, card);
  fields["repair_pending"] =
      repair ? known(repair.value.channel_pending != 0 || repair.value.tpc_pending != 0)
             : refused(repair);
}

void add_memory(health_snapshot& fields, nvml_symbols const& symbols, device itself) {
  auto const got = ask_version<nvml_abi::memory_v2>(2, symbols.memory, itself);
  fields["memory_used_bytes"] = got ? known(static_cast<double>(got.value.used)) : refused(got);
  fields["memory_reserved_bytes"] =
      got ? known(static_cast<double>(got.value.reserved)) : refused(got);
  if (got) return;
  // The older layout counts what the driver keeps for itself among what is used.
  auto const older = ask<nvml_abi::memory_v1>(symbols.memory_v1, itself);
  if (older) fields["memory_used_bytes"] = known(static_cast<double>(older.value.used));
}

std::optional<std::uint64_t> memory_bytes(nvml_symbols const& symbols, device itself) {
  if (auto const got = ask_version<nvml_abi::memory_v2>(2, symbols.memory, itself);
      got && got.value.total > 0)
    return got.value.total;
  if (auto const got = ask<nvml_abi::memory_v1>(symbols.memory_v1, itself);
      got && got.value.total > 0)
    return got.value.total;
  if (auto const got = ask<nvml_abi::attributes>(symbols.attributes, itself);
      got && got.value.memory_mib > 0)
    return got.value.memory_mib << 20U;
  return std::nullopt;
}

}  // namespace bandgate
