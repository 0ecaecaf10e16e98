// SPDX-License-Identifier: Apache-2.0
#include "device/pci_address.hpp"

#include <charconv>
#include <cstdio>

#include "device/file_text.hpp"

namespace bandgate {
namespace {

std::optional<std::uint32_t> hexadecimal(std::string_view text, std::uint32_t most) {
  std::uint32_t value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

}  // namespace

std::optional<pci_address> parse_pci_address(std::string_view text) {
  text = trimmed(text);
  auto const dot = text.rfind('.');
  auto const second = text.rfind(':');
  if (dot == std::string_view::npos || second == std::string_view::npos || second > dot ||
      second == 0)
    return std::nullopt;
  auto const first = text.rfind(':', second - 1);
  auto const bus_at = first == std::string_view::npos ? 0 : first + 1;
  auto const domain =
      hexadecimal(first == std::string_view::npos ? "0" : text.substr(0, first), UINT32_MAX);
  auto const bus = hexadecimal(text.substr(bus_at, second - bus_at), 0xff);
  auto const device = hexadecimal(text.substr(second + 1, dot - second - 1), 0x1f);
  auto const function = hexadecimal(text.substr(dot + 1), 7);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return pci_address{*domain, *bus, *device, *function};
}

std::string to_string(pci_address const& address) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", address.domain, address.bus, address.device,
                address.function);
  return text;
}

std::string pci_id(std::uint32_t vendor, std::uint32_t id) {
  char text[24];
  std::snprintf(text, sizeof text, "%04x:%04x", vendor, id);
  return text;
}

std::string pci_id(std::filesystem::path const& device, char const* vendor, char const* id) {
  auto const v = read_number(device / vendor);
  auto const i = read_number(device / id);
  if (!v || !i || *v > 0xffff || *i > 0xffff) return {};
  return pci_id(static_cast<std::uint32_t>(*v), static_cast<std::uint32_t>(*i));
}

}  // namespace bandgate
