#include "dcuop/op/proposal.hpp"

#include <algorithm>
#include <iterator>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "embedded.hpp"
#include "foreign_flags.hpp"
#include "foreign_setup.hpp"
#include "foreign_sources.hpp"
#include "glob.hpp"
#include "identifier.hpp"
#include "manifest_file.hpp"
#include "read_manifest.hpp"
#include "sources.hpp"

namespace dcuop::op {

namespace {

using Texts = std::vector<std::string>;

/// A dcuop.toml that is being written: keys, and above each what is to be said of it.
class Page {
 public:
  void say(const std::string& remark) {
    text_ += "# " + remark + "\n";
    remarks_.push_back(remark);
  }
  void say_all(const Texts& remarks, const std::string& before = "") {
    for (const std::string& remark : remarks) {
      say(before + remark);
    }
  }
  /// A comment that holds for any proposal.
  void explain(const std::string& comment) { text_ += "# " + comment + "\n"; }
  void table(const std::string& name) { text_ += "\n[" + name + "]\n"; }
  void set(const std::string& key, const std::string& value) { text_ += key + " = " + value + "\n"; }
  void set(const std::string& key, const Texts& values);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Texts take_remarks() { return std::move(remarks_); }

 private:
  std::string text_;
  Texts remarks_;
};

/// What is proposed, before it is a text.
struct Plan {
  std::string name;
  Texts sources; ///< as the manifest will have them
  Texts files;   ///< the same without patterns
  Texts source_remarks;
  SourceSigns signs;
};

class Proposer {
 public:
  explicit Proposer(const ForeignExtension& wanted)
      : directory_(wanted.directory), wanted_(wanted), setup_(read_foreign_setup(wanted.setup)) {
    if (!wanted.problem.empty()) {
      setup_.problem = wanted.problem;
    }
  }
  Proposal run();

 private:
  void choose_extension();
  void add_sources(const Texts& named);
  void add_source(const std::string& source);
  void find_sources();
  void choose_name();
  void write_head();
  void write_op();
  void write_build();
  void write_flags();
  void write_include_dirs();
  void write_linking();
  void write_archs();
  [[nodiscard]] std::string relative(const std::string& path) const;
  [[nodiscard]] Texts unread(const std::string& field) const;
  [[nodiscard]] bool has_hip() const;
  [[nodiscard]] std::string refusal() const;

