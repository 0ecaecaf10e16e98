# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
BandgateAddProbes
-----------------

A program of a project's own probes, and a CTest case for each of them on each device::

  bandgate_add_probes(<target>
    SOURCES <file>...         # C++, and CUDA or HIP; each declares probes with BANDGATE_PROBE
    [BASELINES <path>...]     # folders or files: what the probes are held against
    [RELATIVE_TO <probe>...]  # probes of Bandgate's own that entries are relative to, such as copy
    [...])                    # everything that bandgate_discover_probes() takes

``<target>`` has the command line of ``bandgate``: ``list``, ``run``, ``check``, ``baseline`` and so
on work for these probes as they do for Bandgate's. Those named by ``RELATIVE_TO`` are in it, too, and
measured where an entry asks for them; they get no case of their own.

A ``.cu`` file is compiled by the compiler of Bandgate's GPUs, CUDA's or HIP's. Where Bandgate was built
without either and the project does not enable CUDA, it is compiled as C++, for its host kernels.

::

  bandgate_enable_hip()

enables CMake's language HIP in this directory where Bandgate was built for AMD's GPUs, with the compiler
that it finds itself, Debian's, too; else it does nothing. To be called outside functions.
#]=======================================================================]
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/BandgateDiscoverProbes.cmake)

function(_bandgate_hip_module out)
  set(${out} "" PARENT_SCOPE)
  get_target_property(language bandgate::catalog BANDGATE_LANGUAGE)
  if(language STREQUAL "HIP")
    set(${out} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BandgateHip.cmake PARENT_SCOPE)
  endif()
endfunction()
macro(bandgate_enable_hip)
  _bandgate_hip_module(_bandgate_hip)
  if(_bandgate_hip)
    include(${_bandgate_hip})
  endif()
endmacro()

# What to link for those probes of the catalogue: objects, since they register themselves and a library
# would drop them. Of a Bandgate within the project the sources, so that nobody compiles all the others.
function(_bandgate_catalog_sources names use_sources out)
  set(${out} "" PARENT_SCOPE)
  if(NOT names)
    return()
  endif()
  get_target_property(known bandgate::catalog BANDGATE_PROBES)
  foreach(name IN LISTS names)
    if(NOT name IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "bandgate_add_probes: RELATIVE_TO ${name}: Bandgate has no such probe; it "
        "has ${known}")
    endif()
  endforeach()
  list(JOIN names "|" names)
  get_target_property(imported bandgate::catalog IMPORTED)
  if(use_sources AND NOT imported)
    get_target_property(sources bandgate::catalog SOURCES)
    list(FILTER sources INCLUDE REGEX "/(${names})[.](cu|cpp)$")
    set(${out} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(${out} "$<FILTER:$<TARGET_OBJECTS:bandgate::catalog>,INCLUDE,/(${names})[.](cu|cpp)[.]o$>"
    PARENT_SCOPE)
endfunction()

function(bandgate_add_probes target)
  set(values RESULTS REPORT_DIR REPORT_COMMAND DISCOVERY_TIMEOUT BASELINES LABELS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT" "" "SOURCES;RELATIVE_TO;${values}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "bandgate_add_probes: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  elseif(NOT arg_SOURCES)
    message(FATAL_ERROR "bandgate_add_probes: ${target} has no SOURCES; name the files of its probes")
  endif()
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    message(WARNING "bandgate_add_probes: CMAKE_BUILD_TYPE is not set, so that ${target} measures "
      "kernels that are not optimized; configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
  # Compiled as C++, a kernel runs on the emulated GPU of a test alone.
  get_target_property(language bandgate::catalog BANDGATE_LANGUAGE)
  set(same_compilers ON)
  set(enable "enable_language(${language})")
  if(language STREQUAL "HIP")
    set(enable "bandgate_enable_hip()")
  endif()
  # Of the caller's folder: what Bandgate enables for itself, as a subdirectory, ends there.
  if(language AND NOT DEFINED CMAKE_${language}_COMPILE_OBJECT)
    set(same_compilers OFF)
  endif()
  _bandgate_catalog_sources("${arg_RELATIVE_TO}" ${same_compilers} catalog)
  foreach(source IN LISTS arg_SOURCES catalog)
    if(NOT source MATCHES "[.]cu$")
      continue()
    elseif(NOT same_compilers)
      message(FATAL_ERROR "bandgate_add_probes: ${source} needs the ${language} compiler, as Bandgate "
        "was built with it; call ${enable} before")
    elseif(language STREQUAL "HIP")
      set_source_files_properties(${source} PROPERTIES LANGUAGE HIP)
    elseif(NOT DEFINED CMAKE_CUDA_COMPILE_OBJECT)
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
    endif()
  endforeach()
  add_executable(${target} ${arg_SOURCES} ${catalog})
  target_link_libraries(${target} PRIVATE bandgate::bandgate)
  # CMake 3.25 silently lowers CUDA_STANDARD 20 to 17 with nvcc 13, and nvcc takes one -std alone.
  set_property(TARGET ${target} PROPERTY CUDA_STANDARD)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA,HIP>:-std=c++20>)
  # HIP's linker would add the runtime, which is loaded when first needed.
  if(language STREQUAL "HIP" OR NOT same_compilers)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()

  set(options)
  if(arg_STRICT)
    list(APPEND options STRICT)
  endif()
  foreach(keyword IN LISTS values)
    if(DEFINED arg_${keyword})
      list(APPEND options ${keyword} ${arg_${keyword}})
    endif()
  endforeach()
  bandgate_discover_probes(${target} ${options} EXCLUDE ${arg_RELATIVE_TO})
endfunction()
