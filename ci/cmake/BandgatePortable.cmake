# SPDX-License-Identifier: Apache-2.0
# One binary for every node of a fleet: nothing shared but glibc 2.34 and the driver's own libraries.
# {fmt} is header-only and the CUDA runtime static in every build already.
set(BANDGATE_GLIBC 2.34)  # tests/package/test_portable.py holds the program to it
add_library(bandgate_portable INTERFACE)
target_sources(bandgate_portable INTERFACE ${PROJECT_SOURCE_DIR}/ci/portable/older_glibc.cpp)
target_link_options(bandgate_portable INTERFACE -static-libstdc++ -static-libgcc
  -Wl,--wrap=arc4random -Wl,--wrap=_dl_find_object
  -Wl,--wrap=__isoc23_strtol -Wl,--wrap=__isoc23_strtoul
  -Wl,--wrap=__isoc23_strtoll -Wl,--wrap=__isoc23_strtoull)
