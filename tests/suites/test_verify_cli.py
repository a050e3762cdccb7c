"""dcuop verify as a program: what it reads, builds, starts and answers. What its layers find is tested beside this."""

from __future__ import annotations

import json
import textwrap
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import PYTHON

CONTRACT = """
    [op]
    name = "tripled"
    kind = "plain"
    [build]
    sources = ["tripled.cpp"]
    [backend.host]
    [[verify.function]]
    name = "tripled"
    call = "binding.py:tripled"
    formula = "reference.py:tripled_formula"
    arguments = [{ name = "x", dtypes = ["float32"], shape = "..." }]
    block = 64
    tolerance = { float32 = { ulp = 0 } }
    refuses = ["dtype", "device", "layout", "neg", "grad"]
    [verify.micro]
    sizes = [1024]
    runs = 5
"""

SOURCE = """
    extern "C" void tripled(const float* x, float* y, long count) {
      for (long i = 0; i < count; ++i) {
        y[i] = 3.0f * x[i];
      }
    }
"""

BINDING = """
    import ctypes
    import functools
    import os

    import dcuop
    import torch


    @functools.lru_cache(maxsize=None)
    def library():
        loaded = dcuop.load_op(os.path.dirname(os.path.abspath(__file__)))
        loaded.tripled.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
        return loaded


    def tripled(x):
        if x.dtype != torch.float32 or x.device.type != "cpu" or not x.is_contiguous() or x.is_neg():
            raise RuntimeError("tripled: x must be a contiguous float32 tensor on the CPU")
        if x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError("tripled has no backward")
        y = torch.empty_like(x)
        library().tripled(x.data_ptr(), y.data_ptr(), x.numel())
        return y
"""


def write(op: Path, **files: str) -> Path:
    op.mkdir(exist_ok=True)
    for name, text in files.items():
        (op / f"{name.replace('__', '.')}").write_text(textwrap.dedent(text))
    return op


@pytest.fixture
def op(tmp_path: Path) -> Path:
    return write(
        tmp_path / "tripled",
        dcuop__toml=CONTRACT,
        tripled__cpp=SOURCE,
        binding__py=BINDING,
        reference__py="def tripled_formula(x):\n    return 3 * x\n",
    )


def verify(run, op: Path, *arguments: str, **variables: str):
    return run("verify", str(op), "--python", PYTHON, *arguments, env=variables or None)


def test_a_healthy_op_passes_on_the_backend_that_runs_here_and_writes_reports(run, op, tmp_path):
    page, text = tmp_path / "out.html", tmp_path / "out.md"
    result = verify(run, op, "--report", str(page), "--report", str(text))
    assert result.rc == 0, result
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line and not line.startswith(" ")}
    assert "host: the kernels' bodies on an emulated grid" in rows["backend"]
    assert " 0 failed" in rows["correctness"]
    assert rows["gate"].split() == ["gate", "passed"]
    assert text.read_text().startswith("# ")
    HTMLParser().feed(page.read_text())
    assert "tripled" in page.read_text()


def test_a_broken_kernel_fails_and_the_command_that_is_printed_fails_alone(run, op):
    write(op, tripled__cpp=SOURCE.replace("i < count", "i < count / 64 * 64 || i < 1"))
    result = verify(run, op, "--layer", "correctness")
    assert result.rc == 1, result
    assert "gate          FAILED" in result.stdout
    again = next(line for line in result.stdout.splitlines() if line.strip().startswith("again"))
    case = again.split("--case ")[1].strip().strip("'")
    alone = verify(run, op, "--layer", "correctness", "--case", case, "--json")
    assert alone.rc == 1, alone
    assert [found["status"] for found in alone.json["correctness"]["cases"]] == ["failed"]


def test_compare_says_what_an_edit_changed(run, op):
    assert verify(run, op, "--layer", "correctness").rc == 0
    write(op, tripled__cpp=SOURCE.replace("3.0f * x[i]", "3.0f * x[i] + (i == 64 ? 1.0f : 0.0f)"))
    result = verify(run, op, "--layer", "correctness", "--compare")
    assert result.rc == 1, result
    assert "tripled/float32/size/65" in result.stdout.split("\ncompare")[1]


def test_listing_builds_nothing(run, op, cache_dir):
    result = verify(run, op, "--list")
    assert result.rc == 0, result
    assert "tripled/float32/size/1" in result.stdout.splitlines()
    assert list((cache_dir / "v1" / "entries").glob("*/*")) == []


def test_json_is_one_document(run, op):
    result = verify(run, op, "--json")
    assert result.rc == 0, result
    assert result.json["gate"]["passed"] is True
    assert result.json["backend"] == "host"
    assert {"correctness", "numerics", "micro"} <= set(result.json)


