#include "dcuop/op/new_op.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"
#include "embedded.hpp"
#include "new_op_name.hpp"

namespace dcuop::op {

namespace {

constexpr std::string_view template_name = "affine";

using Files = std::map<std::string, std::string>;

Files texts_below(const std::string& directory);
Files files_of_kind(Kind kind);
std::string renamed(std::string_view text, const std::string& name);
void set_archs(Files& files, const std::vector<std::string>& archs);

} // namespace

std::vector<NewFile> files_of(const NewOp& wanted) {
  Files files = files_of_kind(wanted.kind);
  if (!wanted.archs.empty()) {
    set_archs(files, wanted.archs);
  }
  std::vector<NewFile> renamed_files;
  for (const auto& [path, text] : files) {
    renamed_files.push_back({renamed(path, wanted.name), renamed(text, wanted.name)});
  }
  return renamed_files;
}

void check_new_op(const NewOp& wanted) {
  if (const std::optional<std::string> why = why_unfit(wanted.name, wanted.kind)) {
    throw Error(ExitCode::usage, "an op cannot be called '" + wanted.name + "': that " + *why,
                "the name is that of the module that Python imports, such as fused_relu");
  }
  check_archs(wanted.archs);
}

void check_archs(const std::vector<std::string>& archs) {
  for (const std::string& arch : archs) {
    if (!is_target_id(arch) || !arch.starts_with("gfx")) {
      throw Error(ExitCode::usage, "'" + arch + "' (--arch) is no target id",
                  "a target id is a processor, then features: gfx906, gfx90a:sramecc+:xnack-");
    }
    if (std::count(archs.begin(), archs.end(), arch) > 1) {
      throw Error(ExitCode::usage, "'" + arch + "' stands twice in --arch");
    }
  }
}

namespace {

Files texts_below(const std::string& directory) {
  Files files;
  for (const EmbeddedText& embedded : template_texts()) {
    if (embedded.path.starts_with(directory + "/")) {
      files[std::string(embedded.path.substr(directory.size() + 1))] = embedded.text;
    }
  }
  return files;
}

void replace_all(std::string& text, std::string_view part, const std::string& by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size())) {
    text.replace(at, part.size(), by);
  }
}

/// The templates are files of this tree, changed with it: what does not fit together is a fault of the program.
std::size_t place_of(std::string_view part, const std::string& text) {
  const std::size_t place = text.find(part);
  if (place == std::string::npos || text.find(part, place + 1) != std::string::npos) {
    throw std::logic_error("the template does not have once: " + std::string(part));
  }
  return place;
}

/// ops/affine, with what the operators of this tree share: beside it there, in the directory itself here.
Files complete_operator() {
  Files files = texts_below("ops/affine");
  for (auto& [path, text] : files) {
    replace_all(text, "../common/", "");
  }
  std::string& package = files.at("__init__.py");
  constexpr std::string_view search_path = "__path__.append(";
  const std::size_t line = place_of(search_path, package);
  package.erase(line, package.find("\n\n", line) + 2 - line);
  files.merge(texts_below("ops/common"));
  return files;
}

/// binding.cpp with the ops given to torch instead of to pybind11.
std::string registered_with_torch(std::string binding, const std::string& registration) {
  binding.resize(place_of("} // namespace\n\nPYBIND11_MODULE(", binding));
  constexpr std::string_view header = "#include <torch/csrc/utils/pybind.h>";
  binding.replace(place_of(header, binding), header.size(), "#include <torch/library.h>");
  return binding + registration;
}

/// Those of ops/affine, and over them what is different.
Files files_of_kind(Kind kind) {
  Files files = complete_operator();
  if (kind == Kind::pybind_module) {
    return files;
  }
  Files other = texts_below("templates/" + to_string(kind));
  if (kind == Kind::torch_library) {
    files["binding.cpp"] = registered_with_torch(files.at("binding.cpp"), other.at("registration.cpp"));
    other.erase("registration.cpp");
  } else {
    files.erase("binding.cpp"); // Python's side is binding.py
    files.erase("binding.h");
  }
  for (auto& [path, text] : other) {
    files[path] = std::move(text);
  }
  return files;
}

std::string renamed(std::string_view text, const std::string& name) {
  std::string result(text);
  replace_all(result, template_name, name);
  return result;
}

/// The rest of the first line after `after` that begins with `start` becomes `rest`.
void set_line(std::string& text, std::string_view after, std::string_view start, const std::string& rest) {
  const std::size_t line = text.find("\n" + std::string(start), place_of(after, text));
  if (line == std::string::npos) {
    throw std::logic_error("the template has no line that begins with " + std::string(start));
  }
  const std::size_t from = line + 1 + start.size();
  text.replace(from, text.find('\n', from) - from, rest);
}

void set_archs(Files& files, const std::vector<std::string>& archs) {
  const std::string list = "\"" + join(archs, "\", \"") + "\"";
  set_line(files.at("dcuop.toml"), "\n[build]\n", "archs = ", "[" + list + "]"); // not those for CUDA
  set_line(files.at("loader.py"), "\n#: Those of dcuop.toml.",
           "SUPPORTED_ARCHS = ", "(" + list + (archs.size() == 1 ? ",)" : ")"));
}

} // namespace

} // namespace dcuop::op
