# dcuop_embed(TARGET FUNCTION FILE...): texts of the tree inside the executable, which needs none of them beside it then.
#
# TARGET gets a source that defines FUNCTION() of src/op/embedded.hpp. As a script (cmake -P) this writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(texts "")
  foreach(file IN LISTS FILES)
    file(SIZE "${ROOT}/${file}" size)
    file(READ "${ROOT}/${file}" bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    string(APPEND texts "      {\"${file}\", {\"${bytes}\", ${size}}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "#include \"embedded.hpp\"

namespace dcuop::op {

const std::vector<EmbeddedText>& ${FUNCTION}() {
  static const std::vector<EmbeddedText> texts = {
${texts}  };
  return texts;
}

} // namespace dcuop::op
")
  return()
endif()

set(dcuop_embed_script ${CMAKE_CURRENT_LIST_FILE})

function(dcuop_embed target function)
  set(output ${CMAKE_BINARY_DIR}/embedded/${function}.cpp)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE inputs)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} -DFUNCTION=${function}
            "-DFILES=${ARGN}" -P ${dcuop_embed_script}
    DEPENDS ${inputs} ${dcuop_embed_script}
    COMMENT "Embedding ${function}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/op)
endfunction()
