# SPDX-License-Identifier: Apache-2.0
# The options of the build, and the one private target that carries standard and warnings.

set(BANDGATE_BACKEND cuda CACHE STRING "The GPUs to build for: cuda (NVIDIA's) or hip (AMD's)")
set_property(CACHE BANDGATE_BACKEND PROPERTY STRINGS cuda hip)
set(BANDGATE_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where a compiler is found), ON, OFF")
set_property(CACHE BANDGATE_CUDA PROPERTY STRINGS AUTO ON OFF)
option(BANDGATE_PORTABLE "Link everything but glibc into one binary that runs on a whole fleet" OFF)
option(BANDGATE_TESTS "Build the tests of Bandgate itself; the probes' cases exist without" ON)
option(BANDGATE_WARNINGS_AS_ERRORS "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
set(BANDGATE_SANITIZE "" CACHE STRING "Sanitizers to build with, such as address,undefined")

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # Editing one probe must not cost a rebuild of the rest, and neither must a fresh CI checkout.
  find_program(BANDGATE_CCACHE ccache)
  mark_as_advanced(BANDGATE_CCACHE)
  if(BANDGATE_CCACHE)
    foreach(language IN ITEMS CXX CUDA HIP)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${BANDGATE_CCACHE})
      endif()
    endforeach()
  endif()
endif()

# Every architecture of this toolkit from Volta on: machine code for each, and PTX of the newest for
# the cards of tomorrow. CMake 3.25 knows none newer than its own release, so the compiler is asked.
function(bandgate_toolkit_architectures compiler out)
  execute_process(COMMAND ${compiler} --list-gpu-code OUTPUT_VARIABLE listed
    RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL "sm_[0-9]+" listed "${listed}")
  set(architectures)
  set(newest 0)
  foreach(name IN LISTS listed)
    string(SUBSTRING ${name} 3 -1 number)
    if(number GREATER_EQUAL 70)
      list(APPEND architectures ${number}-real)
      if(number GREATER newest)
        set(newest ${number})
      endif()
    endif()
  endforeach()
  if(NOT status EQUAL 0 OR NOT architectures)
    message(FATAL_ERROR "'${compiler} --list-gpu-code' listed no architecture from sm_70 on; set "
      "CMAKE_CUDA_ARCHITECTURES, or configure with -DBANDGATE_CUDA=OFF")
  endif()
  set(${out} ${architectures} ${newest}-virtual PARENT_SCOPE)
endfunction()

set(BANDGATE_HAVE_CUDA OFF)
set(BANDGATE_HAVE_HIP OFF)
if(BANDGATE_BACKEND STREQUAL "hip")
  include(BandgateHip)
elseif(NOT BANDGATE_BACKEND STREQUAL "cuda")
  message(FATAL_ERROR "BANDGATE_BACKEND=${BANDGATE_BACKEND}: choose cuda or hip")
elseif(NOT BANDGATE_CUDA STREQUAL "OFF")
  # A toolkit is often installed without being on PATH.
  if(DEFINED ENV{CUDACXX})
    set(BANDGATE_NVCC $ENV{CUDACXX} CACHE FILEPATH "The CUDA compiler")
  endif()
  find_program(BANDGATE_NVCC nvcc PATHS /usr/local/cuda/bin)
  mark_as_advanced(BANDGATE_NVCC)
  if(BANDGATE_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${BANDGATE_NVCC})
  endif()
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      bandgate_toolkit_architectures(${CMAKE_CUDA_COMPILER} CMAKE_CUDA_ARCHITECTURES)
    endif()
    enable_language(CUDA)
    include(BandgateCudaToolkit)
    if(NOT CUDAToolkit_FOUND)
      message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} has no toolkit beside it that CMake finds; set "
        "CUDAToolkit_ROOT to one")
    endif()
    set(BANDGATE_HAVE_CUDA ON)
  elseif(BANDGATE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "BANDGATE_CUDA=ON but no CUDA compiler was found: put nvcc on PATH, set "
      "CUDACXX to it, or configure with -DBANDGATE_CUDA=AUTO")
  endif()
endif()
if(BANDGATE_HAVE_CUDA)
  message(STATUS "Bandgate: CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
elseif(BANDGATE_HAVE_HIP)
  message(STATUS "Bandgate: HIP, ${CMAKE_HIP_COMPILER} for ${CMAKE_HIP_ARCHITECTURES}")
else()
  message(STATUS "Bandgate: without CUDA")
endif()

add_library(bandgate_options INTERFACE)
# nvcc 13 with CMake 3.25 silently lowers CMAKE_CUDA_STANDARD 20 to 17, so the flag is passed here.
target_compile_options(bandgate_options INTERFACE
  -std=c++20
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-unknown-pragmas>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${BANDGATE_WARNINGS_AS_ERRORS}>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;-Xcompiler=-Wall>
  $<$<COMPILE_LANGUAGE:HIP>:-Wall;-Wextra;-Wno-unknown-pragmas>
  $<$<AND:$<COMPILE_LANGUAGE:HIP>,$<BOOL:${BANDGATE_WARNINGS_AS_ERRORS}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${BANDGATE_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
# gcc 12 warns about std::string's own insert() when it optimizes this far (its bug 105651).
target_compile_options(bandgate_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>)
if(BANDGATE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${BANDGATE_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  # GCC 12 sees uninitialized members of std::function and std::variant where sanitizers inline them.
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${BANDGATE_SANITIZE})
endif()
if(BANDGATE_PORTABLE)
  include(BandgatePortable)
endif()
