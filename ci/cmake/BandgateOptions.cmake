# SPDX-License-Identifier: Apache-2.0
# The options of the build, and the one private target that carries standard and warnings.

set(BANDGATE_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where a compiler is found), ON, OFF")
set_property(CACHE BANDGATE_CUDA PROPERTY STRINGS AUTO ON OFF)
option(BANDGATE_PORTABLE "Link everything but glibc into one binary that runs on a whole fleet" OFF)
option(BANDGATE_WARNINGS_AS_ERRORS "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(BANDGATE_HAVE_CUDA OFF)
if(NOT BANDGATE_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Every architecture of this toolkit from Volta on; one of them is enough to develop with.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES all-major)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(BANDGATE_HAVE_CUDA ON)
  elseif(BANDGATE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "BANDGATE_CUDA=ON but no CUDA compiler was found: put nvcc on PATH, set "
      "CUDACXX to it, or configure with -DBANDGATE_CUDA=AUTO")
  endif()
endif()
message(STATUS "Bandgate: CUDA backend ${BANDGATE_HAVE_CUDA}")

add_library(bandgate_options INTERFACE)
# nvcc 13 with CMake 3.25 silently lowers CMAKE_CUDA_STANDARD 20 to 17, so the flag is passed here.
target_compile_options(bandgate_options INTERFACE
  -std=c++20
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-unknown-pragmas>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${BANDGATE_WARNINGS_AS_ERRORS}>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;-Xcompiler=-Wall>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${BANDGATE_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
