#include "dcuop/op/contract.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/table_reader.hpp"
#include "dcuop/support/text.hpp"
#include "identifier.hpp"
#include "manifest_file.hpp"

namespace dcuop::op {

namespace {

using nlohmann::json;

constexpr const char* any_leading = "...";

/// torch's names (https://pytorch.org/docs/stable/tensor_attributes.html).
const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = {
      "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "int8",
      "int16",   "int32",    "int64",   "uint8",   "bool",          "complex64",   "complex128"};
  return names;
}

template <typename T> json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

/// "file.py:name", of a file of the op. Null when the key is absent.
json python_name(TableReader& table, std::string_view key) {
  const std::optional<std::string> text = table.text(key);
  if (!text) {
    return nullptr;
  }
  const TomlNode* node = table.node().find(key);
  const std::size_t colon = text->rfind(':');
  if (colon == std::string::npos || !is_identifier(text->substr(colon + 1)) ||
      !text->substr(0, colon).ends_with(".py")) {
    table.fail(node, table.name_of(key) + " must be \"file.py:name\", not '" + *text + "'");
  }
  const fs::path file = text->substr(0, colon);
  const std::optional<FileIdentity> identity = identity_of(table.file().path().parent_path() / file);
  if (!identity || !identity->is_regular()) {
    table.fail(node, table.name_of(key) + " names " + file.string() + ", and the op has no such file");
  }
  return *text;
}

/// [low, high]
json range_of(TableReader& table, std::string_view key) {
  const TomlNode* node = table.take(key);
  if (node == nullptr) {
    return nullptr;
  }
  if (node->type != TomlNode::Type::array || node->items.size() != 2) {
    table.fail(node, table.name_of(key) + " must be two numbers: [least, most]");
  }
  const double low = table.file().number_of(node->items[0], "an element of " + table.name_of(key));
  const double high = table.file().number_of(node->items[1], "an element of " + table.name_of(key));
  if (low > high) {
    table.fail(node, table.name_of(key) + " has its ends in the wrong order");
  }
  return {low, high};
}

// Arguments --------------------------------------------------------------------------------------------------

/// "..., n, 64" -> the dimensions.
std::vector<std::string> shape_of(const TableReader& table, const TomlNode& node, const std::string& text) {
  std::vector<std::string> dimensions;
  for (const std::string& part : split(text, ',')) {
    const std::string name(trimmed(part));
    const bool is_size =
        !name.empty() && name != "0" &&
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (name != any_leading && !is_size && !is_identifier(name)) {
      table.fail(&node, "'" + name + "' in the shape '" + text + "' is no dimension",
                 "a dimension is a name, a size, or, first of all, \"...\" for any leading dimensions");
    }
    if (name == any_leading && !dimensions.empty()) {
      table.fail(&node, "'...' in the shape '" + text + "' must come first");
    }
    dimensions.push_back(name);
  }
  if (static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1 != dimensions.size()) {
    table.fail(&node, "a dimension of the shape '" + text + "' is empty");
  }
  return dimensions;
}

json tensor_of(TableReader& table, json argument, const std::string& shape) {
  argument["kind"] = "tensor";
  argument["shape"] = shape_of(table, *table.node().find("shape"), shape);
  const std::vector<std::string> dtypes = table.texts("dtypes");
  for (const std::string& dtype : dtypes) {
    table.check_choice(*table.node().find("dtypes"), dtype, "an element of " + table.name_of("dtypes"),
                       dtype_names());
  }
  argument["dtypes"] = dtypes.empty() ? json(nullptr) : json(dtypes);
  argument["broadcast"] = table.boolean("broadcast").value_or(false);
  argument["alias"] = table.choice("alias", {"refused", "exact", "allowed"}).value_or("exact");
  argument["range"] = range_of(table, "range");
  return argument;
}

/// Numbers, or true and false.
json values_of(const TableReader& table, const TomlNode& node, const std::string& name,
               const std::string& type) {
  if (type == "bool") {
    return table.file().boolean_of(node, name);
  }
  return type == "int" ? json(table.file().integer_of(node, name)) : json(table.file().number_of(node, name));
}

json scalar_of(TableReader& table, json argument) {
  const std::string type = table.choice("type", {"float", "int", "bool"}).value_or("float");
  argument["kind"] = "scalar";
  argument["type"] = type;
  argument["range"] = range_of(table, "range");
  argument["choices"] = nullptr;
  argument["default"] = nullptr;
  if (const TomlNode* choices = table.take("choices")) {
    if (choices->type != TomlNode::Type::array || choices->items.empty()) {
      table.fail(choices, table.name_of("choices") + " must be an array of values");
    }
    argument["choices"] = json::array();
    for (const TomlNode& item : choices->items) {
      argument["choices"].push_back(
          values_of(table, item, "an element of " + table.name_of("choices"), type));
    }
  }
  if (const TomlNode* value = table.take("default")) {
    argument["default"] = values_of(table, *value, table.name_of("default"), type);
  }
  return argument;
}

json argument_of(TableReader table, const std::string& function) {
  const std::optional<std::string> name = table.text("name");
  if (!name || !is_identifier(*name)) {
    table.fail(table.node().find("name"),
               "an argument of '" + function + "' needs a name that is an identifier");
  }
  const std::optional<std::string> shape = table.text("shape");
  json argument = {{"name", *name}};
  argument = shape ? tensor_of(table, std::move(argument), *shape) : scalar_of(table, std::move(argument));
  if (!shape && table.node().find("dtypes") != nullptr) {
    table.fail(table.node().find("dtypes"), "'" + *name + "' has dtypes and no shape",
               "a tensor's shape may be \"...\": any");
  }
  table.finish();
  return argument;
}

json arguments_of(TableReader& table, const std::string& function) {
  json arguments = json::array();
  std::set<std::string> names;
  bool has_tensor = false;
  for (const TableReader& each : table.tables("arguments", "an argument of '" + function + "'")) {
    arguments.push_back(argument_of(each, function));
    const json& argument = arguments.back();
    const auto name = argument["name"].get<std::string>();
    if (!names.insert(name).second) {
      table.fail(&each.node(), "'" + function + "' has two arguments named '" + name + "'");
    }
    if (argument["kind"] == "tensor") {
      if (!has_tensor && argument["broadcast"] == true) {
        table.fail(&each.node(), "'" + name + "' is the first tensor, which the others broadcast against");
      }
      has_tensor = true;
    }
  }
  if (!has_tensor) {
    table.fail(table.node().find("arguments"), "'" + function + "' has no tensor among its arguments",
               "write: arguments = [{ name = \"x\", dtypes = [\"float16\"], shape = \"...\" }]");
  }
  return arguments;
}

// Functions --------------------------------------------------------------------------------------------------

/// By dtype of a result, which need be no argument's: what the formula returns is known to Python alone.
json tolerance_of(TableReader& table) {
  json tolerance = json::object();
  const TomlNode* node = table.take("tolerance");
  if (node == nullptr) {
    return tolerance;
  }
  TableReader dtypes(table.file(), *node, table.name_of("tolerance"));
  for (const std::string& dtype : dtype_names()) {
    const TomlNode* const value = dtypes.take(dtype);
    if (value == nullptr) {
      continue;
    }
    TableReader bounds(table.file(), *value, "the tolerance for " + dtype);
    json& bound = tolerance[dtype] = json::object();
    for (const char* key : {"ulp", "rtol", "atol"}) {
      if (const std::optional<double> number = bounds.number(key)) {
        if (*number < 0) {
          table.fail(bounds.node().find(key), bounds.name_of(key) + " must not be negative");
        }
        bound[key] = *number;
      }
    }
    bounds.finish();
    if (bound.empty() || (bound.contains("ulp") && bound.size() > 1)) {
      table.fail(value, "the tolerance for " + dtype + " must be { ulp = N }, or { rtol = X, atol = Y }");
    }
  }
  dtypes.finish();
  return tolerance;
}

/// Arithmetic over n, size and the dimensions' names; evaluated by python/dcuop/_verify.
json formula_of_cost(TableReader& table, std::string_view key, const json& arguments) {
  const std::optional<std::string> text = table.text(key);
  if (!text) {
    return nullptr;
  }
  std::vector<std::string> known = {"n", "size"};
  for (const json& argument : arguments) {
    for (const json& dimension : argument.value("shape", json::array())) {
      if (is_identifier(dimension.get<std::string>())) {
        known.push_back(dimension.get<std::string>());
      }
    }
  }
  const TomlNode* node = table.node().find(key);
  for (std::size_t at = 0; at < text->size();) {
    const auto c = static_cast<unsigned char>((*text)[at]);
    if (std::isalpha(c) == 0 && c != '_') {
      if (std::string_view("0123456789. +-*/()").find(static_cast<char>(c)) == std::string_view::npos) {
        table.fail(node, table.name_of(key) + " must be arithmetic (+ - * /) over " + join(known, ", "));
      }
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text->size() &&
           (std::isalnum(static_cast<unsigned char>((*text)[end])) != 0 || (*text)[end] == '_')) {
      ++end;
    }
    table.check_choice(*node, text->substr(at, end - at), "a name in " + table.name_of(key), known);
    at = end;
  }
  return *text;
}

/// The in-place argument, and what the others say of sharing its memory.
json inplace_of(TableReader& table, const json& arguments) {
  const std::optional<std::string> inplace = table.text("inplace");
  if (!inplace) {
    return nullptr;
  }
  std::vector<std::string> tensors;
  for (const json& argument : arguments) {
    if (argument["kind"] == "tensor") {
      tensors.push_back(argument["name"].get<std::string>());
    }
  }
  table.check_choice(*table.node().find("inplace"), *inplace, table.name_of("inplace"), tensors);
  return *inplace;
}

json function_of(TableReader table) {
  const std::optional<std::string> name = table.text("name");
  if (!name || !is_identifier(*name)) {
    table.fail(table.node().find("name"), "a [[verify.function]] needs a name that is an identifier",
               "the attribute of what dcuop.load_op returns: name = \"affine\"");
  }
  json function = {{"name", *name},
                   {"call", python_name(table, "call")},
                   {"formula", python_name(table, "formula")},
                   {"reference", python_name(table, "reference")}};
  if (function["formula"].is_null()) {
    table.fail(&table.node(), "'" + *name + "' has no formula",
               "name what says its mathematics in plain torch operations: formula = \"reference.py:" + *name +
                   "_formula\"");
  }
  const json arguments = arguments_of(table, *name);
  function["block"] = or_null(table.integer("block", 1));
  function["sizes"] = table.integers("sizes", 0);
  function["tolerance"] = tolerance_of(table);
  function["refuses"] = table.texts("refuses");
  for (const json& refused : function["refuses"]) {
    table.check_choice(*table.node().find("refuses"), refused.get<std::string>(),
                       "an element of " + table.name_of("refuses"),
                       {"dtype", "device", "layout", "shape", "alias", "grad", "neg", "sparse"});
  }
  function["inplace"] = inplace_of(table, arguments);
  function["backward"] = table.boolean("backward").value_or(false);
  function["deterministic"] = table.boolean("deterministic").value_or(true);
  function["bytes"] = formula_of_cost(table, "bytes", arguments);
  function["flops"] = formula_of_cost(table, "flops", arguments);
  function["arguments"] = arguments;
  table.finish();
  return function;
}

json functions_of(TableReader& verify) {
  json functions = json::array();
  std::set<std::string> names;
  for (const TableReader& each : verify.tables("function", "[[verify.function]]")) {
    functions.push_back(function_of(each));
    if (!names.insert(functions.back()["name"].get<std::string>()).second) {
      verify.fail(&each.node(),
                  "two [[verify.function]] are named '" + functions.back()["name"].get<std::string>() + "'");
    }
  }
  return functions;
}

// The other layers -------------------------------------------------------------------------------------------

json micro_of(TableReader& verify) {
  static const TomlNode empty;
  const TomlNode* node = verify.take("micro");
  TableReader micro(verify.file(), node == nullptr ? empty : *node, "[verify.micro]");
  std::vector<std::int64_t> sizes = micro.integers("sizes", 1);
  if (sizes.empty()) {
    sizes = {1 << 10, 1 << 20, 1 << 24};
  }
  const std::int64_t runs = micro.integer("runs", 5).value_or(25);
  micro.finish();
  return {{"sizes", sizes}, {"runs", runs}};
}

json end_to_end_of(TableReader& verify) {
  const TomlNode* node = verify.take("e2e");
  if (node == nullptr) {
    return nullptr;
  }
  TableReader e2e(verify.file(), *node, "[verify.e2e]");
  const std::optional<std::string> script = e2e.text("script");
  const std::optional<std::string> metric = e2e.text("metric");
  if (!script || !metric) {
    e2e.fail(node, "[verify.e2e] needs a script and the metric that it prints",
             "script = \"e2e.py\" and metric = \"steps_per_second\"");
  }
  const std::optional<FileIdentity> identity = identity_of(verify.file().path().parent_path() / *script);
  if (!identity || !identity->is_regular()) {
    e2e.fail(e2e.node().find("script"), "the op has no file " + *script);
  }
  const std::string better = e2e.choice("better", {"higher", "lower"}).value_or("higher");
  const std::int64_t runs = e2e.integer("runs", 2).value_or(5);
  e2e.finish();
  return {{"script", *script}, {"metric", *metric}, {"better", better}, {"runs", runs}};
}

json gate_of(TableReader& verify) {
  static const TomlNode empty;
  const TomlNode* node = verify.take("gate");
  TableReader gate(verify.file(), node == nullptr ? empty : *node, "[verify.gate]");
  json bounds;
  for (const char* key : {"speedup", "break_even", "max_ulp", "e2e"}) {
    bounds[key] = or_null(gate.number(key));
  }
  gate.finish();
  return bounds;
}

} // namespace

json read_contract(const fs::path& manifest) {
  const TomlFile file = read_manifest_file(manifest);
  static const TomlNode empty;
  const TomlNode* node = file.root().find("verify");
  TableReader verify(file, node == nullptr ? empty : *node, "[verify]");
  json contract = {{"functions", functions_of(verify)}};
  contract["micro"] = micro_of(verify);
  contract["e2e"] = end_to_end_of(verify);
  contract["gate"] = gate_of(verify);
  verify.finish();
  return contract;
}

} // namespace dcuop::op
