// SPDX-License-Identifier: Apache-2.0
/// All free memory of a card, slice by slice: filled, read at full speed, compared to the last
/// byte. A slow or a bad region is one that a buffer somewhere in the memory would have missed.
#include <bandgate/parts.hpp>
#include <bandgate/read_tile.hpp>

namespace bandgate {
namespace {

/// Left free: page tables of the map itself, the code and stack of the kernels, what the driver
/// takes later. Measured free memory is in 2 MiB pages, some of which others may be taking.
constexpr bytes reserve = mib(256);

parameter slice_parameter() {
  parameter p;
  p.name = "slice";
  p.kind = parameter_kind::size;
  p.fallback = gib(1).count;
  p.help = "bytes of each slice, at least 4 x the last-level cache";
  p.least = mib(1).count;
  p.most = gib(1024).count;
  p.keyed = false;  // slices are held against each other
  return p;
}

parameter memory_parameter() {
  auto p = size_parameter();
  p.help = "bytes to map; auto: all free memory but 256MiB";
  p.keyed = false;
  return p;
}

std::string text(std::uint64_t size) {
  return to_string(size, parameter_kind::size);
}

std::uint64_t slice_size(parameters const& values, device_facts const& facts) {
  auto const size = std::get<std::uint64_t>(values.at("slice")) / mib(1).count * mib(1).count;
  auto const cache = facts.last_level_cache.count;
  if (size < 4 * cache)
    throw usage_error("slice=" + text(size) + " would measure the cache: it needs at least " +
                      text(4 * cache) + ", 4 x the last-level cache of " + text(cache));
  return size;
}

std::uint64_t memory_size(parameters const& values, device_facts const& facts) {
  auto const free = facts.memory_free.count - std::min(facts.memory_free, reserve).count;
  auto const* asked = std::get_if<std::uint64_t>(&values.at("size"));
  if (asked != nullptr && *asked > free)
    throw usage_error("size=" + text(*asked) + " does not fit: " + text(facts.memory_free.count) +
                      " are free, of which " + text(reserve.count) +
                      " stay so; leave size at auto for all that fits");
  return (asked != nullptr ? *asked : free) / mib(1).count * mib(1).count;
}

void require_two_slices(std::uint64_t memory, std::uint64_t slice, bool asked) {
  if (memory >= 2 * slice) return;
  auto const why = "slices are held against each other, and " + text(memory) +
                   (asked ? "" : " of free memory") + " are less than two slices of " +
                   text(slice) + "; ask for a smaller slice";
  if (!asked) throw not_applicable(why);
  throw usage_error(why + " or a larger size");
}

work plan(parameters const& values, device_facts const& facts) {
  auto const slice = slice_size(values, facts);
  auto memory = memory_size(values, facts);
  require_two_slices(memory, slice, std::holds_alternative<std::uint64_t>(values.at("size")));
  work w;
  if (auto const rest = memory % slice; rest != 0 && rest < 4 * facts.last_level_cache.count) {
    memory -= rest;
    w.notes.push_back("the last " + text(rest) +
                      " are left out: read alone they would come from the cache");
  }
  w.slices = (memory + slice - 1) / slice;
  w.bytes_per_pass = w.slice_bytes = slice;
  w.buffers = {{"data", {memory}}};
  return w;
}

/// The key of a slice's data: word i of that data is made of number `first` + i of the stream of
/// the whole memory's, which never repeats, so a slice that shares its memory with another is
/// noticed.
constexpr std::uint64_t data_key(std::uint64_t seed, std::uint64_t first) {
  return seed + first * 0x9e3779b97f4a7c15ULL;  // random_word's step from one number to the next
}
static_assert(random_word(data_key(42, 7), 5) == random_word(42, 12));

class memory_map final : public kernel {
 public:
  memory_map(gpu_context& gpu, work const& planned)
      : gpu_(gpu),
        work_(planned),
        memory_(gpu.allocate(planned.buffers.at("data"), "memory to map")),
        total_(gpu) {
    memory_map::select(0);
  }

  void select(std::uint64_t slice) override {
    begin_ = slice * work_.slice_bytes;
    slice_ = buffer(memory_.as<unsigned char>() + begin_, {bytes_of_slice(work_, slice)}, {});
    key_ = data_key(gpu_.seed(), begin_ / sizeof(std::uint64_t));
  }

  void fill() override { fill_random(gpu_, slice_, key_); }

  void run(launch_shape const& shape, std::uint64_t passes) override {
    for (std::uint64_t i = 0; i < passes; ++i)
      read_pass(gpu_, shape, slice_, {~gpu_.seed(), total_.at(), false});
  }

  std::optional<std::string> verify(launch_shape const& shape) override {
    if (auto const word = first_difference<random_data>(gpu_, slice_, key_))
      return difference(*word);
    total_.clear();
    read_pass(gpu_, shape, slice_, {~gpu_.seed(), total_.at(), true});
    return compare_sums(total_.read(), sum_of_random<64>(gpu_, slice_.size(), key_));
  }

 private:
  std::string difference(std::uint64_t word) const {
    std::uint64_t found = 0;
    gpu_.copy_to_host(&found, slice_.as<std::uint64_t>() + word, {sizeof found});
    auto const written = data_word(key_, word);
    return "the word at " + hexadecimal(begin_ + word * sizeof found) + " is " +
           hexadecimal(found) + " and was written as " + hexadecimal(written) +
           (found == written ? " (wrong when all were compared, right when read again)" : "");
  }

  gpu_context& gpu_;
  work work_;
  buffer memory_;
  device_word total_;
  std::uint64_t begin_{};
  buffer slice_;  ///< a part of memory_, which owns it
  std::uint64_t key_{};
};

}  // namespace

BANDGATE_PROBE(read_map) {
  probe p;
  p.name = "read_map";
  p.summary = "Maps all free memory slice by slice: slow and bad regions";
  p.byte_rule = "bytes read";
  p.parameters = {memory_parameter(), slice_parameter()};
  p.suites = {"full"};
  p.procedure = procedure::slices;
  p.time_limit_s = 120;
  p.plan = plan;
  p.shapes = read_shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<memory_map>(gpu, w);
  };
  return p;
}

}  // namespace bandgate
