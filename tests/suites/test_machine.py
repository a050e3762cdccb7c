"""The doctor's view of the machine: saved trees (--root), saved outputs of rocminfo, variables and limits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import pytest

from conftest import ROOT

FIXTURES = ROOT / "tests" / "corpus" / "rocminfo"
#: Outputs that people published; not a part of this repository.
COLLECTION = ROOT.parent / "shared" / "corpus" / "rocminfo"


class Agent(NamedTuple):
    """An agent as its text has it; 0 and "" for what the text does not say."""

    name: str
    kind: str = ""
    targets: Tuple[str, ...] = ()
    units: int = 0
    wavefront: int = 0


OWN: Dict[str, Sequence[Agent]] = {
    "two_hcu.txt": [
        Agent("Hygon C86-4G 7490", "CPU", (), 64),
        Agent("gfx936", "HCU", ("gfx936:sramecc+:xnack-",), 80, 64),
        Agent("gfx928", "HCU", ("gfx928:sramecc+:xnack-",), 120, 64),
    ],
    "one_line.txt": [Agent("gfx942", "", ("gfx942:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"), 0, 64)],
    "names_only.txt": [
        Agent("AMD Ryzen 9 7940HS"),
        Agent("gfx1103", "", ("gfx1103",)),
        Agent("gfx1100", "", ("gfx1100",)),
    ],
    "isa_tail.txt": [Agent("gfx908", "", ("gfx908:sramecc-:xnack+",))],
    "out_of_resources.txt": [],
    "permission_denied_coloured.txt": [],
}

PUBLISHED: Dict[str, Sequence[Agent]] = {
    "01_gfx942_mi300x_vf_two_isas_rocm7.txt": [
        Agent("INTEL(R) XEON(R) PLATINUM 8568Y+", "CPU", (), 20),
        Agent("gfx942", "GPU", ("gfx942:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"), 304, 64),
    ],
    "02_mixed_mi210_mi50_mi100_rocm72.txt": [
        Agent("AMD EPYC 7452 32-Core Processor", "CPU", (), 64),
        Agent("gfx90a", "GPU", ("gfx90a:sramecc+:xnack-",), 104, 64),
        Agent("gfx906", "GPU", ("gfx906:sramecc+:xnack-",), 60, 64),
        Agent("gfx908", "GPU", ("gfx908:sramecc+:xnack-",), 120, 64),
    ],
    "04_gfx90c_apu_rocm5.txt": [
        Agent("AMD Ryzen 5 5625U with Radeon Graphics", "CPU", (), 12),
        Agent("gfx90c", "GPU", ("gfx90c:xnack-",), 7, 64),
    ],
    "05_wsl2_gfx1100_rx7900gre_rocm63.txt": [
        Agent("AMD Ryzen AI 9 365 w/ Radeon 880M", "CPU", (), 20),
        Agent("gfx1100", "GPU", ("gfx1100",), 80, 32),
    ],
    "07_not_loaded_ansi_5.2.3.txt": [],
    "08_not_loaded_no_kfd_video_group_rocm40.txt": [],
    "09_kfd_permission_denied_not_member_rocm5.txt": [],
    "11_kfd_operation_not_permitted.txt": [],
    "12_kfd_invalid_argument.txt": [],
    "13_container_no_kfd_node.txt": [],
    "14_kfd_cannot_allocate_memory_rocm39.txt": [],
    "15_hsa_out_of_resources_rocm33.txt": [],
    "17_dcu_gfx936_bw_two_hcu_reduced.txt": [
        Agent("Hygon C86 Processor", "CPU"),
        Agent("gfx936", "HCU"),
        Agent("gfx936", "HCU"),
    ],
    "20_header_xnack_yes_rocm64.txt": [],
    "22_whitespace_collapsed_rocm26.txt": [Agent("Intel(R) Core(TM) i5-6600 CPU @ 3.30GHz")],
    "23_gfx90a_tail_rocm62.txt": [Agent("gfx90a", "", ("gfx90a:sramecc+:xnack-",))],
    "25_gfx950_one_line_collapsed.txt": [
        Agent("gfx950", "", ("gfx950:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"))
    ],
    "27_hsa_override_gfx90c_seen_as_gfx900.txt": [
        Agent("AMD Ryzen 7 5700G with Radeon Graphics"),
        Agent("gfx900", "", ("gfx900:xnack-",)),
    ],
    "30_wsl_rocm7_header_librocdxg.txt": [Agent("AMD Ryzen 7 7800X3D 8-Core Processor", "CPU", (), 16)],
    "31_header_gfx1150_rocm70rc1.txt": [Agent("AMD Ryzen AI 9 HX 370 w/ Radeon 890M")],
    "34_gfx1035_pool_flags_empty.txt": [Agent("gfx1035", "", ("gfx1035",))],
}


def agents_of(document) -> List[Agent]:
    prefix = "amdgcn-amd-amdhsa--"
    return [
        Agent(
            agent["name"],
            agent["device_type"],
            tuple(isa[len(prefix) :] for isa in agent["isas"]),
            agent["compute_units"],
            agent["wavefront"],
        )
        for agent in document["rocminfo"]["agents"]
    ]


def facts_of(result) -> Dict[str, str]:
    return {fact["name"]: fact["value"] for fact in result.json["facts"]}


def finding(result, rule: str) -> Optional[dict]:
    return next((entry for entry in result.json["findings"] if entry["rule"] == rule), None)


def evidence(entry: dict) -> str:
    return "\n".join(f"{row['label']}: {row['text']}" for row in entry["evidence"])


@pytest.fixture
def tree(tmp_path):
    """tree({"etc/passwd": "..."}) -> a saved machine; None makes a directory, a Path a symbolic link."""

    def make(files, name="saved"):
        root = tmp_path / name
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                target.mkdir(exist_ok=True)
            elif isinstance(content, Path):
                target.symlink_to(content)
            else:
                target.write_text(content)
        return root

    return make


def gpu_node(version: int, units: int = 60, unique_id: int = 0) -> str:
    return (
        f"cpu_cores_count 0\nsimd_count {units * 4}\nsimd_per_cu 4\nwave_front_size 64\n"
        f"gfx_target_version {version}\nunique_id {unique_id}\n"
    )


NODES = "sys/class/kfd/kfd/topology/nodes"


@pytest.fixture
def machine(tree):
    """A saved host with a gfx936 (80 units) and a gfx906."""

    def make(**more):
        return tree(
            {
                f"{NODES}/0/properties": "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n",
                f"{NODES}/1/properties": gpu_node(90306, 80, 0xA1),
                f"{NODES}/2/properties": gpu_node(90006, 60, 0xA2),
                "proc/modules": "hycu 1 0 - Live 0x0\n",
                **more,
            }
        )

    return make


class TestRocminfo:
    def check_all(self, run, directory, table):
        """One cache for all of them: only the first run has to ask Python and the compilers."""
        assert sorted(path.name for path in directory.glob("*.txt")) == sorted(table)
        wrong = {}
        for name, agents in table.items():
            result = run("env", "--json", "--rocminfo", directory / name)
            if result.rc != 0 or agents_of(result.json) != list(agents):
                wrong[name] = str(result)
        assert not wrong, "\n".join(wrong.values())

    def test_own_fixtures(self, run):
        self.check_all(run, FIXTURES, OWN)

    @pytest.mark.skipif(not COLLECTION.is_dir(), reason="no ../shared/corpus/rocminfo beside this checkout")
    def test_published_outputs(self, run):
        self.check_all(run, COLLECTION, PUBLISHED)

    def test_devices_of_a_saved_output(self, run):
        facts = facts_of(run("env", "--json", "--rocminfo", FIXTURES / "two_hcu.txt"))
        assert facts["device 0"] == "gfx936:sramecc+:xnack- BW, 80 compute units, wavefront 64"
        assert facts["device 1"] == "gfx928:sramecc+:xnack-, 120 compute units, wavefront 64"

    def test_standard_input(self, dcuop_binary, environment):
        done = subprocess.run(
            [str(dcuop_binary), "env", "--rocminfo", "-"], env=environment, encoding="utf-8", capture_output=True,
            input=(FIXTURES / "isa_tail.txt").read_text(), check=True,
        )
        assert "gfx908:sramecc-:xnack+" in done.stdout

    def test_an_error_message_is_an_answer(self, run):
        result = run("env", "--json", "--rocminfo", FIXTURES / "permission_denied_coloured.txt")
        assert result.json["rocminfo"]["problem"].startswith("Unable to open /dev/kfd read-write: Permission denied")
        assert facts_of(result)["devices"] == "none"

    @pytest.mark.parametrize("command", ["env", "doctor"])
    def test_bad_text_is_refused(self, run, tmp_path, command):
        for content in (b"", b"hello\n", b"\x7fELF\x02\x01\x01\x00", b"\xff\xfe\x00"):
            (tmp_path / "bad.txt").write_bytes(content)
            result = run(command, "--rocminfo", "bad.txt")
            assert result.rc == 2, str(result)
            assert "bad.txt" in result.stderr and "fix:" in result.stderr
        for path in ("nowhere.txt", ".", ""):
            result = run(command, "--rocminfo", path)
            assert result.rc == 2 and "cannot be read" in result.stderr, str(result)


class TestRoot:
    @pytest.mark.parametrize("command", ["env", "doctor"])
    def test_bad_directories_are_refused(self, run, tmp_path, command):
        (tmp_path / "file").write_text("")
        (tmp_path / "empty").mkdir()
        (tmp_path / "loop").symlink_to("loop")
        for root in ("nowhere", "file", "empty", "loop", ""):
            result = run(command, "--root", root)
            assert result.rc == 2 and "--root" in result.stderr, f"{root!r}\n{result}"

    def test_devices_and_toolkit_are_those_of_the_tree(self, run, machine):
        root = machine(**{"opt/dtk": Path("/opt/dtk-25.04.1"), "opt/dtk-25.04.1/.dtk_version": "DTK-25.04.1\n"})
        result = run("env", "--json", "--root", root)
        facts = facts_of(result)
        assert facts["device 0"] == "gfx936, 80 compute units, wavefront 64"
        assert facts["device 1"] == "gfx906, 60 compute units, wavefront 64"
        assert facts["toolkit"] == "DTK 25.04.1"
        assert facts["toolkit root"] == str(root / "opt/dtk-25.04.1")
        assert facts["kernel driver"] == "hycu"
        assert facts["container"] == "none seen"

    def test_absolute_links_do_not_lead_out(self, run, tree, tmp_path):
        (tmp_path / "outside").write_text("26.04\n")
        root = tree(
            {
                "opt/dtk/.dtk_version": tmp_path / "outside",
                "sys/class/kfd/kfd": Path("/sys/devices/virtual/kfd/kfd"),
                "sys/devices/virtual/kfd/kfd/topology/nodes/1/properties": gpu_node(90308, 64),
                "etc/passwd": Path("../../../../../../etc/passwd"),
            }
        )
        facts = facts_of(run("env", "--json", "--root", root))
        assert facts["device 0"] == "gfx938, 64 compute units, wavefront 64"
        assert facts["toolkit"] == "ROCm of unknown version", "the version lies outside"

    def test_nothing_of_the_tree_is_started(self, run, machine):
        root = machine()
        trace = root.parent / "trace"
        for name in ("rocminfo", "hipcc"):
            program = root / "opt/dtk/bin" / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!/bin/sh\necho {name} >> {trace}\n")
            program.chmod(0o755)
        result = run("env", "--json", "--root", root, env={"ROCM_PATH": "/opt/dtk"})
        assert result.rc == 0 and not trace.exists(), str(result)
        assert facts_of(result)["HIP compiler"] == "unknown"
        doctor = run("doctor", "--json", "--root", root)
        assert doctor.rc == 0 and not trace.exists(), str(doctor)

    def test_rocminfo_of_the_tree_is_said_not_to_run(self, run, tree):
        result = run("doctor", "--json", "--root", tree({"etc": None}))
        assert "rocminfo: not run" in evidence(finding(result, "DCU406"))

    def test_nodes_are_read_and_not_opened(self, run, tree):
        root = tree({"dev/kfd": "", "etc/group": "render:x:4711:\n", "etc/passwd": "root:x:0:0::/:/bin/sh\n"})
        (root / "dev/kfd").chmod(0o600)
        if os.geteuid() == 0:
            os.chown(root / "dev/kfd", 0, 4711)
            expected = "root:render 0600"
        else:
            expected = f"{os.geteuid()}:{os.getegid()} 0600"
        result = run("env", "--json", "--root", root)
        assert facts_of(result)["/dev/kfd"] == expected
        assert finding(run("doctor", "--json", "--root", root), "DCU411") is None

    def test_container_and_hyhal_of_an_image(self, run, tree):
        files = {
            ".dockerenv": "",
            "opt/dtk-25.04/.dtk_version": "25.04\n",
            "opt/dtk": Path("dtk-25.04"),
            "dev/kfd": "",
            "opt/hyhal": None,
        }
        root = tree(files)
        result = run("doctor", "--json", "--root", root, env={"ROCM_PATH": "/opt/dtk"})
        found = finding(result, "DCU414")
        assert found["severity"] == "warning" and "/opt/hyhal is empty" in found["cause"]
        assert "-v /opt/hyhal:/opt/hyhal:ro" in found["fix"]
        (root / "opt/hyhal/lib").mkdir()
        assert finding(run("doctor", "--json", "--root", root, env={"ROCM_PATH": "/opt/dtk"}), "DCU414") is None

    def test_an_unsourced_and_a_mixed_toolkit(self, run, tree):
        root = tree(
            {
                "opt/dtk-25.04/.dtk_version": "25.04\n",
                "opt/dtk-26.04/.dtk_version": "26.04\n",
                "opt/dtk-26.04/hip/lib/libgalaxyhip.so.5": "",
                "opt/dtk": Path("/opt/dtk-25.04"),
            }
        )
        unsourced = run("doctor", "--json", "--root", root)
        assert f"source {root}/opt/dtk-25.04/env.sh" == finding(unsourced, "DCU415")["fix"]
        assert finding(unsourced, "DCU416") is None
        sourced = {"ROCM_PATH": "/opt/dtk", "HIP_PATH": "/opt/dtk/hip"}
        assert finding(run("doctor", "--json", "--root", root, env={"ROCM_PATH": "/opt/dtk"}), "DCU415") is None
        (root / "opt/dtk-25.04/hip").mkdir()
        assert finding(run("doctor", "--json", "--root", root, env=sourced), "DCU416") is None
        mixed = run("doctor", "--json", "--root", root, env={**sourced, "LD_LIBRARY_PATH": "/opt/dtk-26.04/hip/lib"})
        assert "DTK 25.04" in finding(mixed, "DCU416")["cause"] and "DTK 26.04" in finding(mixed, "DCU416")["cause"]
        assert "LD_LIBRARY_PATH: /opt/dtk-26.04/hip/lib is DTK 26.04" in evidence(finding(mixed, "DCU416"))
        gone = run("doctor", "--json", "--root", root, env={"ROCM_PATH": "/opt/dtk-24.04"})
        assert finding(gone, "DCU416")["cause"] == "ROCM_PATH=/opt/dtk-24.04 does not exist"

    def test_a_driver_missing_on_a_host_with_a_device(self, run, tree):
        device = "sys/bus/pci/devices/0000:03:00.0"
        files = {f"{device}/vendor": "0x1d94\n", f"{device}/device": "0x6210\n", f"{device}/class": "0x0b4000\n"}
        root = tree({**files, "proc/modules": "ext4 1 0 - Live 0x0\n"})
        found = finding(run("doctor", "--json", "--root", root), "DCU413")
        assert found["severity"] == "warning" and "1d94:6210" in evidence(found)
        (root / ".dockerenv").write_text("")
        assert finding(run("doctor", "--json", "--root", root), "DCU413")["severity"] == "note"
        (root / "proc/modules").write_text("hydcu 1 0 - Live 0x0\n")
        assert finding(run("doctor", "--json", "--root", root), "DCU413") is None

    def test_libraries_of_the_trees_toolkit_are_found(self, run, tree, tmp_path):
        root = tree({"opt/dtk/.dtk_version": "25.04\n", "opt/dtk/hip/lib": None})
        library = root / "opt/dtk/hip/lib/libgalaxyhip.so.5"
        compile_library(library, "int hipGo(void) { return 1; }", "-Wl,-soname,libgalaxyhip.so.5")
        user = tmp_path / "user.so"
        compile_library(
            user, "int hipGo(void); int f(void) { return hipGo(); }", str(library), "-Wl,-rpath,/opt/dtk/hip/lib"
        )
        here = run("doctor", "--json", user)
        assert here.json["verdict"] == "does_not_load", str(here)
        there = run("doctor", "--json", user, "--root", root)
        assert there.json["verdict"] == "loads", str(there)


def compile_library(path: Path, source: str, *options: str) -> Path:
    subprocess.run(
        ["/usr/bin/gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", str(path), *options],
        input=source.encode(), check=True,
    )
    return path


class TestVariables:
    def test_visible_devices_that_do_not_exist(self, run, machine):
        root = machine()
        half = run("doctor", "--json", "--root", root, env={"HIP_VISIBLE_DEVICES": "1,7"})
        assert finding(half, "DCU419")["cause"] == 'HIP_VISIBLE_DEVICES="1,7": entry "7" names none of 2 devices'
        none = run("doctor", "--json", "--root", root, env={"ROCR_VISIBLE_DEVICES": "GPU-00000000000000ff"})
        assert "hides every device" in finding(none, "DCU410")["cause"]
        for fine in ({"HIP_VISIBLE_DEVICES": "0,1"}, {"ROCR_VISIBLE_DEVICES": "GPU-00000000000000A2"}):
            result = run("doctor", "--json", "--root", root, env=fine)
            assert finding(result, "DCU410") is None and finding(result, "DCU419") is None, str(result)

    def test_container_toolkits_variables_are_not_the_runtimes(self, run, machine):
        facts = facts_of(run("env", "--json", "--root", machine(), env={"HCU_VISIBLE_DEVICES": "0"}))
        assert "device 1" in facts

    def test_an_override_is_compared_with_the_chip(self, run, machine, hip_op):
        root = machine()
        built = run("build", hip_op, "--json", "--arch", "gfx906")
        file = built.op["path"]
        mixed = run("doctor", "--json", file, "--root", root)
        assert mixed.json["verdict"] == "loads_cannot_launch" and "gfx936" in finding(mixed, "DCU301")["cause"]
        passed = run("doctor", "--json", file, "--root", root, env={"HSA_OVERRIDE_GFX_VERSION": "9.0.6"})
        assert passed.json["verdict"] == "loads", str(passed)
        found = finding(passed, "DCU409")
        assert found["severity"] == "warning" and "devices: gfx936 (KFD)" in evidence(found)
        assert "code for gfx906 in the file, which has gfx906" in evidence(found)
        other = run("doctor", "--json", file, "--root", root, env={"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})
        assert other.json["verdict"] == "loads_cannot_launch" and "gfx1030" in finding(other, "DCU301")["cause"]
        nonsense = run("doctor", "--json", file, "--root", root, env={"HSA_OVERRIDE_GFX_VERSION": "gfx906"})
        assert nonsense.json["verdict"] == "loads_cannot_launch" and nonsense.rc == 1
        assert 'HSA_OVERRIDE_GFX_VERSION="gfx906" is no version' in finding(nonsense, "DCU418")["cause"]

    def test_a_file_is_judged_for_a_saved_outputs_devices(self, run, hip_op):
        built = run("build", hip_op, "--json", "--arch", "gfx906")
        result = run("doctor", "--json", built.op["path"], "--rocminfo", FIXTURES / "two_hcu.txt")
        assert result.json["verdict"] == "loads_cannot_launch"
        assert {entry["rule"] for entry in result.json["findings"] if entry["severity"] == "error"} == {"DCU301"}


class TestLimits:
    def test_a_small_address_space(self, dcuop_binary, environment, tmp_path):
        file = compile_library(tmp_path / "room.so", "char room[1 << 30]; char* f(void) { return room; }")
        command = f"ulimit -v {900 * 1024}; exec {dcuop_binary} doctor --json {file}"
        done = subprocess.run(
            ["/bin/bash", "-c", command], env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 1, done.stdout + done.stderr
        assert "DCU421" in done.stdout and "the address space is limited to 900" in done.stdout


class TestDoctor:
    def test_an_empty_target_is_refused(self, run):
        result = run("doctor", "")
        assert result.rc == 2 and "the target is empty" in result.stderr, str(result)

    def test_nothing_is_wrong_here(self, run, hip_op):
        alone = run("doctor", "--json")
        assert alone.rc == 0 and alone.json["counts"]["error"] == 0, str(alone)
        built = run("build", hip_op, "--json", "--arch", "gfx906")
        of_file = run("doctor", "--json", built.op["path"])
        assert of_file.rc == 0 and of_file.json["counts"]["error"] == 0, str(of_file)

    def test_each_rule_is_explained_in_both_languages(self, run):
        for number in range(9, 22):
            english = run("rule", f"DCU4{number:02}")
            chinese = run("rule", f"DCU4{number:02}", "--lang", "zh")
            assert english.rc == chinese.rc == 0, str(english)
            assert "How it is found" in english.stdout and "如何发现" in chinese.stdout
