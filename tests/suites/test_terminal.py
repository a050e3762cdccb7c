"""What people see while dcuop works, through a real pseudo-terminal; and what it does with little memory."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import time

import pytest

ERASE = "\r\x1b[K"


@pytest.fixture
def compiler(tmp_path):
    """compiler("sleep 2") -> the environment that has a compiler which runs this first, in each compile."""

    def make(before="true"):
        script = tmp_path / "own-c++"
        script.write_text(f'#!/bin/sh\ncase " $* " in *" -c -o "*) {before} ;; esac\nexec /usr/bin/g++ "$@"\n')
        script.chmod(0o755)
        return {"CXX": str(script)}

    return make


@pytest.fixture
def on_terminal(dcuop_binary, environment, tmp_path):
    """on_terminal("build", op, columns=100) -> (exit code, all that a terminal got)."""

    def run(*arguments, env=None, columns=100, stdout_too=True):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            [str(dcuop_binary), *map(str, arguments)],
            env={**environment, "TERM": "xterm-256color", **(env or {})}, cwd=tmp_path,
            stdin=subprocess.DEVNULL, stdout=theirs if stdout_too else subprocess.PIPE, stderr=theirs,
        )
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError as fault:  # Linux says EIO when the other side is closed
                assert fault.errno == errno.EIO
                break
            if not part:
                break
            seen += part
        os.close(ours)
        out = process.stdout.read().decode() if process.stdout else ""
        return process.wait(timeout=60), seen.decode(), out

    return run


def screen(text: str):
    """The lines that stay on a terminal that obeys CR, LF and "erase to the end of the line"; colours aside."""
    lines, line, column = [], [], 0
    for token in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.|\n", re.sub(r"\x1b\[[0-9;]*m", "", text), re.S):
        if token == "\n":
            lines.append("".join(line))
            line, column = [], 0
        elif token == "\r":
            column = 0
        elif token == "\x1b[K":
            line = line[:column]
        else:
            assert not token.startswith("\x1b"), repr(token)
            line[column:column + 1] = [token]
            column += 1
    return lines + ["".join(line)]


def test_live_line_appears_and_is_gone_at_the_end(on_terminal, make_op, compiler):
    code, text, _ = on_terminal("build", make_op("scale"), env=compiler("sleep 1.5"))
    assert code == 0, text
    drawn = [part for part in text.split(ERASE) if part.startswith("scale") and "op.cpp" in part]
    assert len(drawn) >= 2, "its age is to be seen growing"
    left = screen(text)
    assert left[-1] == "", left
    assert not any("op.cpp" in line and "built" not in line for line in left), left
    assert any(line.startswith("scale") and "built" in line for line in left), left


def test_live_line_is_cut_to_the_terminal(on_terminal, make_op, compiler):
    name = "an_operator_with_a_name_that_is_wider_than_the_terminal"
    code, text, _ = on_terminal("build", make_op(name), env=compiler("sleep 1"), columns=40)
    assert code == 0, text
    drawn = [part for part in text.split(ERASE)[1:] if part.startswith("an_op") and "\n" not in part]
    assert drawn and all(len(part) <= 39 for part in drawn), drawn


def test_no_color_keeps_the_live_line(on_terminal, make_op, compiler):
    code, text, _ = on_terminal("build", make_op(), env={**compiler("sleep 1"), "NO_COLOR": "1"})
    assert code == 0 and ERASE in text
    assert not re.search(r"\x1b\[[0-9;]*m", text), repr(text)
    code, text, _ = on_terminal("build", make_op("other"), env=compiler())
    assert re.search(r"\x1b\[[0-9;]*m", text), "colours without NO_COLOR"


@pytest.mark.parametrize("arguments, env", [(["--quiet"], {}), ([], {"TERM": "dumb"})])
def test_no_live_line(on_terminal, make_op, compiler, arguments, env):
    code, text, _ = on_terminal("build", make_op(), *arguments, env={**compiler("sleep 1"), **env})
    assert code == 0, text
    assert ERASE not in text, repr(text)
    assert "built" in text


def test_json_is_pure_on_a_terminal_too(on_terminal, make_op, compiler):
    code, text, out = on_terminal("build", make_op(), "--json", env=compiler("sleep 0.6"), stdout_too=False)
    assert code == 0
    assert json.loads(out)["ops"][0]["status"] == "built"
    assert "\x1b" not in out and "\x1b" not in text
    code, text, _ = on_terminal("build", make_op("second"), "--json", "--quiet", env=compiler())
    assert json.loads(text)["ops"][0]["status"] == "built"


def test_without_a_terminal_there_are_no_escapes_but_a_heartbeat(run, make_op, compiler):
    result = run("build", make_op("scale"), env=compiler("sleep 11"))
    assert result.rc == 0, str(result)
    assert "\x1b" not in result.stdout + result.stderr
    assert "\r" not in result.stdout + result.stderr
    beats = re.findall(r"^scale +op\.cpp +(1\d)\S*s so far$", result.stderr, re.M)
    assert len(beats) == 1, str(result)


def test_quiet_says_the_answer_alone(run, make_op, compiler):
    result = run("build", make_op(), "--quiet", env=compiler())
    assert result.rc == 0 and result.stderr == "", str(result)
    assert "built" in result.stdout


def test_failure_on_a_terminal_ends_with_a_clean_line(on_terminal, make_op, compiler):
    op = make_op("bad", sources={"bad.cpp": "int broken = nonsense;\n"})
    code, text, _ = on_terminal("build", op, env=compiler("sleep 0.6"))
    assert code == 1
    left = screen(text)
    assert left[-1] == "" and any("FAILED" in line for line in left), left


@pytest.mark.parametrize("death", [
    "kill -9 $$",
    "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
    "echo 'clang: error: unable to execute command: Killed' >&2; exit 1",
])
def test_killed_compiler_is_named_as_that(run, make_op, compiler, death):
    result = run("build", make_op(), env=compiler(death))
    assert result.rc == 1, str(result)
    assert "the compiler was killed (signal 9)" in result.stderr
    assert re.search(r"(MemAvailable|cgroup \S+) leaves [\d.]+ [GM]iB", result.stderr), str(result)
    assert "--jobs 1" in result.stderr


def test_crashed_compiler_is_not_called_killed(run, make_op, compiler):
    death = "echo 'g++: internal compiler error: Segmentation fault signal terminated program cc1plus' >&2; exit 4"
    result = run("build", make_op(), env=compiler(death))
    assert result.rc == 1
    assert "was killed" not in result.stderr, str(result)
    assert "Segmentation fault" in result.stderr


def unit_costs(cache_dir):
    (file,) = cache_dir.glob("**/unit-costs.json")
    return file, json.loads(file.read_text())


def test_peak_memory_is_recorded_and_limits_the_next_build(run, make_op, cache_dir, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    script = tmp_path / "loud-c++"
    script.write_text(
        '#!/bin/sh\ncase " $* " in *" -c -o "*) date +"start %s.%N" >> ' + f'"{log}/times"; sleep 0.7;; esac\n'
        '/usr/bin/g++ "$@"; code=$?\n'
        'case " $* " in *" -c -o "*) date +"end %s.%N" >> ' + f'"{log}/times";; esac\nexit $code\n'
    )
    script.chmod(0o755)
    sources = {f"{unit}.cpp": f'extern "C" int {unit}() {{ return 1; }}\n' for unit in ("one", "two")}
    op = make_op("pair", sources=sources)
    build = lambda: run("build", op, "--force", "--jobs", "2", env={"CXX": str(script)})

    def most_at_once():
        count = most = 0
        events = sorted((float(line.split()[1]), line.split()[0]) for line in (log / "times").read_text().splitlines())
        for _, event in events:
            count += 1 if event == "start" else -1
            most = max(most, count)
        (log / "times").unlink()
        return most

    assert build().rc == 0
    file, costs = unit_costs(cache_dir)
    assert set(costs) == {"pair/one.cpp", "pair/two.cpp"}
    assert all(5 << 20 < peak < 2 << 30 and wall >= 700 for peak, wall in costs.values()), costs
    most_at_once()
    assert build().rc == 0
    assert most_at_once() == 2
    file.write_text(json.dumps({unit: [1 << 50, wall] for unit, (_, wall) in costs.items()}))
    assert build().rc == 0
    assert most_at_once() == 1, "units that need more than there is run alone"
    assert unit_costs(cache_dir)[1]["pair/one.cpp"][0] < 2 << 30, "and what they really took is learnt"
    file.write_text("damaged")
    assert build().rc == 0
