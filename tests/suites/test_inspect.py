"""dcuop inspect against what the compilers and LLVM's own readers say of the same files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest

READELF = shutil.which("llvm-readelf-15") or shutil.which("llvm-readelf")
CLANG19 = shutil.which("clang-19")
pytestmark = pytest.mark.xdist_group("inspect")  # the kernels are compiled once, not by each worker

KERNELS = """
    #include <hip/hip_runtime.h>
    #define BODY                                                                     \\
      float a[96];                                                                   \\
      _Pragma("unroll") for (int i = 0; i < 96; i++) { a[i] = y[i * n + threadIdx.x]; } \\
      _Pragma("unroll") for (int k = 0; k < 4; k++) {                                 \\
        _Pragma("unroll") for (int i = 0; i < 96; i++) {                              \\
          a[i] = a[(i * 7 + k) % 96] * a[(i + 1) % 96] + a[(i * 5 + 3) % 96];         \\
        }                                                                            \\
      }                                                                              \\
      _Pragma("unroll") for (int i = 0; i < 96; i++) { y[i * n + threadIdx.x] = a[i]; }
    __global__ void plain(float* y, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { y[i] = 3; }
    }
    __global__ void __launch_bounds__(1024) spilling(float* y, int n) { BODY }
    __global__ void __launch_bounds__(256) wide(float* y, int n) { BODY }
    __global__ void __launch_bounds__(256) shared_heavy(float* y) {
      __shared__ float t[5000];
      for (int i = threadIdx.x; i < 5000; i += 256) { t[i] = y[i]; }
      __syncthreads();
      y[threadIdx.x] = t[(threadIdx.x * 37) % 5000];
    }
    __global__ void indexed(float* y, int n) {
      float a[300];
      for (int i = 0; i < 300; i++) { a[i] = y[i]; }
      y[0] = a[n] + a[n * 2];
    }
    template <typename T> __global__ void scale(T* y, T a) { y[threadIdx.x] *= a; }
    template __global__ void scale<float>(float*, float);
    template __global__ void scale<double>(double*, double);
"""

SECOND = """
    #include <hip/hip_runtime.h>
    namespace { __global__ void hidden(float* y) { y[threadIdx.x] = 1; } }
    void launch(float* y) { hidden<<<1, 64>>>(y); }
"""

ARCHS = ["gfx906", "gfx90a:sramecc+:xnack-", "gfx1030"]


def run_tool(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Built:
    """k.hip and second.hip, linked to one library; the compiler's remarks on each kernel of k.hip."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "k.hip").write_text(KERNELS)
        (directory / "second.hip").write_text(SECOND)
        archs = [f"--offload-arch={arch}" for arch in ARCHS]
        self.remarks = run_tool(
            "hipcc", "-fPIC", "-O3", *archs, "-Rpass-analysis=kernel-resource-usage", "-c", "k.hip", "-o", "k.o",
            cwd=directory,
        )
        run_tool("hipcc", "-fPIC", "-O3", "--offload-arch=gfx906", "-c", "second.hip", "-o", "second.o", cwd=directory)
        run_tool("hipcc", "-shared", "k.o", "second.o", "-o", "k.so", cwd=directory)
        self.object = directory / "k.o"
        self.library = directory / "k.so"

    def occupancies(self) -> Dict[str, List[int]]:
        """By kernel: LLVM's waves/SIMD of each arch, in the order in which they were compiled."""
        found: Dict[str, List[int]] = {}
        name = ""
        for line in self.remarks.splitlines():
            if match := re.search(r"remark:.*Name: (\S+)", line):
                name = match.group(1)
            elif match := re.search(r"Occupancy \[waves/SIMD\]: (\d+)", line):
                found.setdefault(name, []).append(int(match.group(1)))
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    if shutil.which("hipcc") is None:
        pytest.skip("no hipcc here")
    return Built(tmp_path_factory.mktemp("inspect"))


