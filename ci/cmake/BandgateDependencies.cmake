# SPDX-License-Identifier: Apache-2.0
# Libraries: the system's first, else the pinned source below where there is a network.
include(FetchContent)
option(BANDGATE_FETCH "Fetch a library that is not installed" ON)

# bandgate_fetch(<name> <package> <declaration>...): makes <name> available or says what to install.
macro(bandgate_fetch name package)
  if(NOT BANDGATE_FETCH)
    message(FATAL_ERROR "${name} was not found: install it (Debian and Ubuntu: apt-get install "
      "${package}), or configure with -DBANDGATE_FETCH=ON where there is a network")
  endif()
  message(STATUS "Bandgate: ${name} is not installed (Debian: ${package}); fetching it")
  FetchContent_Declare(${name} ${ARGN})
  FetchContent_MakeAvailable(${name})
endmacro()

find_package(Threads REQUIRED)

find_package(nlohmann_json 3.10 QUIET)
if(NOT nlohmann_json_FOUND)
  set(JSON_Install ON CACHE INTERNAL "")
  bandgate_fetch(nlohmann_json nlohmann-json3-dev
    GIT_REPOSITORY https://github.com/nlohmann/json.git
    GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)  # v3.11.3
endif()

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  # fmt's own version files accept only their major version.
  find_package(fmt QUIET)
endif()
if(NOT fmt_FOUND OR fmt_VERSION VERSION_LESS 9)
  set(FMT_INSTALL ON CACHE INTERNAL "")
  bandgate_fetch(fmt libfmt-dev
    GIT_REPOSITORY https://github.com/fmtlib/fmt.git
    GIT_TAG e69e5f977d458f2650bb346dadf2ad30c5320281)  # 10.2.1
endif()

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  set(CLI11_BUILD_TESTS OFF CACHE INTERNAL "")
  set(CLI11_BUILD_EXAMPLES OFF CACHE INTERNAL "")
  set(CLI11_BUILD_DOCS OFF CACHE INTERNAL "")
  bandgate_fetch(CLI11 libcli11-dev
    GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git
    GIT_TAG 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)  # v2.4.2
endif()

# Headers only, and without a package file in Debian.
find_path(BANDGATE_VALIJSON_INCLUDE valijson/validator.hpp)
mark_as_advanced(BANDGATE_VALIJSON_INCLUDE)
if(NOT BANDGATE_VALIJSON_INCLUDE)
  bandgate_fetch(valijson libvalijson-dev
    URL https://github.com/tristanpenman/valijson/archive/refs/tags/v1.0.tar.gz
    URL_HASH SHA256=6b9f0bc89880feb3fe09aa469cd81f6168897d2fbb4e715853da3b94afd3779a)
  set(BANDGATE_VALIJSON_INCLUDE ${valijson_SOURCE_DIR}/include CACHE PATH "" FORCE)
endif()

if(BUILD_TESTING AND BANDGATE_TESTS AND PROJECT_IS_TOP_LEVEL)
  find_package(GTest 1.11 QUIET)
  if(NOT GTest_FOUND)
    bandgate_fetch(GTest "libgtest-dev libgmock-dev"
      GIT_REPOSITORY https://github.com/google/googletest.git
      GIT_TAG f8d7d77c06936315286eb55f8de22cd23c188571)  # v1.14.0
  endif()
endif()
