# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
BandgateDiscoverProbes
----------------------

One CTest case per (device, probe), found when ctest starts: the devices are those of the machine
that runs the tests, not of the one that built them::

  bandgate_discover_probes([<target>]
    [BASELINES <path>...]     # folders or files, searched before the user's and the shipped ones
    [RESULTS <dir>]           # where results go; $BANDGATE_RESULTS at test time overrides it
    [REPORT_DIR <dir>]        # where the trend report goes; $BANDGATE_REPORT_DIR overrides it
    [REPORT_COMMAND <file>]   # the bandgate-report to use; $BANDGATE_REPORT_COMMAND overrides it
    [LABELS <label>...]       # added to each case's own
    [EXCLUDE <probe>...]      # probes of the executable that get no case
    [DISCOVERY_TIMEOUT <s>]   # default 60: starting a driver can take far longer than 5 s
    [STRICT])                 # nothing judged is never a success

``<target>`` is an executable that links Bandgate's command line (default: ``bandgate`` or the
installed ``bandgate::cli``). Cases are named as its ``list --devices --json`` says. Besides them:

* ``bandgate.DISCOVERY_FAILED`` fails and says why when devices could not be listed.
* ``bandgate.DEVICES_MISSING`` fails when a device that should be here is not.
* ``bandgate.report`` and ``bandgate.judged`` run after the last case, also when cases failed.
#]=======================================================================]
include_guard(GLOBAL)

function(bandgate_discover_probes)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRICT"
    "RESULTS;REPORT_DIR;REPORT_COMMAND;DISCOVERY_TIMEOUT" "BASELINES;LABELS;EXCLUDE")
  list(LENGTH arg_UNPARSED_ARGUMENTS count)
  if(count GREATER 1)
    message(FATAL_ERROR "bandgate_discover_probes: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  elseif(count EQUAL 1)
    set(target ${arg_UNPARSED_ARGUMENTS})
  elseif(TARGET bandgate)
    set(target bandgate)
  else()
    set(target bandgate::cli)
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "bandgate_discover_probes: there is no target ${target}")
  endif()
  if(NOT arg_DISCOVERY_TIMEOUT)
    set(arg_DISCOVERY_TIMEOUT 60)
  endif()
  if(NOT arg_REPORT_DIR)
    set(arg_REPORT_DIR "${CMAKE_BINARY_DIR}/bandgate-report")
  endif()
  foreach(path IN ITEMS arg_RESULTS arg_REPORT_DIR)
    if(${path})
      get_filename_component(${path} "${${path}}" ABSOLUTE)
    endif()
  endforeach()
  set(baselines)
  foreach(folder IN LISTS arg_BASELINES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND baselines "${folder}")
  endforeach()

  # All cases of a build tree belong to one fixture; its clean-up cases are declared once.
  get_property(declared GLOBAL PROPERTY _bandgate_clean_up_declared)
  set(clean_up OFF)
  if(NOT declared)
    set_property(GLOBAL PROPERTY _bandgate_clean_up_declared ON)
    set(clean_up ON)
  endif()

  set(executable "$<TARGET_FILE:${target}>")
  set(spec_file "${CMAKE_BINARY_DIR}/bandgate-resources.json")
  file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BandgateDiscoverProbes.ctest.in" content)
  string(CONFIGURE "${content}" content @ONLY)
  string(MAKE_C_IDENTIFIER "${target}" identifier)
  set(base "${CMAKE_CURRENT_BINARY_DIR}/bandgate_discover_${identifier}")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    file(GENERATE OUTPUT "${base}-$<CONFIG>.cmake" CONTENT "${content}")
    file(WRITE "${base}.cmake" "include(\"${base}-\${CTEST_CONFIGURATION_TYPE}.cmake\")\n")
  else()
    file(GENERATE OUTPUT "${base}.cmake" CONTENT "${content}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}.cmake")
endfunction()
