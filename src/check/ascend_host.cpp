// DCU878 to DCU881: what an operator's tiling and build files say of a kernel that waits for all cores.
#include <algorithm>

#include "ascend.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::check::ascend {
namespace {

namespace fs = std::filesystem;

/// The host side of one operator.
struct Host {
  struct Site {
    const Function* in = nullptr;
    const Call* call = nullptr;
  };
  std::vector<Site> block_dims;
  std::vector<Site> no_modes;   ///< SetScheduleMode(0)
  bool sets_batch_mode = false; ///< SetScheduleMode(1), or of a value that is not known
  std::vector<Site> launches;   ///< with <<<>>>, by the kernel's name
};

class HostCheck {
 public:
  explicit HostCheck(const Subject& subject) : subject_(subject) {
    for (const auto& function : subject.model.functions()) {
      for (const Call& call : function->calls) {
        take(*function, call);
      }
    }
  }

  [[nodiscard]] bool sets_batch_mode(const Kernel& kernel) const {
    const auto found = hosts_.find(operator_root(kernel.function->file->path));
    return found != hosts_.end() && found->second.sets_batch_mode;
  }

  void run() {
    for (const Kernel& kernel : subject_.kernels) {
      if (kernel.is_entry) {
        judge(kernel);
      }
    }
  }

 private:
  void take(const Function& function, const Call& call) {
    const bool dims = call.name == "SetBlockDim" && call.receiver;
    const bool mode = call.name == "SetScheduleMode" && call.receiver;
    if (!dims && !mode && call.launch.empty()) {
      return;
    }
    Host& host = hosts_[operator_root(function.file->path)];
    if (dims) {
      host.block_dims.push_back({&function, &call});
    } else if (!call.launch.empty()) {
      host.launches.push_back({&function, &call});
    } else if (!call.arguments.empty()) {
      const auto value = subject_.model.fold(call.arguments[0], &function);
      host.sets_batch_mode = host.sets_batch_mode || value != std::int64_t{0};
      if (value == std::int64_t{0}) {
        host.no_modes.push_back({&function, &call});
      }
    }
  }

  /// The call by which a kernel waits for all cores.
  [[nodiscard]] std::string waits_by(const Kernel& kernel) const {
    std::string text;
    for (const Sides side : each_side) {
      if ((kernel.sides & side) == 0) {
        continue;
      }
      each_event(subject_.program, kernel, side, [&](const Event& event, const std::string&, const Way&) {
        if (event.kind == Event::Kind::sync_all) {
          text = "SyncAll()";
        } else if (event.kind == Event::Kind::set_flag && event.mode == std::int64_t{0} && text.empty()) {
          text = "CrossCoreSetFlag<0>";
        }
      });
    }
    return text;
  }

  void judge(const Kernel& kernel) {
    const std::string call = waits_by(kernel);
    if (call.empty() || kernel.schedules) {
      return;
    }
    const finding::Values values = {{"kernel", kernel.function->name}, {"call", call}};
    const auto found = hosts_.find(operator_root(kernel.function->file->path));
    if (found == hosts_.end()) {
      return; // its tiling is elsewhere
    }
    const Host& host = found->second;
    for (const Host::Site& site : host.launches) {
      if (site.call->name == kernel.function->name) {
        finding::Values launched = values;
        put(launched, "lacks", "is not declared with __schedmode__(1)", "没有以 __schedmode__(1) 声明");
        subject_.add("DCU878", *kernel.function, kernel.function->node, launched);
        break;
      }
    }
    for (const Host::Site& site : host.block_dims) {
      if (!host.sets_batch_mode && host.no_modes.empty()) {
        finding::Values tiled = values;
        put(tiled, "lacks", "its tiling does not call SetScheduleMode(1)",
            "其 tiling 没有调用 SetScheduleMode(1)");
        subject_.add("DCU878", *site.in, site.call->node, tiled);
      }
      judge_block_dim(site, values);
    }
    for (const Host::Site& site : host.no_modes) {
      if (!host.sets_batch_mode) {
        subject_.add("DCU879", *site.in, site.call->node, values);
      }
    }
  }

  /// The expression behind a variable that is set once.
  static Node value_of(Node node, const Function& function) {
    if (!node.is("identifier")) {
      return node;
    }
    Node value;
    std::size_t found = 0;
    function.body.each([&](Node one) {
      const bool initial = one.is("init_declarator") && source::declared_name(one).text() == node.text();
      const bool assigned = one.is("assignment_expression") && one.child("left").text() == node.text();
      if (initial || assigned) {
        value = one.child(initial ? "value" : "right");
        ++found;
      }
    });
    return found == 1 && value ? value : node;
  }

  void judge_block_dim(const Host::Site& site, finding::Values values) {
    if (site.call->arguments.empty()) {
      return;
    }
    const Node given = value_of(site.call->arguments[0], *site.in);
    const std::string_view text = given.text();
    const bool full = contains_any(text, {"GetCoreNumAiv", "GetCoreNumAic", "GetCoreNum("}) &&
                      !contains_any(text, {"min(", "Min(", "?", "/"});
    if (full) {
      return;
    }
    values["count"] = one_line(text);
    subject_.add("DCU880", *site.in, site.call->node, values);
  }

  const Subject& subject_;
  std::map<fs::path, Host> hosts_;
};

/// Tiling that runs on the device, in a build that does not reuse binaries.
class SinkCheck {
 public:
  explicit SinkCheck(const Subject& subject) : subject_(subject) {}

  void run() {
    for (const auto& file : subject_.model.files()) {
      if (!file->is_included && !file->masked.variants.empty()) {
        check(*file);
      }
    }
  }

 private:
  static constexpr std::string_view option = "op_relocatable_kernel_binary=true";

  void check(const File& file) {
    for (const source::Variant& variant : file.masked.variants) {
      for (const std::string_view word : {"DEVICE_IMPL_OP_OPTILING", "TILING_ON_AICPU", "EnableTilingSink"}) {
        const auto at = variant.text.find(word);
        if (at != std::string::npos && builds_without_option(file)) {
          subject_.findings.add("DCU881", file, static_cast<Offset>(at), {{"word", std::string(word)}});
          return;
        }
      }
    }
  }

  /// There are build files, from the operator's directory up to the one that is checked, and none has the option.
  [[nodiscard]] bool builds_without_option(const File& file) {
    const fs::path top = subject_.request.directory;
    const fs::path root = operator_root(file.path);
    bool any = false;
    std::vector<fs::path> directories = {file.directory, root / "op_host", root / "op_kernel"};
    for (fs::path above = root; above.string().starts_with(top.string()); above = above.parent_path()) {
      directories.push_back(above);
      if (above == top || !above.has_relative_path()) {
        break;
      }
    }
    for (const fs::path& directory : directories) {
      if (const auto text = read_file(directory / "CMakeLists.txt")) {
        any = true;
        if (contains(*text, option)) {
          return false;
        }
      }
    }
    return any;
  }

  const Subject& subject_;
};

} // namespace

bool sets_batch_mode(const Subject& subject, const Kernel& kernel) {
  return HostCheck(subject).sets_batch_mode(kernel);
}

void check_host(const Subject& subject) {
  HostCheck(subject).run();
  SinkCheck(subject).run();
}

} // namespace dcuop::check::ascend
