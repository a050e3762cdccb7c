#pragma once
// A tree -> functions, declarations and constants.

#include <memory>
#include <string>
#include <vector>

#include "dcuop/source/model.hpp"

namespace dcuop::source {

struct Collected {
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Declared> declared;
  std::vector<std::pair<std::string, Node>> constants; ///< name -> initialiser
};

/// Of one variant; `file` must stay where it is.
[[nodiscard]] Collected collect(const File& file, const Variant& variant, Node root);
/// The body of a macro, as a function without types.
[[nodiscard]] std::unique_ptr<Function> macro_function(const File& file, const Variant& variant,
                                                       const MacroDefinition& macro, Node root);
/// A lambda in a function, as a function.
[[nodiscard]] std::unique_ptr<Function> lambda_function(const Function& outer, Node node);
/// Calls in a body, in the order of the text.
[[nodiscard]] std::vector<Call> calls_in(Node body, const Variant& variant);

} // namespace dcuop::source
