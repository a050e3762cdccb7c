#include "dcuop/source/model.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "collect.hpp"
#include "conditions.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::source {
namespace {

constexpr std::size_t most_meant = 64; // of one name in other files: beyond, none of them is meant by a call
constexpr std::size_t largest_file = 8U << 20U; // beyond, a file is generated or no source

/// The bytes; false when there is nothing to parse.
bool read_text(File& file) {
  const auto identity = identity_of(file.path);
  if (identity && identity->size > largest_file) {
    file.fault = "it is larger than 8 MiB";
    return false;
  }
  auto text = read_file(file.path);
  if (!text) {
    file.fault = "it cannot be read";
    return false;
  }
  file.text = std::move(*text);
  file.line_starts = {0};
  for (std::size_t at = file.text.find('\n'); at != std::string::npos; at = file.text.find('\n', at + 1)) {
    file.line_starts.push_back(static_cast<Offset>(at + 1));
  }
  if (file.text.find('\0') != std::string::npos) {
    file.fault = "it is no text";
  } else if (file.line_starts.size() == 1 && file.text.find('\r') != std::string::npos) {
    file.fault = "its lines end in CR alone"; // the first directive or comment would take in all of it
  }
  return file.fault.empty();
}

void add_damage(File& file, const Tree& tree) {
  auto& all = file.not_understood;
  all.insert(all.end(), tree.damaged().begin(), tree.damaged().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

void parse(File& file, const Dialect& dialect, const StatementMacros& macros) {
  try {
    file.masked = mask(file.text, dialect, macros);
    for (Variant& variant : file.masked.variants) {
      variant.file = &file;
      // The text without the bodies of macros, which are snippets of their own.
      auto code = std::make_shared<std::string>(variant.text);
      for (const MacroDefinition& macro : variant.macros) {
        for (Offset at = macro.begin; at < macro.end; ++at) {
          (*code)[at] = (*code)[at] == '\n' ? '\n' : ' ';
        }
      }
      file.trees.push_back(std::make_unique<Tree>(code, 0, static_cast<Offset>(code->size())));
    }
  } catch (const std::exception& fault) {
    file.fault = fault.what();
  }
  for (const auto& tree : file.trees) {
    add_damage(file, *tree);
  }
}

void in_parallel(std::size_t from, std::size_t end, unsigned threads,
                 const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = from;
  const auto work = [&] {
    for (std::size_t index = next++; index < end; index = next++) {
      task(index);
    }
  };
  std::vector<std::jthread> others;
  const std::size_t wanted = std::min<std::size_t>(threads, end - from);
  for (std::size_t index = 1; index < wanted; ++index) {
    others.emplace_back(work);
  }
  work();
}

/// A header that is named in quotes, if it is where it is looked for.
std::optional<std::filesystem::path> found_include(const File& file, const Include& include,
                                                   const std::vector<std::filesystem::path>& directories) {
  if (!include.quoted) {
    return std::nullopt;
  }
  std::vector<std::filesystem::path> places = {file.path.parent_path()};
  places.insert(places.end(), directories.begin(), directories.end());
  for (const auto& place : places) {
    auto path = (place / include.name).lexically_normal();
    const auto identity = identity_of(path);
    if (identity && identity->is_regular()) {
      return path;
    }
  }
  return std::nullopt;
}

bool same_function(const Function& a, const Function& b) {
  return a.node.begin() == b.node.begin() && a.node.end() == b.node.end() && a.node.text() == b.node.text() &&
         a.name == b.name;
}

} // namespace

bool Function::has_mark(std::string_view mark) const {
  // C10_HOST_DEVICE and its like say it in other words.
  return std::any_of(marks.begin(), marks.end(), [mark](const Mark& one) {
    return one.name == mark || (mark == "__device__" && one.name.ends_with("_DEVICE"));
  });
}

bool Function::in_base_configuration() const {
  return std::any_of(variants.begin(), variants.end(),
                     [](const Variant* one) { return one->assumed.empty(); });
}

const Parameter* Function::parameter(std::string_view parameter_name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& one) { return one.name == parameter_name; });
  return found == parameters.end() ? nullptr : &*found;
}