def notes_of(code_object: Path) -> List[Dict[str, Any]]:
    """The kernels in llvm-readelf's YAML: keys of four spaces' indent; a list opens with a dash two before."""
    text = run_tool(READELF, "--notes", code_object, cwd=code_object.parent)
    kernels: List[Dict[str, Any]] = []
    for line in text.partition("amdhsa.kernels:")[2].splitlines():
        if not line.strip() or line.startswith("amdhsa"):
            if line.startswith("amdhsa"):
                break
            continue
        if line.startswith("  - "):
            kernels.append({})
        if match := re.match(r"^(?:  - |    )(\.\w+): +(.+)$", line):
            value = match.group(2).strip("'\"")
            kernels[-1][match.group(1)] = int(value) if value.isdigit() else value
    return kernels


SAME_IN_NOTES = {
    "vgprs": ".vgpr_count",
    "sgprs": ".sgpr_count",
    "agprs": ".agpr_count",
    "vgpr_spills": ".vgpr_spill_count",
    "sgpr_spills": ".sgpr_spill_count",
    "lds_bytes": ".group_segment_fixed_size",
    "scratch_bytes": ".private_segment_fixed_size",
    "kernarg_bytes": ".kernarg_segment_size",
    "wavefront": ".wavefront_size",
    "max_workgroup": ".max_flat_workgroup_size",
}


def objects_of(answer: Any) -> List[Dict[str, Any]]:
    return [obj for bundle in answer["file"]["bundles"] for obj in bundle["code_objects"]]


def kernel_of(answer: Any, target: str, name: str) -> Dict[str, Any]:
    kernels = [k for o in objects_of(answer) if o["target"] == target for k in o["kernels"]]
    found = [k for k in kernels if k["demangled"].startswith(name)]
    assert len(found) == 1, name
    return found[0]


def test_units_and_archs(run, built):
    answer = run("inspect", built.library, "--json")
    assert answer.rc == 0, answer
    file = answer.json["file"]
    assert answer.json["schema"] == 1
    assert (file["path"], file["form"], file["registered"]) == (str(built.library), "shared_object", 2)
    assert file["targets"] == sorted(ARCHS)
    assert [b["index"] for b in file["bundles"]] == [1, 2]
    assert [[o["target"] for o in b["code_objects"]] for b in file["bundles"]] == [sorted(ARCHS), ["gfx906"]]
    assert {o["code_object_version"] for o in objects_of(answer.json)} == {4}
    assert {o["target"]: o["mach"] for o in objects_of(answer.json)} == {t: t.split(":")[0] for t in ARCHS}
    data = built.library.read_bytes()
    for bundle in file["bundles"]:
        assert (bundle["format"], bundle["problem"]) == ("plain", None)
        assert data[bundle["offset"] :].startswith(b"__CLANG_OFFLOAD_BUNDLE__")


@pytest.mark.skipif(READELF is None, reason="no llvm-readelf")
def test_every_number_is_llvm_readelfs(run, built, tmp_path):
    file = run("inspect", built.library, "--json").json["file"]
    data = built.library.read_bytes()
    compared = 0
    for bundle in file["bundles"]:
        for obj in bundle["code_objects"]:
            start = bundle["offset"] + obj["offset"]
            path = tmp_path / "one.co"
            path.write_bytes(data[start : start + obj["size"]])
            expected = {kernel[".name"]: kernel for kernel in notes_of(path)}
            assert {k["name"] for k in obj["kernels"]} == set(expected)
            for kernel in obj["kernels"]:
                for key, note in SAME_IN_NOTES.items():
                    assert kernel[key] == expected[kernel["name"]].get(note, 0), (obj["target"], kernel["name"], key)
                compared += 1
            # The same object as a file of its own.
            bare = run("inspect", path, "--json").json["file"]
            assert bare["form"] == "code_object"
            assert bare["targets"] == [obj["target"]]
            assert bare["bundles"][0]["code_objects"][0]["kernels"] == obj["kernels"]
    assert compared == 3 * 7 + 1


def test_spills_and_scratch_are_there(run, built):
    answer = run("inspect", built.library, "--json").json
    spilling = kernel_of(answer, "gfx906", "spilling")
    assert spilling["vgpr_spills"] > 0 and spilling["scratch_bytes"] > 0
    assert kernel_of(answer, "gfx906", "plain")["scratch_bytes"] == 0
    indexed = kernel_of(answer, "gfx906", "indexed")
    assert (indexed["vgpr_spills"], indexed["scratch_bytes"] >= 1200) == (0, True)
    assert kernel_of(answer, "gfx906", "shared_heavy")["lds_bytes"] == 20000
    assert kernel_of(answer, "gfx906", "void scale<double>")["demangled"] == "void scale<double>(double*, double)"


