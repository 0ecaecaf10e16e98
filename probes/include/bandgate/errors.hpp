// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace bandgate {

/// The caller asked for something that cannot be done as written: an option, a parameter, a
/// configuration, baseline or recording error. Ends with exit code 2.
/// The message names the place, the reason and the remedy.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Why a measurement failed; the stable spelling is `to_string(failure)`, it is stored in results.
enum class failure {
  wrong_result,      ///< the kernel's output is not what the work must give
  above_ceiling,     ///< faster than the physical peak: the work cannot have been done
  zero_elapsed,      ///< the timer read nothing although the passes are at their ceiling
  not_proportional,  ///< twice the passes did not take twice the time
  device_lost,       ///< the device stopped answering or fell off the bus
  device_missing,    ///< a device that should be there is not
  device_failed,     ///< any other error of the device or its driver
  exclusively_held,  ///< the device is in exclusive-process mode and somebody has it
  contended,         ///< others kept computing on the device, so that nothing was measured
  out_of_memory,     ///< the buffers do not fit
  timed_out,         ///< the attempt ran past its time limit and was killed
  crashed,           ///< the attempt's process died without leaving a result
};

/// "wrong-result", "above-ceiling" … : the stable spelling used in results and messages.
char const* to_string(failure f);
/// The inverse of to_string; device_failed for a text it does not know.
failure failure_from(std::string const& text);

/// The measurement itself failed. Ends with exit code 3 (`exclusively_held`, `contended`: 4).
class measurement_error : public std::runtime_error {
 public:
  measurement_error(failure code, std::string const& message)
      : std::runtime_error(message), code_(code) {}
  failure code() const noexcept { return code_; }

 private:
  failure code_;
};

/// The probe does not apply to this device (one GPU for a peer probe, a window above half the
/// pool). Ends as `skipped`, exit code 77; the message is the reason.
class not_applicable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bandgate
