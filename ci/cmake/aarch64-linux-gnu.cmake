# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler for 64-bit ARM: apt-get install g++-aarch64-linux-gnu
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Of {fmt} the headers alone are used, which are the same for every processor; its package file lies
# where only this machine's own are looked for.
file(GLOB fmt_DIR /usr/lib/*-linux-gnu*/cmake/fmt)
# Runs what was built, where it is installed: apt-get install qemu-user-static
find_program(BANDGATE_QEMU qemu-aarch64-static)
if(BANDGATE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${BANDGATE_QEMU} -L /usr/aarch64-linux-gnu)
endif()
