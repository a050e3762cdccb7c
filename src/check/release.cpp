// DCU95x: the checklist of a release.
#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

#include "dcuop/support/files.hpp"
#include "python_text.hpp"
#include "sources.hpp"

namespace dcuop::check {
namespace {

struct PythonFile {
  std::filesystem::path path;
  std::string name;
  std::string code;
  bool is_test = false;
  bool is_benchmark = false;
};

bool is_test_name(std::string_view name) {
  return name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py" ||
         name == "tests.py";
}

bool is_benchmark_name(std::string_view name) {
  return contains_any(name, {"bench", "perf", "timing"});
}

void add_python(const std::filesystem::path& path, std::vector<PythonFile>& into) {
  if (const auto text = read_file(path)) {
    const std::string name = path.filename().string();
    const bool test = is_test_name(name) || path.parent_path().filename() == "tests";
    into.push_back({path, name, python_code(*text), test, is_benchmark_name(name) && !test});
  }
}

/// Those of the operator, and of directories that it adds to its package's path.
std::vector<PythonFile> python_files(const Request& request) {
  std::vector<PythonFile> all;
  for (const auto& path : request.files) {
    if (path.extension() == ".py") {
      add_python(path, all);
    }
  }
  const std::size_t own = all.size();
  for (std::size_t index = 0; index < own; ++index) {
    const std::string code = all[index].code;
    for (auto at = code.find("__path__.append("); at != std::string::npos;
         at = code.find("__path__.append(", at + 1)) {
      const std::string line = code.substr(at, std::min(code.find('\n', at), code.size()) - at);
      const auto begin = line.find("/..");
      const auto end = begin == std::string::npos ? begin : line.find_first_of("\"'", begin);
      if (end != std::string::npos) {
        const auto directory =
            (all[index].path.parent_path() / line.substr(begin + 1, end - begin - 1)).lexically_normal();
        for (const std::string& name : list_directory(directory)) {
          if (name.ends_with(".py")) {
            add_python(directory / name, all);
          }
        }
      }
    }
  }
  return all;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

class Release {
 public:
  Release(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings), python_(python_files(sources.request)) {
    if (const auto text = read_file(sources.request.manifest)) {
      manifest_ = *text;
    }
    for (const PythonFile& file : python_) {
      tests_ += file.is_test ? file.code : "";
    }
  }

  void run() {
    loader();
    tests();
    benchmarks();
    products();
    readme();
  }

 private:
  [[nodiscard]] bool any(const std::function<bool(const PythonFile&)>& wanted) const {
    return std::any_of(python_.begin(), python_.end(), wanted);
  }
  void put(std::string_view rule, finding::Values values = {}) {
    const auto& request = sources_.request;
    const auto place = request.manifest.empty() ? request.directory : request.manifest;
    findings_.add(rule, place, 0, std::move(values));
  }

  /// A line of the manifest, so that comments do not count.
  [[nodiscard]] bool has_table(std::string_view header) const {
    std::istringstream lines(manifest_);
    for (std::string line; std::getline(lines, line);) {
      const auto first = line.find_first_not_of(" \t");
      if (first != std::string::npos && std::string_view(line).substr(first).starts_with(header)) {
        return true;
      }
    }
    return false;
  }

  void loader() {
    const bool checks = any([](const PythonFile& file) {
      const bool by_dcuop = has_word(file.code, "load_op") || contains(file.code, "dcuop.load") ||
                            contains(file.code, "from dcuop import");
      return !file.is_test &&
             (by_dcuop || (contains(file.code, "version.hip") &&
                           contains_any(file.code, {"gcnArchName", "get_arch_list", "ARCHS"})));
    });
    if (!checks) {
      put("DCU951");
    }
  }

  void tests() {
    const auto sizes = integers_in(tests_);
    std::vector<std::string> missing;
    if (!sizes.contains(0)) {
      missing.emplace_back("0");
    }
    if (!sizes.contains(1)) {
      missing.emplace_back("1");
    }
    const bool odd = std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
      return size > 32 && size % 32 != 0 && size % 10 != 0;
    });
    if (!odd) {
      missing.emplace_back("257");
    }
    if (!missing.empty()) {
      std::string text;
      for (const std::string& one : missing) {
        text += (text.empty() ? "" : ", ") + one;
      }
      put("DCU952", {{"missing", text}});
    }
    const bool compares = contains_any(
        tests_, {"assert_close", "allclose", "torch.equal", "assert_same", "assert_equal", "allequal"});
    const bool reference = contains_any(
        lower(tests_), {"reference", "expected", "ref_", "_ref", "torch.nn.functional", "golden"});
    if (!compares || !reference) {
      put("DCU953");
    }
    if (!contains_any(tests_, {"pytest.raises", "assertRaises", "raises("})) {
      put("DCU954");
    }
  }

  void benchmarks() {
    const bool micro = any([](const PythonFile& file) { return file.is_benchmark; });
    // dcuop verify measures each function of the contract; [verify.micro] only says at which sizes.
    if (!has_table("[[verify.function]]") && !micro) {
      put("DCU955");
    }
    const bool whole = any([](const PythonFile& file) {
      return contains_any(file.name, {"e2e", "end_to_end"});
    });
    if (!has_table("[verify.e2e]") && !whole) {
      put("DCU956");
    }
    for (const PythonFile& file : python_) {
      timed(file);
    }
  }

