# SPDX-License-Identifier: Apache-2.0
# Libraries: the system's first.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_path(BANDGATE_VALIJSON_INCLUDE valijson/validator.hpp REQUIRED)
if(BUILD_TESTING AND PROJECT_IS_TOP_LEVEL)
  find_package(GTest 1.11 REQUIRED)
endif()