def test_waves_are_the_compilers(run, built):
    """LLVM's own figure; shared_heavy is left out, where LLVM 15 counts LDS another way."""
    file = run("inspect", built.object, "--json").json["file"]
    ours: Dict[str, List[int]] = {}
    for obj in file["bundles"][0]["code_objects"]:
        for kernel in obj["kernels"]:
            ours.setdefault(kernel["name"], []).append(kernel["occupancy"]["waves_per_eu"])
    theirs = built.occupancies()
    assert set(theirs) == set(ours) and len(theirs) == 7
    for name, waves in theirs.items():
        if "shared_heavy" not in name:
            assert sorted(waves) == sorted(ours[name]), name


def test_occupancy_of_known_kernels(run, built):
    answer = run("inspect", built.library, "--json").json
    heavy = kernel_of(answer, "gfx906", "shared_heavy")["occupancy"]
    assert (heavy["threads"], heavy["blocks_per_unit"], heavy["limited_by"]) == (256, 3, "lds")
    assert (heavy["used"], heavy["available"]) == (20000, 65536)
    plain = kernel_of(answer, "gfx906", "plain")["occupancy"]
    assert (plain["threads"], plain["blocks_per_unit"], plain["unit"]) == (1024, 2, "CU")
    assert kernel_of(answer, "gfx1030", "plain")["occupancy"]["unit"] == "WGP"
    fewer = run("inspect", built.library, "--threads", 64, "--json").json
    assert kernel_of(fewer, "gfx906", "plain")["occupancy"]["blocks_per_unit"] == 40
    too_many = run("inspect", built.library, "--threads", 512, "--json").json
    wide = kernel_of(too_many, "gfx906", "wide")
    assert wide["occupancy"] is None and "256 threads at most" in wide["occupancy_unknown"]


def test_cu_mode_is_seen(run, built, tmp_path):
    source = built.directory / "second.hip"
    for flag, unit in [("-mcumode", "CU"), ("-mno-cumode", "WGP")]:
        run_tool("hipcc", "-O1", flag, "--offload-arch=gfx1030", "-c", source, "-o", "m.o", cwd=tmp_path)
        kernel = kernel_of(run("inspect", tmp_path / "m.o", "--json").json, "gfx1030", "(anonymous namespace)::hidden")
        assert kernel["wgp_mode"] is (unit == "WGP")
        assert kernel["occupancy"]["unit"] == unit


def test_text(run, built):
    answer = run("inspect", built.library)
    assert answer.rc == 0 and "\x1b" not in answer.stdout
    lines = answer.stdout.splitlines()
    assert lines[0].endswith(f"k.so: 2 units, device code for {', '.join(sorted(ARCHS))}")
    assert lines[1].split()[:4] == ["kernel", "arch", "VGPR", "SGPR"]
    assert any(re.match(r"unit 2  plain, .* at \d+: gfx906 \(V4, ", line) for line in lines)
    row = next(line for line in lines if line.startswith("  shared_heavy") and "gfx906" in line)
    assert row.endswith("LDS: 20 KiB of 64 KiB") and "10 of 10" in row
    assert any(line.startswith("  scale<double> ") for line in lines)
    assert any(line.startswith("  hidden ") for line in lines)
    detailed = run("inspect", built.library, "--verbose", "--kernel", "hidden").stdout
    assert "(anonymous namespace)::hidden(float*)" in detailed and "wave64, kernarg" in detailed


def test_arch_and_kernel_pick(run, built):
    file = run("inspect", built.library, "--arch", "gfx90a", "--json").json["file"]
    assert file["targets"] == ["gfx90a:sramecc+:xnack-"]
    assert [len(b["code_objects"]) for b in file["bundles"]] == [1, 0]
    missing = run("inspect", built.library, "--arch", "gfx936").stdout.splitlines()[0]
    assert missing.endswith(f"2 units, no device code for gfx936, only for {', '.join(sorted(ARCHS))}")
    assert run("inspect", built.library, "--arch", "sm_90").rc == 2
    refused = run("inspect", built.library, "--kernel", "shard_heavy")
    assert refused.rc == 2 and "did you mean shared_heavy?" in refused.stderr


