// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/backend.hpp>

namespace bandgate {

/// Anonymous memory aligned to 2 MiB, on huge pages where the kernel grants them, untouched: the
/// thread that writes a page first decides the NUMA node where it lies.
/// Throws measurement_error(out_of_memory) naming `what`, the size and the system's reason.
buffer map_huge_pages(bytes size, char const* what);

}  // namespace bandgate
