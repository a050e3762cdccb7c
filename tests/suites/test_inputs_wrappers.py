"""Compilers that are scripts, servers and stranger things, and what they depend on. For `make full` (DCUOP_FULL=1).

`changed` builds, changes one thing that the compiler would notice, and expects what a build into an empty cache gives then.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import HIP_SOURCE, Result
from odd_programs import HANDLE, LAUNCH, SPAWN, URING

READS = '#include <value.h>\nextern "C" int value() { return VALUE; }\n'
QUOTES = READS.replace("<value.h>", '"value.h"')
PLAIN = 'extern "C" int value() { return VALUE; }\n'


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(run, op, *a, **k):
    r = run("build", op, "--json", *a, *(("--arch", "gfx906") if Path(op).name == "fill" else ()), **k)
    assert r.rc == 0, str(r)
    return r


def value(result):
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).value())"
    return int(subprocess.run([sys.executable, "-c", code, result.op["path"]], check=True, capture_output=True).stdout)


def changed(run, op, change, tmp_path, env=None, env2=None):
    env = env or {}
    first = build(run, op, env=env)
    assert value(first) == 1
    change()
    env2 = env2 or env
    truth = value(build(run, op, env={**env2, "DCUOP_CACHE_DIR": str(tmp_path / "empty-cache")}))
    assert truth == 2, "the reproduction is wrong"
    result = build(run, op, env=env2)
    assert (
        value(result) == 2
    ), f"wrong: {result.op['status']}, {result.op['reason']}; first: {first.op['status']} {first.op.get('remarks')}"


def again(run, op, env):
    result = build(run, op, env=env)
    assert result.op["status"] == "hit", str(result)


def script(path, body, mode=0o755):
    write(path, "#!/bin/sh\n" + body)
    path.chmod(mode)
    return {"CXX": str(path)}


pytestmark = pytest.mark.skipif("DCUOP_FULL" not in os.environ, reason="make full runs it (DCUOP_FULL=1)")


@pytest.fixture
def op(make_op):
    return make_op("op", sources={"op.cpp": PLAIN})


@pytest.fixture
def hop(make_op):
    return make_op("op", sources={"op.cpp": QUOTES}, files={"value.h": "#define VALUE 1\n"})


def two(tmp_path):
    return lambda: write(tmp_path / "flags", "-DVALUE=2\n")


def cc(path, text, *flags):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-o", path, "-x", "c", "-", *flags], check=True, text=True, input=text)
    return {"CXX": str(path)}


@pytest.fixture
def nobody(dcuop_binary, environment, tmp_path):
    base = Path(tempfile.mkdtemp(prefix="dcuop-nobody-"))
    os.chmod(base, 0o777)
    for d in (tmp_path, *tmp_path.parents):
        if str(d).startswith("/tmp/pytest"):
            d.chmod(0o755)

    def run(*a, env=None, pre=None):
        e = {**environment, "HOME": str(base / "home"), "TMPDIR": str(base), "DCUOP_CACHE_DIR": str(base / "c"), **(env or {})}
        r = subprocess.run(
            [*(pre or []), "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(dcuop_binary), *map(str, a)],
            env=e,
            capture_output=True,
            text=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            timeout=100,
        )
        return Result(list(map(str, a)), r.returncode, r.stdout, r.stderr)

    run.base = base
    yield run
    shutil.rmtree(base)


def test_flock_on_input(run, op, tmp_path):
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $(flock {tmp_path}/flags cat {tmp_path}/flags) "$@"\n')
    changed(run, op, two(tmp_path), tmp_path, env)


def test_read_write_descriptor(run, op, tmp_path):
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec 3<>{tmp_path}/flags; read f <&3; exec g++ $f "$@"\n')
    changed(run, op, two(tmp_path), tmp_path, env)


@pytest.mark.parametrize("farm", ["$TMPDIR/farm", "{tmp}/farm", "farm"])
def test_symlink_farm(run, hop, tmp_path, farm):
    farm = farm.replace("{tmp}", str(tmp_path))
    src = hop / "value.h"
    write(tmp_path / "real/v.h", "#define VALUE 1\n")
    src.unlink()
    env = script(
        tmp_path / "bin/c++", f'mkdir -p "{farm}"; ln -sf {tmp_path}/real/v.h "{farm}/value.h"; exec g++ -I"{farm}" "$@"\n'
    )
    changed(run, hop, lambda: write(tmp_path / "real/v.h", "#define VALUE 2\n"), tmp_path, env)


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


def test_path_order_picks_other_gxx(run, op, tmp_path):
    for n in (1, 2):
        script(tmp_path / f"p{n}/my-real-c++", f'exec g++ -DVALUE={n} "$@"\n')
    env = script(tmp_path / "bin/c++", 'exec my-real-c++ "$@"\n')
    base = "/usr/bin:/bin"
    changed(run, op, lambda: None, tmp_path, {**env, "PATH": f"{tmp_path}/p1:{base}"}, {**env, "PATH": f"{tmp_path}/p2:{base}"})


def test_home(run, op, tmp_path):
    for n in (1, 2):
        write(tmp_path / f"h{n}/flags", f"-DVALUE={n}")
    env = script(tmp_path / "bin/c++", 'exec g++ $(cat $HOME/flags) "$@"\n')
    changed(run, op, lambda: None, tmp_path, {**env, "HOME": f"{tmp_path}/h1"}, {**env, "HOME": f"{tmp_path}/h2"})


def test_unshare_bind(run, op, tmp_path):
    write(tmp_path / "a/flags", "-DVALUE=1")
    (tmp_path / "mnt").mkdir()
    env = script(
        tmp_path / "bin/c++",
        f'exec unshare -m sh -c \'mount --bind {tmp_path}/a {tmp_path}/mnt && exec g++ $(cat {tmp_path}/mnt/flags) "$@"\' sh "$@"\n',
    )
    changed(run, op, lambda: write(tmp_path / "a/flags", "-DVALUE=2"), tmp_path, env)


def test_unshare_user_bind(run, op, tmp_path):
    write(tmp_path / "a/flags", "-DVALUE=1")
    (tmp_path / "mnt").mkdir()
    env = script(
        tmp_path / "bin/c++",
        f'exec unshare -rm sh -c \'mount --bind {tmp_path}/a {tmp_path}/mnt && exec g++ $(cat {tmp_path}/mnt/flags) "$@"\' sh "$@"\n',
    )
    changed(run, op, lambda: write(tmp_path / "a/flags", "-DVALUE=2"), tmp_path, env)


def test_chroot(run, op, tmp_path):
    root = tmp_path / "root"
    write(root / "etc2/flags", "-DVALUE=1")
    (root / "bin").mkdir()
    subprocess.run(
        ["gcc", "-static", "-o", root / "bin/show", "-x", "c", "-"],
        check=True,
        text=True,
        input='#include <stdio.h>\nint main(void){char b[99]; FILE*f=fopen("/etc2/flags","r"); if(!f)return 1; fgets(b,99,f); puts(b); return 0;}',
    )
    env = script(tmp_path / "bin/c++", f'exec g++ $(/usr/sbin/chroot {root} /bin/show) "$@"\n')
    changed(run, op, lambda: write(root / "etc2/flags", "-DVALUE=2"), tmp_path, env)


@pytest.mark.parametrize("cxx", ["g++", "clang++-15"])
@pytest.mark.parametrize("link", ["symlink", "hard"])
def test_pragma_once_link_becomes_copy(run, make_op, tmp_path, cxx, link):
    op = make_op(
        "op",
        sources={"op.cpp": '#include "a.h"\n#include "b.h"\nextern "C" int value() { return __COUNTER__; }\n'},
        files={
            "a.h": "#pragma once\nenum { x = __COUNTER__ };\n".replace("enum { x", "static const int UNIQ(n)")
            .replace("UNIQ(n)", "n")
            .replace("static const int n = __COUNTER__ };", 'static_assert(__COUNTER__ >= 0, "");')
        },
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


def test_exec_bit(run, op, tmp_path):
    script(tmp_path / "hook", "echo -DVALUE=2\n", 0o644)
    env = script(
        tmp_path / "bin/c++", f'if [ -x {tmp_path}/hook ]; then f=$({tmp_path}/hook); else f=-DVALUE=1; fi; exec g++ $f "$@"\n'
    )
    changed(run, op, lambda: (tmp_path / "hook").chmod(0o755), tmp_path, env)


def test_exec_bit_on_path(run, op, tmp_path):
    script(tmp_path / "p1/my-real", 'exec g++ -DVALUE=2 "$@"\n', 0o644)
    script(tmp_path / "p2/my-real", 'exec g++ -DVALUE=1 "$@"\n')
    env = {**script(tmp_path / "bin/c++", 'exec my-real "$@"\n'), "PATH": f"{tmp_path}/p1:{tmp_path}/p2:/usr/bin:/bin"}
    changed(run, op, lambda: (tmp_path / "p1/my-real").chmod(0o755), tmp_path, env)


def test_generated_when_missing(run, op, tmp_path):
    env = script(
        tmp_path / "bin/c++",
        f'case " $* " in *" -c -o "*) [ -e {tmp_path}/flags ] || echo -DVALUE=1 > {tmp_path}/flags; exec g++ $(cat {tmp_path}/flags) "$@";; esac; exec g++ "$@"\n',
    )
    changed(run, op, two(tmp_path), tmp_path, env)


def test_mkdir_p_then_list(run, op, tmp_path):
    d = tmp_path / "conf.d"
    write(d / "a.h", "#define VALUE 1\n")
    env = script(tmp_path / "bin/c++", f'mkdir -p {d}; for f in $(ls {d}); do a="$a -include {d}/$f"; done; exec g++ $a "$@"\n')
    changed(run, op, lambda: write(d / "b.h", "#undef VALUE\n#define VALUE 2\n"), tmp_path, env)


def assert_right_and_not_cached(run, op, env):
    """It fails when it is traced, so it is run again without; what it reads is not known then."""
    for _ in range(2):
        result = build(run, op, env=env)
        assert value(result) == 1
        assert result.op["status"] == "built"
        assert any("cannot be followed" in remark for remark in result.op["remarks"]), str(result)


def test_strace_as_wrapper(run, op, tmp_path):
    env = script(tmp_path / "bin/c++", 'exec strace -f -o /dev/null g++ -DVALUE=1 "$@"\n')
    assert value(build(run, op, env={**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(tmp_path / "c0")})) == 1
    assert_right_and_not_cached(run, op, env)


@pytest.mark.parametrize("flags", [["-fsanitize=address"], ["-fsanitize=leak"], ["-static"], []])
def test_sanitizer_built_wrapper(run, op, tmp_path, flags):
    env = cc(tmp_path / "bin/c++", SPAWN, *flags)
    assert value(build(run, op, env={**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(tmp_path / "c0")})) == 1
    if flags[:1] and "-fsanitize" in flags[0]:  # the leak checker is a ptrace user
        assert_right_and_not_cached(run, op, env)
    else:
        assert value(build(run, op, env=env)) == 1
        assert build(run, op, env=env).op["status"] == "hit"


def test_32_bit_reader(run, op, tmp_path):
    (tmp_path / "bin").mkdir(exist_ok=True)
    subprocess.run(
        [
            "gcc",
            "-m32",
            "-nostdlib",
            "-static",
            "-O1",
            "-fno-pic",
            "-fno-stack-protector",
            "-o",
            tmp_path / "bin/show",
            "-x",
            "c",
            "-",
        ],
        check=True,
        text=True,
        input="""