def test_cooperative_launch(run, built):
    ask = ("inspect", built.library, "--kernel", "shared_heavy", "--arch", "gfx906", "--threads", 256, "--json")
    fits = run(*ask, "--blocks", 180, "--cus", 60)
    assert fits.rc == 0
    verdict = fits.json["launch"]["kernels"][0]
    assert (verdict["fits"], verdict["capacity"], verdict["cus"], verdict["cus_from"]) == ("yes", 180, 60, "--cus")
    too_many = run(*ask, "--blocks", 181, "--cus", 60)
    assert (too_many.rc, too_many.json["launch"]["kernels"][0]["fits"]) == (1, "no")
    with_lds = run(*ask, "--blocks", 180, "--cus", 60, "--dynamic-lds", 4096)
    assert (with_lds.rc, with_lds.json["launch"]["kernels"][0]["capacity"]) == (1, 120)
    nowhere = run(*ask, "--blocks", 1)
    assert (nowhere.rc, nowhere.json["launch"]["kernels"][0]["fits"]) == (0, "unknown")
    plain = ("inspect", built.library, "--kernel", "plain", "--arch", "gfx1030", "--json")
    wgp = run(*plain, "--threads", 1024, "--blocks", 41, "--cus", 40)
    assert (wgp.rc, wgp.json["launch"]["kernels"][0]["capacity"]) == (1, 40)  # 2 a WGP of two CUs
    bounded = run("inspect", built.library, "--kernel", "wide", "--arch", "gfx906", "--threads", 512, "--blocks", 1)
    assert bounded.rc == 1 and "does not fit" in bounded.stdout and "256 threads at most" in bounded.stdout
    assert run("inspect", built.library, "--blocks", 3).rc == 2  # of how many threads?


def test_comparison(run, built, tmp_path):
    (tmp_path / "k.hip").write_text(
        KERNELS.replace("__launch_bounds__(256) wide", "__launch_bounds__(1024) wide")
        .replace("float a[300]", "float a[400]")
        .replace("void plain", "void renamed")
    )
    archs = ("--offload-arch=gfx906", "--offload-arch=gfx900")
    run_tool("hipcc", "-fPIC", "-O3", *archs, "-c", "k.hip", "-o", "new.o", cwd=tmp_path)
    answer = run("inspect", built.object, tmp_path / "new.o", "--json")
    assert answer.rc == 0
    comparison = answer.json["comparison"]
    assert comparison["targets_added"] == ["gfx900"]
    assert comparison["targets_removed"] == ["gfx1030", "gfx90a:sramecc+:xnack-"]
    on_906 = lambda key: {k["demangled"] for k in comparison[key] if k["target"] == "gfx906"}  # noqa: E731
    assert on_906("kernels_added") == {"renamed(float*, int)"}
    assert on_906("kernels_removed") == {"plain(float*, int)"}
    changed = {k["demangled"].split("(")[0]: k for k in comparison["kernels_changed"]}
    assert set(changed) == {"wide", "indexed"}
    wide = changed["wide"]
    assert wide["changes"]["vgprs"] == {"before": 256, "after": 64}
    assert wide["changes"]["waves_per_eu"] == {"before": 1, "after": 4}
    assert wide["verdict"] == "mixed"  # more waves, and more spilled
    assert changed["indexed"]["verdict"] == "worse"
    assert comparison["kernels_unchanged"] == 4
    text = run("inspect", built.object, tmp_path / "new.o").stdout
    assert re.search(r"^worse +indexed +gfx906 +.*scratch 1.2 KiB -> 1.6 KiB", text, re.MULTILINE), text
    assert "arch removed gfx1030, 7 kernels" in text and "arch added gfx900, 7 kernels" in text
    assert len(text.splitlines()) == 3 + 2 + 2 + 1  # archs, plain and renamed, the changed ones, the sum
    assert text.splitlines()[-1] == "2 kernels changed, 8 added, 15 removed, 4 with the same numbers"
    same = run("inspect", built.object, built.object).stdout.splitlines()
    assert same == ["0 kernels changed, 0 added, 0 removed, 21 with the same numbers"]