Place File::place(Offset at) const {
  const auto line = std::upper_bound(line_starts.begin(), line_starts.end(), at);
  const auto index = static_cast<std::size_t>(line - line_starts.begin());
  return index == 0 ? Place{} : Place{index, at - line_starts[index - 1] + 1};
}

std::string_view File::line_text(std::size_t line) const {
  if (line == 0 || line > line_starts.size()) {
    return {};
  }
  std::string_view rest = std::string_view(text).substr(line_starts[line - 1]);
  rest = rest.substr(0, rest.find('\n'));
  return rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest;
}

double File::damage() const {
  if (!fault.empty()) {
    return 1;
  }
  std::size_t bytes = 0;
  Offset last = 0;
  for (const auto& [begin, end] : not_understood) {
    bytes += end > std::max(begin, last) ? end - std::max(begin, last) : 0;
    last = std::max(last, end);
  }
  return text.empty() ? 0 : static_cast<double>(bytes) / static_cast<double>(text.size());
}

Model Model::read(const Request& request) {
  const Dialect& dialect = request.dialect == nullptr ? hip_dialect() : *request.dialect;
  Model model;
  std::set<std::filesystem::path> known;
  const auto add = [&](const std::filesystem::path& path, bool is_included) {
    if (known.insert(path.lexically_normal()).second) {
      auto file = std::make_unique<File>();
      file->path = path;
      file->directory = path.parent_path();
      file->is_included = is_included;
      model.files_.push_back(std::move(file));
    }
  };
  for (const auto& path : request.files) {
    add(path, false);
  }
  // All texts before any is parsed: how a macro's use is parsed depends on its definition.
  std::vector<Scan> scans;
  for (std::size_t from = 0; from < model.files_.size();) {
    const std::size_t end = model.files_.size();
    scans.resize(end);
    in_parallel(from, end, request.threads, [&](std::size_t index) {
      File& file = *model.files_[index];
      scans[index] = read_text(file) ? scan(file.text) : Scan();
    });
    for (; from < end; ++from) {
      for (const Include& include : scans[from].includes) {
        if (const auto path = found_include(*model.files_[from], include, request.include_dirs)) {
          add(*path, true);
        }
      }
    }
  }
  StatementMacros macros;
  for (Scan& one : scans) {
    macros.plain.merge(one.macros.plain);
    macros.heads.merge(one.macros.heads);
  }
  in_parallel(0, model.files_.size(), request.threads, [&](std::size_t index) {
    if (model.files_[index]->fault.empty()) {
      parse(*model.files_[index], dialect, macros);
    }
  });
  for (const auto& file : model.files_) {
    model.collect(*file);
  }
  model.index();
  return model;
}

void Model::collect(File& file) {
  std::map<std::pair<Offset, std::string>, std::vector<Function*>> known; // of a file's tens of thousands
  const auto add = [&](std::unique_ptr<Function> function) {
    std::vector<Function*>& beside = known[{function->node.begin(), function->name}];
    for (Function* one : beside) {
      if (same_function(*one, *function)) {
        one->variants.push_back(function->variants.front());
        return;
      }
    }
    beside.push_back(function.get());
    functions_.push_back(std::move(function));
  };
  const std::size_t variants = std::min(file.trees.size(), file.masked.variants.size());
  for (std::size_t index = 0; index < variants; ++index) {
    const Variant& variant = file.masked.variants[index];
    Collected collected = source::collect(file, variant, file.trees[index]->root());
    for (auto& function : collected.functions) {
      add(std::move(function));
    }
    declared_.insert(declared_.end(), collected.declared.begin(), collected.declared.end());
    for (const auto& [name, value] : collected.constants) {
      constants_.emplace(name, Constant{value, &file});
    }
    collect_macros(file, variant, add);
  }
}

