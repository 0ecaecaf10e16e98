// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>

namespace stub {
namespace {

nvmlDevice_st devices[] = {
    {"GPU-c1c1c1c1-0000-0000-0000-000000000001", "0000:c1:00.0", "NVIDIA H200",
     "692-2G520-0282-000", "1650000000001", 0x233510de, 0x18bf10de, 3201, 0, nullptr},
    {"GPU-1b1b1b1b-0000-0000-0000-000000000002", "0000:1b:00.0", "NVIDIA H200",
     "692-2G520-0282-001", "1650000000002", 0x233510de, 0x18bf10de, 3202, 0, nullptr},
    {"GPU-3a3a3a3a-0000-0000-0000-000000000003", "0000:3a:00.0", "NVIDIA H200",
     "692-2G520-0282-001", "1650000000003", 0x233510de, 0x18bf10de, 3203, 1, nullptr},
    {"MIG-12345678-0000-0000-0000-000000000004", "", "NVIDIA H200 MIG 1g.18gb", "", "", 0, 0, 0, 0,
     &devices[2]},
    {"MIG-12345678-0000-0000-0000-000000000005", "", "NVIDIA H200 MIG 3g.71gb", "", "", 0, 0, 0, 0,
     &devices[2]},
};

struct setting {
  std::string text;
  long readings{};
};
struct state {
  bool started{};
  long questions{};
  long lists{};
  std::map<std::string, setting> settings;
  std::string uuid, pci;  // what devices[1] points at
};
state now;

[[noreturn]] void hang() {
  for (;;) ::pause();
}

std::vector<std::string> split(std::string const& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto const end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void read_settings() {
  now.settings.clear();
  char const* const all = std::getenv("NVML_STUB");
  for (auto const& word : split(all == nullptr ? "" : all, ',')) {
    auto const equals = word.find('=');
    now.settings[word.substr(0, equals)].text =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
}

double number(std::string const& text) {
  if (text.starts_with("0x")) return static_cast<double>(std::strtoull(text.c_str(), nullptr, 16));
  return std::strtod(text.c_str(), nullptr);
}

double uptime_ns() {
  timespec up{};
  clock_gettime(CLOCK_BOOTTIME, &up);
  return static_cast<double>(up.tv_sec) * 1e9 + static_cast<double>(up.tv_nsec);
}

bool listed(char const* name, char const* function) {
  auto const functions = list(name, "");
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

}  // namespace

nvmlReturn_t start() {
  read_settings();
  now.questions = now.lists = 0;
  now.uuid = text("uuid", "GPU-1b1b1b1b-0000-0000-0000-000000000002");
  now.pci = text("pci", "0000:1b:00.0");
  devices[1].uuid = now.uuid.c_str();
  devices[1].pci = now.pci.c_str();
  devices[1].mig_mode = static_cast<unsigned>(value("mig", 0));
  if (told("hang")) hang();
  auto const refusal = static_cast<nvmlReturn_t>(value("init", success));
  now.started = refusal == success;
  return refusal;
}
void stop() {
  now.started = false;
}
bool started() {
  return now.started;
}

bool told(char const* name) {
  return now.settings.contains(name);
}
std::string text(char const* name, char const* otherwise) {
  auto const found = now.settings.find(name);
  return found == now.settings.end() ? otherwise : found->second.text;
}
std::vector<std::string> list(char const* name, char const* otherwise) {
  return split(text(name, otherwise), '+');
}

double value(char const* name, double ill, double healthy) {
  auto const found = now.settings.find(name);
  if (found == now.settings.end()) return told("healthy") ? healthy : ill;
  auto const& text = found->second.text;
  auto const reading = found->second.readings++;
  if (text.ends_with('%')) return number(text) / 100 * uptime_ns();
  if (auto const plus = text.find('+'); plus != std::string::npos)
    return number(text) + number(text.substr(plus + 1)) * static_cast<double>(reading);
  if (auto const later = text.find('>'); later != std::string::npos && reading > 0)
    return number(text.substr(later + 1));
  return number(text);
}
unsigned amount(char const* name, double ill, double healthy) {
  return told("zero") ? 0 : static_cast<unsigned>(value(name, ill, healthy));
}

nvmlReturn_t permitted(char const* function) {
  if (!now.started) return uninitialized;
  auto const asked = now.questions++;
  auto const past = [&](char const* fault) {
    auto const after = now.settings.find(fault);
    return after != now.settings.end() && asked >= std::atol(after->second.text.c_str());
  };
  if (past("hang-after")) hang();
  if (past("lost-after")) return lost;
  if (past("reset-after")) return reset_required;
  if (past("fail-after")) return unknown;
  if (listed("missing", function)) return no_function;
  return told("not-supported") || listed("refuse", function) ? not_supported : success;
}

nvmlDevice_t slice(nvmlDevice_t card, unsigned place) {
  // Places without a slice are ordinary: the second is at the third.
  if (card != &devices[2] || (place != 0 && place != 2)) return nullptr;
  return &devices[place == 0 ? 3 : 4];
}
nvmlDevice_t by_uuid(std::string const& uuid) {
  for (auto& device : devices)
    if (uuid == device.uuid) return &device;
  return nullptr;
}
nvmlDevice_t by_pci(std::string const& address) {
  for (auto& device : devices)
    if (address == device.pci) return &device;
  return nullptr;
}

void listed_once() {
  ++now.lists;
}
bool busy_one_gone() {
  return told("active-for") && now.lists > std::atol(text("active-for", "0").c_str());
}

}  // namespace stub
