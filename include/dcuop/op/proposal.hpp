#pragma once
// A dcuop.toml for an extension that has a setup.py for CUDA: what can be carried over, and comments on the rest.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::op {

/// Python that prints, as JSON, what the setup.py named by its one argument would build; it does not run that file.
[[nodiscard]] std::string_view setup_reader();

/// What a proposal is made from.
struct ForeignExtension {
  std::filesystem::path directory; ///< absolute
  std::string setup;               ///< what setup_reader() printed; empty: there is no setup.py
  std::string problem;             ///< why nothing was printed though there is one
  std::string name; ///< of the extension in setup.py, or what to call the op; empty: as setup.py does
  std::vector<std::string> archs; ///< empty: whatever the compiler knows
};

struct Proposal {
  std::string name;
  std::string manifest;             ///< the text
  std::vector<std::string> others;  ///< extensions of the same setup.py, which take a dcuop.toml of their own
  std::vector<std::string> remarks; ///< what the text says in comments
  std::string refusal;              ///< what dcuop says of the text as it stands; empty: nothing
};

/// Throws Error(usage): there is nothing in the directory to compile, the name is none of several extensions or
/// no identifier.
[[nodiscard]] Proposal propose(const ForeignExtension& extension);

} // namespace dcuop::op