void Model::collect_macros(File& file, const Variant& variant,
                           const std::function<void(std::unique_ptr<Function>)>& add) {
  // An expression alone is none to the grammar: each body ends in a semicolon, where its line ends.
  const auto text = std::make_shared<std::string>(variant.text + ";");
  for (const MacroDefinition& macro : variant.macros) {
    (*text)[macro.end] = ';';
  }
  for (const MacroDefinition& macro : variant.macros) {
    if (macro.begin >= macro.end) {
      if (macro.is_function) {
        add(macro_function(file, variant, macro, {})); // known to do nothing
      }
      continue;
    }
    auto tree = std::make_unique<Tree>(text, macro.begin, macro.end + 1);
    const Node root = tree->root();
    if (macro.is_function) {
      add(macro_function(file, variant, macro, root));
      // A piece of a type or of a list is none of the grammar's, and holds nothing to judge.
      if (root.text().find_first_of(";{") + 1 < root.text().size()) {
        add_damage(file, *tree);
      }
      file.trees.push_back(std::move(tree));
      continue;
    }
    const bool is_expression = root.first().is("expression_statement");
    const Node value = is_expression ? root.first().first() : root.first();
    if (is_expression || !root.first().next()) {
      constants_.emplace(macro.name, Constant{value, &file});
    }
    if (!value.type().ends_with("_literal")) {
      object_macros_.push_back(macro_function(file, variant, macro, root));
    }
    file.trees.push_back(std::move(tree));
  }
}

void Model::index() {
  for (const auto& function : functions_) {
    Named& named = by_name_[function->name];
    named.all.push_back(function.get());
    named.of_file[function->file].push_back(function.get());
    std::filesystem::path directory = function->file->directory;
    for (bool more = true; more; directory = directory.parent_path()) {
      named.of_directory[directory.native()].push_back(function.get());
      more = directory.has_relative_path();
    }
  }
  for (const Declared& one : declared_) {
    declared_by_name_.emplace(one.name, &one);
  }
  for (const auto& macro : object_macros_) {
    object_macros_by_name_[macro->name].push_back(macro.get());
  }
  index_lambdas();
}

namespace {

/// The name that is all of a macro's text.
std::string other_name(const Function& macro) {
  const Node only = macro.body.first();
  const Node value = only.is("expression_statement") ? only.first() : only;
  return only.next() || !value.type().ends_with("identifier") ? std::string() : last_name(value);
}

} // namespace

std::string Model::meant(std::string_view name, const File* from) const {
  const Function* macro = last_object_macro(name, from);
  const std::string other = macro == nullptr ? std::string() : other_name(*macro);
  return other.empty() ? std::string(name) : other;
}

const Function* Model::last_object_macro(std::string_view name, const File* from) const {
  const Function* macro = object_macro(name, from);
  std::set<const Function*> passed;
  while (macro != nullptr && passed.insert(macro).second) {
    const std::string other = other_name(*macro);
    const Function* next = other.empty() ? nullptr : object_macro(other, macro->file);
    if (next == nullptr) {
      return macro;
    }
    macro = next;
  }
  return nullptr;
}

const Function* Model::object_macro(std::string_view name, const File* from) const {
  const auto found = object_macros_by_name_.find(name);
  if (found == object_macros_by_name_.end()) {
    return nullptr;
  }
  const Function* best = nullptr;
  int most = -1;
  for (const Function* one : found->second) {
    const bool beside = from != nullptr && one->file->directory == from->directory;
    const int nearness = one->file == from ? 2 : beside ? 1 : 0;
    if (nearness > most) {
      best = one;
      most = nearness;
    }
  }
  return best;
}

std::vector<const Function*> Model::named(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::vector<const Function*>() : found->second.all;
}

