#include "sources.hpp"

#include <algorithm>
#include <cctype>

#include "dcuop/support/files.hpp"

namespace dcuop::check {
namespace {

bool is_launch_function(std::string_view name) {
  return is_any_of(name, {"hipLaunchKernelGGL", "hipLaunchKernel", "hipLaunchCooperativeKernel",
                          "hipModuleLaunchKernel", "hipExtLaunchKernelGGL", "cudaLaunchKernel",
                          "cudaLaunchCooperativeKernel", "hipLaunchByPtr", "hipExtModuleLaunchKernel",
                          "cuLaunchKernel", "hipLaunchKernelExC", "hipModuleLaunchCooperativeKernel"});
}

LaunchSite launch_of(const Function& function, const Call& call) {
  LaunchSite site;
  site.in = &function;
  site.call = &call;
  const auto at = [](const std::vector<Node>& all, std::size_t index) {
    return index < all.size() ? all[index] : Node();
  };
  if (!call.launch.empty()) {
    site.kernel = call.name;
    site.grid = at(call.launch, 0);
    site.block = at(call.launch, 1);
    site.stream = at(call.launch, 3);
    site.arguments = call.arguments;
    return site;
  }
  // hipLaunchKernelExC is given what kind of launch it is.
  site.is_cooperative = contains(call.name, "Cooperative") ||
                        (contains(call.name, "KernelEx") && contains(function.body.text(), "Cooperative"));
  if (call.name == "hipLaunchKernelGGL" || call.name == "hipExtLaunchKernelGGL") {
    site.kernel = source::last_name(at(call.arguments, 0));
    site.grid = at(call.arguments, 1);
    site.block = at(call.arguments, 2);
    site.stream = at(call.arguments, 4);
    const std::size_t first = call.name == "hipLaunchKernelGGL" ? 5 : 8;
    if (call.arguments.size() > first) {
      site.arguments.assign(call.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                            call.arguments.end());
    }
  } else if (contains(call.name, "Module") || call.name == "cuLaunchKernel") {
    site.stream = at(call.arguments, 8);
  } else {
    site.kernel = source::base_name(at(call.arguments, 0));
    site.grid = at(call.arguments, 1);
    site.block = at(call.arguments, 2);
    site.stream = at(call.arguments, 5);
  }
  return site;
}

} // namespace

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return contains(text, part); });
}

Node enclosing(Node node, std::string_view type) {
  for (node = node.parent(); node; node = node.parent()) {
    if (node.is(type)) {
      return node;
    }
  }
  return {};
}

bool is_tensor(std::string_view type) {
  if (contains_any(type, {"TensorList", "vector<", "ArrayRef", "TensorOptions", "Accessor", "TensorArg",
                          "TensorImpl", "TensorIterator", "initializer_list", "array<", "TensorMap",
                          "TensorInfo"})) {
    return false;
  }
  const auto at = type.find("Tensor");
  const std::string_view rest = at == std::string_view::npos ? std::string_view() : type.substr(at + 6);
  return at != std::string_view::npos &&
         (rest.empty() || std::string_view("&*>, ").find(rest[0]) != std::string_view::npos) &&
         (at == 0 || std::string_view(": <").find(type[at - 1]) != std::string_view::npos);
}

bool is_tensor_list(std::string_view type) {
  const auto outer = type.find('<');
  const bool nested = outer != std::string_view::npos && contains(type.substr(outer + 1), "<");
  return !nested && (contains(type, "TensorList") ||
                     (contains_any(type, {"vector<", "ArrayRef<", "array<"}) && contains(type, "Tensor") &&
                      !contains_any(type, {"TensorOptions", "TensorArg", "TensorImpl"})));
}

Sources::Sources(const Request& asked, const source::Model& read) : request(asked), model(read) {
  for (const auto& function : model.functions()) {
    if (function->has_mark("__global__")) {
      kernels.insert(function.get());
    }
  }
  for (const auto* all : {&model.functions(), &model.lambdas()}) {
    for (const auto& function : *all) {
      for (const Call& call : function->calls) {
        for (const auto* called : {&model.callees(call), &model.handed(call)}) {
          for (const Function* callee : *called) {
            callers_[callee].insert(function.get());
          }
        }
      }
    }
  }
  for (const auto& file : model.files()) {
    has_torch_ = has_torch_ || uses_torch(*file);
  }
  find_launches();
  find_launching();
  bindings = find_bindings(model);
}

const source::ModelVariance& Sources::variance() const {
  if (variance_ == nullptr) {
    variance_ = std::make_unique<source::ModelVariance>(model, source::hip_seeds());
  }
  return *variance_;
}

void Sources::find_launches() {
  for (const auto& function : model.functions()) {
    for (const Call& call : function->calls) {
      if (!call.launch.empty() || is_launch_function(call.name)) {
        launches.push_back(launch_of(*function, call));
      }
    }
  }
  for (const LaunchSite& site : launches) {
    launches_in_[site.in].push_back(&site);
    launches_of_[site.kernel].push_back(&site);
  }
}

void Sources::find_launching() {
  std::vector<const Function*> next;
  next.reserve(launches.size());
  for (const LaunchSite& site : launches) {
    next.push_back(site.in);
  }
  while (!next.empty()) {
    const Function* one = next.back();
    next.pop_back();
    if (launching_.insert(one).second) {
      const auto callers = callers_.find(one);
      if (callers != callers_.end()) {
        next.insert(next.end(), callers->second.begin(), callers->second.end());
      }
    }
  }
}

const std::set<const Function*>& Sources::callers_of(const Function& function) const {
  static const std::set<const Function*> none;
  const auto found = callers_.find(&function);
  return found == callers_.end() ? none : found->second;
}

