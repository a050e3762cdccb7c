# Third-party packages, all from the distribution (script/setup names them). With DCUOP_STATIC the
# executable has no NEEDED entry at all, so that it runs in images with an older glibc.
option(DCUOP_STATIC "Link the executable fully static" OFF)

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
if(DCUOP_STATIC)
  set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -static")
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(PKG_CONFIG_ARGN --static)
endif()
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)

function(dcuop_package name)
  add_library(dcuop_pkg_${name} INTERFACE)
  target_link_libraries(dcuop_pkg_${name} INTERFACE ${ARGN})
endfunction()

dcuop_package(json nlohmann_json::nlohmann_json)
dcuop_package(cli11 CLI11::CLI11)
# Header-only too: Debian's compiled toml++ is a shared library alone.
dcuop_package(tomlplusplus)
target_compile_definitions(dcuop_pkg_tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
dcuop_package(xxhash PkgConfig::xxhash)
dcuop_package(nettle PkgConfig::nettle)
dcuop_package(libelf PkgConfig::libelf)
dcuop_package(zstd PkgConfig::libzstd)
dcuop_package(zlib ZLIB::ZLIB)
# Header-only: Debian ships neither libspdlog.a nor libfmt.a, which a static dcuop would need.
dcuop_package(spdlog Threads::Threads)
target_compile_definitions(dcuop_pkg_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