  /// A load between `x = time.perf_counter()` and the next reading, at the same or a deeper indentation.
  void timed(const PythonFile& file) {
    static constexpr std::string_view clocks[] = {"perf_counter", "time.time(", "monotonic("};
    static constexpr std::string_view loads[] = {"load_inline(", "load_op(", "cpp_extension.load(",
                                                 "dcuop.load(", "ops.load_library("};
    bool running = false;
    std::size_t line = 0;
    for (std::size_t at = 0; at < file.code.size();) {
      const std::size_t end = std::min(file.code.find('\n', at), file.code.size());
      const std::string_view text = std::string_view(file.code).substr(at, end - at);
      ++line;
      at = end + 1;
      const bool reads = std::any_of(std::begin(clocks), std::end(clocks), [&](std::string_view clock) {
        return contains(text, clock) && !text.starts_with("from ") && !text.starts_with("import ");
      });
      if (text.starts_with("def ") || text.starts_with("class ")) {
        running = false;
      }
      if (reads) {
        // `x = clock()` begins; `clock() - x` ends, and may begin at once again.
        running = !contains(text, "-");
        continue;
      }
      for (const std::string_view load : loads) {
        if (running && contains(text, load)) {
          findings_.add("DCU957", file.path, line, {{"call", std::string(load.substr(0, load.size() - 1))}});
        }
      }
    }
  }

  void products() {
    std::vector<std::filesystem::path> next = {sources_.request.directory};
    for (std::size_t index = 0; index < next.size() && index < 2000; ++index) {
      const auto directory = next[index];
      for (const std::string& name : list_directory(directory)) {
        const auto path = directory / name;
        const auto identity = identity_of(path);
        const bool folder = identity && identity->is_directory() && !std::filesystem::is_symlink(path);
        const std::string extension = path.extension().string();
        const bool product =
            folder ? is_any_of(name, {"__pycache__", ".torch_extensions", "torch_extensions", "build",
                                      ".pytest_cache"}) ||
                         name.ends_with(".egg-info")
                   : is_any_of(extension, {".so", ".o", ".a", ".pyc", ".hsaco", ".co", ".pyd"}) ||
                         name == ".ninja_log" || name == "build.ninja" || contains(name, ".so.");
        if (product) {
          findings_.add("DCU958", path, 0);
        } else if (folder && name != ".git") {
          next.push_back(path);
        }
      }
    }
  }

  void readme() {
    std::string text;
    for (const std::string& name : list_directory(sources_.request.directory)) {
      if (lower(name).starts_with("readme")) {
        text += lower(read_file(sources_.request.directory / name).value_or(""));
      }
    }
    std::vector<std::pair<std::string, std::string>> missing;
    if (!contains_any(text, {"dtk", "rocm", "hip", "torch 1", "torch 2", "pytorch"})) {
      missing.emplace_back("the environment", "环境");
    }
    if (!contains_any(text, {"build", "编译", "构建", "pip install", "make"})) {
      missing.emplace_back("how to build", "如何构建");
    }
    if (!contains_any(text, {"import ", "python", "run", "运行"})) {
      missing.emplace_back("how to run", "如何运行");
    }
    if (missing.empty()) {
      return;
    }
    finding::Values values;
    for (const auto& [english, chinese] : missing) {
      values["missing"] += (values["missing"].empty() ? "" : ", ") + english;
      values["missing:zh"] += (values["missing:zh"].empty() ? "" : "、") + chinese;
    }
    put("DCU959", values);
  }

  const Sources& sources_;
  Findings& findings_;
  std::vector<PythonFile> python_;
  std::string manifest_;
  std::string tests_;
};

} // namespace

std::vector<ChecklistItem> check_release(const Sources& sources, Findings& findings) {
  Release(sources, findings).run();
  std::vector<ChecklistItem> items = {
      {{"the loader checks HIP and the arch", "加载器检查 HIP 与架构"}, {"DCU951"}},
      {{"the binding checks every tensor", "绑定检查每个张量"},
       {"DCU901", "DCU902", "DCU903", "DCU904", "DCU905", "DCU906", "DCU908"}},
      {{"edge sizes are tested", "测试了边界尺寸"}, {"DCU952"}},
      {{"kernels run on the current stream and device", "核函数在当前流与设备上运行"}, {"DCU910", "DCU913"}},
      {{"launches are checked", "检查了启动结果"}, {"DCU911"}},
      {{"results are compared with a reference", "结果与参考实现比较"}, {"DCU953"}},
      {{"refused input is tested", "测试了应拒绝的输入"}, {"DCU954"}},
      {{"micro-benchmark and end-to-end measurement are there", "有微基准与端到端测量"},
       {"DCU955", "DCU956"}},
      {{"no compilation is timed", "计时不含编译"}, {"DCU957"}},
      {{"the tree holds sources only", "目录中只有源码"}, {"DCU958"}},
      {{"the README names environment, build and run", "README 说明了环境、构建与运行"}, {"DCU959"}}};
  return items;
}

} // namespace dcuop::check
