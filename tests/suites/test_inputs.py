"""Every file that a build reads is in its key: change one, expect exactly a miss or a hit, and the right code.

The functions return what the headers say, so a stale object is seen by calling it, not only by a status.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import time
from pathlib import Path

import pytest

READS_HEADER = """
    #include "value.h"
    extern "C" int value() { return VALUE; }
"""
OTHER_UNIT = """
    extern "C" int other() { return 7; }
"""


@pytest.fixture
def op(make_op):
    return make_op("op", sources={"a.cpp": READS_HEADER, "b.cpp": OTHER_UNIT}, files={"value.h": "#define VALUE 1\n"})


def build(run, op, *arguments, **kwargs):
    result = run("build", op, "--json", *arguments, **kwargs)
    assert result.rc == 0, str(result)
    return result


def value(result, function="value"):
    # A path that was loaded before would give the old handle: entries never share a path, so it is a new one.
    return getattr(ctypes.CDLL(result.op["path"]), function)()


def replace_keeping_mtime(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_second_build_is_a_hit_and_starts_nothing(run, op):
    first = build(run, op)
    second = build(run, op)
    assert (first.op["status"], second.op["status"]) == ("built", "hit")
    assert second.json["processes_started"] == 0
    assert second.op["path"] == first.op["path"]


def test_header_edited_with_an_old_mtime(run, op):
    build(run, op)
    replace_keeping_mtime(op / "value.h", "#define VALUE 2\n")
    result = build(run, op)
    assert result.op["status"] == "built"
    assert result.compiled() == ["a.cpp"]
    assert result.op["reason"] == "value.h changed"
    assert value(result) == 2


def test_header_touched_only(run, op):
    build(run, op)
    os.utime(op / "value.h")
    assert build(run, op).op["status"] == "hit"


def test_header_edited_back_is_a_hit(run, op):
    first = build(run, op)
    (op / "value.h").write_text("#define VALUE 2\n")
    assert value(build(run, op)) == 2
    (op / "value.h").write_text("#define VALUE 1\n")
    third = build(run, op)
    assert third.op["status"] == "hit"
    assert third.op["entry"] == first.op["entry"]
    assert value(third) == 1


def test_transitive_header(run, make_op):
    op = make_op(
        "op",
        sources={"a.cpp": READS_HEADER},
        files={"value.h": '#include "deep/inner.h"\n', "deep/inner.h": "#define VALUE 1\n"},
    )
    build(run, op)
    (op / "deep/inner.h").write_text("#define VALUE 5\n")
    assert value(build(run, op)) == 5


def test_source_edited_compiles_it_alone(run, op):
    build(run, op)
    (op / "b.cpp").write_text('extern "C" int other() { return 8; }\n')
    result = build(run, op)
    assert result.compiled() == ["b.cpp"]
    assert result.op["reason"] == "b.cpp changed"
    assert value(result, "other") == 8


def test_source_renamed(run, op):
    build(run, op)
    (op / "b.cpp").rename(op / "c.cpp")
    manifest = op / "dcuop.toml"
    manifest.write_text(manifest.read_text().replace("b.cpp", "c.cpp"))
    result = build(run, op)
    assert result.op["status"] == "built"
    assert result.compiled() == ["c.cpp"]


def test_equal_names_in_two_directories_do_not_mix(run, make_op, tmp_path):
    one = make_op("same", sources={"a.cpp": 'extern "C" int value() { return 1; }\n'})
    two = tmp_path / "elsewhere" / "same"
    shutil.copytree(one, two)
    (two / "a.cpp").write_text('extern "C" int value() { return 2; }\n')
    assert [value(build(run, one)), value(build(run, two)), value(build(run, one))] == [1, 2, 1]


def test_moved_checkout_is_a_hit(run, make_op, tmp_path):
    op = make_op("op", sources={"src/a.cpp": READS_HEADER.replace("value.h", "../include/value.h")},
                 files={"include/value.h": "#define VALUE 1\n"})
    first = build(run, op)
    moved = tmp_path / "a path with spaces" / "op"
    moved.parent.mkdir()
    shutil.move(str(op), moved)
    second = build(run, moved)
    assert second.op["status"] == "hit"
    assert second.op["entry"] == first.op["entry"]


class TestSearchPath:
    """Two include directories; the header is in the second one."""

    @pytest.fixture
    def op(self, make_op):
        op = make_op(
            "op",
            sources={"a.cpp": "#include <lib/value.h>\n" + 'extern "C" int value() { return VALUE; }\n'},
            files={"second/lib/value.h": "#define VALUE 1\n", "first/readme.txt": ""},
            build={"include_dirs": ["first", "second"]},
        )
        return op

    def test_new_header_that_shadows(self, run, op):
        build(run, op)
        (op / "first/lib").mkdir()
        (op / "first/lib/value.h").write_text("#define VALUE 2\n")
        result = build(run, op)
        assert result.op["status"] == "built"
        assert value(result) == 2

    def test_shadowing_header_taken_away_again(self, run, op):
        first = build(run, op)
        (op / "first/lib").mkdir()
        (op / "first/lib/value.h").write_text("#define VALUE 2\n")
        build(run, op)
        shutil.rmtree(op / "first/lib")
        third = build(run, op)
        assert third.op["entry"] == first.op["entry"]
        assert value(third) == 1

    def test_unrelated_new_file_is_a_hit_without_a_compiler(self, run, op):
        build(run, op)
        (op / "first/.value.h.swp").write_text("an editor's")
        (op / "second/lib/notes.txt").write_text("")
        result = build(run, op)
        assert result.op["status"] == "hit"
        assert result.json["processes_started"] == 0

    def test_name_that_an_include_could_mean_but_does_not(self, run, op):
        """A directory lib without value.h: the compiler is asked for its headers, nothing is compiled."""
        first = build(run, op)
        (op / "first/lib").mkdir()
        result = build(run, op)
        assert result.op["status"] == "hit"
        assert result.compiled() == []
        assert result.op["entry"] == first.op["entry"]
        again = build(run, op)
        assert again.json["processes_started"] == 0


def test_has_include(run, make_op):
    op = make_op("op", sources={"a.cpp": """
        #if __has_include("optional.h")
        #include "optional.h"
        #else
        #define VALUE 1
        #endif
        extern "C" int value() { return VALUE; }
    """})
    assert value(build(run, op)) == 1
    (op / "optional.h").write_text("#define VALUE 2\n")
    assert value(build(run, op)) == 2


class TestFlags:
    def test_definition_changed_and_changed_back(self, run, make_op):
        source = {"a.cpp": 'extern "C" int value() { return X; }\n'}
        entries = []
        for definition in ("-DX=1", "-DX=2", "-DX=1"):
            op = make_op("op", sources=source, build={"cxx_flags": [definition]})
            result = build(run, op)
            entries.append((result.op["status"], value(result), result.op["entry"]))
        assert [entry[:2] for entry in entries] == [("built", 1), ("built", 2), ("hit", 1)]
        assert entries[0][2] == entries[2][2]

    def test_order_counts(self, run, make_op):
        source = {"a.cpp": 'extern "C" int value() { return X; }\n'}
        make_op("op", sources=source, build={"cxx_flags": ["-DX=1", "-UX", "-DX=2"]})
        first = build(run, make_op("op", sources=source, build={"cxx_flags": ["-UX", "-DX=2", "-UX", "-DX=1"]}))
        second = build(run, make_op("op", sources=source, build={"cxx_flags": ["-UX", "-DX=1", "-UX", "-DX=2"]}))
        assert [value(first), value(second)] == [1, 2]

    def test_unknown_flag_is_built_and_not_cached(self, run, make_op):
        op = make_op("op", build={"cxx_flags": ["--param=max-inline-insns-auto=10"]})
        for _ in range(2):
            result = build(run, op)
            assert result.op["status"] == "built"
            assert result.op["cached"] is False
            assert "unknown flag --param" in result.op["remarks"][0]
            assert Path(result.op["path"]).exists()

    def test_version_script_is_read(self, run, make_op):
        op = make_op("op", files={"exports.map": "{ global: scaled; local: *; };\n"},
                     build={"link_flags": ["-Wl,--version-script=exports.map"]})
        first = build(run, op)
        (op / "exports.map").write_text("{ global: *; };\n")
        second = build(run, op)
        assert second.op["status"] == "built"
        assert second.compiled() == []
        assert second.op["entry"] != first.op["entry"]

    def test_forced_include_is_read(self, run, make_op):
        op = make_op("op", sources={"a.cpp": 'extern "C" int value() { return VALUE; }\n'},
                     files={"forced.h": "#define VALUE 1\n"}, build={"cxx_flags": ["-include", "forced.h"]})
        assert value(build(run, op)) == 1
        (op / "forced.h").write_text("#define VALUE 2\n")
        assert value(build(run, op)) == 2

    def test_dates_are_not_cached(self, run, make_op):
        op = make_op("op", sources={"a.cpp": 'extern "C" const char* when() { return __DATE__ " " __TIME__; }\n'})
        first = build(run, op)
        assert first.op["cached"] is False
        time.sleep(1.1)
        second = build(run, op)
        assert second.op["status"] == "built"

        def when(result):
            function = ctypes.CDLL(result.op["path"]).when
            function.restype = ctypes.c_char_p
            return function()

        assert when(first) != when(second)

    def test_incbin_is_not_cached(self, run, make_op):
        op = make_op("op", files={"blob.bin": "A"}, sources={"a.cpp": """
            asm(".section .rodata\\n.global blob\\nblob: .incbin \\"blob.bin\\"\\n.previous");
            extern "C" const char blob[];
            extern "C" int value() { return blob[0]; }
        """})
        assert value(build(run, op)) == ord("A")
        (op / "blob.bin").write_text("B")
        assert value(build(run, op)) == ord("B")


class TestEnvironment:
    @pytest.fixture
    def op(self, make_op, tmp_path):
        for name, number in (("one", 1), ("two", 2)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "outside.h").write_text(f"#define VALUE {number}\n")
        return make_op("op", sources={"a.cpp": '#include <outside.h>\nextern "C" int value() { return VALUE; }\n'})

    @pytest.mark.parametrize("variable", ["CPATH", "CPLUS_INCLUDE_PATH"])
    def test_include_path(self, run, op, tmp_path, variable):
        values = [value(build(run, op, env={variable: str(tmp_path / name)})) for name in ("one", "two", "one")]
        assert values == [1, 2, 1]

    def test_unrelated_variable_is_a_hit(self, run, op, tmp_path):
        build(run, op, env={"CPATH": str(tmp_path / "one")})
        result = build(run, op, env={"CPATH": str(tmp_path / "one"), "EDITOR": "vi", "MAKEFLAGS": "-j8"})
        assert result.op["status"] == "hit"

    def test_other_compiler(self, run, make_op):
        op = make_op("op")
        assert build(run, op, env={"CXX": "g++"}).op["status"] == "built"
        assert build(run, op, env={"CXX": "clang++-15"}).op["status"] == "built"
        assert build(run, op, env={"CXX": "g++"}).op["status"] == "hit"


def test_linked_library_replaced(run, make_op, tmp_path):
    library = make_op("lib", sources={"lib.cpp": 'extern "C" int from_library() { return 1; }\n'})
    directory = tmp_path / "libraries"
    directory.mkdir()

    def place(number):
        (library / "lib.cpp").write_text(f'extern "C" int from_library() {{ return {number}; }}\n')
        shutil.copy(build(run, library).op["path"], directory / "libfrom.so")

    place(1)
    op = make_op("op", sources={"a.cpp": 'extern "C" int from_library(); extern "C" int value() { return from_library(); }\n'},
                 build={"link_flags": [f"-L{directory}", f"-Wl,-rpath,{directory}"], "libraries": ["from"]})
    build(run, op)
    assert build(run, op).op["status"] == "hit"
    place(2)
    result = build(run, op)
    assert result.op["status"] == "built"
    assert result.compiled() == []


def test_file_changed_while_it_is_compiled_is_not_published(run, make_op, tmp_path):
    """The compiler is a script that edits the header after the real one has read it."""
    op = make_op("op", sources={"a.cpp": READS_HEADER}, files={"value.h": "#define VALUE 1\n"})
    editing = tmp_path / "editing-c++"
    editing.write_text(
        "#!/bin/sh\n"
        '/usr/bin/g++ "$@" || exit\n'
        'case " $* " in *" -c -o "*) printf "#define VALUE 9\\n" > ' + f"'{op}/value.h'" + ";; esac\n"
    )
    editing.chmod(0o755)
    result = build(run, op, env={"CXX": str(editing)})
    assert result.op["cached"] is False
    assert any("changed while it was being compiled" in remark for remark in result.op["remarks"])
    assert value(build(run, op)) == 9
