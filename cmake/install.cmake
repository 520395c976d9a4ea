# SPDX-License-Identifier: BSL-1.0
#
# Installs headers, the simulated runtime's sources and the package files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/culvert")
set(culvert_install_include "${CMAKE_INSTALL_INCLUDEDIR}")
set(culvert_install_sim "${CMAKE_INSTALL_DATADIR}/culvert/sim")

install(DIRECTORY include/culvert DESTINATION "${culvert_install_include}")
install(DIRECTORY sim/ DESTINATION "${culvert_install_sim}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp" PATTERN "sources.cmake")

configure_package_config_file(
  cmake/culvert-config.cmake.in "${PROJECT_BINARY_DIR}/culvert-config.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS culvert_install_include culvert_install_sim)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/culvert-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  "${PROJECT_BINARY_DIR}/culvert-config.cmake"
  "${PROJECT_BINARY_DIR}/culvert-config-version.cmake"
  cmake/culvert-targets.cmake
  cmake/simulated-runtime-only.cmake
  DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/culvert")