static int call(int n,int a,int b,int c){int r;__asm__ volatile("int $0x80":"=a"(r):"a"(n),"b"(a),"c"(b),"d"(c):"memory");return r;}
void _start(void){static char b[99];int f=call(5,(int)"%s",0,0);int n=call(3,f,(int)b,99);call(4,1,(int)b,n);call(1,0,0,0);}
""" % (tmp_path / "flags"),
    )
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show) "$@"\n')
    changed(run, op, two(tmp_path), tmp_path, env)


def test_io_uring(run, op, tmp_path):
    cc(tmp_path / "bin/show", URING)
    write(tmp_path / "flags", "-DVALUE=1\n")
    if subprocess.run([tmp_path / "bin/show", tmp_path / "flags"]).returncode:
        pytest.skip("no io_uring")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(run, op, two(tmp_path), tmp_path, env)


def test_open_by_handle(run, op, tmp_path):
    cc(tmp_path / "bin/show", HANDLE)
    write(tmp_path / "flags", "-DVALUE=1\n")
    if subprocess.run([tmp_path / "bin/show", tmp_path / "flags"]).returncode:
        pytest.skip("no handles")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(run, op, two(tmp_path), tmp_path, env)


def test_clone_untraced(run, op, tmp_path):
    cc(
        tmp_path / "bin/show",
        r"""
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>
#include <stdio.h>
static char stack[65536]; static int f(void*a){int d=open(a,0); if(d<0){perror("open");return 1;} char b[99];int n=read(d,b,99);write(1,b,n);return 0;}
int main(int c,char**v){int s;int p=clone(f,stack+65536,CLONE_UNTRACED|SIGCHLD,v[1]);waitpid(p,&s,0);return WEXITSTATUS(s);}""",
    )
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    assert value(build(run, op, env={**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(tmp_path / "c0")})) == 1
    changed(run, op, two(tmp_path), tmp_path, env)


def test_compile_server(run, hop, tmp_path):
    """The compile is done by a server outside of the tree, which gets the arguments over a socket; depfiles come back."""
    sock = tmp_path / "s"
    srv = tmp_path / "server.py"
    write(
        srv,
        f"""
