"""Names that lead elsewhere: links, mounts, /proc, the order of PATH, permissions, directories that are listed.
For `make full` (DCUOP_FULL=1)."""

from __future__ import annotations

import os
import shutil

import pytest
from changed_inputs import (  # noqa: F401
    QUOTES,
    READS,
    build,
    changed,
    full_only,
    nobody,
    plain_op,
    program,
    quoting_op,
    script,
    write,
)
from conftest import ARCH
from odd_programs import SHOW

pytestmark = full_only

#: Read twice, __COUNTER__ is 2 afterwards.
ONCE = '#pragma once\nstatic_assert(__COUNTER__ >= 0, "");\n'


@pytest.mark.parametrize("farm", ["$TMPDIR/farm", "{tmp}/farm", "farm"])
def test_symlink_farm(run, quoting_op, tmp_path, farm):
    farm = farm.replace("{tmp}", str(tmp_path))
    write(tmp_path / "real/v.h", "#define VALUE 1\n")
    (quoting_op / "value.h").unlink()
    env = script(
        tmp_path / "bin/c++", f'mkdir -p "{farm}"; ln -sf {tmp_path}/real/v.h "{farm}/value.h"; exec g++ -I"{farm}" "$@"\n'
    )
    changed(run, quoting_op, lambda: write(tmp_path / "real/v.h", "#define VALUE 2\n"), tmp_path, env)


def test_symlink_farm_removed_at_the_end(run, quoting_op, tmp_path):
    write(tmp_path / "real/v.h", "#define VALUE 1\n")
    (quoting_op / "value.h").unlink()
    plant = f'farm=$TMPDIR/farm; mkdir -p "$farm"; ln -sf {tmp_path}/real/v.h "$farm/value.h"'
    env = script(tmp_path / "bin/c++", f'{plant}; g++ -I"$farm" "$@"; r=$?; rm -r "$farm"; exit $r\n')
    changed(run, quoting_op, lambda: write(tmp_path / "real/v.h", "#define VALUE 2\n"), tmp_path, env)


def test_proc_self_cwd(run, make_op, tmp_path):
    op = make_op(
        "op",
        sources={"op.cpp": READS},
        files={"inc/value.h": "#define VALUE 1\n"},
        build={"cxx_flags": ["-I/proc/self/cwd/inc"]},
    )
    changed(run, op, lambda: write(op / "inc/value.h", "#define VALUE 2\n"), tmp_path)


def test_proc_self_cwd_include(run, make_op, tmp_path):
    op = make_op(
        "op",
        sources={"op.cpp": QUOTES.replace("value.h", "/proc/self/cwd/inc/value.h")},
        files={"inc/value.h": "#define VALUE 1\n"},
    )
    changed(run, op, lambda: write(op / "inc/value.h", "#define VALUE 2\n"), tmp_path)


@pytest.mark.parametrize("options", ["-m", "-rm"])
def test_bind_mount_of_its_own(run, plain_op, tmp_path, options):
    write(tmp_path / "a/flags", "-DVALUE=1")
    (tmp_path / "mnt").mkdir()
    inside = f'mount --bind {tmp_path}/a {tmp_path}/mnt && exec g++ $(cat {tmp_path}/mnt/flags) "$@"'
    env = script(tmp_path / "bin/c++", f"exec unshare {options} sh -c '{inside}' sh \"$@\"\n")
    changed(run, plain_op, lambda: write(tmp_path / "a/flags", "-DVALUE=2"), tmp_path, env)


def test_chroot(run, plain_op, tmp_path):
    root = tmp_path / "root"
    write(root / "etc2/flags", "-DVALUE=1")
    program(root / "bin/show", SHOW, "-static")
    env = script(tmp_path / "bin/c++", f'exec g++ $(/usr/sbin/chroot {root} /bin/show /etc2/flags) "$@"\n')
    changed(run, plain_op, lambda: write(root / "etc2/flags", "-DVALUE=2"), tmp_path, env)


