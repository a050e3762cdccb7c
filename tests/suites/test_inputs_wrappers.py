"""Compilers that are scripts, servers or sandboxed, and programs that read files in ways of their own.
For `make full` (DCUOP_FULL=1)."""

from __future__ import annotations

import subprocess
import time

import pytest
from changed_inputs import (  # noqa: F401
    PLAIN,
    QUOTES,
    build,
    changed,
    flags_become_two,
    full_only,
    nobody,
    plain_op,
    program,
    quoting_op,
    script,
    value,
    write,
)
from conftest import ARCH, HIP_SOURCE, Result
from odd_programs import CLONE, HANDLE, LAUNCH, SHOW, SPAWN, URING

pytestmark = full_only


def assert_right_untraced(run, op, env, scratch):
    assert value(build(run, op, env={**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(scratch / "c0")})) == 1


def assert_right_and_not_cached(run, op, env):
    """It fails when it is traced, so it is run again without; what it reads is not known then."""
    for _ in range(2):
        result = build(run, op, env=env)
        assert value(result) == 1
        assert result.op["status"] == "built"
        assert any("cannot be followed" in remark for remark in result.op["remarks"]), str(result)


def test_flock_on_input(run, plain_op, tmp_path):
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $(flock {tmp_path}/flags cat {tmp_path}/flags) "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_read_write_descriptor(run, plain_op, tmp_path):
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec 3<>{tmp_path}/flags; read f <&3; exec g++ $f "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_home(run, plain_op, tmp_path):
    for n in (1, 2):
        write(tmp_path / f"h{n}/flags", f"-DVALUE={n}")
    env = script(tmp_path / "bin/c++", 'exec g++ $(cat $HOME/flags) "$@"\n')
    changed(run, plain_op, lambda: None, tmp_path, {**env, "HOME": f"{tmp_path}/h1"}, {**env, "HOME": f"{tmp_path}/h2"})


def test_generated_when_missing(run, plain_op, tmp_path):
    flags = tmp_path / "flags"
    make = f"[ -e {flags} ] || echo -DVALUE=1 > {flags}"
    compile_it = f'exec g++ $(cat {flags}) "$@"'
    env = script(tmp_path / "bin/c++", f'case " $* " in *" -c -o "*) {make}; {compile_it};; esac; exec g++ "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_strace_as_wrapper(run, plain_op, tmp_path):
    env = script(tmp_path / "bin/c++", 'exec strace -f -o /dev/null g++ -DVALUE=1 "$@"\n')
    assert_right_untraced(run, plain_op, env, tmp_path)
    assert_right_and_not_cached(run, plain_op, env)


@pytest.mark.parametrize("flags", [["-fsanitize=address"], ["-fsanitize=leak"], ["-static"], []])
def test_sanitizer_built_wrapper(run, plain_op, tmp_path, flags):
    env = program(tmp_path / "bin/c++", SPAWN, *flags)
    assert_right_untraced(run, plain_op, env, tmp_path)
    if flags[:1] and "-fsanitize" in flags[0]:  # the leak checker is a ptrace user
        assert_right_and_not_cached(run, plain_op, env)
    else:
        assert value(build(run, plain_op, env=env)) == 1
        assert build(run, plain_op, env=env).op["status"] == "hit"


def test_32_bit_reader(run, plain_op, tmp_path):
    source = """
static int call(int n,int a,int b,int c){int r;__asm__ volatile("int $0x80":"=a"(r):"a"(n),"b"(a),"c"(b),"d"(c):"memory");return r;}
void _start(void){static char b[99];int f=call(5,(int)"%s",0,0);int n=call(3,f,(int)b,99);call(4,1,(int)b,n);call(1,0,0,0);}
""" % (tmp_path / "flags")
    alone = ["-m32", "-nostdlib", "-static", "-fno-pic", "-fno-stack-protector"]
    program(tmp_path / "bin/show", source, *alone)
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show) "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_io_uring(run, plain_op, tmp_path):
    program(tmp_path / "bin/show", URING)
    write(tmp_path / "flags", "-DVALUE=1\n")
    if subprocess.run([tmp_path / "bin/show", tmp_path / "flags"]).returncode:
        pytest.skip("no io_uring")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_open_by_handle(run, plain_op, tmp_path):
    program(tmp_path / "bin/show", HANDLE)
    write(tmp_path / "flags", "-DVALUE=1\n")
    if subprocess.run([tmp_path / "bin/show", tmp_path / "flags"]).returncode:
        pytest.skip("no handles")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_clone_untraced(run, plain_op, tmp_path):
    program(tmp_path / "bin/show", CLONE)
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    assert_right_untraced(run, plain_op, env, tmp_path)
    changed(run, plain_op, flags_become_two(tmp_path), tmp_path, env)


