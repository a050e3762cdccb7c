#include "dcuop/build/compile_commands.hpp"

#include <nlohmann/json.hpp>

#include "compile.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"

namespace dcuop::build {

void write_compile_commands(const std::vector<key::Request>& requests, const fs::path& file) {
  nlohmann::json commands = nlohmann::json::array();
  for (const key::Request& request : requests) {
    for (const key::UnitRequest& unit : request.units) {
      const fs::path output =
          fs::path("/tmp") / (request.op.name + "-" + unit.source.path.filename().string() + ".o");
      commands.push_back({{"directory", request.op.directory.string()},
                          {"file", unit.source.path.string()},
                          {"output", output.string()},
                          {"arguments", compile_command(request, unit, output)}});
    }
  }
  write_file_atomic(file, json_text(commands, 2) + "\n");
}

} // namespace dcuop::build