std::vector<const Function*> Model::named(std::string_view name, const File* from) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    return {};
  }
  const Named& named = found->second;
  if (from != nullptr) {
    if (const auto near = named.of_file.find(from); near != named.of_file.end()) {
      return near->second;
    }
    for (auto directory = from->directory; directory.has_relative_path();
         directory = directory.parent_path()) {
      if (const auto near = named.of_directory.find(directory.native()); near != named.of_directory.end()) {
        return near->second.size() > most_meant ? std::vector<const Function*>() : near->second;
      }
    }
  }
  return named.all;
}

void Model::add_taking(const Call& call, const std::vector<const Function*>& among,
                       std::vector<const Function*>& into) const {
  for (const Function* function : among) {
    std::size_t least = 0;
    bool variadic = function->is_macro;
    for (const Parameter& parameter : function->parameters) {
      const bool pack = parameter.type.find("...") != std::string::npos;
      least += parameter.default_value || pack ? 0 : 1;
      variadic = variadic || pack;
    }
    const std::size_t given = call.arguments.size();
    if (variadic || (given >= least && given <= function->parameters.size())) {
      into.push_back(function);
    }
  }
}

/// https://pytorch.org/tutorials/advanced/cpp_autograd.html: Class::apply(x) runs Class::forward(context, x).
std::vector<const Function*> Model::forward_of(const Call& call) const {
  const std::string owner =
      call.qualified.substr(0, call.qualified.size() - std::string_view("::apply").size());
  std::vector<const Function*> all;
  for (const Function* one : named("forward", call.file)) {
    const std::string scope = "::" + one->scope;
    if (scope.ends_with("::" + owner)) {
      all.push_back(one);
    }
  }
  return all;
}

const std::vector<const Function*>& Model::handed(const Call& call) const {
  static const std::vector<const Function*> none;
  const auto found = handed_.find({call.node.tree(), call.node.begin(), call.node.end()});
  return found == handed_.end() ? none : found->second;
}

const std::vector<const Function*>& Model::held(const Call& call) const {
  static const std::vector<const Function*> none;
  const auto found = held_.find({call.node.tree(), call.node.begin(), call.node.end()});
  return found == held_.end() ? none : found->second;
}

const Function* Model::lambda(Node node) const {
  const auto found = lambda_by_node_.find({node.tree(), node.begin()});
  return found == lambda_by_node_.end() ? nullptr : found->second;
}

const std::vector<const Function*>& Model::callees(const Call& call) const {
  if (const auto& variable = held(call); !variable.empty()) {
    return variable;
  }
  const bool applies = call.name == "apply" && call.qualified.ends_with("::apply");
  const auto [known, is_new] =
      callees_.try_emplace({applies ? call.qualified : call.name, call.arguments.size(), call.file});
  std::vector<const Function*>& all = known->second;
  const auto found = by_name_.find(call.name);
  if (!is_new) {
    return all;
  }
  if (found != by_name_.end()) {
    const Named& named = found->second;
    const auto in_file = named.of_file.find(call.file);
    if (in_file != named.of_file.end()) {
      add_taking(call, in_file->second, all);
    }
    std::filesystem::path directory = call.file == nullptr ? "/" : call.file->directory;
    for (bool more = all.empty(); more && all.empty(); directory = directory.parent_path()) {
      const auto beside = named.of_directory.find(directory.native());
      if (beside != named.of_directory.end()) {
        more = beside->second.size() <= most_meant;
        add_taking(call, more ? beside->second : std::vector<const Function*>(), all);
      }
      more = more && directory.has_relative_path();
    }
  }
  if (all.empty() && applies) {
    all = forward_of(call);
  }
  return all;
}

std::size_t parameter_index(const Call& call, const Function& callee, std::size_t argument) {
  const std::size_t index = argument + (call.name == "apply" && callee.name == "forward" ? 1 : 0);
  const auto& parameters = callee.parameters;
  // A macro that is given more than it names is variadic.
  const bool pack =
      !parameters.empty() && (callee.is_macro || parameters.back().type.find("...") != std::string::npos);
  return pack ? std::min(index, parameters.size() - 1) : index;
}

} // namespace dcuop::source
