# SPDX-License-Identifier: Apache-2.0
# What another project finds: `bandgate::bandgate` to link its probes with (main() included),
# `bandgate::cli` the command, `bandgate::catalog` the probes of the command, and the modules.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A program of a consumer is its probes and this library.
add_library(bandgate_main STATIC ${PROJECT_SOURCE_DIR}/probes/cli/main.cpp)
target_include_directories(bandgate_main PRIVATE ${PROJECT_SOURCE_DIR}/probes)
target_link_libraries(bandgate_main PUBLIC bandgate_cli PRIVATE bandgate_options)
add_library(bandgate_library INTERFACE)
target_link_libraries(bandgate_library INTERFACE bandgate_main)
# The headers' constexpr functions are called on the device too.
target_compile_options(bandgate_library INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
if(BANDGATE_HAVE_HIP)
  list(JOIN BANDGATE_HIP_OPTIONS " " options)
  target_compile_options(bandgate_library INTERFACE "$<$<COMPILE_LANGUAGE:HIP>:SHELL:${options}>")
endif()
set_target_properties(bandgate_library PROPERTIES EXPORT_NAME bandgate)
add_library(bandgate::bandgate ALIAS bandgate_library)
add_library(bandgate::catalog ALIAS bandgate_catalog)
get_target_property(probes bandgate_catalog SOURCES)
list(TRANSFORM probes REPLACE "^.*/([^/]*)[.][^.]*$" "\\1")
set(language)
foreach(gpu IN ITEMS CUDA HIP)
  if(BANDGATE_HAVE_${gpu})
    set(language ${gpu})
  endif()
endforeach()
set_target_properties(bandgate_catalog PROPERTIES EXPORT_NAME catalog
  BANDGATE_PROBES "${probes}" BANDGATE_LANGUAGE "${language}"
  EXPORT_PROPERTIES "BANDGATE_PROBES;BANDGATE_LANGUAGE")
add_executable(bandgate::cli ALIAS bandgate)
set_target_properties(bandgate PROPERTIES EXPORT_NAME cli)
if(BANDGATE_PORTABLE)
  target_link_libraries(bandgate PRIVATE bandgate_portable)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# The libraries of every layer below a folder: whatever its CMakeLists.txt names.
function(bandgate_libraries_below folder out)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|INTERFACE)_LIBRARY$")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    bandgate_libraries_below(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
bandgate_libraries_below(${PROJECT_SOURCE_DIR}/probes bandgate_layers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bandgate)
install(TARGETS bandgate bandgate_library bandgate_main bandgate_options bandgate_catalog
  ${bandgate_layers}
  EXPORT bandgate-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bandgate
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/bandgate COMPONENT development
  OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/bandgate COMPONENT development)
install(EXPORT bandgate-targets NAMESPACE bandgate:: DESTINATION ${package_dir}
  COMPONENT development)
install(DIRECTORY probes/include/bandgate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN *.hpp)
install(DIRECTORY baselines/gpus baselines/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/bandgate
  COMPONENT bandgate FILES_MATCHING PATTERN *.json)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/bandgate)
install(FILES LICENSE README.md DESTINATION ${documents} COMPONENT bandgate)
install(FILES LICENSE DESTINATION ${documents} RENAME copyright COMPONENT bandgate)
install(DIRECTORY docs DESTINATION ${documents} COMPONENT bandgate)
configure_package_config_file(ci/cmake/bandgate-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/bandgate-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/bandgate-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bandgate-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/bandgate-config-version.cmake
  ci/cmake/BandgateAddProbes.cmake ci/cmake/BandgateCudaToolkit.cmake
  ci/cmake/BandgateDiscoverProbes.cmake ci/cmake/BandgateHip.cmake
  ci/cmake/BandgateDiscoverProbes.ctest.in
  DESTINATION ${package_dir} COMPONENT development)
include(BandgatePackage)

