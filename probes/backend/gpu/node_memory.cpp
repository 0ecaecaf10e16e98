// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/node_memory.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "device/file_text.hpp"

namespace bandgate {
namespace {

constexpr std::size_t huge_page = 2UL << 20;
constexpr std::size_t small_page = 4096;

[[noreturn]] void refuse(bytes size, char const* what, int error) {
  throw measurement_error(
      failure::out_of_memory,
      fmt::format("the host buffer '{}' of {} bytes cannot be mapped: {}; choose a smaller size",
                  what, size.count, std::generic_category().message(error)));
}

/// Aligned to huge pages: of a piece that is too long, both ends are given back.
unsigned char* map(bytes size, std::size_t length, char const* what) {
  void* const mapped = ::mmap(nullptr, length + huge_page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) refuse(size, what, errno);
  auto* const begin = static_cast<unsigned char*>(mapped);
  auto const head = (huge_page - reinterpret_cast<std::uintptr_t>(mapped) % huge_page) % huge_page;
  if (head != 0) ::munmap(begin, head);
  if (head != huge_page) ::munmap(begin + head + length, huge_page - head);
  // A kernel without transparent huge pages refuses: slower, and still right.
  ::madvise(begin + head, length, MADV_HUGEPAGE);
  return begin + head;
}

/// Makes the calling thread run on the node's processors. False where there are none for it.
bool run_on_node(int node) {
  auto const near =
      parse_cpu_list(read_line(fmt::format("/sys/devices/system/node/node{}/cpulist", node)));
  cpu_set_t allowed;
  if (!near || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && !near->contains(cpu)) CPU_CLR(cpu, &allowed);
  return CPU_COUNT(&allowed) != 0 && ::sched_setaffinity(0, sizeof allowed, &allowed) == 0;
}

/// Touched by a thread near by, pages fall on the node also where a container forbids to ask for it
/// (Docker's default profile does). Says whether the thread could be put there.
bool touch(unsigned char* data, std::size_t length, std::optional<int> node) {
  bool near = false;
  std::thread([&] {
    near = node && run_on_node(*node);
    for (std::size_t i = 0; i < length; i += small_page) data[i] = 1;
  }).join();
  return near;
}

// The system calls themselves: of libnuma nothing else would be needed.
constexpr unsigned most_nodes = 1024;
using node_mask = std::array<unsigned long, most_nodes / 64>;

long get_policy(int* mode, unsigned long* nodes, unsigned long most, void* at, unsigned flags) {
  return ::syscall(SYS_get_mempolicy, mode, nodes, most, at, flags);
}

/// Why the memory could not be bound; empty when it was.
std::string bind(unsigned char* data, std::size_t length, int node) {
  auto const at = static_cast<unsigned>(node);
  node_mask allowed{};
  if (at >= most_nodes) return "its number is out of range";
  if (get_policy(nullptr, allowed.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
    return fmt::format("the kernel or the container does not let memory be bound ({})",
                       std::generic_category().message(errno));
  if ((allowed[at / 64] >> at % 64 & 1) == 0)
    return "the cpuset or cgroup of this process does not allow it";
  node_mask wanted{};
  wanted[at / 64] = 1UL << at % 64;
  // Preferred, since a node without enough free memory is to be a note and not the end.
  if (::syscall(SYS_mbind, data, length, MPOL_PREFERRED, wanted.data(), most_nodes, 0) != 0)
    return std::generic_category().message(errno);
  return "";
}

/// How many of 64 places lie on another node.
unsigned elsewhere(unsigned char* data, std::size_t length, int node) {
  unsigned count = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    int found = node;
    auto* const place = data + length / 64 * i;
    if (get_policy(&found, nullptr, 0, place, MPOL_F_NODE | MPOL_F_ADDR) == 0 && found != node)
      ++count;
  }
  return count;
}

std::string place(unsigned char* data, std::size_t length, std::optional<int> node) {
  if (!node) {
    touch(data, length, node);
    return "host memory not bound to a NUMA node: that of the GPU is not known";
  }
  auto const why_not = bind(data, length, *node);
  bool const near = touch(data, length, node);
  if (!why_not.empty())
    return fmt::format("host memory not bound to NUMA node {}, the GPU's: {}{}", *node, why_not,
                       near ? "; touched first by a processor of that node" : "");
  if (auto const away = elsewhere(data, length, *node); away != 0)
    return fmt::format(
        "host memory bound to NUMA node {}, the GPU's, of which {} of 64 pages "
        "looked at lie elsewhere: the node is short of memory",
        *node, away);
  return fmt::format("host memory on NUMA node {}, the GPU's", *node);
}

}  // namespace

node_memory map_on_node(bytes size, std::optional<int> node, char const* what) {
  if (size.count > SIZE_MAX - 2 * huge_page) refuse(size, what, ENOMEM);
  auto const length =
      (std::max<std::size_t>(size.count, 1) + huge_page - 1) / huge_page * huge_page;
  auto* const data = map(size, length, what);
  buffer memory(data, size, [length](void* p) { ::munmap(p, length); });
  auto note = place(data, length, node);
  return {std::move(memory), {length}, std::move(note)};
}

}  // namespace bandgate