@pytest.mark.parametrize("cxx", ["g++", "clang++-15"])
@pytest.mark.parametrize("link", ["symlink", "hard"])
def test_pragma_once_link_becomes_copy(run, make_op, tmp_path, cxx, link):
    op = make_op(
        "op",
        sources={"op.cpp": '#include "a.h"\n#include "b.h"\nextern "C" int value() { return __COUNTER__; }\n'},
        files={"a.h": ONCE},
    )
    if link == "symlink":
        (op / "b.h").symlink_to("a.h")
    else:
        os.link(op / "a.h", op / "b.h")

    def change():
        t = (op / "a.h").read_text()
        (op / "b.h").unlink()
        write(op / "b.h", t)
        os.utime(op / "b.h", (1, 1))

    changed(run, op, change, tmp_path, {"CXX": cxx})


def test_pragma_once_linked_directory_becomes_a_copy(run, make_op, tmp_path):
    """A directory that was a link becomes a copy."""
    op = make_op(
        "op",
        sources={"op.cpp": '#include "d/a.h"\n#include "e/a.h"\nextern "C" int value() { return __COUNTER__; }\n'},
        files={"d/a.h": ONCE},
    )
    (op / "e").symlink_to("d")
    changed(
        run, op, lambda: ((op / "e").unlink(), shutil.copytree(op / "d", op / "e"), os.utime(op / "e/a.h", (1, 1))), tmp_path
    )


def test_exec_bit(run, plain_op, tmp_path):
    script(tmp_path / "hook", "echo -DVALUE=2\n", 0o644)
    env = script(
        tmp_path / "bin/c++", f'if [ -x {tmp_path}/hook ]; then f=$({tmp_path}/hook); else f=-DVALUE=1; fi; exec g++ $f "$@"\n'
    )
    changed(run, plain_op, lambda: (tmp_path / "hook").chmod(0o755), tmp_path, env)


def test_exec_bit_on_path(run, plain_op, tmp_path):
    script(tmp_path / "p1/my-real", 'exec g++ -DVALUE=2 "$@"\n', 0o644)
    script(tmp_path / "p2/my-real", 'exec g++ -DVALUE=1 "$@"\n')
    env = {**script(tmp_path / "bin/c++", 'exec my-real "$@"\n'), "PATH": f"{tmp_path}/p1:{tmp_path}/p2:/usr/bin:/bin"}
    changed(run, plain_op, lambda: (tmp_path / "p1/my-real").chmod(0o755), tmp_path, env)


def test_path_order_picks_other_gxx(run, plain_op, tmp_path):
    for n in (1, 2):
        script(tmp_path / f"p{n}/my-real-c++", f'exec g++ -DVALUE={n} "$@"\n')
    env = script(tmp_path / "bin/c++", 'exec my-real-c++ "$@"\n')
    base = "/usr/bin:/bin"
    changed(run, plain_op, lambda: None, tmp_path, {**env, "PATH": f"{tmp_path}/p1:{base}"}, {**env, "PATH": f"{tmp_path}/p2:{base}"})


def test_path_order_of_a_shebang(run, plain_op, tmp_path):
    """#!/usr/bin/env NAME, as hipcc's perl."""
    for n in (1, 2):
        script(tmp_path / f"p{n}/myinterp", f'shift; exec g++ -DVALUE={n} "$@"\n')
    cl = tmp_path / "bin/c++"
    write(cl, "#!/usr/bin/env myinterp\n")
    cl.chmod(0o755)
    changed(
        run,
        plain_op,
        lambda: None,
        tmp_path,
        {"CXX": str(cl), "PATH": f"{tmp_path}/p1:/usr/bin:/bin"},
        {"CXX": str(cl), "PATH": f"{tmp_path}/p2:/usr/bin:/bin"},
    )


def test_directory_whose_path_is_longer_than_path_max(run, plain_op, tmp_path):
    top = tmp_path / "deep"
    top.mkdir()
    name = "x" * 250
    here = os.open(top, os.O_RDONLY)
    for _ in range(20):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below

    def put(number):
        file = os.open("flags", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=here)
        os.write(file, b"-DVALUE=%d" % number)
        os.close(file)

    put(1)
    compiler = tmp_path / "bin/c++"
    write(
        compiler,
        f"""#!/usr/bin/python3
import os, sys
back = os.open(".", os.O_RDONLY); os.chdir({str(top)!r})
for i in range(20): os.chdir("{name}")
flags = open("flags").read(); os.chdir(back)
os.execv("/usr/bin/g++", ["g++", flags, *sys.argv[1:]])
""",
    )
    compiler.chmod(0o755)
    changed(run, plain_op, lambda: put(2), tmp_path, {"CXX": str(compiler)})
    os.close(here)


