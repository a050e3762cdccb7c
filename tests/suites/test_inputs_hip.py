"""What a HIP object depends on beyond its sources: passes, archs, hipcc's environment, device bitcode.

Peers' caches serve wrong objects for most of these; see docs/reports.md for the list.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import HIP_DECLARATIONS, LIGHT_HIP_FLAGS

pytestmark = pytest.mark.skipif(shutil.which("hipcc") is None, reason="hipcc is not installed")

KERNEL = """
    {includes}
    __global__ void fill(float* y) {{ y[0] = VALUE; }}
    extern "C" int launch(float* y) {{ fill<<<dim3(1), dim3(1)>>>(y); return 0; }}
"""


def make_kernel(make_op, includes, files=None, flags=()):
    source = HIP_DECLARATIONS + KERNEL.format(includes=includes)
    return make_op("fill", sources={"fill.hip": source}, files=files, build={"hip_flags": [*LIGHT_HIP_FLAGS, *flags]})


def build(run, op, *arguments, arch="gfx906", **kwargs):
    result = run("build", op, "--json", "--arch", arch, *arguments, **kwargs)
    assert result.rc == 0, str(result)
    return result


def code(result) -> bytes:
    return Path(result.op["path"]).read_bytes()


class TestPasses:
    """One hipcc call runs one pass for the host and one for each arch, and each may read other headers."""

    def check(self, run, make_op, includes, header, arch="gfx906"):
        op = make_kernel(make_op, includes, files={"special.h": header.format(value=1)})
        first = build(run, op, arch=arch)
        (op / "special.h").write_text(header.format(value=2))
        second = build(run, op, arch=arch)
        assert second.op["status"] == "built", str(second)
        assert second.op["reason"] == "special.h changed"
        assert code(first) != code(second)
        (op / "special.h").write_text(header.format(value=1))
        assert build(run, op, arch=arch).op["entry"] == first.op["entry"]

    def test_header_of_the_device_pass_alone(self, run, make_op):
        self.check(run, make_op, "#define VALUE 0\n#ifdef __HIP_DEVICE_COMPILE__\n#undef VALUE\n#include \"special.h\"\n#endif",
                   "#define VALUE {value}\n")

    def test_header_of_the_host_pass_alone(self, run, make_op):
        self.check(run, make_op, "#define VALUE 0\n#ifndef __HIP_DEVICE_COMPILE__\n#include \"special.h\"\n#endif",
                   'extern "C" int host_value() {{ return {value}; }}\n')

    def test_header_of_one_arch_alone(self, run, make_op):
        self.check(run, make_op, "#define VALUE 0\n#ifdef __gfx906__\n#undef VALUE\n#include \"special.h\"\n#endif",
                   "#define VALUE {value}\n", arch="gfx906,gfx90a")


class TestArchs:
    def test_order_is_a_hit_and_set_is_not(self, run, hip_op):
        first = build(run, hip_op, arch="gfx906,gfx90a")
        assert build(run, hip_op, arch="gfx90a,gfx906").op["status"] == "hit"
        single = build(run, hip_op, arch="gfx90a")
        assert single.op["status"] == "built"
        assert single.op["entry"] != first.op["entry"]

    def test_features_are_part_of_the_arch(self, run, hip_op):
        any_xnack = build(run, hip_op, arch="gfx90a")
        without = build(run, hip_op, arch="gfx90a:xnack-")
        assert without.op["status"] == "built"
        assert b"amdhsa--gfx90a:xnack-" in code(without)
        assert b"amdhsa--gfx90a:xnack-" not in code(any_xnack)

    def test_same_kernel_object_is_reused_between_ops(self, run, hip_op):
        build(run, hip_op)
        (hip_op / "extra.cpp").write_text('extern "C" int extra() { return 1; }\n')
        manifest = hip_op / "dcuop.toml"
        manifest.write_text(manifest.read_text().replace('["fill.hip"]', '["fill.hip", "extra.cpp"]'))
        assert build(run, hip_op).compiled() == ["extra.cpp"]

    def test_arch_flags_reach_their_arch_alone(self, run, make_op):
        op = make_kernel(make_op, "#ifndef VALUE\n#define VALUE 1.0f\n#endif")
        manifest = op / "dcuop.toml"
        plain = build(run, op, arch="gfx906,gfx90a")
        manifest.write_text(manifest.read_text() + '[build.arch_flags]\ngfx90a = ["-DVALUE=2.0f"]\n')
        special = build(run, op, arch="gfx906,gfx90a")
        assert special.op["status"] == "built"
        assert code(plain) != code(special)
        assert build(run, op, arch="gfx906").op["status"] == "built"


class TestEnvironment:
    @pytest.mark.parametrize("variable, one, two", [
        ("HIPCC_COMPILE_FLAGS_APPEND", "-DVALUE=1.0f", "-DVALUE=2.0f"),
        ("CPATH", "one", "two"),
    ])
    def test_variable_that_reaches_the_compiler(self, run, make_op, tmp_path, variable, one, two):
        for name, number in (("one", 1), ("two", 2)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "value.h").write_text(f"#define VALUE {number}.0f\n")
        op = make_kernel(make_op, "#ifndef VALUE\n#include <value.h>\n#endif")

        def value_of(text):
            return text if text.startswith("-") else str(tmp_path / text)

        results = [build(run, op, env={variable: value_of(text)}) for text in (one, two, one)]
        assert [result.op["status"] for result in results] == ["built", "built", "hit"]
        assert code(results[0]) != code(results[1])

    def test_link_flags(self, run, hip_op):
        build(run, hip_op)
        result = build(run, hip_op, env={"HIPCC_LINK_FLAGS_APPEND": "-Wl,-z,now"})
        assert result.op["status"] == "built"
        assert "HIPCC_LINK_FLAGS_APPEND" in result.op["reason"]

    def test_arch_from_hipccs_own_variable_is_never_taken(self, run, hip_op):
        result = build(run, hip_op, env={"HCC_AMDGPU_TARGET": "gfx90a"})
        assert b"amdhsa--gfx906" in code(result)
        assert b"amdhsa--gfx90a" not in code(result)


def test_device_bitcode_replaced_under_the_same_path(run, make_op, tmp_path):
    bitcode = tmp_path / "bitcode"
    shutil.copytree("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", bitcode)
    op = make_kernel(make_op, "#define VALUE 1.0f", flags=[f"--hip-device-lib-path={bitcode}"])
    build(run, op)
    assert build(run, op).op["status"] == "hit"
    replaced = bitcode / "oclc_finite_only_off.bc"
    shutil.copyfile(bitcode / "oclc_finite_only_on.bc", replaced)
    result = build(run, op)
    assert result.op["status"] == "built"
    assert "oclc_finite_only_off.bc" in result.op["reason"]


def test_rdc_links_and_two_units_have_two_cuids(run, make_op):
    unit = """
        {declarations}
        static __device__ int counter;
        __global__ void {name}(int* y) {{ y[0] = counter; }}
        extern "C" int {name}_launch(int* y) {{ {name}<<<dim3(1), dim3(1)>>>(y); return 0; }}
    """
    op = make_op("rdc", sources={file: unit.format(name=name, declarations=HIP_DECLARATIONS)
                                 for file, name in (("a.hip", "first"), ("b.hip", "second"))},
                 build={"hip_flags": [*LIGHT_HIP_FLAGS, "-fgpu-rdc"]})
    result = build(run, op)
    assert result.op["status"] == "built"
    import ctypes
    assert ctypes.CDLL(result.op["path"]).first_launch is not None
    assert build(run, op).op["status"] == "hit"


def test_result_is_the_same_in_another_directory_and_cache(run, hip_op, tmp_path):
    first = build(run, hip_op)
    moved = tmp_path / "moved to" / "fill"
    shutil.copytree(hip_op, moved)
    second = build(run, moved, env={"DCUOP_CACHE_DIR": str(tmp_path / "another cache")})
    assert second.op["status"] == "built"
    assert second.op["entry"] == first.op["entry"]
    assert code(first) == code(second)
