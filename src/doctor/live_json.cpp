// A process' report for programs.
#include <nlohmann/json.hpp>

#include "dcuop/doctor/live.hpp"

namespace dcuop::doctor {

nlohmann::json to_json(const LiveProcess& process, const LiveReport& report) {
  auto loaded = nlohmann::json::array();
  for (const auto& library : report.loaded) {
    loaded.push_back({{"path", library.file.path.string()},
                      {"soname", library.soname},
                      {"on_disk", to_string(library.file.on_disk)},
                      {"device", library.file.device},
                      {"inode", library.file.inode},
                      {"module", library.is_module},
                      {"targets", library.targets}});
  }
  auto findings = nlohmann::json::array();
  for (const auto& finding : report.findings) {
    findings.push_back(finding::to_json(finding));
  }
  auto facts = nlohmann::json::array();
  for (const auto& [name, value, origin] : report.facts) {
    facts.push_back({{"name", name}, {"value", value}, {"origin", origin}});
  }
  nlohmann::json document = {{"schema", 1},
                             {"verdict", "process"},
                             {"headline", report.headline},
                             {"process",
                              {{"pid", process.pid},
                               {"command_line", process.command_line},
                               {"executable", process.executable.string()},
                               {"user", process.user_name},
                               {"state", process.state},
                               {"other_mounts", process.other_mounts}}},
                             {"checks", report.checks},
                             {"findings", std::move(findings)},
                             {"loaded", std::move(loaded)},
                             {"facts", std::move(facts)},
                             {"diagnosis", nullptr}};
  if (report.file) {
    document["diagnosis"] = to_json(*report.file);
  }
  return document;
}

} // namespace dcuop::doctor