import socket, subprocess, json
s = socket.socket(socket.AF_UNIX); s.bind({str(sock)!r}); s.listen(8)
while True:
    c, _ = s.accept(); q = json.loads(c.makefile().readline())
    r = subprocess.run(["g++", *q["a"]], cwd=q["d"], env=q["e"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    c.sendall(json.dumps([r.returncode, r.stdout, r.stderr]).encode()); c.close()
""",
    )
    cl = tmp_path / "bin/c++"
    write(
        cl,
        f"""#!/usr/bin/python3
import socket, json, sys, os
c = socket.socket(socket.AF_UNIX); c.connect({str(sock)!r})
c.sendall(json.dumps(dict(a=sys.argv[1:], d=os.getcwd(), e=dict(os.environ))).encode() + b"\\n")
r = json.loads(c.makefile().read()); sys.stdout.write(r[1]); sys.stderr.write(r[2]); sys.exit(r[0])
""",
    )
    cl.chmod(0o755)
    p = subprocess.Popen(["/usr/bin/python3", srv])
    try:
        while not sock.exists():
            time.sleep(0.05)
        env = {"CXX": str(cl)}
        # depfiles alone are right
        changed(
            run,
            hop,
            lambda: write(hop / "value.h", "#define VALUE 2\n"),
            tmp_path / "x",
            {**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(tmp_path / "c0")},
        )
        write(hop / "value.h", "#define VALUE 1\n")
        changed(run, hop, lambda: write(hop / "value.h", "#define VALUE 2\n"), tmp_path / "y", env)
    finally:
        p.kill()
        p.wait()


def test_relative_then_deep_directory(run, op, tmp_path):
    """A directory whose path is longer than PATH_MAX."""
    top = tmp_path / "deep"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    n = 0
    for i in range(20):
        os.mkdir("x" * 250, dir_fd=here)
        d = os.open("x" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = d

    def put(n):
        f = os.open("flags", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=here)
        os.write(f, b"-DVALUE=%d" % n)
        os.close(f)

    put(1)
    cl = tmp_path / "bin/c++"
    write(
        cl,
        f"""#!/usr/bin/python3
import os, sys
back = os.open(".", os.O_RDONLY); os.chdir({str(top)!r})
for i in range(20): os.chdir("x" * 250)
flags = open("flags").read(); os.chdir(back)
os.execv("/usr/bin/g++", ["g++", flags, *sys.argv[1:]])
""",
    )
    cl.chmod(0o755)
    changed(run, op, lambda: put(2), tmp_path, {"CXX": str(cl)})


def test_workspace_is_a_link_and_cache_behind_links(run, make_op, tmp_path):
    op = make_op("op", sources={"op.cpp": READS}, files={"inc/value.h": "#define VALUE 1\n"}, build={"include_dirs": ["inc"]})
    (tmp_path / "l1").symlink_to(tmp_path / "ops")
    (tmp_path / "real-cache").mkdir()
    (tmp_path / "cl").symlink_to(tmp_path / "real-cache")
    (tmp_path / "tl").symlink_to(tmp_path / "scratch")
    e = {"DCUOP_CACHE_DIR": str(tmp_path / "cl/sub"), "TMPDIR": str(tmp_path / "tl")}
    a = build(run, tmp_path / "l1/op", env=e)
    assert not a.op["remarks"], a.op["remarks"]
    again(run, tmp_path / "l1/op", e)
    (tmp_path / "real-cache").rename(tmp_path / "rc2")
    (tmp_path / "cl").unlink()
    (tmp_path / "cl").symlink_to(tmp_path / "rc2")
    again(run, tmp_path / "l1/op", e)


@pytest.mark.parametrize("number", [101, 317, 157, 310])
@pytest.mark.parametrize("kind", ["cxx", "hip"])
def test_sandbox(dcuop_binary, run, environment, make_op, tmp_path, number, kind, hip_op):
    cc(tmp_path / "launch", LAUNCH)

    def sandboxed(*a, env=None, **k):
        c = [str(tmp_path / "launch"), str(number), str(dcuop_binary), *map(str, a)]
        r = subprocess.run(
            c, env={**environment, **(env or {})}, capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL
        )
        return Result(c, r.returncode, r.stdout, r.stderr)

    if kind == "hip":
        o = hip_op
        (o / "fill.hip").write_text(
            '#include "value.h"\n' + (o / "fill.hip").read_text() + 'extern "C" int value() { return VALUE; }\n'
        )
        write(o / "value.h", "#define VALUE 1\n")
    else:
        o = make_op("op", sources={"op.cpp": QUOTES}, files={"value.h": "#define VALUE 1\n"})
    changed(sandboxed, o, lambda: write(o / "value.h", "#define VALUE 2\n"), tmp_path)
    r = build(sandboxed, o)
    assert r.op["status"] == "hit", r.op["remarks"] or r.op["reason"]


def test_symlink_farm_removed_at_the_end(run, hop, tmp_path):
    write(tmp_path / "real/v.h", "#define VALUE 1\n")
    (hop / "value.h").unlink()
    env = script(
        tmp_path / "bin/c++",
        f'mkdir -p "$TMPDIR/farm"; ln -sf {tmp_path}/real/v.h "$TMPDIR/farm/value.h"; g++ -I"$TMPDIR/farm" "$@"; r=$?; rm -r "$TMPDIR/farm"; exit $r\n',
    )
    changed(run, hop, lambda: write(tmp_path / "real/v.h", "#define VALUE 2\n"), tmp_path, env)


def test_pragma_once_linked_directory_becomes_a_copy(run, make_op, tmp_path):
    """A directory that was a link becomes a copy."""
    op = make_op(
        "op",
        sources={"op.cpp": '#include "d/a.h"\n#include "e/a.h"\nextern "C" int value() { return __COUNTER__; }\n'},
        files={"d/a.h": '#pragma once\nstatic_assert(__COUNTER__ >= 0, "");\n'},
    )
    (op / "e").symlink_to("d")
    changed(
        run, op, lambda: ((op / "e").unlink(), shutil.copytree(op / "d", op / "e"), os.utime(op / "e/a.h", (1, 1))), tmp_path
    )


def test_path_order_of_a_shebang(run, op, tmp_path):
    """#!/usr/bin/env NAME, as hipcc's perl."""
    for n in (1, 2):
        script(tmp_path / f"p{n}/myinterp", f'shift; exec g++ -DVALUE={n} "$@"\n')
    cl = tmp_path / "bin/c++"
    write(cl, "#!/usr/bin/env myinterp\n")
    cl.chmod(0o755)
    changed(
        run,
        op,
        lambda: None,
        tmp_path,
        {"CXX": str(cl), "PATH": f"{tmp_path}/p1:/usr/bin:/bin"},
        {"CXX": str(cl), "PATH": f"{tmp_path}/p2:/usr/bin:/bin"},
    )


def test_not_dumpable_reader_as_nobody(nobody, op, tmp_path):
    cc(
        tmp_path / "bin/show",
        '#include <sys/prctl.h>\n#include <stdio.h>\nint main(int c,char**v){prctl(PR_SET_DUMPABLE,0);char b[99];FILE*f=fopen(v[1],"r");if(!f)return 1;fgets(b,99,f);puts(b);return 0;}',
    )
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(nobody, op, two(tmp_path), nobody.base, env)


def test_setuid_reader_as_nobody(nobody, op, tmp_path):
    """What only a setuid program may read."""
    cc(
        tmp_path / "bin/show",
        '#include <stdio.h>\nint main(int c,char**v){char b[99];FILE*f=fopen(v[1],"r");if(!f)return 1;fgets(b,99,f);puts(b);return 0;}',
    )
    (tmp_path / "bin/show").chmod(0o4755)
    write(tmp_path / "flags", "-DVALUE=1\n")
    (tmp_path / "flags").chmod(0o600)
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    assert value(build(nobody, op, env={**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(nobody.base / "c0")})) == 1
    changed(nobody, op, two(tmp_path), nobody.base, env)


def test_hipcc_path(run, make_op, tmp_path, environment):
    """hipcc is '#!/usr/bin/perl' or env perl; a clang wrapper on PATH by HIP_CLANG_PATH is keyed; PATH alone?"""
    for n in (1, 2):
        script(tmp_path / f"p{n}/hipflags", f"echo -DVALUE={n}\n")
    op = make_op("fill", sources={"fill.hip": HIP_SOURCE + '\n    extern "C" int value() { return VALUE; }\n'})
    cl = tmp_path / "bin/hipcc"
    script(cl, 'exec /usr/bin/hipcc $(hipflags) "$@"\n')
    e = lambda n: {"HIPCC": str(cl), "DCUOP_HIPCC": str(cl), "PATH": f"{tmp_path}/bin:{tmp_path}/p{n}:" + environment["PATH"]}
    changed(run, op, lambda: None, tmp_path, e(1), e(2))


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
            "a.h": '#pragma once\nstatic_assert(__COUNTER__ >= 0, "");\n',
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

    changed(run, op, change, tmp_path)


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


def test_cache_behind_a_link_gives_the_same_entry(run, make_op, tmp_path):
    """The link step's look-ups name the cache's own directories when the cache lies behind a link."""
    op = make_op("op")
    entries = []
    for n in (1, 2):
        (tmp_path / f"real{n}").mkdir()
        (tmp_path / f"cache{n}").symlink_to(tmp_path / f"real{n}")
        r = build(run, op, env={"DCUOP_CACHE_DIR": str(tmp_path / f"cache{n}")})
        cache = [p for p in Path(r.op["path"]).parent.rglob("inputs.json") if f"real{n}" in p.read_text()]
        entries.append((r.op["entry"], [str(c) for c in cache]))
    assert entries[0][0] == entries[1][0], entries