  fs::path directory_;
  const ForeignExtension& wanted_;
  ForeignSetup setup_;
  SetupExtension extension_; ///< empty when setup.py tells of none
  Texts others_;
  Plan plan_;
  Page page_;
};

} // namespace

std::string_view setup_reader() {
  return setup_reader_texts().front().text;
}

Proposal propose(const ForeignExtension& extension) {
  return Proposer(extension).run();
}

namespace {

/// What a file says may hold anything; a comment is one line.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

Proposal Proposer::run() {
  choose_extension();
  add_sources(extension_.sources);
  find_sources();
  plan_.signs = signs_in(directory_, plan_.files);
  choose_name();
  write_head();
  write_op();
  write_build();
  const std::string fault = refusal();
  if (!fault.empty()) {
    page_.say("As it stands dcuop refuses this: " + in_one_line(fault));
  }
  return {plan_.name, page_.text(), others_, page_.take_remarks(), fault};
}

// What is to be proposed -----------------------------------------------------------------------------------

std::string last_part(const std::string& name) {
  return name.substr(name.find_last_of('.') + 1);
}

/// The one that is asked for, else the first.
void Proposer::choose_extension() {
  const std::vector<SetupExtension>& all = setup_.extensions;
  const auto is_wanted = [&](const SetupExtension& extension) {
    return extension.name == wanted_.name || last_part(extension.name) == wanted_.name;
  };
  auto chosen = std::find_if(all.begin(), all.end(), is_wanted);
  if (chosen == all.end() && all.size() > 1 && !wanted_.name.empty()) {
    Texts names;
    std::transform(all.begin(), all.end(), std::back_inserter(names),
                   [](const SetupExtension& extension) { return extension.name; });
    const std::optional<std::string> near = nearest(wanted_.name, names);
    throw Error(ExitCode::usage,
                "setup.py makes no extension '" + wanted_.name + "'" +
                    (near ? "; did you mean '" + *near + "'?" : ""),
                "it makes: " + join(names, ", "));
  }
  chosen = chosen == all.end() ? all.begin() : chosen;
  for (auto other = all.begin(); other != all.end(); ++other) {
    if (other == chosen) {
      extension_ = *other;
    } else {
      others_.push_back(other->name.empty() ? "line " + std::to_string(other->line) : other->name);
    }
  }
}

std::string Proposer::relative(const std::string& path) const {
  const fs::path normal = absolute_from(path, directory_).lexically_normal();
  // Also what lies beside the directory: a workspace may reach further up.
  return lies_below(normal, directory_.parent_path()) ? normal.lexically_relative(directory_).generic_string()
                                                      : normal.string();
}

void Proposer::add_sources(const Texts& named) {
  for (const std::string& source : named) {
    add_source(relative(source));
  }
}

void Proposer::add_source(const std::string& source) {
  const fs::path path = absolute_from(source, directory_);
  if (is_pattern(source) && !identity_of(path)) {
    Texts matches;
    for (const fs::path& match : expand_pattern(directory_, source)) {
      if (language_of(match)) {
        matches.push_back(relative(match.string()));
      }
    }
    if (matches.empty()) {
      plan_.source_remarks.push_back("Left out: " + source + " matches no source.");
      return;
    }
    plan_.sources.push_back(source);
    plan_.files.insert(plan_.files.end(), matches.begin(), matches.end());
  } else if (!identity_of(path)) {
    plan_.source_remarks.push_back("Left out: " + source + " does not exist.");
  } else if (!language_of(path)) {
    plan_.source_remarks.push_back("Left out: " + source + " is neither HIP, CUDA, C++ nor C.");
  } else if (std::find(plan_.sources.begin(), plan_.sources.end(), source) == plan_.sources.end()) {
    plan_.sources.push_back(source);
    plan_.files.push_back(source);
  }
}

/// Where setup.py names none that are there: what lies in the directory.
void Proposer::find_sources() {
  if (!plan_.sources.empty()) {
    return;
  }
  Texts found = compilable_below(directory_);
  if (found.empty()) {
    throw Error(ExitCode::usage,
                "nothing to propose for " + shown_path(directory_).string() +
                    ": no source in it (.hip, .cu, .cpp, .cc, .cxx, .c)",
                "name the directory of the extension, where its setup.py is");
  }
  // torch's hipify leaves its a.hip beside a.cu.
  std::erase_if(found, [&](const std::string& source) {
    const fs::path translated = fs::path(source).replace_extension(".hip");
    const bool is_original =
        fs::path(source).extension() == ".cu" &&
        std::find(found.begin(), found.end(), translated.generic_string()) != found.end();
    if (is_original) {
      plan_.source_remarks.push_back("Left out: " + source + ", as " + translated.filename().string() +
                                     " lies beside it.");
    }
    return is_original;
  });
  plan_.source_remarks.emplace_back(
      "These are what lies in the directory; nothing that could be read names them.");
  add_sources(found);
}

void Proposer::choose_name() {
  plan_.name = wanted_.name.empty() ? last_part(extension_.name) : last_part(wanted_.name);
  if (plan_.name.empty()) {
    plan_.name = plan_.signs.module_name.empty() ? directory_.filename().string() : plan_.signs.module_name;
    std::replace_if(
        plan_.name.begin(), plan_.name.end(), [](char c) { return c == '-' || c == '.' || c == ' '; }, '_');
  }
  if (!is_identifier(plan_.name)) {
    throw Error(ExitCode::usage, "'" + plan_.name + "' cannot be the name of an op",
                "say another (letters, digits and _, no digit first): dcuop new --from-cuda DIR NAME");
  }
}

// Its text -------------------------------------------------------------------------------------------------

/// A basic string: https://toml.io/en/v1.0.0#string
std::string toml_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      constexpr std::string_view digits = "0123456789abcdef";
      result += std::string("\\u00") + digits[byte >> 4U] + digits[byte & 0xfU];
    } else {
      result += c;
    }
  }
  return result + '"';
}

