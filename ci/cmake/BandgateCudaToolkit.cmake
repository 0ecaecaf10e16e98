# SPDX-License-Identifier: Apache-2.0
# find_package(CUDAToolkit) for CMake 3.25 as Debian 12 ships it, whose module marks CUDA::nvToolsExt
# as deprecated, for projects that require 3.25, without looking whether the toolkit has it; 13 has
# not.
set(_bandgate_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${_bandgate_minimum})
