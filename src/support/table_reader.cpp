#include "dcuop/support/table_reader.hpp"

#include <algorithm>

#include "dcuop/support/text.hpp"

namespace dcuop {

TableReader::TableReader(const TomlFile& file, const TomlNode& table, std::string where)
    : file_(&file), table_(&table), where_(std::move(where)) {
  if (table.type != TomlNode::Type::table) {
    file.fail(table.place, where_ + " must be a table, not " + to_string(table.type));
  }
}

const TomlNode* TableReader::take(std::string_view key) {
  taken_.emplace_back(key);
  return table_->find(key);
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const TomlNode* node = take(key);
  return node == nullptr ? std::nullopt : std::optional(file_->text_of(*node, name_of(key)));
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const TomlNode* node = take(key);
  return node == nullptr ? std::nullopt : std::optional(file_->boolean_of(*node, name_of(key)));
}

std::optional<double> TableReader::number(std::string_view key) {
  const TomlNode* node = take(key);
  return node == nullptr ? std::nullopt : std::optional(file_->number_of(*node, name_of(key)));
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t least) {
  const TomlNode* node = take(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const std::int64_t value = file_->integer_of(*node, name_of(key));
  if (value < least) {
    fail(node,
         name_of(key) + " must be at least " + std::to_string(least) + ", not " + std::to_string(value));
  }
  return value;
}

std::vector<std::int64_t> TableReader::integers(std::string_view key, std::int64_t least) {
  std::vector<std::int64_t> values;
  if (const TomlNode* node = take(key)) {
    if (node->type != TomlNode::Type::array) {
      fail(node, name_of(key) + " must be an array of integers, not " + to_string(node->type));
    }
    for (const TomlNode& item : node->items) {
      values.push_back(file_->integer_of(item, "an element of " + name_of(key)));
      if (values.back() < least) {
        fail(&item, "an element of " + name_of(key) + " must be at least " + std::to_string(least) +
                        ", not " + std::to_string(values.back()));
      }
    }
  }
  return values;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  std::vector<std::string> values;
  if (const TomlNode* node = take(key)) {
    for (const TomlNode& item : file_->texts_of(*node, name_of(key))) {
      values.push_back(item.text);
    }
  }
  return values;
}

std::optional<std::string> TableReader::choice(std::string_view key,
                                               const std::vector<std::string>& choices) {
  const std::optional<std::string> value = text(key);
  if (value) {
    check_choice(*table_->find(key), *value, name_of(key), choices);
  }
  return value;
}

std::vector<TableReader> TableReader::tables(std::string_view key, const std::string& each) {
  std::vector<TableReader> readers;
  if (const TomlNode* node = take(key)) {
    if (node->type != TomlNode::Type::array) {
      fail(node, name_of(key) + " must be an array of tables, not " + to_string(node->type));
    }
    for (const TomlNode& item : node->items) {
      readers.emplace_back(*file_, item, each);
    }
  }
  return readers;
}

void TableReader::finish() const {
  for (const TomlMember& member : table_->members) {
    if (std::find(taken_.begin(), taken_.end(), member.key) == taken_.end()) {
      const std::optional<std::string> near = nearest(member.key, taken_);
      file_->fail(member.place,
                  "unknown key '" + member.key + "' in " + where_ +
                      (near ? "; did you mean '" + *near + "'?" : std::string()),
                  near ? "" : where_ + " has: " + join(taken_, ", "));
    }
  }
}

void TableReader::fail(const TomlNode* node, const std::string& what, const std::string& hint) const {
  file_->fail(node != nullptr ? node->place : table_->place, what, hint);
}

void TableReader::check_choice(const TomlNode& node, const std::string& text, const std::string& name,
                               const std::vector<std::string>& choices) const {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    const std::optional<std::string> near = nearest(text, choices);
    fail(&node, name + " must be one of " + join(choices, ", ") + ", not '" + text + "'" +
                    (near ? "; did you mean '" + *near + "'?" : ""));
  }
}

std::string TableReader::name_of(std::string_view key) const {
  return "'" + std::string(key) + "' in " + where_;
}

} // namespace dcuop