def test_a_fault_of_the_contract_is_shown_with_its_place(run, op):
    write(op, dcuop__toml=CONTRACT.replace("block = 64", "blok = 64"))
    result = verify(run, op)
    assert result.rc == 2, result
    assert "dcuop.toml:13:1: error: unknown key 'blok' in [[verify.function]]; did you mean 'block'?" in result.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--layer", "speed"], "--layer"),
        (["--timeout", "-1"], "--timeout"),
        (["--backend", "rocm"], "must be one of hip, host, cuda"),
        (["--report", "out.pdf"], "out.pdf"),
        (["--report", "missing/out.html"], "missing"),
        (["--case", "no/such/*"], "no/such/*"),
    ],
)
def test_bad_arguments_are_refused_by_name(run, op, arguments, said):
    result = verify(run, op, *arguments)
    assert result.rc == 2, result
    assert said in result.stderr


def test_an_op_without_a_contract_is_told_where_to_read(run, op):
    write(op, dcuop__toml=CONTRACT.split("[[verify")[0])
    result = verify(run, op)
    assert result.rc == 2, result
    assert "has no [[verify.function]]" in result.stderr and "docs/verify.md" in result.stderr


def test_an_op_for_one_backend_alone_needs_no_sources_of_another(run, op):
    text = CONTRACT.replace('    [build]\n    sources = ["tripled.cpp"]\n    [backend.host]', "    {}")
    write(op, dcuop__toml=text.replace("{}", '[backend.cuda]\n    sources = ["tripled.cu"]\n    archs = ["sm_90"]'), tripled__cu="")
    listed = verify(run, op, "--backend", "cuda", "--list")
    assert listed.rc == 0 and "tripled/float32/size/1" in listed.stdout.splitlines(), listed
    # Which torch runs it is another question.
    result = verify(run, op)
    assert result.rc == 3 and "cannot run here" in result.stderr, result
    write(op, dcuop__toml=text.replace("{}", '[backend.host]\n    sources = ["tripled.cpp"]'))
    result = verify(run, op, "--layer", "correctness", "--case", "*/size/65")
    assert result.rc == 0 and "1 passed, 0 failed" in result.stdout, result


def test_what_cannot_run_here_says_why_and_what_would(run, op):
    write(op, dcuop__toml=CONTRACT.replace("[backend.host]", ""))
    result = verify(run, op)
    assert result.rc == 3, result
    assert "cannot run here" in result.stderr and "[backend.host]" in result.stderr


def test_a_compile_error_and_a_forbidden_build_end_as_in_build(run, op):
    assert verify(run, op, DCUOP_BUILD="never").rc == 5
    write(op, tripled__cpp="int tripled( { }\n")
    result = verify(run, op)
    assert result.rc == 1, result
    assert "tripled.cpp:1" in result.stderr


def test_several_ops_each_get_their_rows_and_the_worst_exit_code(run, op, tmp_path):
    (tmp_path / "dcuop.toml").write_text('[workspace]\nmembers = ["*"]\n')
    write(
        tmp_path / "other",
        dcuop__toml=CONTRACT.replace('"tripled"\n    kind', '"other"\n    kind'),
        tripled__cpp=SOURCE.replace("3.0f", "2.0f"),
        binding__py=BINDING,
        reference__py="def tripled_formula(x):\n    return 3 * x\n",
    )
    result = run("verify", "--python", PYTHON, "--layer", "correctness", "--case", "*/size/1", cwd=tmp_path)
    assert result.rc == 1, result
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("gate")] == ["FAILED", "passed"]


def test_several_ops_with_one_document_are_refused_before_any_is_built(run, op, tmp_path, cache_dir):
    (tmp_path / "dcuop.toml").write_text('[workspace]\nmembers = ["*"]\n')
    write(tmp_path / "other", dcuop__toml=CONTRACT, tripled__cpp=SOURCE, binding__py=BINDING)
    write(tmp_path / "other", reference__py="def tripled_formula(x):\n    return 3 * x\n")
    for arguments, said in ((["--json"], "--json"), (["--report", "out.md"], "--report")):
        result = run("verify", "--python", PYTHON, *arguments, cwd=tmp_path)
        assert result.rc == 2 and f"2 ops have contracts here, and {said} holds one" in result.stdout + result.stderr, result
    assert list((cache_dir / "v1" / "entries").glob("*/*")) == []


def test_a_result_is_counted_and_goes_with_its_entry(run, op, cache_dir):
    assert verify(run, op, "--layer", "micro").rc == 0
    (kept,) = (cache_dir / "v1" / "verify").glob("*/*.json")
    (entry,) = (cache_dir / "v1" / "entries").glob("*/*")
    assert kept.parent.name == "tripled" and kept.stem == entry.name
    counted = run("cache", "stats", "--json").json["other_bytes"]
    size = kept.stat().st_size
    kept.write_bytes(b"")
    assert counted - run("cache", "stats", "--json").json["other_bytes"] == size
    assert run("clean", str(op)).rc == 0
    assert not kept.exists() and not kept.parent.exists()


def test_a_contract_is_no_part_of_the_key(run, op):
    assert verify(run, op, "--layer", "correctness", "--case", "*/size/1").rc == 0
    write(op, dcuop__toml=CONTRACT.replace("block = 64", "block = 32"))
    result = verify(run, op, "--layer", "correctness", "--case", "*/size/1", "--json")
    assert result.json["build"]["hit"] is True
    assert json.loads(result.stdout)["op"] == "tripled"
