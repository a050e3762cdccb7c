#pragma once
// Why a symbol is undefined.

#include <string>
#include <vector>

#include "case_file.hpp"
#include "symbol_index.hpp"
#include "symbol_names.hpp"

namespace dcuop::doctor {

/// What is known of one unbound symbol.
struct Undefined {
  const elf::Image* wanted_by = nullptr;
  const elf::Unbound* unbound = nullptr;
  std::string demangled;
  SymbolFamily family = SymbolFamily::own;
  std::string rule;       ///< "DCU210"; empty: a consequence of something that is reported already
  std::string library;    ///< who should be linked, for the rules that say so
  std::string offered;    ///< the nearest that there is, and where
  std::string conclusion; ///< what the difference tells; may be empty
};

/// Explains symbols one by one; borrows the case file.
class UndefinedExplainer {
 public:
  explicit UndefinedExplainer(CaseFile& file);
  [[nodiscard]] Undefined explain(const elf::Image& wanted_by, const elf::Unbound& unbound);

 private:
  void judge(Undefined& symbol);
  void judge_torch(Undefined& symbol);
  void judge_hip(Undefined& symbol);
  void judge_library(Undefined& symbol);
  void judge_python(Undefined& symbol);
  void judge_own(Undefined& symbol);
  void offer_nearest(Undefined& symbol, const SymbolIndex& index);
  void compare_with(Undefined& symbol, const std::string& other);
  [[nodiscard]] bool is_missing(std::string_view stem) const;
  [[nodiscard]] bool is_missing(LibraryFamily family) const;

  CaseFile& file_;
  std::vector<const elf::Library*> missing_;
  SymbolIndex scope_; ///< what the file can be bound to
  SymbolIndex torch_; ///< all of torch's libraries, linked or not
  SymbolIndex own_;   ///< the file itself
};

} // namespace dcuop::doctor
