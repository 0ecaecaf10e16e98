// SPDX-License-Identifier: Apache-2.0
// Streams on a few processors of a device, from a process of its own, until it is killed. A card
// takes turns between processes, so what it measures meanwhile falls far more than by what this one
// reads.
//   disturb_process PROCESSORS [DEVICE]
#include "stream_kernel.cuh"

int main(int argc, char** argv) {
  int const processors = argc > 1 ? std::atoi(argv[1]) : 4;
  disturb::check(cudaSetDevice(argc > 2 ? std::atoi(argv[2]) : 0), "device");
  disturb::stream_for_ever(processors, [&] {
    std::printf("streaming on %d processors\n", processors);
    std::fflush(stdout);
  });
}
