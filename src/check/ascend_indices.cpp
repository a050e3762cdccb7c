// DCU854: names below Ascend C's, which the SuperKernel compiler refuses.
#include "ascend.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;

// _FORBIDDEN_API_REPLACEMENT of asc_op_compile_base; block_num is the adaptation page's.
struct Name {
  std::string_view name, instead;
  bool is_refused; ///< wherever the word stands
};
constexpr Name names[] = {{"get_block_idx", "AscendC::GetBlockIdx()", true},
                          {"get_block_num", "AscendC::GetBlockNum()", true},
                          {"get_task_ration", "AscendC::GetTaskRatio()", true},
                          {"block_idx", "AscendC::GetBlockIdx()", true},
                          {"block_num", "AscendC::GetBlockNum()", false}};

const Name* forbidden(std::string_view text) {
  for (const Name& one : names) {
    if (one.name == text) {
      return &one;
    }
  }
  return nullptr;
}

class IndexCheck {
 public:
  explicit IndexCheck(const Subject& subject) : subject_(subject) {}

  void run() {
    std::set<const File*> device;
    for (const auto& file : subject_.model.files()) {
      if (is_device_file(*file)) {
        device.insert(file.get());
      }
    }
    for (const auto& function : subject_.model.functions()) {
      const bool runs = function->is_macro || function->has_mark("__aicore__") ||
                        function->has_mark("__global__") || function->has_mark("__sk__");
      if (runs && device.contains(function->file)) {
        check(*function);
      }
    }
    for (const source::Declared& declared : subject_.model.declared()) {
      const Name* name = device.contains(declared.file) ? forbidden(declared.name) : nullptr;
      if (name != nullptr && name->is_refused && !declared.node.text().starts_with("extern")) {
        put_finding(*declared.file, declared.node, *name, true);
      }
    }
  }

 private:
  void check(const Function& function) {
    const auto& locals = subject_.names.locals_of(function);
    const auto look = [&](Node node) {
      const bool field = node.is("field_identifier");
      const Name* name = field || node.is("identifier") ? forbidden(node.text()) : nullptr;
      if (name == nullptr) {
        return;
      }
      const bool own = field || locals.contains(node.text()) || function.parameter(node.text()) != nullptr ||
                       is_declared(node.text());
      if (!own || name->is_refused) {
        put_finding(*function.file, node, *name, own);
      }
    };
    function.node.each(look);
  }

  [[nodiscard]] bool is_declared(std::string_view text) const {
    for (const source::Declared& declared : subject_.model.declared()) {
      if (declared.name == text) {
        return true;
      }
    }
    return !subject_.model.named(text).empty();
  }

  void put_finding(const File& file, Node node, const Name& name, bool is_own) {
    finding::Values values = {{"name", std::string(name.name)}, {"instead", std::string(name.instead)}};
    put(values, "what",
        is_own ? "the search for words does not see that this one is the kernel's own" : "it is refused",
        is_own ? "该检查按单词搜索，不区分这是核函数自己的名字" : "会被拒绝");
    auto& added = subject_.findings.add("DCU854", file, node.begin(), values);
    if (is_own) {
      added.severity = std::min(added.severity, Severity::warning);
    }
  }

  const Subject& subject_;
};

} // namespace

void check_indices(const Subject& subject) {
  IndexCheck(subject).run();
}

} // namespace dcuop::check::ascend