def test_directory_that_may_be_searched_but_not_listed(nobody, make_op, tmp_path):
    op = make_op("op", sources={"op.cpp": READS}, build={"cxx_flags": [f"-I{tmp_path}/first", f"-I{tmp_path}/second"]})
    (tmp_path / "first").mkdir()
    (tmp_path / "first").chmod(0o711)
    write(tmp_path / "second/value.h", "#define VALUE 1\n")
    changed(
        nobody,
        op,
        lambda: (write(tmp_path / "first/value.h", "#define VALUE 2\n"), (tmp_path / "first/value.h").chmod(0o644)),
        nobody.base,
    )


def test_workspace_is_a_link_and_cache_behind_links(run, make_op, tmp_path):
    sources, headers = {"op.cpp": READS}, {"inc/value.h": "#define VALUE 1\n"}
    make_op("op", sources=sources, files=headers, build={"include_dirs": ["inc"]})
    op = tmp_path / "ops-link" / "op"
    op.parent.symlink_to(tmp_path / "ops")
    cache, scratch, real = tmp_path / "cache-link", tmp_path / "scratch-link", tmp_path / "real-cache"
    real.mkdir()
    cache.symlink_to(real)
    scratch.symlink_to(tmp_path / "scratch")
    env = {"DCUOP_CACHE_DIR": str(cache / "sub"), "TMPDIR": str(scratch)}
    first = build(run, op, env=env)
    assert first.op["status"] == "built" and not first.op["remarks"], str(first)
    assert build(run, op, env=env).op["status"] == "hit"
    moved = real.rename(tmp_path / "moved-cache")
    cache.unlink()
    cache.symlink_to(moved)
    assert build(run, op, env=env).op["status"] == "hit"


def test_cache_behind_a_link_gives_the_same_entry(run, make_op, tmp_path):
    """The link step's look-ups name the cache's own directories when the cache lies behind a link."""
    op = make_op("op")
    entries = []
    for n in (1, 2):
        (tmp_path / f"real{n}").mkdir()
        (tmp_path / f"cache{n}").symlink_to(tmp_path / f"real{n}")
        entries.append(build(run, op, env={"DCUOP_CACHE_DIR": str(tmp_path / f"cache{n}")}).op["entry"])
    assert entries[0] == entries[1]


@pytest.mark.parametrize("what", ["appears", "pragma", "proc"])
def test_hip(run, make_op, tmp_path, what):
    src = {
        "appears": "#include <value.h>\n",
        "pragma": '#include "a.h"\n#include "b.h"\n#define VALUE __COUNTER__\n',
        "proc": '#include "/proc/self/cwd/second/value.h"\n',
    }[what]
    op = make_op(
        "fill",
        files={
            "first/readme": "",
            "second/value.h": "#define VALUE 1\n",
            "a.h": ONCE,
        },
        build={"include_dirs": ["first", "second"]},
        sources={"fill.hip": src + 'extern "C" int value() { return VALUE; }\n'},
    )
    (op / "b.h").symlink_to("a.h")

    def change():
        if what == "appears":
            write(op / "first/value.h", "#define VALUE 2\n")
        elif what == "proc":
            write(op / "second/value.h", "#define VALUE 2\n")
        else:
            t = (op / "a.h").read_text()
            (op / "b.h").unlink()
            write(op / "b.h", t)

    changed(run, op, change, tmp_path, arguments=("--arch", ARCH))


def test_mkdir_p_then_list(run, plain_op, tmp_path):
    d = tmp_path / "conf.d"
    write(d / "a.h", "#define VALUE 1\n")
    env = script(tmp_path / "bin/c++", f'mkdir -p {d}; for f in $(ls {d}); do a="$a -include {d}/$f"; done; exec g++ $a "$@"\n')
    changed(run, plain_op, lambda: write(d / "b.h", "#undef VALUE\n#define VALUE 2\n"), tmp_path, env)
