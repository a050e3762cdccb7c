// Findings of a machine that the facts describe: none of them needs such a machine.
#include <cerrno>

#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;
using testing::HasSubstr;
using testing::Not;

class MachineChecks : public Clinic {
 protected:
  MachineChecks() {
    known_ = facts();
    known_.devices = {};
    known_.host = {};
    known_.toolkits = {};
    known_.host.user = {"alice", 1000, {1000}};
    known_.host.nodes = {node("/dev/kfd", 0), node("/dev/mkfd", std::nullopt),
                         node("/dev/dri/renderD128", 0)};
    known_.host.nodes[1].exists = false;
    known_.host.drivers = {{"amdgpu", "/proc/modules"}};
    known_.host.drivers_known = true;
    known_.devices.in_topology = 1;
    probe::Device device;
    device.target_id = "gfx906";
    device.source = "KFD";
    known_.devices.devices = {device};
  }
  static probe::DeviceNode node(const std::string& path, std::optional<int> error) {
    probe::DeviceNode node;
    node.path = path;
    node.exists = true;
    node.open_error = error;
    node.mode = 0660;
    node.group_id = 109;
    node.owner = "root";
    node.group = "render";
    return node;
  }
  void deny(int error) {
    known_.host.nodes[0].open_error = error;
    known_.host.nodes[2].open_error = error;
  }
  Report look() { return diagnose({}, known_, machine()); }
  Report look_at(const std::filesystem::path& file) {
    Question question;
    question.file = file;
    return diagnose(question, known_, machine());
  }
  std::string fix_of(std::string_view rule) {
    const auto report = look();
    const auto* found = find(report, rule);
    return found == nullptr ? "(no " + std::string(rule) + ")" : found->fix;
  }
  std::optional<Severity> severity_of(std::string_view rule) {
    const auto report = look();
    const auto* found = find(report, rule);
    return found == nullptr ? std::nullopt : std::optional(found->severity);
  }
  probe::Rocm dtk(const std::string& root = "/opt/dtk-25.04") {
    return {root, "/opt/dtk", true, "25.04", root + "/.dtk_version"};
  }

  EnvironmentFacts known_;
};

TEST_F(MachineChecks, HaveNothingAgainstAHealthyMachine) {
  const auto report = look();
  EXPECT_THAT(errors_of(report), testing::IsEmpty());
  for (const auto& finding : report.findings) {
    EXPECT_LT(finding.rule, "DCU409") << finding.rule << ": " << finding.cause;
  }
}

TEST_F(MachineChecks, ADeniedDeviceNamesTheGroupAndTheCommand) {
  deny(EACCES);
  const auto report = look();
  const auto* found = find(report, "DCU411");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::error);
  EXPECT_EQ(found->cause, "/dev/kfd, /dev/dri/renderD128 cannot be opened: Permission denied");
  EXPECT_EQ(found->fix, "sudo usermod -aG render alice   (then log in again)");
  EXPECT_THAT(found->chinese.fix, HasSubstr("sudo usermod -aG render alice"));
  EXPECT_THAT(evidence_of(report, "DCU411"), HasSubstr("/dev/kfd root:render 0660"));
  EXPECT_THAT(evidence_of(report, "DCU411"), HasSubstr("alice (uid 1000) is not in group render"));
}

TEST_F(MachineChecks, ASessionOlderThanTheMembershipIsToLogInAgain) {
  deny(EACCES);
  for (auto& node : known_.host.nodes) {
    node.listed_in_group = true;
  }
  EXPECT_THAT(fix_of("DCU411"), testing::StartsWith("log in again (or: newgrp render)"));
}

TEST_F(MachineChecks, TheFixIsTheContainers) {
  deny(EACCES);
  known_.host.container = {"docker", "/.dockerenv"};
  EXPECT_EQ(fix_of("DCU411"),
            "start the container with: docker run --device=/dev/kfd --device=/dev/dri --group-add 109 ...");
  known_.host.container.kind = "podman";
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("rootless: --group-add keep-groups"));
  known_.host.container.kind = "apptainer";
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("usermod -aG render USER; apptainer exec --rocm"));
  known_.host.container.kind = "enroot";
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("srun --container-mounts=/dev/kfd"));
  known_.host.container.kind = "kubernetes";
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("amd.com/gpu"));
  known_.host.container.kind = "lxc";
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("this lxc container"));
  known_.host.container.kind = "docker";
  known_.host.drivers = {{"hycu", "/proc/modules"}};
  EXPECT_THAT(fix_of("DCU411"), HasSubstr("--device=/dev/mkfd -v /opt/hyhal:/opt/hyhal:ro"));
}

TEST_F(MachineChecks, EpermInAContainerIsItsDeviceList) {
  deny(EPERM);
  known_.host.container = {"docker", "/.dockerenv"};
  EXPECT_THAT(evidence_of(look(), "DCU411"), HasSubstr("the container's device list does not allow it"));
}