const std::vector<const LaunchSite*>& Sources::launches_in(const Function& function) const {
  static const std::vector<const LaunchSite*> none;
  const auto found = launches_in_.find(&function);
  return found == launches_in_.end() ? none : found->second;
}

const std::vector<const LaunchSite*>& Sources::launches_of(const std::string& kernel) const {
  static const std::vector<const LaunchSite*> none;
  const auto found = launches_of_.find(kernel);
  return found == launches_of_.end() ? none : found->second;
}

Node Sources::first_launch(const Function& function) const {
  for (const Call& call : function.calls) {
    if (!call.launch.empty() || is_launch_function(call.name)) {
      return call.node;
    }
    for (const Function* callee : model.callees(call)) {
      if (callee != &function && launching_.contains(callee)) {
        return call.node;
      }
    }
  }
  return {};
}

const std::vector<const Function*>& Sources::reached_from(const Function& function) const {
  const auto [known, is_new] = reached_.try_emplace(&function);
  std::vector<const Function*>& all = known->second;
  if (!is_new) {
    return all;
  }
  all.push_back(&function);
  std::set<const Function*> seen = {&function};
  for (std::size_t index = 0; index < all.size(); ++index) {
    for (const Call& call : all[index]->calls) {
      for (const Function* callee : model.callees(call)) {
        if (seen.insert(callee).second) {
          all.push_back(callee);
        }
      }
    }
  }
  return all;
}

bool Sources::hands_memory_on(const Function& function) const {
  if (launches_something(function)) {
    return true;
  }
  for (const Function* one : reached_from(function)) {
    const bool takes_memory = contains(one->body.text(), "data_ptr");
    for (const Call& call : one->calls) {
      if (!takes_memory || !model.callees(call).empty() || call.receiver) {
        continue;
      }
      const bool directly = std::any_of(call.arguments.begin(), call.arguments.end(),
                                        [](Node argument) { return contains(argument.text(), "data_ptr"); });
      if (contains_any(call.name, {"launch", "Launch", "kernel"}) ||
          (directly && contains_any(call.name, {"forward", "run"}))) {
        return true;
      }
    }
  }
  return false;
}

bool Sources::is_program(const File& file) const {
  for (const Function* function : model.named("main")) {
    if (function->file == &file) {
      return true;
    }
  }
  return false;
}

bool Sources::uses_torch(const File& file) const {
  return std::any_of(file.masked.includes.begin(), file.masked.includes.end(),
                     [](const source::Include& include) {
                       return include.name.starts_with("torch/") || include.name.starts_with("ATen/") ||
                              include.name.starts_with("c10/");
                     });
}

std::string Findings::shown(const std::filesystem::path& path) const {
  return relative_below(path, request_.directory).string();
}

void Findings::name_in_fix(finding::Finding& finding, const std::map<std::string, std::string>& names) {
  const auto is_part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::string* fix : {&finding.fix, &finding.chinese.fix}) {
    std::string named;
    for (std::size_t at = 0; at < fix->size();) {
      std::size_t end = at;
      while (end < fix->size() && is_part_of_name((*fix)[end])) {
        ++end;
      }
      const std::string word = fix->substr(at, end - at);
      const auto name = names.find(word);
      const bool is_tensor = name != names.end() && end < fix->size() && (*fix)[end] == '.';
      named += is_tensor ? name->second : word.empty() ? fix->substr(at, 1) : word;
      at = std::max(end, at + 1);
    }
    *fix = std::move(named);
  }
}

finding::Finding& Findings::put(finding::Finding made, std::size_t line, std::size_t column) {
  const auto [known, is_new] = places_.try_emplace({made.rule, made.subject, line, made.cause}, all.size());
  if (!is_new) {
    return all[known->second];
  }
  const finding::Rule* rule = finding::find_rule(made.rule);
  made.line = line;
  made.column = column;
  made.fix = std::string(rule->fixes.en.substr(0, rule->fixes.en.find('\n')));
  made.chinese.fix = std::string(rule->fixes.zh.substr(0, rule->fixes.zh.find('\n')));
  all.push_back(std::move(made));
  return all.back();
}

finding::Finding& Findings::add(std::string_view rule, const File& file, Offset at, finding::Values values) {
  const source::Place place = file.place(at);
  values["file"] = file.path.string();
  values["at"] = shown(file.path) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  const std::string_view line = file.line_text(place.line);
  finding::Finding& added = put(finding::make_finding(rule, values), place.line, place.column);
  if (added.evidence.empty() && !line.empty()) {
    const auto first = line.find_first_not_of(" \t");
    added.evidence.push_back({"code", std::string(line.substr(std::min(first, line.size())).substr(0, 160))});
  }
  return added;
}

finding::Finding& Findings::add(std::string_view rule, const std::filesystem::path& path, std::size_t line,
                                finding::Values values) {
  values["file"] = path.string();
  values["at"] = shown(path) + (line > 0 ? ":" + std::to_string(line) : "");
  return put(finding::make_finding(rule, values), line, line > 0 ? 1 : 0);
}

finding::Finding& Findings::add(finding::Finding made, const std::filesystem::path& path,
                                source::Place place) {
  const std::string at = shown(path) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  made.subject = path.string();
  made.cause = at + ": " + made.cause;
  made.chinese.cause = at + "：" + made.chinese.cause;
  const std::string fix = made.fix;
  const std::string fix_zh = made.chinese.fix;
  finding::Finding& added = put(std::move(made), place.line, place.column);
  added.fix = fix.empty() ? added.fix : fix;
  added.chinese.fix = fix_zh.empty() ? added.chinese.fix : fix_zh;
  return added;
}

} // namespace dcuop::check
