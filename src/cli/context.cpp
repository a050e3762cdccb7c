#include "command.hpp"

#include "dcuop/store/store.hpp"
#include "dcuop/support/log.hpp"

namespace dcuop::cli {

store::Store& Context::store() {
  if (!opened_store) {
    opened_store = std::make_shared<store::Store>(store::Store::open(config.cache_dir()));
  }
  return *opened_store;
}

probe::Machine Context::machine() {
  if (!memos) {
    std::filesystem::path directory;
    try {
      directory = store().memo_directory();
    } catch (const Error& fault) {
      // Without a cache the probes work all the same, only slower.
      log_warning(std::string("no memos: ") + fault.what());
    }
    memos = std::make_unique<MemoStore>(directory);
  }
  return {processes, environment, *memos, working_directory, "/"};
}

probe::PythonWish Context::python_wish() const {
  const Value& value = config.value("python");
  return value.origin == "DCUOP_PYTHON" ? probe::PythonWish{} : probe::PythonWish{value.text, value.origin};
}

bool Context::chinese() const {
  const std::string wanted = config.text("lang");
  if (wanted == "en" || wanted == "zh") {
    return wanted == "zh";
  }
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (const std::optional<std::string> value = environment.get_nonempty(name)) {
      return value->starts_with("zh");
    }
  }
  return false;
}

Subcommand Commands::add(const std::string& name, const std::string& summary,
                         const std::string& examples) const {
  const Subcommand subcommand = program.subcommand(name, summary);
  subcommand.footer("Examples:\n" + examples);
  return subcommand;
}

} // namespace dcuop::cli