def test_compile_server(run, quoting_op, tmp_path):
    """The compile is done by a server outside of the tree, which gets the arguments over a socket; depfiles come back."""
    address = tmp_path / "s"
    server = tmp_path / "server.py"
    write(
        server,
        f"""
import socket, subprocess, json
s = socket.socket(socket.AF_UNIX); s.bind({str(address)!r}); s.listen(8)
while True:
    c, _ = s.accept(); q = json.loads(c.makefile().readline())
    r = subprocess.run(["g++", *q["a"]], cwd=q["d"], env=q["e"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    c.sendall(json.dumps([r.returncode, r.stdout, r.stderr]).encode()); c.close()
""",
    )
    client = tmp_path / "bin/c++"
    write(
        client,
        f"""#!/usr/bin/python3
import socket, json, sys, os
c = socket.socket(socket.AF_UNIX); c.connect({str(address)!r})
c.sendall(json.dumps(dict(a=sys.argv[1:], d=os.getcwd(), e=dict(os.environ))).encode() + b"\\n")
r = json.loads(c.makefile().read()); sys.stdout.write(r[1]); sys.stderr.write(r[2]); sys.exit(r[0])
""",
    )
    client.chmod(0o755)
    env = {"CXX": str(client)}
    untraced = {**env, "DCUOP_TRACE": "never", "DCUOP_CACHE_DIR": str(tmp_path / "untraced-cache")}
    process = subprocess.Popen(["/usr/bin/python3", server])
    try:
        while not address.exists():
            time.sleep(0.05)
        for number, way in enumerate((untraced, env)):  # depfiles alone are right
            write(quoting_op / "value.h", "#define VALUE 1\n")
            changed(
                run,
                quoting_op,
                lambda: write(quoting_op / "value.h", "#define VALUE 2\n"),
                tmp_path / str(number),
                way,
            )
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [101, 317, 157, 310])
@pytest.mark.parametrize("kind", ["cxx", "hip"])
def test_sandbox(dcuop_binary, environment, quoting_op, hip_op, tmp_path, number, kind):
    program(tmp_path / "launch", LAUNCH)

    def sandboxed(*arguments, env=None):
        command = [str(tmp_path / "launch"), str(number), str(dcuop_binary), *map(str, arguments)]
        done = subprocess.run(
            command,
            env={**environment, **(env or {})},
            capture_output=True,
            text=True,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
        )
        return Result(command, done.returncode, done.stdout, done.stderr)

    op, arch = quoting_op, ()
    if kind == "hip":
        op, arch = hip_op, ("--arch", ARCH)
        write(op / "fill.hip", QUOTES + (op / "fill.hip").read_text())
        write(op / "value.h", "#define VALUE 1\n")
    changed(sandboxed, op, lambda: write(op / "value.h", "#define VALUE 2\n"), tmp_path, arguments=arch)
    result = build(sandboxed, op, *arch)
    assert result.op["status"] == "hit", result.op["remarks"] or result.op["reason"]


def test_not_dumpable_reader_as_nobody(nobody, plain_op, tmp_path):
    program(
        tmp_path / "bin/show",
        "#include <sys/prctl.h>\n" + SHOW.replace("FILE*", "prctl(PR_SET_DUMPABLE, 0); FILE*"),
    )
    write(tmp_path / "flags", "-DVALUE=1\n")
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    changed(nobody, plain_op, flags_become_two(tmp_path), nobody.base, env)


def test_setuid_reader_as_nobody(nobody, plain_op, tmp_path):
    """What only a setuid program may read."""
    program(tmp_path / "bin/show", SHOW)
    (tmp_path / "bin/show").chmod(0o4755)
    write(tmp_path / "flags", "-DVALUE=1\n")
    (tmp_path / "flags").chmod(0o600)
    env = script(tmp_path / "bin/c++", f'exec g++ $({tmp_path}/bin/show {tmp_path}/flags) "$@"\n')
    assert_right_untraced(nobody, plain_op, env, nobody.base)
    changed(nobody, plain_op, flags_become_two(tmp_path), nobody.base, env)


def test_hipcc_that_looks_on_path(run, make_op, tmp_path, environment):
    """HIP_CLANG_PATH and perl are keyed; what such a script takes from PATH is seen as it happens."""
    for n in (1, 2):
        script(tmp_path / f"p{n}/hipflags", f"echo -DVALUE={n}\n")
    op = make_op("fill", sources={"fill.hip": HIP_SOURCE + "    " + PLAIN})
    hipcc = tmp_path / "bin/hipcc"
    script(hipcc, 'exec /usr/bin/hipcc $(hipflags) "$@"\n')

    def env(n):
        path = f"{tmp_path}/bin:{tmp_path}/p{n}:{environment['PATH']}"
        return {"HIPCC": str(hipcc), "DCUOP_HIPCC": str(hipcc), "PATH": path}

    changed(run, op, lambda: None, tmp_path, env(1), env(2), arguments=("--arch", ARCH))