TEST_F(MachineChecks, RenderNodesWithoutKfdAreAnothersAndNotJudged) {
  known_.host.nodes[0].exists = false;
  known_.host.nodes[2].open_error = EACCES;
  known_.host.drivers.clear();
  known_.devices = {};
  EXPECT_EQ(severity_of("DCU411"), std::nullopt);
  EXPECT_EQ(severity_of("DCU412"), std::nullopt);
}

TEST_F(MachineChecks, ADeniedDeviceMattersToAFileWithDeviceCodeAlone) {
  deny(EACCES);
  const auto file = build("plain.so", "int f(void) { return 1; }");
  const auto report = look_at(file);
  EXPECT_EQ(report.verdict, Verdict::loads);
  ASSERT_NE(find(report, "DCU411"), nullptr);
  EXPECT_EQ(find(report, "DCU411")->severity, Severity::warning);
}

TEST_F(MachineChecks, ATopologyWithoutItsDeviceFileIsNotPassedOn) {
  known_.host.nodes[0].exists = false;
  known_.host.container = {"podman", "/run/.containerenv"};
  known_.devices.in_topology = 8;
  const auto report = look();
  ASSERT_NE(find(report, "DCU412"), nullptr);
  EXPECT_EQ(find(report, "DCU412")->severity, Severity::warning);
  EXPECT_EQ(find(report, "DCU412")->cause, "/dev/kfd is missing: /sys/class/kfd lists 8 devices");
  EXPECT_THAT(fix_of("DCU412"), HasSubstr("podman run --device=/dev/kfd --device=/dev/dri"));
}

TEST_F(MachineChecks, KfdWithoutARenderNodeIsHalfADevice) {
  known_.host.nodes.pop_back();
  EXPECT_THAT(evidence_of(look(), "DCU412") + find(look(), "DCU412")->cause,
              HasSubstr("/dev/dri/renderD* is missing"));
}

TEST_F(MachineChecks, ADriverIsMissedOnlyWhereThereIsADevice) {
  known_.host.nodes[0].exists = false;
  known_.host.drivers.clear();
  known_.devices = {};
  EXPECT_EQ(severity_of("DCU413"), Severity::note) << "a build host";
  known_.host.accelerators = {"0000:03:00.0 (1002:740f)"};
  EXPECT_EQ(severity_of("DCU413"), Severity::warning);
  EXPECT_THAT(fix_of("DCU413"), HasSubstr("sudo modprobe amdgpu"));
  known_.host.container = {"docker", "/.dockerenv"};
  EXPECT_EQ(severity_of("DCU413"), Severity::note);
  EXPECT_THAT(find(look(), "DCU413")->cause, HasSubstr("the host's kernel has neither"));
  known_.host.drivers_known = false;
  EXPECT_EQ(severity_of("DCU413"), std::nullopt) << "unknown is not missing";
}

TEST_F(MachineChecks, ADtkInAContainerNeedsHyhal) {
  known_.rocm = dtk();
  known_.toolkits.in_loader_configuration = true;
  known_.host.container = {"docker", "/.dockerenv"};
  EXPECT_EQ(severity_of("DCU414"), Severity::warning);
  EXPECT_EQ(fix_of("DCU414"), "start the container with: -v /opt/hyhal:/opt/hyhal:ro");
  known_.host.hyhal = "/opt/hyhal";
  known_.host.hyhal_empty = true;
  EXPECT_THAT(find(look(), "DCU414")->cause, HasSubstr("/opt/hyhal is empty"));
  known_.host.hyhal_empty = false;
  EXPECT_EQ(severity_of("DCU414"), std::nullopt);
  known_.host.hyhal.clear();
  known_.host.nodes[0].exists = false;
  EXPECT_EQ(severity_of("DCU414"), Severity::note) << "a container that builds";
  known_.host.container = {};
  EXPECT_EQ(severity_of("DCU414"), std::nullopt);
}

TEST_F(MachineChecks, ADtkThatIsNotSourcedIsNamed) {
  known_.rocm = dtk();
  known_.host.hyhal = "/opt/hyhal";
  EXPECT_EQ(fix_of("DCU415"), "source /opt/dtk-25.04/env.sh");
  known_.toolkits.uses = {{"ROCM_PATH", "/opt/dtk", "/opt/dtk-25.04", "DTK 25.04"}};
  EXPECT_EQ(severity_of("DCU415"), std::nullopt);
  known_.toolkits.uses.clear();
  known_.rocm->is_dtk = false;
  EXPECT_EQ(severity_of("DCU415"), std::nullopt) << "ROCm needs no env.sh";
}

