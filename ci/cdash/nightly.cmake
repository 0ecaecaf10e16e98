# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
A night for CDash: configures, builds, tests with measurements, submits, and ends with an exit code
that is not zero wherever something failed or nothing was judged (ctest -S alone ends with 0)::

  ctest [-D NAME=VALUE]... -S ci/cdash/nightly.cmake

``BANDGATE_PROGRAM``        the program; default: ``bandgate`` of PATH
``BANDGATE_SUITE``          quick (default), full or sustained
``CTEST_SUBMIT_URL``        CDash's ``submit.php?project=…``; or ``CTEST_DROP_SITE`` and the other
                            variables of CTest. Without one nothing is sent, the XML stays here
``CTEST_SITE``              default: this machine's name
``CTEST_BUILD_NAME``        default: bandgate-<suite>
``CTEST_SOURCE_DIRECTORY``  a project that calls ``bandgate_discover_probes()`` or
                            ``bandgate_add_probes()``; default: the installed program alone
``CTEST_BINARY_DIRECTORY``  default: bandgate-nightly, where it was started
``BANDGATE_MODEL``          Nightly (default), Experimental or Continuous
``BANDGATE_CONFIGURE_OPTIONS``  for CMake, such as ``-DCMAKE_PREFIX_PATH=/opt/bandgate``
#]=======================================================================]
cmake_minimum_required(VERSION 3.25)

macro(default name)
  if("${${name}}" STREQUAL "")
    set(${name} "${ARGN}")
  endif()
endmacro()
default(BANDGATE_SUITE quick)
default(BANDGATE_MODEL Nightly)
default(CTEST_SOURCE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/site")
default(CTEST_BINARY_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bandgate-nightly")
default(CTEST_CMAKE_GENERATOR "Unix Makefiles")
default(CTEST_CONFIGURATION_TYPE Release)
default(CTEST_BUILD_NAME bandgate-${BANDGATE_SUITE})
default(CTEST_NIGHTLY_START_TIME "00:00:00 UTC")
if("${CTEST_SITE}" STREQUAL "")
  cmake_host_system_information(RESULT CTEST_SITE QUERY HOSTNAME)
endif()
foreach(path IN ITEMS CTEST_SOURCE_DIRECTORY CTEST_BINARY_DIRECTORY)
  get_filename_component(${path} "${${path}}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  # CMake takes it for two folders, and the first may be somebody's.
  if("${${path}}" MATCHES ";")
    message(FATAL_ERROR "bandgate nightly: ${path} ${${path}}: holds a semicolon; name another folder")
  endif()
endforeach()

# What was not judged fails, and what is stored is this night's unless the site has a folder of its own.
set(ENV{BANDGATE_STRICT} 1)
if("$ENV{BANDGATE_RESULTS}" STREQUAL "")
  set(ENV{BANDGATE_RESULTS} "${CTEST_BINARY_DIRECTORY}/results")
endif()
# The tests run elsewhere than where this was started.
file(REAL_PATH "$ENV{BANDGATE_RESULTS}" path)
set(ENV{BANDGATE_RESULTS} "${path}")
if("$ENV{BANDGATE_BACKEND}" MATCHES "^scripted:(.*)")
  file(REAL_PATH "${CMAKE_MATCH_1}" path)
  set(ENV{BANDGATE_BACKEND} "scripted:${path}")
endif()
string(REPLACE ":" ";" folders "$ENV{BANDGATE_BASELINES}")
set(baselines "")
foreach(folder IN LISTS folders)
  file(REAL_PATH "${folder}" path)
  list(APPEND baselines "${path}")
endforeach()
list(JOIN baselines ":" baselines)
set(ENV{BANDGATE_BASELINES} "${baselines}")

# Of an earlier run of the same day, nothing shall be read or sent.
file(REMOVE_RECURSE "${CTEST_BINARY_DIRECTORY}/Testing")
set(failures "")
set(options -DCMAKE_BUILD_TYPE=${CTEST_CONFIGURATION_TYPE} ${BANDGATE_CONFIGURE_OPTIONS})
if(NOT "${BANDGATE_PROGRAM}" STREQUAL "")
  list(APPEND options -DBANDGATE_PROGRAM=${BANDGATE_PROGRAM})
endif()
ctest_start(${BANDGATE_MODEL})
ctest_configure(OPTIONS "${options}" RETURN_VALUE code)
if(NOT code EQUAL 0)
  list(APPEND failures "configuring failed")
else()
  ctest_build(RETURN_VALUE code NUMBER_ERRORS errors)
  if(NOT code EQUAL 0 OR errors GREATER 0)
    list(APPEND failures "building failed")
  endif()
endif()

if(NOT failures)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  ctest_test(INCLUDE_LABEL "^${BANDGATE_SUITE}$" PARALLEL_LEVEL ${cores} RETURN_VALUE code
    CAPTURE_CMAKE_ERROR error)
  if(NOT code EQUAL 0 OR NOT error EQUAL 0)
    file(GLOB logs ${CTEST_BINARY_DIRECTORY}/Testing/Temporary/LastTestsFailed*.log)
    set(failed "")
    if(logs)
      file(STRINGS ${logs} failed)
    endif()
    list(TRANSFORM failed REPLACE "^[0-9]+:" "")
    list(JOIN failed " " failed)
    if("${failed}" STREQUAL "")
      set(failed "none was found for suite ${BANDGATE_SUITE}, or ctest broke off")
    endif()
    list(APPEND failures "tests failed: ${failed}")
  endif()
  # The case that counts what was judged, and that a project without the module does not have.
  file(STRINGS "${CTEST_BINARY_DIRECTORY}/Testing/TAG" tag LIMIT_COUNT 1)
  set(tests "")
  if(EXISTS "${CTEST_BINARY_DIRECTORY}/Testing/${tag}/Test.xml")
    file(READ "${CTEST_BINARY_DIRECTORY}/Testing/${tag}/Test.xml" tests)
  endif()
  if(NOT tests MATCHES "<Test Status=\"passed\">[ \t\r\n]*<Name>bandgate.judged</Name>")
    list(APPEND failures "nothing was judged")
  elseif(tests MATCHES "<Value>(judged [0-9]+ of [0-9]+)")
    message("${CMAKE_MATCH_1}")
  endif()
endif()

# What this machine's devices are like, without measuring: for whoever reads the dashboard.
find_program(bandgate NAMES ${BANDGATE_PROGRAM} bandgate NO_CACHE)
if(bandgate)
  set(note ${CTEST_BINARY_DIRECTORY}/bandgate-doctor.txt)
  execute_process(COMMAND ${bandgate} doctor --time-limit 60s OUTPUT_FILE ${note} ERROR_FILE ${note}
    TIMEOUT 90)
  list(APPEND CTEST_NOTES_FILES ${note})
endif()

set(page ${CTEST_BINARY_DIRECTORY}/bandgate-report/index.html)
if(EXISTS ${page})
  ctest_upload(FILES ${page})
endif()

if(NOT "${CTEST_SUBMIT_URL}${CTEST_DROP_SITE}" STREQUAL "")
  ctest_submit(RETURN_VALUE code CAPTURE_CMAKE_ERROR error)
  if(NOT code EQUAL 0 OR NOT error EQUAL 0)
    list(APPEND failures "submitting failed")
  endif()
endif()

if(failures)
  list(JOIN failures ", " failures)
  message(FATAL_ERROR "bandgate nightly: ${failures}; see ${CTEST_BINARY_DIRECTORY}/Testing")
endif()
