"""The doctor against what really happens: the quick cases of tests/truth (`make doctor-truth` runs all of them)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "truth"))

import harness  # noqa: E402
import loading  # noqa: E402
from workshop import Workshop  # noqa: E402

#: None of them compiles torch's headers, copies torch, or needs torch in a process of its own.
QUICK = """
    healthy_c_module healthy_plain_library healthy_kernel_gfx906 healthy_kernel_two_units_stripped healthy_origin_inherited
    healthy_long_rpath healthy_symlinked_install healthy_static_libstdcxx healthy_version_script healthy_no_section_headers
    healthy_weak_undefined healthy_ifunc
    other_parameters_symint optional_of_dtype old_strings_compiled class_is_gone own_linkage_differs torch_python_not_linked
    runpath_lost_own_library torch_without_hip hip_of_major_6 third_level_absent hip_6_symbol_version cuda_with_fatbin
    cuda_device_code_alone hip_runtime_twice jit_built_with_gcc_13 newer_glibc python_2_init_function renamed_file
    own_libstdcxx_comes_second pointer_instead_of_library truncated_library cut_in_its_segments class_32 for_aarch64 static_tls_of_a_library
    neighbour_of_the_arch one_unit_without_the_arch library_without_the_arch compressed_version_3
    code_object_without_metadata rdc_of_a_newer_clang two_renamed_and_other_arch
    relr_without_its_version android_rela chosen_device_by_name comgr_absent function_under_another_name
    wheel_for_newer_glibc
""".split()

TABLE = harness.table()


@pytest.fixture(scope="session")
def workshop() -> Workshop:
    """Kept between runs, and shared with `make doctor-truth`."""
    made = Workshop(ROOT / "build" / "doctor-truth")
    made.root.mkdir(parents=True, exist_ok=True)
    return made


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = loading.TorchServer(str(tmp_path_factory.mktemp("loading")))
    yield running
    running.close()


@pytest.mark.parametrize("name", QUICK)
def test_case(name, workshop, server, dcuop_binary: Path):
    result = harness.examine(TABLE.cases[name], workshop, server, dcuop_binary)
    assert not result.problems, "\n".join(result.problems)


def test_every_report_has_its_class():
    """105 reports, each in one class, and each class with two cases or a reason."""
    numbers = [number for kind in TABLE.kinds.values() for number in kind["reports"]]
    assert len(numbers) == len(set(numbers)) == 105
    for kind in TABLE.kinds.values():
        cases = [case for case in TABLE.cases.values() if case.kind == kind["id"]]
        assert bool(kind.get("not_made")) == (not cases), kind["id"]
        assert not kind["reports"] or not cases or len(cases) >= 2, kind["id"]
    assert sum(case.healthy for case in TABLE.cases.values()) >= 18


def test_known_gaps_are_of_faulty_cases():
    for name in harness.known_gaps():
        assert not TABLE.cases[name].healthy and name not in QUICK