TEST_F(MachineChecks, VariablesIntoTwoToolkitsAreSaid) {
  known_.toolkits.uses = {{"ROCM_PATH", "/opt/dtk", "/opt/dtk-25.04", "DTK 25.04"},
                          {"PATH", "/opt/dtk-25.04/bin", "/opt/dtk-25.04", "DTK 25.04"}};
  EXPECT_EQ(severity_of("DCU416"), std::nullopt);
  known_.toolkits.uses.push_back({"LD_LIBRARY_PATH", "/opt/dtk-24.04/lib", "/opt/dtk-24.04", "DTK 24.04"});
  EXPECT_EQ(find(look(), "DCU416")->cause,
            "the environment mixes DTK 24.04 (/opt/dtk-24.04) and DTK 25.04 (/opt/dtk-25.04)");
  EXPECT_THAT(evidence_of(look(), "DCU416"), HasSubstr("LD_LIBRARY_PATH: /opt/dtk-24.04/lib is DTK 24.04"));
  known_.toolkits.uses = {{"HIP_PATH", "/opt/dtk-23.10/hip", {}, {}}};
  EXPECT_EQ(find(look(), "DCU416")->cause, "HIP_PATH=/opt/dtk-23.10/hip does not exist");
}

TEST_F(MachineChecks, AnOverrideIsComparedWithTheChip) {
  known_.devices.overrides = {{"HSA_OVERRIDE_GFX_VERSION", "9.0.6", "gfx906"}};
  EXPECT_EQ(severity_of("DCU409"), std::nullopt) << "it says what the chip is";
  known_.devices.overrides = {{"HSA_OVERRIDE_GFX_VERSION", "10.3.0", "gfx1030"}};
  known_.devices.devices[0].target_id = "gfx1030";
  known_.devices.devices[0].chip = "gfx1035";
  EXPECT_EQ(severity_of("DCU409"), Severity::warning);
  EXPECT_EQ(find(look(), "DCU409")->cause,
            "HSA_OVERRIDE_GFX_VERSION=10.3.0 makes the runtime take every device "
            "for gfx1030, and look for its code");
  EXPECT_THAT(evidence_of(look(), "DCU409"), HasSubstr("devices: gfx1035 (KFD)"));
  known_.devices.devices.clear();
  known_.devices.in_topology = 0;
  EXPECT_EQ(severity_of("DCU409"), Severity::note) << "no device to compare it with";
}

TEST_F(MachineChecks, AnOverrideThatIsNoVersionIsAnError) {
  known_.devices.overrides = {{"HSA_OVERRIDE_GFX_VERSION", "gfx1030", ""}};
  known_.devices.devices.clear();
  EXPECT_EQ(severity_of("DCU418"), Severity::error);
  EXPECT_EQ(fix_of("DCU418"), "unset HSA_OVERRIDE_GFX_VERSION");
  known_.devices.in_topology = 0;
  EXPECT_EQ(severity_of("DCU418"), Severity::warning) << "no device to lose here";
}

TEST_F(MachineChecks, VariablesThatHideAllOrNameNone) {
  const auto set = [this](const char* variable, const char* value, std::size_t before, std::size_t after,
                          const char* unknown) {
    known_.devices.visibility = {{variable, value, before, after, unknown}};
  };
  set("HIP_VISIBLE_DEVICES", "0,1", 2, 2, "");
  EXPECT_EQ(severity_of("DCU410"), std::nullopt);
  EXPECT_EQ(severity_of("DCU419"), std::nullopt);
  set("HIP_VISIBLE_DEVICES", "0,5", 2, 1, "5");
  EXPECT_EQ(find(look(), "DCU419")->cause,
            "HIP_VISIBLE_DEVICES=\"0,5\": entry \"5\" names none of 2 devices");
  EXPECT_EQ(severity_of("DCU410"), std::nullopt);
  set("ROCR_VISIBLE_DEVICES", "7", 2, 0, "7");
  EXPECT_EQ(find(look(), "DCU410")->cause, "ROCR_VISIBLE_DEVICES=\"7\" hides every device");
  EXPECT_THAT(evidence_of(look(), "DCU410"), HasSubstr("\"7\" names none of the 2 devices"));
  for (const auto& [variable, value, hides] :
       {std::tuple{"ROCR_VISIBLE_DEVICES", "", true}, std::tuple{"HIP_VISIBLE_DEVICES", "-1", true},
        std::tuple{"HIP_VISIBLE_DEVICES", "3", false}, std::tuple{"ROCR_VISIBLE_DEVICES", "GPU-a1", false}}) {
    set(variable, value, 0, 0, "");
    EXPECT_EQ(severity_of("DCU410").has_value(), hides) << variable << "=" << value << " without a device";
  }
}

TEST_F(MachineChecks, FactsNameNodesDriversAndContainer) {
  deny(EACCES);
  known_.host.container = {"docker", "/.dockerenv"};
  std::string text;
  for (const auto& line : fact_lines(known_)) {
    text += line.name + ": " + line.value + " [" + line.origin + "]\n";
  }
  EXPECT_THAT(text, HasSubstr("container: docker [/.dockerenv]"));
  EXPECT_THAT(text, HasSubstr("kernel driver: amdgpu [/proc/modules]"));
  EXPECT_THAT(text, HasSubstr("/dev/kfd: root:render 0660, cannot be opened: Permission denied"));
  EXPECT_THAT(text, HasSubstr("/dev/mkfd: missing"));
  EXPECT_THAT(text, Not(HasSubstr("hyhal")));
}

} // namespace
} // namespace dcuop::doctor
