// A file that a running process would load now: what it has loaded counts first.
#include <algorithm>

#include "case_file.hpp"
#include "symbol_names.hpp"

namespace dcuop::doctor {

/// Which of its libraries were opened RTLD_GLOBAL no file of /proc tells. The program and its closure are visible
/// to everyone always, and libtorch_global_deps with its closure by torch/__init__.py; the rest is taken for
/// RTLD_LOCAL, as torch and Python open it.
void CaseFile::trace_process() {
  process.interpreter = question.loaded;
  const auto add = [](std::vector<const elf::Image*>& images, const elf::Image* part) {
    if (part != nullptr && std::find(images.begin(), images.end(), part) == images.end()) {
      images.push_back(part);
    }
  };
  const auto make_global = [&](const std::filesystem::path& file) {
    const auto* root = pool.read(file);
    add(process.global, root);
    if (root == nullptr) {
      return;
    }
    for (const auto& library : elf::resolve_closure(*root, loader_context(question.loaded)).libraries) {
      add(process.global, library.path.empty() ? nullptr : pool.read(library.path));
    }
  };
  make_global(question.loaded.front());
  for (const auto& file : question.loaded) {
    const auto name = file.filename().string();
    if (name.starts_with("libtorch_global_deps")) {
      make_global(file);
    }
    if (library_family(name) == LibraryFamily::torch) {
      add(process.torch_images, pool.read(file));
    }
  }
}

} // namespace dcuop::doctor
