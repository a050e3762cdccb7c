# Third-party packages, all from the distribution (script/setup names them). Archives are taken where there are any,
# so that dcuop and dcuop_static are links of the same objects to the same packages.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
find_package(PkgConfig REQUIRED)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
# An archive names no libraries that it needs itself: --static asks for those too.
set(PKG_CONFIG_ARGN --static)
foreach(package IN ITEMS libxxhash nettle libelf libzstd zlib tree-sitter)
  pkg_check_modules(archive_${package} REQUIRED IMPORTED_TARGET ${package})
endforeach()
find_path(libiberty_headers libiberty/demangle.h REQUIRED)
find_library(libiberty iberty REQUIRED)

function(dcuop_package name)
  add_library(dcuop_pkg_${name} INTERFACE)
  target_link_libraries(dcuop_pkg_${name} INTERFACE ${ARGN})
endfunction()

dcuop_package(json nlohmann_json::nlohmann_json)
dcuop_package(cli11 CLI11::CLI11)
# Header-only too: Debian's compiled toml++ is a shared library alone.
dcuop_package(tomlplusplus)
target_compile_definitions(dcuop_pkg_tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
dcuop_package(xxhash PkgConfig::archive_libxxhash)
dcuop_package(nettle PkgConfig::archive_nettle)
dcuop_package(libelf PkgConfig::archive_libelf)
dcuop_package(zstd PkgConfig::archive_libzstd)
dcuop_package(zlib PkgConfig::archive_zlib)
dcuop_package(iberty ${libiberty})
target_include_directories(dcuop_pkg_iberty INTERFACE ${libiberty_headers})
# The grammar is no package of the distribution: script/grammar fetches one version of it, and compares its hash.
set(dcuop_grammar ${CMAKE_SOURCE_DIR}/build/grammar)
if(NOT EXISTS ${dcuop_grammar}/src/parser.c)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/script/grammar ${dcuop_grammar} RESULT_VARIABLE dcuop_grammar_result)
  if(NOT dcuop_grammar_result EQUAL 0)
    message(FATAL_ERROR "tree-sitter's C++ grammar is missing: script/grammar fetches it; what stopped it stands above")
  endif()
endif()
add_library(dcuop_grammar STATIC ${dcuop_grammar}/src/parser.c ${dcuop_grammar}/src/scanner.c)
target_include_directories(dcuop_grammar PRIVATE ${CMAKE_SOURCE_DIR}/cmake/grammar)
# Tables of some hundred thousand lines: -O1 gives the same speed in a third of the time. Its warnings are not ours.
target_compile_options(dcuop_grammar PRIVATE -w -O1)
dcuop_package(tree_sitter dcuop_grammar PkgConfig::archive_tree-sitter)
# Header-only: Debian ships neither libspdlog.a nor libfmt.a, which dcuop_static would need.
dcuop_package(spdlog Threads::Threads)
target_compile_definitions(dcuop_pkg_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
