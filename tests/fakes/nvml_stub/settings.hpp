// SPDX-License-Identifier: Apache-2.0
/// NVML's interface as the stub declares it for itself, and what it was told to answer.
#pragma once

#include <cstring>
#include <string>
#include <vector>

extern "C" {
typedef struct nvmlDevice_st {
  char const *uuid, *pci, *name, *board_part, *serial;
  unsigned device_id, subsystem_id, memory_clock;
  unsigned mig_mode;
  struct nvmlDevice_st* card;  // of a MIG instance
} * nvmlDevice_t;
typedef int nvmlReturn_t;
}

#define STUB extern "C" __attribute__((visibility("default"))) nvmlReturn_t

namespace stub {

enum {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  too_small = 7,
  no_function = 13,
  lost = 15,
  reset_required = 16,
  wrong_version = 25,
  unknown = 999
};

/// Reads NVML_STUB anew and begins to answer, or says why not.
nvmlReturn_t start();
void stop();
bool started();

/// Whether NVML_STUB holds `name`, alone or with a value.
bool told(char const* name);
/// The text after `name=`, or `otherwise`.
std::string text(char const* name, char const* otherwise);
/// The texts between the + signs after `name=`.
std::vector<std::string> list(char const* name, char const* otherwise);
/// The number after `name=`, else one of a card that has several ills, or of a healthy one.
double value(char const* name, double ill, double healthy);
inline double value(char const* name, double otherwise) {
  return value(name, otherwise, otherwise);
}
/// A clock, power or link: 0 where the stub was told so.
unsigned amount(char const* name, double ill, double healthy);

/// Counts a question about a device; anything but success is its answer.
nvmlReturn_t permitted(char const* function);

template <class T>
nvmlReturn_t give(char const* function, T* to, T answer) {
  nvmlReturn_t const refusal = permitted(function);
  if (refusal == success) *to = answer;
  return refusal;
}
/// Only a question that is permitted advances what changes with each reading.
inline nvmlReturn_t give_number(char const* function, unsigned* to, char const* name, double ill,
                                double healthy) {
  nvmlReturn_t const refusal = permitted(function);
  if (refusal == success) *to = static_cast<unsigned>(value(name, ill, healthy));
  return refusal;
}
inline nvmlReturn_t give_amount(char const* function, unsigned* to, char const* name, double ill,
                                double healthy) {
  nvmlReturn_t const refusal = permitted(function);
  if (refusal == success) *to = amount(name, ill, healthy);
  return refusal;
}
inline nvmlReturn_t give_text(char const* function, char* to, unsigned length, char const* answer) {
  nvmlReturn_t const refusal = permitted(function);
  if (refusal != success) return refusal;
  if (std::strlen(answer) + 1 > length) return too_small;
  std::strcpy(to, answer);
  return success;
}

/// The card in MIG mode and its slices, among all devices.
nvmlDevice_t slice(nvmlDevice_t card, unsigned place);
nvmlDevice_t by_uuid(std::string const& uuid);
nvmlDevice_t by_pci(std::string const& address);

/// How often the processes were listed, after `active-for=N` of which the busy one is gone.
void listed_once();
bool busy_one_gone();

}  // namespace stub
