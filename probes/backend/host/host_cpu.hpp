// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/backend.hpp>
#include <cstdint>
#include <memory>

#include "thread_pool.hpp"

namespace bandgate {

/// The CPU as probes see it: one pinned thread for each of `facts.processors`.
class host_cpu final : public host_context {
 public:
  /// `loops` must be of this CPU (see loops.hpp). Buffers may take `facts.memory_free` in all.
  host_cpu(device_facts facts, std::uint64_t seed, host_loops const& loops);

  device_facts const& facts() const override { return facts_; }
  std::uint64_t seed() const override { return seed_; }
  unsigned threads() const override { return pool_.size(); }
  /// Refuses what does not fit in free memory: Linux would promise it (overcommit) and then kill.
  buffer allocate(bytes size, char const* what) override;
  void parallel(std::function<void(unsigned)> const& body) override { pool_.run(body); }
  host_loops const& loops() const override { return loops_; }

 private:
  device_facts facts_;
  std::uint64_t seed_;
  host_loops const& loops_;
  std::shared_ptr<std::uint64_t> taken_;  ///< bytes of living buffers, which may outlive this
  thread_pool pool_;
};

}  // namespace bandgate