def test_stripped_files(run, built, tmp_path):
    whole = run("inspect", built.library, "--json").json["file"]
    stripped = tmp_path / "k.so"
    run_tool("strip", "-s", built.library, "-o", stripped, cwd=tmp_path)
    assert run("inspect", stripped, "--json").json["file"]["bundles"] == whole["bundles"]
    bare = bytearray(built.library.read_bytes())
    bare[0x28:0x30] = bytes(8)  # e_shoff
    bare[0x3A:0x40] = bytes(6)  # and the sizes
    (tmp_path / "bare.so").write_bytes(bare)
    file = run("inspect", tmp_path / "bare.so", "--json").json["file"]
    assert file["found_by_scan"] and file["registered"] is None
    assert file["bundles"] == whole["bundles"]


def test_what_it_refuses(run, built, tmp_path):
    run_tool("ar", "rc", tmp_path / "k.a", built.object, cwd=tmp_path)
    (tmp_path / "text.so").write_text("no code\n" * 20)
    reasons = {"k.a": "static library", "text.so": "neither an ELF file nor an offload bundle", "none": "no such file"}
    for file, words in reasons.items():
        answer = run("inspect", tmp_path / file)
        assert answer.rc == 2 and words in answer.stderr and answer.stdout == ""
    host_only = tmp_path / "host.so"
    (tmp_path / "h.c").write_text("int x;")
    run_tool("cc", "-shared", tmp_path / "h.c", "-o", host_only, cwd=tmp_path)
    assert run("inspect", host_only).stdout.strip().endswith("host.so: no device code")


