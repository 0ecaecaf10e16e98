# SPDX-License-Identifier: Apache-2.0
# Packages: `bandgate`, the program with its baselines and documents, for any distribution whose glibc
# is new enough; and what another project needs to build with it, `bandgate-dev` or `-devel`.
set(CPACK_PACKAGE_NAME bandgate)
set(CPACK_PACKAGE_VENDOR "The Bandgate authors")
set(CPACK_PACKAGE_CONTACT "The Bandgate authors <maintainers@bandgate.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(needed_driver "This build measures CPUs alone.")
if(BANDGATE_HAVE_HIP)
  set(needed_driver "This build measures AMD's GPUs.")
elseif(BANDGATE_HAVE_CUDA)
  set(release 525)  # the first that runs programs of CUDA 12
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    set(release 580)
  endif()
  string(REGEX MATCH "^[0-9]+[.][0-9]+" version "${CMAKE_CUDA_COMPILER_VERSION}")
  set(needed_driver "NVIDIA's GPUs are measured with
CUDA ${version}, which takes driver ${release} or newer.")
endif()
set(CPACK_PACKAGE_DESCRIPTION
  "Measures the memory bandwidth of GPUs at the limit of their DRAM and judges
it against the baseline of the model, with exit codes that CI and schedulers
understand. One program with its baselines; it finds the GPU's driver when it
runs and needs none to be installed. ${needed_driver}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
find_program(BANDGATE_DPKG dpkg-deb)
find_program(BANDGATE_RPMBUILD rpmbuild)
mark_as_advanced(BANDGATE_DPKG BANDGATE_RPMBUILD)
if(BANDGATE_DPKG)
  list(APPEND CPACK_GENERATOR DEB)
endif()
if(BANDGATE_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()

# Built for one machine, a program needs libraries of just that one's release.
if(NOT BANDGATE_PORTABLE)
  set(CPACK_GENERATOR TGZ)
endif()

set(CPACK_COMPONENTS_ALL bandgate development)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_FILE_NAME bandgate-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_BANDGATE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
set(CPACK_ARCHIVE_DEVELOPMENT_FILE_NAME bandgate-dev-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_BANDGATE_PACKAGE_NAME bandgate)
set(CPACK_DEBIAN_BANDGATE_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_BANDGATE_PACKAGE_DEPENDS "libc6 (>= ${BANDGATE_GLIBC})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME bandgate-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "bandgate (= ${PROJECT_VERSION}), nlohmann-json3-dev, libfmt-dev, libcli11-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers, libraries and CMake modules: what a project needs to gate kernels of its own.")
set(CPACK_COMPONENT_BANDGATE_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_MAIN_COMPONENT bandgate)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_BANDGATE_PACKAGE_NAME bandgate)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME bandgate-devel)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES
  "bandgate = ${PROJECT_VERSION}, json-devel, fmt-devel, cli11-devel")
# The archives of the development package are no programs; what they would need is stated above.
set(CPACK_RPM_DEVELOPMENT_PACKAGE_AUTOREQ OFF)
set(CPACK_RPM_DEBUGINFO_PACKAGE OFF)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none\n%define __brp_strip_static_archive %{nil}")
include(CPack)
