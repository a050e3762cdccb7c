"""Inputs that no depfile names, and changes that no content shows: what only the kernel sees."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest
from changed_inputs import QUOTES, READS, build, changed, value, write

CALLS = 'extern "C" int from_library(); extern "C" int value() { return from_library(); }\n'
BLOB = 'extern "C" const char blob[];\nextern "C" int value() { return blob[0] - \'0\'; }\n'
CLANG = {"CXX": "clang++-15"}


# __has_include ------------------------------------------------------------------------------------------------------

ASKS = '#if ASKED\n#define VALUE 2\n#else\n#define VALUE 1\n#endif\nextern "C" int value() { return VALUE; }\n'


class TestHasInclude:
    """The header is only asked for, as most code does (#if __has_include(<x>) #define HAVE_X): the list of files that
    are read is the same before and after."""

    @pytest.mark.parametrize("before, asked", [
        ("", '__has_include("optional.h")'),
        ("", '__has_include("sub/optional.h")'),  # sub exists, and nothing in it is read
        ("", '__has_include(<sub/optional.h>)'),
        ("#define OPTIONAL \"optional.h\"\n", "__has_include(OPTIONAL)"),
        ("#define HAS(x) __has_include(x)\n", 'HAS("optional.h")'),
        ("", '__has_include \\\n ("optional.h")'),
    ])
    def test_appears(self, run, make_op, tmp_path, before, asked):
        op = make_op("op", files={"sub/readme": ""}, build={"include_dirs": ["."]})
        write(op / "op.cpp", before + ASKS.replace("ASKED", asked))
        changed(run, op, lambda: write(op / ("sub/optional.h" if "sub" in asked else "optional.h"), ""), tmp_path)

    def test_disappears(self, run, make_op, tmp_path):
        op = make_op("op", files={"optional.h": ""})
        write(op / "op.cpp", ASKS.replace("ASKED", '!__has_include("optional.h")'))
        changed(run, op, (op / "optional.h").unlink, tmp_path)

    def test_absolute(self, run, make_op, tmp_path):
        op = make_op("op")
        write(op / "op.cpp", ASKS.replace("ASKED", f'__has_include("{tmp_path}/optional.h")'))
        changed(run, op, lambda: write(tmp_path / "optional.h", ""), tmp_path)

    def test_subdirectory_then_included(self, run, make_op, tmp_path):
        op = make_op("op", files={"sub/readme": ""}, sources={"op.cpp": """
            #if __has_include("sub/optional.h")
            #include "sub/optional.h"
            #else
            #define VALUE 1
            #endif
            extern "C" int value() { return VALUE; }
        """})
        changed(run, op, lambda: write(op / "sub/optional.h", "#define VALUE 2\n"), tmp_path)

    def test_directory_becomes_a_header(self, run, make_op, tmp_path):
        op = make_op("op")
        write(op / "op.cpp", ASKS.replace("ASKED", '__has_include("optional.h")'))
        (op / "optional.h").mkdir()
        changed(run, op, lambda: ((op / "optional.h").rmdir(), write(op / "optional.h", "")), tmp_path)


# Search path: the same names, other files ---------------------------------------------------------------------------


class TestSameName:
    @pytest.fixture
    def op(self, make_op):
        return make_op("op", sources={"op.cpp": READS.replace("value.h", "lib/value.h")},
                       files={"second/lib/value.h": "#define VALUE 1\n", "first/readme": ""},
                       build={"include_dirs": ["first", "second"]})

    def test_dangling_link_to_a_header_gets_a_target(self, run, op, tmp_path):
        (op / "first/lib").mkdir()
        (op / "first/lib/value.h").symlink_to(tmp_path / "generated.h")
        changed(run, op, lambda: write(tmp_path / "generated.h", "#define VALUE 2\n"), tmp_path)

    def test_dangling_link_to_a_directory_gets_a_target(self, run, op, tmp_path):
        (op / "first/lib").symlink_to(tmp_path / "generated")
        changed(run, op, lambda: write(tmp_path / "generated/value.h", "#define VALUE 2\n"), tmp_path)

    def test_linked_directory_is_retargeted(self, run, op, tmp_path):
        (tmp_path / "empty").mkdir()
        (op / "first/lib").symlink_to(tmp_path / "empty")
        write(tmp_path / "full/value.h", "#define VALUE 2\n")

        def retarget():
            (op / "first/lib").unlink()
            (op / "first/lib").symlink_to(tmp_path / "full")

        changed(run, op, retarget, tmp_path)

    def test_directory_becomes_a_header(self, run, op, tmp_path):
        (op / "first/lib/value.h").mkdir(parents=True)
        changed(run, op, lambda: ((op / "first/lib/value.h").rmdir(), write(op / "first/lib/value.h", "#define VALUE 2\n")),
                tmp_path)

    def test_file_becomes_a_directory(self, run, op, tmp_path):
        write(op / "first/lib", "")
        changed(run, op, lambda: ((op / "first/lib").unlink(), write(op / "first/lib/value.h", "#define VALUE 2\n")), tmp_path)

    @pytest.mark.parametrize("compiler", ["g++", "clang++-15"])
    def test_search_directory_was_a_file(self, run, op, tmp_path, compiler):
        shutil.rmtree(op / "first")
        write(op / "first", "")
        manifest = op / "dcuop.toml"
        manifest.write_text(manifest.read_text().replace('include_dirs = ["first", "second"]', 'cxx_flags = ["-Ifirst", "-Isecond"]'))
        changed(run, op, lambda: ((op / "first").unlink(), write(op / "first/lib/value.h", "#define VALUE 2\n")), tmp_path,
                env={"CXX": compiler})


class TestResolvedPaths:
    def test_linked_system_directory_is_retargeted(self, run, make_op, tmp_path):
        """gcc writes a system header's canonical path into the depfile when that is shorter
        (-fcanonical-system-headers): the link that led there is not in it."""
        op = make_op("op", sources={"op.cpp": READS},
                     build={"cxx_flags": ["-isystem", f"{tmp_path}/the-current-version-of-the-headers"]})
        link = tmp_path / "the-current-version-of-the-headers"
        for number in (1, 2):
            write(tmp_path / f"v{number}/value.h", f"#define VALUE {number}\n")
        link.symlink_to(tmp_path / "v1")
        changed(run, op, lambda: (link.unlink(), link.symlink_to(tmp_path / "v2")), tmp_path)

    def test_parent_of_a_link_that_is_retargeted(self, run, make_op, tmp_path):
        for number in (1, 2):
            write(tmp_path / f"v{number}/value.h", f"#define VALUE {number}\n")
            (tmp_path / f"v{number}/inside").mkdir()
        op = make_op("op", sources={"op.cpp": QUOTES.replace("value.h", "link/../value.h")}, files={"value.h": "#define VALUE 7\n"})
        (op / "link").symlink_to(tmp_path / "v1/inside")
        changed(run, op, lambda: ((op / "link").unlink(), (op / "link").symlink_to(tmp_path / "v2/inside")), tmp_path)

    @pytest.mark.parametrize("define, flags", [('#define COMMON "../common/value.h"\n', []), ("", ['-DCOMMON="../common/value.h"'])])
    def test_upward_include_through_a_macro(self, run, make_op, tmp_path, define, flags):
        op = make_op("op", sources={"src/deep/op.cpp": define + '#include COMMON\nextern "C" int value() { return VALUE; }\n'},
                     files={"inc/readme": "", "common/value.h": "#define VALUE 1\n"},
                     build={"include_dirs": ["inc"], "cxx_flags": flags})
        changed(run, op, lambda: write(op / "src/common/value.h", "#define VALUE 2\n"), tmp_path)

    def test_absolute_include_of_the_checkout_that_was_copied(self, run, make_op, tmp_path):
        """The copy's source names the original's header; the key must not take the copy's for it."""
        op = make_op("op", sources={"op.cpp": QUOTES.replace("value.h", f"{tmp_path}/ops/op/value.h")},
                     files={"value.h": "#define VALUE 1\n"})
        build(run, op)
        copy = tmp_path / "copy/op"
        shutil.copytree(op, copy)
        changed(run, copy, lambda: write(op / "value.h", "#define VALUE 2\n"), tmp_path)


# What no depfile tells ----------------------------------------------------------------------------------------------


class TestAssembler:
    @pytest.mark.parametrize("before, directive, first, second", [
        ("", '.include \\"blob\\"', ".byte 0x31\n", ".byte 0x32\n"),
        ("", '.INCBIN \\"blob\\"', "1", "2"),  # gas takes directives in any case
        ('#define D(x) "." #x\n', '" D(incbin) " \\"blob\\"', "1", "2"),
    ])
    def test_directive(self, run, make_op, tmp_path, before, directive, first, second):
        op = make_op("op", files={"blob": first})
        write(op / "op.cpp", before + f'asm(".section .rodata\\n.global blob\\nblob: {directive}\\n.previous");\n' + BLOB)
        changed(run, op, lambda: write(op / "blob", second), tmp_path)

    def test_file_for_the_assembler(self, run, make_op, tmp_path):
        text = ".section .rodata\n.global blob\nblob: .byte 0x3{}\n.text\n"
        op = make_op("op", sources={"op.cpp": BLOB}, files={"blob.s": text.format(1)}, build={"cxx_flags": ["-Wa,blob.s"]})
        changed(run, op, lambda: write(op / "blob.s", text.format(2)), tmp_path)


class TestPrecompiledHeader:
    """Nobody asked for it: the compiler takes value.h.gch, or forced.h.pch, when it lies there."""

    def compile_header(self, op, number):
        write(op / "value.h", f"#define VALUE {number}\n")
        subprocess.run(["g++", "-fPIC", "-O3", "-std=c++17", "-x", "c++-header", "value.h", "-o", "value.h.gch"], cwd=op, check=True)
        write(op / "value.h", "#define VALUE 1\n")

    def test_appears(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": QUOTES}, files={"value.h": "#define VALUE 1\n"})
        changed(run, op, lambda: self.compile_header(op, 2), tmp_path)

    def test_is_replaced(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": QUOTES})
        self.compile_header(op, 1)
        changed(run, op, lambda: self.compile_header(op, 2), tmp_path)

    def test_of_a_forced_include(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return VALUE; }\n'},
                     files={"forced.h": "#define VALUE 1\n", "other.h": "#define VALUE 2\n"},
                     build={"cxx_flags": ["-include", "forced.h", "-Xclang", "-fno-validate-pch"]})
        command = ["clang++-15", "-O3", "-fPIC", "-std=c++17", "-x", "c++-header", "-o", "forced.h.pch", "other.h"]
        changed(run, op, lambda: subprocess.run(command, cwd=op, check=True), tmp_path, env=CLANG)


def make_library(directory: Path, number: int, name: str = "libfrom.a") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    write(directory / "from.c", f"int from_library(void) {{ return {number}; }}\n")
    subprocess.run(["gcc", "-c", "-fPIC", "-o", "from.o", "from.c"], cwd=directory, check=True)
    if not (directory / name).exists():
        subprocess.run(["ar", "rcsT" if "thin" in name else "rcs", name, "from.o"], cwd=directory, check=True)


class TestLink:
    def test_dangling_link_to_a_library_gets_a_target(self, run, make_op, tmp_path):
        (tmp_path / "one").mkdir()
        (tmp_path / "one/libfrom.a").symlink_to(tmp_path / "later/libfrom.a")
        make_library(tmp_path / "two", 1)
        op = make_op("op", sources={"op.cpp": CALLS},
                     build={"link_flags": [f"-L{tmp_path}/one", f"-L{tmp_path}/two"], "libraries": ["from"]})
        changed(run, op, lambda: make_library(tmp_path / "later", 2), tmp_path)

    def test_directory_of_library_path_appears(self, run, make_op, tmp_path):
        """gcc gives ld only those directories of LIBRARY_PATH that exist."""
        make_library(tmp_path / "two", 1)
        op = make_op("op", sources={"op.cpp": CALLS}, build={"libraries": ["from"]})
        changed(run, op, lambda: make_library(tmp_path / "one", 2), tmp_path,
                env={"LIBRARY_PATH": f"{tmp_path}/one:{tmp_path}/two"})

    def test_member_of_a_thin_archive(self, run, make_op, tmp_path):
        make_library(tmp_path / "two", 1, "libthin.a")
        op = make_op("op", sources={"op.cpp": CALLS}, build={"link_flags": [f"-L{tmp_path}/two"], "libraries": ["thin"]})
        changed(run, op, lambda: make_library(tmp_path / "two", 2, "libthin.a"), tmp_path)


# Changes while it is built, by files that are older than the build --------------------------------------------------


class TestMeanwhile:
    """The compiler is a script that waits, behind the real one, until somebody else has changed something: a rename or a
    link brings old change times with it."""

    def compiler(self, tmp_path, when):
        script = tmp_path / "waiting-c++"
        script.write_text(f"""#!/bin/sh
/usr/bin/g++ "$@" || exit
case " $* " in *" {when} "*)
  [ -e '{tmp_path}/changed' ] || {{ : > '{tmp_path}/waiting'; until [ -e '{tmp_path}/changed' ]; do sleep 0.02; done; }} ;;
esac
""")
        script.chmod(0o755)
        return {"CXX": str(script)}

    def check(self, run, op, tmp_path, change, when="-c -o"):
        env = self.compiler(tmp_path, when)

        def wait_and_change():
            while not (tmp_path / "waiting").exists():
                time.sleep(0.02)
            change()
            (tmp_path / "changed").touch()

        changer = threading.Thread(target=wait_and_change)
        changer.start()
        first = build(run, op, env=env)
        changer.join()
        assert any("changed while it was being" in remark for remark in first.op["remarks"]), str(first)
        result = build(run, op, env=env)
        assert value(result) == 2, f"wrong: {result.op['status']}"

    def test_link_is_retargeted(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": QUOTES}, files={"v1.h": "#define VALUE 1\n", "v2.h": "#define VALUE 2\n"})
        (op / "value.h").symlink_to("v1.h")
        self.check(run, op, tmp_path, lambda: ((op / "value.h").unlink(), (op / "value.h").symlink_to("v2.h")))

    def test_directory_is_swapped(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": READS}, files={"inc/value.h": "#define VALUE 1\n", "new/value.h": "#define VALUE 2\n"},
                     build={"include_dirs": ["inc"]})
        self.check(run, op, tmp_path, lambda: ((op / "inc").rename(op / "old"), (op / "new").rename(op / "inc")))

    def test_header_appears_before_the_one_that_was_read(self, run, make_op, tmp_path):
        op = make_op("op", sources={"op.cpp": READS}, files={"first/readme": "", "second/value.h": "#define VALUE 1\n"},
                     build={"include_dirs": ["first", "second"]})
        self.check(run, op, tmp_path, lambda: write(op / "first/value.h", "#define VALUE 2\n"))

    def test_optional_header_appears(self, run, make_op, tmp_path):
        op = make_op("op")
        write(op / "op.cpp", ASKS.replace("ASKED", '__has_include("optional.h")'))
        self.check(run, op, tmp_path, lambda: write(op / "optional.h", ""))

    def test_library_appears_before_the_one_that_was_linked(self, run, make_op, tmp_path):
        (tmp_path / "one").mkdir()
        make_library(tmp_path / "two", 1)
        make_library(tmp_path / "three", 2)
        op = make_op("op", sources={"op.cpp": CALLS},
                     build={"link_flags": [f"-L{tmp_path}/one", f"-L{tmp_path}/two"], "libraries": ["from"]})
        self.check(run, op, tmp_path, lambda: shutil.copy(tmp_path / "three/libfrom.a", tmp_path / "one"), when="-lfrom")


def test_force_gives_what_it_compiled(run, make_op, tmp_path):
    """Whatever a key misses, --force does not serve the old file under the same key: here a compiler that counts its
    calls. A file that it writes itself is no input."""
    script = tmp_path / "counting-c++"
    script.write_text(f"""#!/bin/sh
case " $* " in *" -c -o "*)
  echo x >> '{tmp_path}/log'
  exec g++ "$@" -DVALUE=$(grep -c x '{tmp_path}/log') ;;
esac
exec g++ "$@"
""")
    script.chmod(0o755)
    env = {"CXX": str(script)}
    op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return VALUE; }\n'})
    first = build(run, op, env=env)
    assert value(first) == 1
    assert value(build(run, op, env=env)) == 1
    forced = build(run, op, "--force", env=env)
    assert value(forced) == 2
    assert forced.op["entry"] == first.op["entry"]
    assert "gave other bytes before" in forced.stderr
    assert value(build(run, op, env=env)) == 2
    assert run("cache", "verify").rc == 0


# The compiler itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ['exec g++ $(cat "$0".d/flags) "$@"', 'exec "$0".d/real "$@"'])
def test_compiler_script_that_reads_another_directory(run, make_op, tmp_path, line):
    """Helper scripts are only looked for beside the script, by name."""
    op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return VALUE; }\n'})
    script = tmp_path / "bin/my-c++"
    write(script, f"#!/bin/sh\n{line}\n")
    script.chmod(0o755)

    def set_value(number):
        write(tmp_path / "bin/my-c++.d/flags", f"-DVALUE={number}\n")
        write(tmp_path / "bin/my-c++.d/real", f'#!/bin/sh\nexec g++ -DVALUE={number} "$@"\n')
        (tmp_path / "bin/my-c++.d/real").chmod(0o755)

    set_value(1)
    changed(run, op, lambda: set_value(2), tmp_path, env={"CXX": str(script)})
