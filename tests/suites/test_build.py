"""dcuop build, key and explain as a user meets them: options, reasons, and one clear error for each bad input."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from conftest import PYTHON, ROOT, copy_op

READS_HEADER = '#include "op.h"\nextern "C" int {name}() {{ return VALUE; }}\n'


@pytest.fixture
def op(make_op):
    return make_op("op", sources={"a.cpp": READS_HEADER.format(name="a"), "b.cpp": READS_HEADER.format(name="b"),
                                  "c.cpp": 'extern "C" int c() { return 3; }\n'}, files={"op.h": "#define VALUE 1\n"})


def tree(directory: Path):
    return {str(path.relative_to(directory)): path.stat().st_mtime_ns for path in directory.rglob("*")}


class TestOptions:
    def test_force_compiles_again(self, run, op):
        run("build", op)
        result = run("build", op, "--force", "--json")
        assert result.op["status"] == "built"
        assert result.op["reason"] == "--force"
        assert result.compiled() == ["a.cpp", "b.cpp", "c.cpp"]

    def test_dry_run_builds_nothing_and_says_why(self, run, op, cache_dir):
        first = run("build", op, "--dry-run", "--json")
        assert (first.rc, first.op["status"], first.op["reason"]) == (0, "would-build", "first build")
        assert not list(cache_dir.glob("v1/entries/*/*"))
        run("build", op)
        assert run("build", op, "--dry-run", "--json").op["status"] == "hit"
        (op / "op.h").write_text("#define VALUE 2\n")
        assert run("build", op, "--dry-run", "--json").op["reason"] == "op.h changed"

    def test_print_path(self, run, op):
        result = run("build", op, "--print-path")
        lines = result.stdout.splitlines()
        assert len(lines) == 1
        assert Path(lines[0]).name == "op.so" and Path(lines[0]).is_file()

    def test_quiet_says_nothing_but_the_answer(self, run, op):
        result = run("build", op, "--quiet")
        assert result.stderr == ""
        assert result.stdout.startswith("op ")

    @pytest.mark.parametrize("quiet", [False, True])
    def test_a_damaged_entry_is_said_once(self, run, op, quiet):
        file = Path(run("build", op, "--json").op["path"])
        file.chmod(0o644)
        os.truncate(file, 100)
        result = run("build", op, *(["--quiet"] if quiet else []))
        assert result.rc == 0
        warnings = [line for line in result.stderr.splitlines() if line.startswith("warning: damaged cache entry")]
        assert len(warnings) == len(set(warnings))
        assert any(str(file.parent) in line and "100 of" in line for line in warnings) != quiet

    def test_compile_commands(self, run, op, tmp_path):
        assert run("build", op, "--compile-commands", tmp_path / "cc.json").rc == 0
        commands = json.loads((tmp_path / "cc.json").read_text())
        assert [command["file"] for command in commands] == ["a.cpp", "b.cpp", "c.cpp"]
        assert all(command["directory"] == str(op) and "-fPIC" in command["arguments"] for command in commands)

    def test_forbidden(self, run, op):
        result = run("build", op, "--json", env={"DCUOP_BUILD": "never"})
        assert result.rc == 5
        assert "forbidden" in result.json["error"]["message"]
        assert str(op) in result.json["error"]["hint"]
        run("build", op)
        assert run("build", op, env={"DCUOP_BUILD": "never"}).rc == 0

    def test_one_op_that_must_not_be_built_leaves_the_others_their_results(self, run, make_op):
        one, two, three = (make_op(name, sources={"a.cpp": f"int {name}() {{ return 1; }}\n"}) for name in ("one", "two", "three"))
        run("build", two)
        result = run("build", one, two, three, "--json", env={"DCUOP_BUILD": "never"})
        assert result.rc == 5
        assert [op["status"] for op in result.json["ops"]] == ["failed", "hit", "failed"]
        for op, directory in ((result.json["ops"][0], one), (result.json["ops"][2], three)):
            assert op["error"]["exit_code"] == 5
            assert "forbidden" in op["error"]["message"] and str(directory) in op["error"]["hint"]
        shown = run("build", one, two, three, env={"DCUOP_BUILD": "never"})
        assert shown.rc == 5
        assert shown.stdout.splitlines()[-1].startswith("3 ops: 1 hit, 2 failed")
        assert shown.stderr.count("forbidden") == 2

    def test_workspace_builds_all_members(self, run, make_op, tmp_path):
        for name in ("one", "two"):
            make_op(name)
        (tmp_path / "dcuop.toml").write_text('[workspace]\nmembers = ["ops/*"]\n')
        result = run("build", "--json")
        assert [op["name"] for op in result.json["ops"]] == ["one", "two"]
        closing = run("build").stdout.splitlines()[-1]
        assert closing.startswith("2 ops: 2 hit")
        assert [op["name"] for op in run("build", "two", "--json").json["ops"]] == ["two"]

    def test_nothing_is_written_beside_the_sources(self, run, op):
        before = tree(op)
        for path in [op, *op.rglob("*")]:
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
        assert run("build", op).rc == 0
        assert tree(op) == before

    @pytest.mark.parametrize("name", ["with space", "mit Umlaut ä", "中文目录", "quote'and\"double", "$HOME;&|"])
    def test_odd_directory_names(self, run, make_op, name, tmp_path):
        target = tmp_path / name / "op"
        shutil.copytree(make_op("op", sources={"a.cpp": READS_HEADER.format(name="a")}, files={"op.h": "#define VALUE 1\n"}), target)
        env = {"DCUOP_CACHE_DIR": str(tmp_path / f"cache {name}")}
        assert run("build", target, "--json", env=env).op["status"] == "built"
        assert run("build", target, "--json", env=env).op["status"] == "hit"


class TestPartialRebuild:
    def test_header_compiles_the_units_that_read_it(self, run, op):
        run("build", op)
        (op / "op.h").write_text("#define VALUE 2\n")
        result = run("build", op, "--json")
        assert result.compiled() == ["a.cpp", "b.cpp"]
        units = {unit["source"]: unit for unit in result.op["units"]}
        assert units["a.cpp"]["reason"] == "op.h changed"
        assert units["c.cpp"]["status"] == "reused"

    def test_one_line_reason_of_a_miss(self, run, op):
        run("build", op)
        (op / "op.h").write_text("#define VALUE 2\n")
        assert "op.h changed" in run("build", op).stdout


class TestExplain:
    def test_hit_says_what_is_unchanged(self, run, op):
        run("build", op)
        result = run("explain", op)
        assert "is a hit" in result.stdout
        assert "3 sources" in result.stdout

    def test_header_and_its_readers(self, run, op):
        run("build", op)
        (op / "op.h").write_text("#define VALUE 2\n")
        result = run("explain", op, "--json")
        one = result.json["ops"][0]
        assert one["status"] == "miss"
        assert one["differences"] == [{"group": "header", "name": "op.h", "text": "changed, read by a.cpp and b.cpp"}]

    def test_several_differences_in_words(self, run, op):
        run("build", op)
        (op / "a.cpp").write_text('extern "C" int a() { return 9; }\n')
        result = run("explain", op, env={"CPATH": "/somewhere"})
        assert "a.cpp changed" in result.stdout
        assert 'CPATH was not set, is "/somewhere"' in result.stdout

    def test_nothing_built_before(self, run, op):
        assert "no earlier build" in run("explain", op).stdout

    def test_explain_and_key_build_nothing(self, run, op, cache_dir):
        run("explain", op)
        key = run("key", op, "--json").json["ops"][0]
        assert key["entry"] is None and len(key["request"]) == 32
        assert not list(cache_dir.glob("v1/entries/*/*"))
        assert run("key", op, "--json").json["ops"][0]["request"] == key["request"]


class TestAbi:
    """What an op is not bound to is not in its key."""

    def request(self, run, op, **env):
        return run("key", op, "--json", env=env).json["ops"][0]["request"]

    def test_plain_op_needs_no_python(self, run, op):
        assert self.request(run, op, DCUOP_PYTHON="/nonexistent") == self.request(run, op)

    def test_abi_none_must_not_read_torch(self, run, make_op):
        if not Path("/usr/include/torch/csrc/api/include").is_dir():
            pytest.skip("no torch headers here")
        op = make_op("op", sources={"a.cpp": "#include <c10/macros/Macros.h>\n"})
        result = run("build", op)
        assert result.rc == 2
        assert 'abi = "none"' in result.stderr and "c10/macros/" in result.stderr


class TestBadInput:
    def failure(self, result, code, *texts):
        assert result.rc == code, str(result)
        shown = result.stdout + result.stderr
        for text in texts:
            assert text in shown, str(result)
        assert "terminate called" not in shown and "what():" not in shown

    def test_missing_source(self, run, make_op):
        op = make_op("op", sources={"a.cpp": ""})
        (op / "a.cpp").rename(op / "b.cpp")
        self.failure(run("build", op), 2, "dcuop.toml:", "a.cpp", "b.cpp")

    def test_manifest_typo(self, run, make_op):
        self.failure(run("build", make_op("op", build={"cxx_flag": []})), 2, "unknown key 'cxx_flag' in [build]; did you mean 'cxx_flags'?")

    def test_manifest_of_wrong_type(self, run, make_op):
        self.failure(run("build", make_op("op", build={"archs": "gfx906"})), 2, "dcuop.toml:", "archs", "array")

    def test_manifest_that_is_no_toml(self, run, make_op):
        op = make_op("op")
        (op / "dcuop.toml").write_text("[op\nname = \n")
        self.failure(run("build", op), 2, "dcuop.toml:1:")

    def test_no_such_op(self, run, op, tmp_path):
        self.failure(run("build", "nonsense"), 2, "nonsense")

    def test_unknown_arch(self, run, hip_op):
        self.failure(run("build", hip_op, "--arch", "banana"), 2, "banana")

    def test_arch_outside_of_the_set(self, run, hip_op):
        self.failure(run("build", hip_op, "--arch", "gfx1030"), 2, "gfx1030", "gfx906", "archs")

    def test_arch_that_this_compiler_does_not_know(self, run, make_op):
        op = make_op("fill", sources={"fill.hip": "__global__ void f() {}\n"}, build={"archs": ["gfx936"]})
        self.failure(run("build", op, "--arch", "gfx936"), 2, "gfx936", "DTK")

    def test_no_arch_at_all(self, run, hip_op):
        self.failure(run("build", hip_op), 3, "no offload arch", "--arch", "/dev/kfd")

    def test_no_compiler(self, run, op):
        self.failure(run("build", op, env={"PATH": "/nonexistent", "CXX": None}), 3, "c++")

    def test_no_hip_compiler(self, run, hip_op, tmp_path):
        empty = tmp_path / "bin"
        empty.mkdir()
        result = run("build", hip_op, "--arch", "gfx906", env={"PATH": str(empty)})
        self.failure(result, 3, "hipcc")

    def test_no_torch(self, run, make_op, tmp_path):
        import venv
        venv.create(tmp_path / "venv", with_pip=False)
        op = make_op("op", op={"kind": "torch-library", "abi": "torch"})
        self.failure(run("build", op, "--python", tmp_path / "venv/bin/python3"), 3, "no torch", "--python")

    def test_a_torch_without_hip_for_hip_sources(self, run, make_op):
        op = make_op("fill", sources={"fill.hip": "__global__ void f() {}\n"}, op={"kind": "torch-library", "abi": "torch"},
                     build={"allow_cpu_torch": False})
        facts = {fact["name"]: fact["value"] for fact in run("env", "--json").json["facts"]}
        kind = "a CPU-only build" if facts["torch cuda"] == "none" else "a CUDA build"
        self.failure(run("build", op, "--arch", "gfx906"), 3, kind, "allow_cpu_torch")

    def test_source_that_does_not_compile(self, run, op, cache_dir):
        run("build", op)
        before = tree(cache_dir / "v1/entries")
        (op / "b.cpp").write_text('extern "C" int b() { return nummel; }\n')
        result = run("build", op)
        self.failure(result, 1, "FAILED", "b.cpp:1:", "'nummel'", "build.log", "1 error")
        assert tree(cache_dir / "v1/entries") == before
        log = next(word for word in result.stderr.split() if word.endswith("build.log"))
        assert "nummel" in Path(log.replace("~", os.environ.get("HOME", "~"), 1) if log.startswith("~") else log).read_text()

    def test_header_that_is_missing(self, run, make_op):
        op = make_op("op", sources={"a.cpp": "#include <not/there.h>\n"})
        self.failure(run("build", op), 1, "not/there.h", "include_dirs")

    def test_kernel_with_a_missing_header(self, run, make_op):
        op = make_op("fill", sources={"fill.hip": "#include <not/there.h>\n__global__ void f() {}\n"})
        self.failure(run("build", op, "--arch", "gfx906"), 1, "fill.hip", "not/there.h", "include_dirs")

    def test_undefined_reference(self, run, make_op):
        op = make_op("op", sources={"a.cpp": 'extern "C" int missing(); extern "C" int a() { return missing(); }\n'},
                     build={"link_flags": ["-Wl,-z,defs"]})
        self.failure(run("build", op), 1, "link", "missing", "sources")

    def test_library_that_is_missing(self, run, make_op):
        op = make_op("op", build={"libraries": ["notthere"]})
        self.failure(run("build", op), 1, "libnotthere.so", "link_flags")

    def test_module_without_its_init_function(self, run, make_op):
        op = make_op("op", op={"kind": "pybind"})
        self.failure(run("build", op), 1, "PyInit_op")

    def test_a_copy_of_libstdcxx_in_what_torch_loads_is_named(self, run, make_op):
        # What a copied GCC does, whose libstdc++.so is a link that leads nowhere.
        source = """
            #include <sstream>
            extern "C" int digits(long number) { std::ostringstream text; text << number; return text.str().size(); }
        """
        def made(abi, **build):
            return make_op("op", sources={"op.cpp": source}, op={"abi": abi},
                           build={"libraries": [":libstdc++.a"], **build})

        self.failure(run("build", made("torch")), 1, "it holds a copy of libstdc++, and torch brings another")
        assert run("build", made("torch", link_flags=["-static-libstdc++"])).rc == 0
        assert run("build", made("none")).rc == 0

    def test_flag_that_runs_a_program(self, run, make_op):
        op = make_op("op", build={"link_flags": ["-Wl,--error-handling-script=./evil.sh"]})
        self.failure(run("build", op), 2, "dcuop.toml:", "--error-handling-script")

    def test_unwritable_cache(self, run, op):
        self.failure(run("build", op, env={"DCUOP_CACHE_DIR": "/proc/cache"}), 3, "/proc/cache", "DCUOP_CACHE_DIR")

    def test_python_that_is_none(self, run, make_op, tmp_path):
        op = make_op("op", op={"kind": "pybind"})
        self.failure(run("build", op, "--python", "/bin/true"), 3, "/bin/true")

    def test_unknown_option_and_no_command(self, run):
        self.failure(run("build", "--nonsense"), 2, "--nonsense", "--help")
        self.failure(run(), 2, "--help")

    def test_the_linkers_own_words_go_before_the_drivers(self, run, make_op):
        twice = make_op("twice", sources={"a.cpp": 'extern "C" int f() { return 1; }\n',
                                          "b.cpp": 'extern "C" int f() { return 2; }\n'})
        error = run("build", twice, "--json").op["error"]
        assert "multiple definition of `f'" in error["message"] and "collect2" not in error["message"]
        assert "define f:" in error["hint"]
        manifest = twice / "dcuop.toml"
        (twice / "b.cpp").write_text("int g();\n")
        (twice / "broken.so").write_text("no library\n")
        manifest.write_text(manifest.read_text() + f'link_flags = ["-L{twice}", "-l:broken.so"]\n')
        result = run("build", twice, "--json")
        message = result.op["error"]["message"]
        assert "broken.so" in message.splitlines()[1] and "ld:" in message.splitlines()[1], message

    def test_errors_are_json_too(self, run, op):
        result = run("build", "nonsense", "--json")
        assert result.json["error"]["exit_code"] == result.rc == 2


@pytest.mark.parametrize("command", ["build", "key", "explain", "list", "clean", "cache", "doctor", "rule", "env", "config"])
def test_help_has_examples(run, command):
    result = run(command, "--help")
    assert result.rc == 0
    assert "Examples:" in result.stdout and f"dcuop {command}" in result.stdout
