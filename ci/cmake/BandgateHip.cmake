# SPDX-License-Identifier: Apache-2.0
# The HIP compiler: CMake's language HIP in this directory, with ROCm's clang or a distribution's.
# Included by Bandgate's own build, and by bandgate_enable_hip() for a project with probes of its own.
#
# That language wants ROCm's folders, which Debian has not, and links the runtime, which here is
# loaded when first needed (probes/backend/gpu/hip_runtime.cpp), so that the program starts on
# machines without it. So CMake is shown a root of our own that says nothing, and the compiler is told
# where the rest is.

# A clang, not the wrapper hipcc, which CMake refuses: that of ROCm, else the one that hipcc would use.
if(NOT CMAKE_HIP_COMPILER)
  find_program(BANDGATE_HIPCONFIG hipconfig PATHS /opt/rocm/bin $ENV{ROCM_PATH}/bin)
  mark_as_advanced(BANDGATE_HIPCONFIG)
  if(DEFINED ENV{HIPCXX})
    set(CMAKE_HIP_COMPILER $ENV{HIPCXX})
  elseif(BANDGATE_HIPCONFIG)
    execute_process(COMMAND ${BANDGATE_HIPCONFIG} --hipclangpath OUTPUT_VARIABLE clang_path
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    # Debian's hipcc takes clang++-15, which has no shorter name there.
    file(GLOB versioned ${clang_path}/clang++-[0-9]*)
    list(SORT versioned COMPARE NATURAL ORDER DESCENDING)
    execute_process(COMMAND ${BANDGATE_HIPCONFIG} --rocmpath OUTPUT_VARIABLE rocm
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(candidates ${clang_path}/clang++ ${versioned})
    if(rocm STREQUAL "/usr")
      set(candidates ${versioned} ${clang_path}/clang++)
    endif()
    foreach(candidate IN LISTS candidates)
      if(EXISTS ${candidate} AND NOT CMAKE_HIP_COMPILER)
        set(CMAKE_HIP_COMPILER ${candidate})
      endif()
    endforeach()
  endif()
  if(NOT CMAKE_HIP_COMPILER)
    message(FATAL_ERROR "Bandgate is for AMD's GPUs here, but no HIP compiler was found: install ROCm "
      "or Debian's hipcc, or set CMAKE_HIP_COMPILER to a clang++ that knows HIP")
  endif()
endif()

# What the compiler does not find by itself.
function(bandgate_hip_flags compiler out)
  execute_process(COMMAND ${compiler} -v -print-targets OUTPUT_QUIET ERROR_VARIABLE said)
  set(flags)
  if(NOT said MATCHES "Found HIP installation")
    list(APPEND flags --rocm-path=/usr)
    find_path(BANDGATE_HIP_DEVICE_LIBRARIES ockl.bc NO_CACHE
      PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib /usr PATH_SUFFIXES amdgcn/bitcode)
    if(BANDGATE_HIP_DEVICE_LIBRARIES)
      list(APPEND flags --rocm-device-lib-path=${BANDGATE_HIP_DEVICE_LIBRARIES})
    endif()
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# The data center architectures that compiler and device libraries both know: each is tried. gfx940
# was the samples' name of gfx942.
function(bandgate_hip_architectures compiler flags out)
  set(known)
  foreach(architecture IN ITEMS gfx90a gfx942 gfx950 gfx940)
    if(architecture STREQUAL "gfx940" AND "gfx942" IN_LIST known)
      continue()
    endif()
    execute_process(COMMAND ${compiler} ${flags} -x hip -nogpuinc --cuda-device-only
        --offload-arch=${architecture} -fsyntax-only /dev/null
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      list(APPEND known ${architecture})
    endif()
  endforeach()
  if(NOT known)
    message(FATAL_ERROR "'${compiler}' compiles HIP for none of the known architectures; install its "
      "device libraries (Debian: rocm-device-libs), or set CMAKE_HIP_ARCHITECTURES")
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

bandgate_hip_flags(${CMAKE_HIP_COMPILER} BANDGATE_HIP_FLAGS)
if(NOT CMAKE_HIP_ARCHITECTURES)
  bandgate_hip_architectures(${CMAKE_HIP_COMPILER} "${BANDGATE_HIP_FLAGS}" CMAKE_HIP_ARCHITECTURES)
endif()
set(CMAKE_HIP_COMPILER_ROCM_ROOT ${CMAKE_BINARY_DIR}/CMakeFiles/bandgate-hip)
file(WRITE ${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib/cmake/hip-lang/hip-lang-config.cmake
  "# Bandgate loads the runtime itself: see ci/cmake/BandgateHip.cmake.\n")
set(CMAKE_HIP_COMPILER_ID_TEST_FLAGS_FIRST ${BANDGATE_HIP_FLAGS})
list(JOIN BANDGATE_HIP_FLAGS " " flags)
string(FIND "${CMAKE_HIP_FLAGS}" "${flags}" there)
if(there EQUAL -1)
  set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} ${flags}")
endif()
enable_language(HIP)

# For the backend, which is C++ to any compiler.
find_path(BANDGATE_HIP_INCLUDE hip/hip_runtime_api.h HINTS /opt/rocm/include $ENV{ROCM_PATH}/include)
mark_as_advanced(BANDGATE_HIP_INCLUDE)
if(NOT BANDGATE_HIP_INCLUDE)
  message(FATAL_ERROR "hip/hip_runtime_api.h was not found: install HIP's headers (Debian: "
    "libamdhip64-dev), or set BANDGATE_HIP_INCLUDE")
endif()

# What a file in this language is compiled with: its runtime's header first, as nvcc does, and no call
# in a kernel, as hipcc has it.
set(BANDGATE_HIP_OPTIONS -include hip/hip_runtime.h
  -mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false)
set(BANDGATE_HAVE_HIP ON)
