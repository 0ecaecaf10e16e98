# SPDX-License-Identifier: Apache-2.0
# cmake -D OUT=… -D SCHEMAS=a,b -D BASELINES=c,d -P embed.cmake: writes the C++ source that holds
# those files as string literals.
cmake_minimum_required(VERSION 3.25)

# Never as a list element: JSON is full of brackets and may hold semicolons.
function(add_table function files)
  string(APPEND source "\nstd::vector<embedded_file> const& ${function}() {\n"
    "  static std::vector<embedded_file> const files{")
  string(REPLACE "," ";" files "${files}")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(FIND "${text}" ")bandgate\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${file}: holds the delimiter of a raw string")
    endif()
    get_filename_component(name "${file}" NAME)
    string(APPEND source "\n      {\"${name}\", R\"bandgate(${text})bandgate\"},")
  endforeach()
  string(APPEND source "\n  };\n  return files;\n}\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

set(source "// Written by embed.cmake.\n#include \"records/schema.hpp\"\n\nnamespace bandgate {\n")
add_table(embedded_schemas "${SCHEMAS}")
add_table(embedded_baselines "${BASELINES}")
string(APPEND source "\n}  // namespace bandgate\n")
file(WRITE "${OUT}" "${source}")