void Page::set(const std::string& key, const Texts& values) {
  if (values.empty()) {
    return;
  }
  constexpr std::size_t longest_line = 100;
  Texts items;
  std::transform(values.begin(), values.end(), std::back_inserter(items), toml_string);
  const std::string line = "[" + join(items, ", ") + "]";
  set(key, key.size() + line.size() < longest_line ? line : "[\n    " + join(items, ",\n    ") + ",\n]");
}

std::string at_line(std::size_t line) {
  return line == 0 ? "setup.py" : "setup.py:" + std::to_string(line);
}

Texts Proposer::unread(const std::string& field) const {
  Texts remarks;
  for (const Unread& item : extension_.unread) {
    if (item.field == field) {
      remarks.push_back("Not read: " + at_line(item.line) + ": " + in_one_line(item.text));
    }
  }
  return remarks;
}

void Proposer::write_head() {
  const bool has_setup = extension_.line > 0;
  page_.explain(has_setup
                    ? "Proposed by dcuop from " + at_line(extension_.line) + ", " + extension_.type + "(" +
                          (extension_.name.empty() ? "" : toml_string(in_one_line(extension_.name))) +
                          "). Look it through before you rely on it."
                    : "Proposed by dcuop from the sources. Look it through before you rely on it.");
  if (!setup_.problem.empty()) {
    page_.say("setup.py could not be read: " + in_one_line(setup_.problem));
  } else if (!has_setup) {
    page_.say(wanted_.setup.empty() ? "There is no setup.py."
                                    : "setup.py makes no extension that could be read.");
  }
  for (const Unread& assumption : setup_.assumed) {
    page_.say(at_line(assumption.line) + ": " + in_one_line(assumption.text) + ".");
  }
  if (!others_.empty()) {
    page_.say("setup.py makes " + counted(others_.size(), "other extension") +
              ", each an op of its own: " + in_one_line(join(others_, ", ")));
  }
  constexpr std::size_t most_named = 5;
  Texts cuda = plan_.signs.cuda_includes;
  if (!cuda.empty()) {
    const std::size_t more = cuda.size() - std::min(cuda.size(), most_named);
    cuda.resize(cuda.size() - more);
    page_.say("These include headers of CUDA, which HIP does not have; torch.utils.hipify translates them: " +
              join(cuda, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more"));
  }
}

void Proposer::write_op() {
  page_.table("op");
  if (!extension_.name.empty() && extension_.name != plan_.name) {
    page_.say("setup.py calls it " + in_one_line(extension_.name) +
              "; dcuop.load_op finds it by its directory.");
  }
  if (!plan_.signs.module_name.empty() && plan_.signs.module_name != plan_.name) {
    page_.say("PYBIND11_MODULE calls it " + plan_.signs.module_name +
              ": write TORCH_EXTENSION_NAME there, else it cannot be imported under the name below.");
  }
  page_.set("name", toml_string(plan_.name));
  if (plan_.signs.evidence.empty()) {
    page_.say("No source has PYBIND11_MODULE or TORCH_LIBRARY, so this is a library for ctypes or dlopen.");
  } else {
    page_.explain(plan_.signs.evidence);
  }
  page_.set("kind", toml_string(to_string(plan_.signs.kind)));
  page_.set("abi", toml_string(to_string(plan_.signs.abi)));
}

bool Proposer::has_hip() const {
  return std::any_of(plan_.files.begin(), plan_.files.end(),
                     [](const std::string& file) { return language_of(file) == Language::hip; });
}

void Proposer::write_build() {
  page_.table("build");
  page_.say_all(unread("sources"));
  page_.say_all(plan_.source_remarks);
  page_.set("sources", plan_.sources);
  write_include_dirs();
  write_flags();
  write_linking();
  for (const Unread& item : extension_.unread) {
    static const Texts told = {"sources",   "include_dirs", "define_macros",   "undef_macros",
                               "libraries", "library_dirs", "extra_link_args", "extra_compile_args"};
    if (std::find(told.begin(), told.end(), item.field) == told.end()) {
      page_.say("Left out: " + at_line(item.line) + ": " + in_one_line(item.field) +
                " has no counterpart here.");
    }
  }
  write_archs();
}

void Proposer::write_include_dirs() {
  page_.say_all(unread("include_dirs"));
  Texts kept;
  for (const std::string& named : extension_.include_dirs) {
    const std::string directory = relative(named);
    const std::optional<FileIdentity> identity = identity_of(absolute_from(directory, directory_));
    if (identity && identity->is_directory()) {
      kept.push_back(directory);
    } else {
      page_.say("Left out: include directory " + in_one_line(directory) + " does not exist.");
    }
  }
  page_.set("include_dirs", kept);
}

void Proposer::write_flags() {
  CarriedFlags cxx = carried_flags(extension_.cxx_flags, ForeignCompiler::host);
  CarriedFlags hip = carried_flags(extension_.nvcc_flags, ForeignCompiler::nvcc);
  Texts macros;
  for (const std::string& macro : extension_.macros) {
    macros.push_back("-D" + macro);
  }
  for (const std::string& macro : extension_.undef_macros) {
    macros.push_back("-U" + macro);
  }
  cxx.kept.insert(cxx.kept.begin(), macros.begin(), macros.end());
  hip.kept.insert(hip.kept.begin(), macros.begin(), macros.end());
  if (cxx.cxx_standard || hip.cxx_standard) {
    page_.set("cxx_standard",
              std::to_string(std::max(cxx.cxx_standard.value_or(0), hip.cxx_standard.value_or(0))));
  }
  for (const char* const field : {"define_macros", "undef_macros", "extra_compile_args"}) {
    page_.say_all(unread(field));
  }
  page_.say_all(cxx.left_out, "Left out of cxx_flags: ");
  page_.set("cxx_flags", cxx.kept);
  if (has_hip()) {
    page_.say_all(hip.left_out, "Left out of hip_flags: ");
    page_.set("hip_flags", hip.kept);
  }
}

void Proposer::write_linking() {
  page_.say_all(unread("library_dirs"));
  page_.say_all(unread("extra_link_args"));
  CarriedFlags link = carried_flags(extension_.link_flags, ForeignCompiler::host);
  for (const std::string& directory : extension_.library_dirs) {
    link.kept.push_back("-L" + relative(directory));
  }
  page_.say_all(link.left_out, "Left out of link_flags: ");
  page_.set("link_flags", link.kept);
  page_.say_all(unread("libraries"));
  Texts libraries;
  for (const std::string& library : extension_.libraries) {
    if (const std::optional<std::string> why = why_not_linked(library)) {
      page_.say("Left out of libraries: " + library + " " + *why + ".");
    } else {
      libraries.push_back(library);
    }
  }
  page_.set("libraries", libraries);
}

void Proposer::write_archs() {
  if (!has_hip()) {
    return;
  }
  if (wanted_.archs.empty()) {
    page_.explain(
        "What its kernels are written for is not known here: \"*\" is whatever the compiler knows.");
    page_.set("archs", Texts{any_arch});
  } else {
    page_.set("archs", wanted_.archs);
  }
}

/// dcuop's own word on the text, which is to be a manifest.
std::string Proposer::refusal() const {
  try {
    const TomlFile file = TomlFile::parse(directory_ / manifest_name, page_.text());
    check_manifest(file);
    static_cast<void>(op_of(file, directory_));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace

} // namespace dcuop::op
