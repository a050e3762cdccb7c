// scope.toml -> Scope. docs/superkernel.example.toml has every key, and a test compares the two.

#include <algorithm>
#include <array>
#include <string_view>

#include "dcuop/superkernel/scope.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/table_reader.hpp"
#include "dcuop/support/text.hpp"
#include "names.hpp"

namespace dcuop::superkernel {

namespace {

constexpr std::array sync_alls = {Named<SyncAll>{"none", SyncAll::none},
                                  Named<SyncAll>{"plain", SyncAll::plain},
                                  Named<SyncAll>{"mix", SyncAll::mix}};
constexpr std::array calls = {Named<Call>{"none", Call::none}, Named<Call>{"every-core", Call::every_core},
                              Named<Call>{"some-cores", Call::some_cores}};
constexpr std::array sides = {Named<Side>{"aic", Side::aic}, Named<Side>{"aiv", Side::aiv}};
constexpr std::array where_keys = {"sync_all", "mode0",    "pair_guarded",  "matmul_unguarded",
                                   "flags",    "set_next", "wait_previous", "gm"};

template <typename Value, std::size_t count>
std::optional<Value> one_of(TableReader& table, std::string_view key,
                            const std::array<Named<Value>, count>& all) {
  std::vector<std::string> names;
  names.reserve(count);
  for (const auto& named : all) {
    names.emplace_back(named.name);
  }
  const std::optional<std::string> text = table.choice(key, names);
  if (!text) {
    return std::nullopt;
  }
  return std::find_if(all.begin(), all.end(), [&](const auto& named) { return named.name == *text; })->value;
}

/// In [least, most].
std::optional<std::uint32_t> count_of(TableReader& table, std::string_view key, std::uint32_t least,
                                      std::uint32_t most) {
  const std::optional<std::int64_t> value = table.integer(key, least);
  if (!value) {
    return std::nullopt;
  }
  if (*value > most) {
    table.fail(table.node().find(key), table.name_of(key) + " must be at most " + std::to_string(most) +
                                           ", not " + std::to_string(*value));
  }
  return static_cast<std::uint32_t>(*value);
}

std::optional<double> duration_of(TableReader& table, std::string_view key) {
  const std::optional<double> value = table.number(key);
  if (value && (*value < 0 || *value > 1e9)) {
    table.fail(table.node().find(key),
               table.name_of(key) + " must be a number of microseconds from 0 to 1e9");
  }
  return value;
}

template <typename Value>
Value required(const TableReader& table, std::string_view key, std::optional<Value> value) {
  if (!value) {
    table.fail(nullptr, table.where() + " has no '" + std::string(key) + "'");
  }
  return *value;
}

std::set<std::string> set_of(TableReader& table, std::string_view key) {
  const std::vector<std::string> texts = table.texts(key);
  return {texts.begin(), texts.end()};
}

// The operator's tables ----------------------------------------------------------------------------------------

/// A fact that its kernel type cannot have is a mistake of the file, not of the operator.
void need(const TableReader& table, std::string_view key, bool fits, const Operator& op, const char* what) {
  if (!fits) {
    table.fail(table.node().find(key),
               table.name_of(key) + " needs " + what + ", and " + to_string(op.type) + " has none");
  }
}

std::vector<FlagUse> flags_of(TableReader& table, const Operator& op) {
  std::vector<FlagUse> flags;
  for (TableReader& flag : table.tables("flags", "a flag of " + table.where())) {
    need(table, "flags", is_mix(op.type), op, "cube and vector cores");
    FlagUse use;
    const auto id = count_of(flag, "id", 0, 15);
    const auto from = one_of(flag, "from", sides);
    use.sets = count_of(flag, "sets", 0, most_syncs).value_or(0);
    use.waits = count_of(flag, "waits", 0, most_syncs).value_or(0);
    flag.finish();
    use.id = required(flag, "id", id);
    use.from = required(flag, "from", from);
    for (const FlagUse& other : flags) {
      if (other.id == use.id && other.from == use.from) {
        flag.fail(nullptr,
                  "flag " + std::to_string(use.id) + " from " + to_string(use.from) + " is there twice",
                  "give its sets and waits in one line");
      }
    }
    flags.push_back(use);
  }
  return flags;
}

void read_sync(TableReader& table, Operator& op) {
  SyncUse& sync = op.sync;
  sync.all = one_of(table, "all", sync_alls).value_or(SyncAll::none);
  sync.all_count = count_of(table, "all_count", 1, most_syncs).value_or(1);
  sync.all_is_counted = table.boolean("all_is_counted").value_or(true);
  sync.all_on_every_core = table.boolean("all_on_every_core").value_or(true);
  for (const char* key : {"all_count", "all_is_counted", "all_on_every_core"}) {
    if (const TomlNode* node = table.node().find(key); node != nullptr && sync.all == SyncAll::none) {
      table.fail(node, table.name_of(key) + " says more of a SyncAll, and there is none: 'all' is missing");
    }
  }
  constexpr std::array modes = {Named<int>{"none", 0}, Named<int>{"aic", 1}, Named<int>{"aiv", 2},
                                Named<int>{"both", 3}};
  const int mode0 = one_of(table, "mode0", modes).value_or(0);
  sync.mode0[0] = mode0 == 1 || mode0 == 3;
  sync.mode0[1] = mode0 == 2 || mode0 == 3;
  need(table, "mode0", !sync.mode0[0] || uses(op.type, Side::aic), op, "cube cores");
  need(table, "mode0", !sync.mode0[1] || uses(op.type, Side::aiv), op, "vector cores");
  sync.pair_guarded = table.boolean("pair_guarded").value_or(false);
  need(table, "pair_guarded", !sync.pair_guarded || is_mix(op.type), op, "cube and vector cores");
  sync.matmul_unguarded = table.boolean("matmul_unguarded").value_or(false);
  need(table, "matmul_unguarded", !sync.matmul_unguarded || is_mix(op.type), op, "cube and vector cores");
  sync.flags = flags_of(table, op);
}

void read_gm(TableReader& table, Operator& op) {
  op.gm.frequent = table.boolean("frequent").value_or(false);
  op.gm.assigns = table.boolean("assigns").value_or(false);
  op.gm.reads = set_of(table, "reads");
  op.gm.writes = set_of(table, "writes");
  if (const TomlNode* node = table.take("tensors")) {
    TableReader tensors(table.file(), *node, "'tensors' of " + table.where());
    for (const TomlMember& member : node->members) {
      op.gm.tensors.emplace(member.key, required(tensors, member.key, tensors.text(member.key)));
    }
  }
}

void read_times(TableReader& table, Operator& op) {
  op.times = Times{duration_of(table, "pre").value_or(0), duration_of(table, "mid").value_or(0),
                   duration_of(table, "post").value_or(0), duration_of(table, "skew").value_or(0)};
}

void read_early_start(TableReader& table, Operator& op) {
  op.set_next = one_of(table, "set", calls).value_or(Call::none);
  op.wait_previous = one_of(table, "wait", calls).value_or(Call::none);
}

void read_events(TableReader& table, Operator& op) {
  op.sends = set_of(table, "sends");
  op.receives = set_of(table, "receives");
}

void read_where(TableReader& table, Operator& op) {
  for (const char* key : where_keys) {
    if (const std::optional<std::string> text = table.text(key)) {
      op.where.emplace(key, *text);
    }
  }
}

using ReadTable = void (*)(TableReader&, Operator&);
constexpr std::array tables = {
    Named<ReadTable>{"sync", read_sync},      Named<ReadTable>{"early_start", read_early_start},
    Named<ReadTable>{"gm", read_gm},          Named<ReadTable>{"events", read_events},
    Named<ReadTable>{"times_us", read_times}, Named<ReadTable>{"where", read_where}};

void note_given(const TomlNode& node, const std::string& prefix, Operator& op) {
  for (const TomlMember& member : node.members) {
    op.given.insert(prefix + member.key);
    if (member.value.type == TomlNode::Type::table) {
      note_given(member.value, prefix + member.key + ".", op);
    }
  }
}

Operator operator_of(TableReader& table, KernelTypes types) {
  Operator op;
  op.place = table.node().place;
  const auto name = table.text("name");
  const auto op_type = table.text("op_type");
  const auto kernel = table.text("kernel");
  const auto type = one_of(table, "kernel_type", kernel_types);
  const auto block_num = count_of(table, "block_num", 1, most_cores);
  op.stream = table.integer("stream", 0).value_or(0);
  op.task = one_of(table, "task", tasks).value_or(Task::fixed);
  op.batch_mode = table.boolean("batch_mode").value_or(false);
  op.relocatable_binary = table.boolean("relocatable_binary").value_or(false);
  for (const auto& [key, read] : tables) {
    static_cast<void>(table.take(key));
  }
  table.finish(); // before what is missing: a key that is nearly right explains it
  op.name = required(table, "name", name);
  op.op_type = op_type.value_or(op.name);
  op.kernel = kernel.value_or(op.op_type);
  // A type that allows every fact, until the sources say which it is.
  op.type = types == KernelTypes::from_sources ? type.value_or(KernelType::mix_aic_1_2)
                                               : required(table, "kernel_type", type);
  op.block_num = required(table, "block_num", block_num);
  for (const auto& [key, read] : tables) {
    if (const TomlNode* node = table.node().find(key)) {
      TableReader inner(table.file(), *node, "'" + std::string(key) + "' of operator " + op.name);
      read(inner, op);
      inner.finish();
    }
  }
  note_given(table.node(), {}, op);
  return op;
}

// The scope ------------------------------------------------------------------------------------------------------

Platform platform_of(TableReader table) {
  Platform platform;
  const auto product = one_of(table, "product", products);
  const auto aic = count_of(table, "aic", 1, most_cores);
  const auto aiv = count_of(table, "aiv", 1, most_cores);
  platform.launch_gap_us = duration_of(table, "launch_gap_us");
  platform.barrier_us = duration_of(table, "barrier_us").value_or(0);
  table.finish();
  platform.product = required(table, "product", product);
  platform.aic = required(table, "aic", aic);
  platform.aiv = required(table, "aiv", aiv);
  return platform;
}

std::string option_text(const TomlFile& file, const TomlNode& node, const std::string& name) {
  switch (node.type) {
  case TomlNode::Type::boolean:
    return node.boolean ? "1" : "0"; // True and False are numbers to Python
  case TomlNode::Type::integer:
    return std::to_string(node.integer);
  case TomlNode::Type::text:
    return node.text;
  default:
    file.fail(node.place,
              name + " must be a number, a string or a list of strings, not " + to_string(node.type));
  }
}

/// `prefix` is that of the one table in the table, "aggressive_opt_strategies.".
void read_npu_options(const TomlFile& file, const TomlNode& node, const std::string& prefix, Scope& scope) {
  const bool is_debug = prefix == "debug ";
  const std::string where = is_debug ? "debug_options" : "options";
  if (node.type != TomlNode::Type::table) {
    file.fail(node.place, where + " must be a table for npugraph_ex, not " + to_string(node.type));
  }
  for (const TomlMember& member : node.members) {
    const std::string name = "'" + member.key + "' in " + where;
    if (member.key == "aggressive_opt_strategies" && prefix.empty()) {
      read_npu_options(file, member.value, "aggressive_opt_strategies.", scope);
      continue;
    }
    NpuOption option{
        (is_debug ? "" : prefix) + member.key, {}, member.value.type == TomlNode::Type::array, is_debug};
    if (option.is_list) {
      for (const TomlNode& item : member.value.items) {
        option.values.push_back(option_text(file, item, "an element of " + name));
      }
    } else {
      option.values.push_back(option_text(file, member.value, name));
    }
    scope.npu_options.push_back(std::move(option));
  }
}

void read_options(const TableReader& table, const TomlNode* options, const TomlNode* debug_options,
                  Scope& scope) {
  if (scope.backend == Backend::ge) {
    if (options != nullptr) {
      if (options->type != TomlNode::Type::text) {
        table.fail(options, "options must be a string for ge, \"key=value:key=value\", not " +
                                to_string(options->type));
      }
      scope.ge_options = options->text; // may be empty, as torchair's default is
    }
    if (debug_options != nullptr) {
      table.fail(debug_options, "debug_options are those of npugraph_ex, and the backend is ge");
    }
    return;
  }
  if (options != nullptr) {
    read_npu_options(table.file(), *options, "", scope);
  }
  if (debug_options != nullptr) {
    read_npu_options(table.file(), *debug_options, "debug ", scope);
  }
}

void check_names(const TomlFile& file, const Scope& scope) {
  std::set<std::string> names;
  for (const Operator& op : scope.operators) {
    if (!names.insert(op.name).second) {
      file.fail(op.place, "a second operator is called '" + op.name + "'",
                "name each call apart: op_type may be the same");
    }
  }
}

/// The order of the list is the order of the graph, so a sender stands before those that wait for it.
void check_events(const TomlFile& file, const Scope& scope) {
  std::map<std::string, const Operator*> senders;
  for (const Operator& op : scope.operators) {
    for (const std::string& event : op.sends) {
      if (!senders.emplace(event, &op).second) {
        file.fail(op.place,
                  "event '" + event + "' is sent by " + senders[event]->name + " and by " + op.name);
      }
    }
  }
  std::set<std::string> sent;
  for (const Operator& op : scope.operators) {
    sent.insert(op.sends.begin(), op.sends.end()); // its own: the back end's error, not the file's
    for (const std::string& event : op.receives) {
      if (senders.count(event) != 0 && sent.count(event) == 0) {
        file.fail(op.place, op.name + " waits for event '" + event + "', which " + senders[event]->name +
                                " sends later in the list");
      }
    }
  }
}

Scope scope_of(const TomlFile& file, KernelTypes types) {
  TableReader table(file, file.root(), "the scope");
  Scope scope;
  scope.file = file.path();
  scope.name = table.text("scope").value_or("sk");
  const auto backend = one_of(table, "backend", backends);
  const TomlNode* platform = table.take("platform");
  const TomlNode* options = table.take("options");
  const TomlNode* debug_options = table.take("debug_options");
  std::vector<TableReader> operators = table.tables("operator", "[[operator]]");
  table.finish();
  scope.backend = required(table, "backend", backend);
  if (platform == nullptr) {
    table.fail(nullptr, "the scope has no [platform]", "[platform]\nproduct = \"A3\"\naic = 24\naiv = 48");
  }
  scope.platform = platform_of(TableReader(file, *platform, "[platform]"));
  read_options(table, options, debug_options, scope);
  for (TableReader& op : operators) {
    scope.operators.push_back(operator_of(op, types));
  }
  if (scope.operators.empty() || scope.operators.size() > most_operators) {
    table.fail(table.node().find("operator"),
               "the scope must have 1 to " + std::to_string(most_operators) + " operators, not " +
                   std::to_string(scope.operators.size()),
               "each is a [[operator]] with name, kernel_type and block_num");
  }
  check_names(file, scope);
  check_events(file, scope);
  return scope;
}

} // namespace

Scope read_scope(const fs::path& file, KernelTypes types) {
  return scope_of(TomlFile::read(file), types);
}

Scope parse_scope(const fs::path& file, const std::string& content) {
  return scope_of(TomlFile::parse(file, content), KernelTypes::required);
}

} // namespace dcuop::superkernel