def test_truncated_files_never_crash(run, built, tmp_path):
    data = built.object.read_bytes()
    cut = tmp_path / "cut.o"
    for length in range(64, len(data), max(1, len(data) // 60)):
        cut.write_bytes(data[:length])
        answer = run("inspect", cut)
        assert answer.rc == 0 and "cut off" in answer.stdout, answer  # the section headers stand last


CLANG15 = shutil.which("clang-15")
OPENCL_KERNEL = """
    __attribute__((reqd_work_group_size(32, 4, 1))) kernel void k(global float* p) {
      p[__builtin_amdgcn_workitem_id_x()] = 1;
    }
"""


@pytest.mark.skipif(CLANG15 is None, reason="no clang-15")
@pytest.mark.parametrize("version", [2, 3, 4])
def test_old_code_objects(run, tmp_path, version):
    (tmp_path / "k.cl").write_text(OPENCL_KERNEL)
    path = tmp_path / "k.hsaco"
    run_tool(
        CLANG15, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906:sramecc+", "-nogpulib", "-O1",
        f"-mcode-object-version={version}", tmp_path / "k.cl", "-o", path, cwd=tmp_path,
    )
    (obj,) = objects_of(run("inspect", path, "--json").json)
    assert (obj["code_object_version"], obj["mach"], obj["problem"]) == (version, "gfx906", None)
    if version == 2:
        assert (obj["target"], obj["has_kernel_table"], obj["kernels"]) == (None, False, [])
        assert "code object v2: no kernel table" in run("inspect", path).stdout
        return
    # V3 has no setting "any": what is left open is written as on.
    assert obj["target"] == ("gfx906:sramecc+:xnack+" if version == 3 else "gfx906:sramecc+")
    (kernel,) = obj["kernels"]
    assert (kernel["required_workgroup"], kernel["occupancy"]["threads"]) == ([32, 4, 1], 128)
    other_size = run("inspect", path, "--blocks", 1, "--threads", 64, "--cus", 60)
    assert other_size.rc == 1 and "requires workgroups of 128 threads" in other_size.stdout


def test_a_dcu_processor_is_named_and_not_guessed_at(run, built, tmp_path):
    """gfx906's code under the name of gfx936, with a mach that LLVM does not know."""
    file = run("inspect", built.library, "--arch", "gfx906", "--json").json["file"]
    obj = file["bundles"][1]["code_objects"][0]
    start = file["bundles"][1]["offset"] + obj["offset"]
    data = bytearray(built.library.read_bytes()[start : start + obj["size"]].replace(b"hsa--gfx906", b"hsa--gfx936"))
    assert data[0x30] == 0x2F
    data[0x30] = 0x7F
    path = tmp_path / "k.hsaco"
    path.write_bytes(data)
    (found,) = objects_of(run("inspect", path, "--json").json)
    assert (found["target"], found["mach"]) == ("gfx936", "unknown mach 0x7f")
    (kernel,) = found["kernels"]
    assert kernel["vgprs"] == obj["kernels"][0]["vgprs"] and kernel["occupancy"] is None
    answer = run("inspect", path, "--blocks", 10, "--threads", 256, "--cus", 80)
    assert answer.rc == 0
    assert "occupancy unknown: no public source gives the limits of gfx936" in answer.stdout
    assert re.search(r"hidden +gfx936 +unknown ", answer.stdout)
    path.write_bytes(data.replace(b"amdhsa.target", b"amdhsa.tarXet"))
    assert run("inspect", path, "--json").json["file"]["targets"] == ["unknown mach 0x7f"]


needs_clang19 = pytest.mark.skipif(
    CLANG19 is None, reason="clang-19 is not installed: no V5, V6, CCOB or generic targets"
)

BARE_KERNEL = """
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void k(float* p) {
      p[__builtin_amdgcn_workitem_id_x()] = 1;
    }
"""


def clang19(source: Path, output: str, *options: str) -> Path:
    run_tool(
        CLANG19, "-x", "hip", "-nogpulib", "-nogpuinc", "--offload-device-only", "-O2", *options, "-c", source,
        "-o", output, cwd=source.parent,
    )
    return source.parent / output


@needs_clang19
@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize("arch", ["gfx906", "gfx942", "gfx1100", "gfx1201"])
def test_code_object_versions(run, tmp_path, arch, version):
    source = tmp_path / "k.hip"
    source.write_text(BARE_KERNEL)
    path = clang19(source, "k.co", f"--offload-arch={arch}", "--no-gpu-bundle-output", f"-mcode-object-version={version}")
    answer = run("inspect", path, "--json")
    (obj,) = objects_of(answer.json)
    assert (obj["target"], obj["mach"], obj["code_object_version"], obj["problem"]) == (arch, arch, version, None)
    (kernel,) = obj["kernels"]
    assert kernel["occupancy"]["unit"] == ("WGP" if arch.startswith("gfx1") else "CU")
    assert kernel["dynamic_stack"] is (None if version < 5 else False)


@needs_clang19
@pytest.mark.parametrize("generic", ["gfx9-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"])
def test_generic_targets(run, tmp_path, generic):
    source = tmp_path / "k.hip"
    source.write_text(BARE_KERNEL)
    path = clang19(source, "k.co", f"--offload-arch={generic}", "--no-gpu-bundle-output", "-mcode-object-version=6")
    file = run("inspect", path, "--json").json["file"]
    (obj,) = file["bundles"][0]["code_objects"]
    assert (file["form"], obj["target"], obj["mach"]) == ("code_object", generic, generic)
    assert (obj["kernels"][0]["occupancy"] is None) == (generic == "gfx11-generic")


@needs_clang19
@pytest.mark.skipif(
    CLANG19 is not None and not Path(CLANG19).resolve().with_name("clang-offload-bundler").exists(),
    reason="clang-tools-19, with clang-offload-bundler, is not installed",
)
def test_compressed_bundle(run, tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(BARE_KERNEL)
    archs = ("--offload-arch=gfx906", "--offload-arch=gfx1100")
    plain = clang19(source, "plain.hipfb", *archs, "--gpu-bundle-output")
    packed = clang19(source, "packed.hipfb", *archs, "--gpu-bundle-output", "--offload-compress")
    before = run("inspect", plain, "--json").json["file"]["bundles"][0]
    after = run("inspect", packed, "--json").json["file"]["bundles"][0]
    assert (after["format"], after["compression"], after["ccob_version"]) == ("ccob", "zstd", 2)
    assert after["code_objects"] == before["code_objects"] and len(before["code_objects"]) == 2
    assert "CCOB v2 zstd" in run("inspect", packed).stdout


def test_help_names_its_json(run):
    assert "docs/json.md" in run("inspect", "--help").stdout
    assert json.loads(run("inspect", "/nowhere", "--json").stdout)["error"]["exit_code"] == 2
