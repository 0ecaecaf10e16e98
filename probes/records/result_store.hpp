// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <bandgate/result.hpp>

namespace bandgate {

/// A new UUIDv7 (RFC 9562): sorts by time, unique without coordination.
std::string new_run_id(std::chrono::system_clock::time_point now);

/// RFC 3339 in UTC with milliseconds: "2026-11-29T02:10:03.120Z".
std::string rfc3339(std::chrono::system_clock::time_point when);

/// Writes `text` so that a reader, a kill, a full disk or a power cut never sees a part of it:
/// temporary file beside it, flush, fsync, rename, fsync of the folder. The temporary file is
/// ".<16 hex digits>.tmp": hidden, so that no reader of a folder takes it for a record, and all
/// that a kill can leave. A link stays a link. Throws usage_error with the system's reason and
/// leaves the old file and no other (a process that ignores SIGXFSZ gets here at its file size
/// limit, too).
void write_atomically(std::filesystem::path const& file, std::string const& text);

/// Stores under `folder`/YYYY/MM/DD/<run.id>.json (date of run.started) and returns the path. What
/// does not satisfy the schema is not stored.
/// Throws usage_error naming the folder, the system's reason and a remedy.
std::filesystem::path store_result(result const& r, std::filesystem::path const& folder);

}  // namespace bandgate
