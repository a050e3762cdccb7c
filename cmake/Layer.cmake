# dcuop_layer(NAME NEEDS layer... PACKAGES package...): src/NAME/*.cpp as the static library dcuop_NAME.
#
# Packages are private: no third-party header is visible through a public header, except
# <nlohmann/json_fwd.hpp>. main.cpp is the executable's and belongs to no library.
# -Wno-maybe-uninitialized: GCC 12 says it of std::optionals that it inlines (https://gcc.gnu.org/PR80635).
set(DCUOP_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wno-maybe-uninitialized)
# A wheel is built by whatever compiler is there; what a newer one warns of must not stop it.
if(NOT SKBUILD)
  list(APPEND DCUOP_WARNINGS -Werror)
endif()

function(dcuop_layer name)
  cmake_parse_arguments(LAYER "" "" "NEEDS;PACKAGES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
    set(sources ${CMAKE_BINARY_DIR}/empty.cpp)
  endif()
  add_library(dcuop_${name} STATIC ${sources})
  target_compile_options(dcuop_${name} PRIVATE ${DCUOP_WARNINGS})
  target_compile_definitions(dcuop_${name} PRIVATE DCUOP_VERSION="${PROJECT_VERSION}")
  # Only the headers of this layer and of those below it: an include that goes upwards does not compile.
  target_include_directories(dcuop_${name} PUBLIC ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include/${name}/dcuop)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/dcuop/${name}
       ${CMAKE_BINARY_DIR}/include/${name}/dcuop/${name} SYMBOLIC)
  foreach(layer IN LISTS LAYER_NEEDS)
    target_link_libraries(dcuop_${name} PUBLIC dcuop_${layer})
  endforeach()
  foreach(package IN LISTS LAYER_PACKAGES)
    target_link_libraries(dcuop_${name} PRIVATE dcuop_pkg_${package})
  endforeach()
endfunction()
