// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <bandgate/backend.hpp>

/// The kernel made ready on a GPU; in probe.cu.
std::unique_ptr<bandgate::kernel> reduction_on_gpu(bandgate::gpu_context& gpu,
                                                   bandgate::work const& work,
                                                   bandgate::parameters const& values);
