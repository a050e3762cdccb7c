"""A cache built into an image by root, used by somebody else who cannot write it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import PYTHON, ROOT, write_op

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be two users")


@pytest.fixture
def place():
    """A directory that every user can enter, unlike pytest's."""
    directory = Path(tempfile.mkdtemp(prefix="dcuop-system-cache-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def system_cache(run, place):
    """An operator and a cache that root has filled with it."""
    op = write_op(place / "op", name="op")
    cache = place / "system"
    result = run("build", op, "--json", env={"DCUOP_CACHE_DIR": str(cache)})
    assert result.op["status"] == "built", str(result)
    subprocess.run(["chmod", "-R", "a+rX", str(cache)], check=True)
    return op, cache


def as_nobody(dcuop_binary, environment, place, *arguments, **variables):
    home = place / "home"
    if not home.exists():
        home.mkdir(mode=0o700)
        os.chown(home, NOBODY, NOBODY)
    done = subprocess.run(
        [str(dcuop_binary), *map(str, arguments)], cwd="/", capture_output=True, encoding="utf-8", check=False,
        env={**environment, "HOME": str(home), "DCUOP_CACHE_DIR": str(home / "cache"), "TMPDIR": "/tmp", **variables},
        preexec_fn=lambda: (os.setgroups([]), os.setgid(NOBODY), os.setuid(NOBODY)))
    return done


def test_entry_of_a_root_owned_cache_is_a_hit(dcuop_binary, environment, place, system_cache):
    op, cache = system_cache
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache))
    assert done.returncode == 0, done.stderr
    one = json.loads(done.stdout)["ops"][0]
    assert one["status"] == "hit"
    assert one["path"].startswith(str(cache))
    assert "system cache" in one["reason"]
    lock = Path(one["use_lock"]["file"])
    assert lock.is_relative_to(cache) and lock.stat().st_mode & 0o777 == 0o644
    lock.unlink()
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache))
    assert "use_lock" not in json.loads(done.stdout)["ops"][0]


def test_a_loaded_entry_of_a_system_cache_is_in_use(dcuop_binary, environment, place, system_cache, run):
    """Somebody else has it loaded; its owner's clean leaves it."""
    op, cache = system_cache
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache))
    lock = json.loads(done.stdout)["ops"][0]["use_lock"]
    question = (
        "import sys; sys.path.insert(0, sys.argv[1]); from dcuop._use_lock import lock_for_use;"
        "print(lock_for_use(sys.argv[2], int(sys.argv[3])), flush=True); sys.stdin.read()"
    )
    package = place / "python"
    shutil.copytree(ROOT / "python", package)
    subprocess.run(["chmod", "-R", "a+rX", str(package)], check=True)
    user = subprocess.Popen(
        [PYTHON, "-c", question, str(package), lock["file"], str(lock["offset"])], cwd="/", encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: (os.setgroups([]), os.setgid(NOBODY), os.setuid(NOBODY)))
    try:
        line = user.stdout.readline()
        assert line.strip().isdigit(), line + user.stderr.read()
        env = {"DCUOP_CACHE_DIR": str(cache)}
        run("clean", "--all", "--yes", env=env)
        assert run("build", op, "--json", env=env).op["status"] == "hit"
    finally:
        user.communicate("")
    run("clean", "--all", "--yes", env=env)
    assert run("build", op, "--json", env=env).op["status"] == "built"


def test_changed_source_is_built_in_the_users_own_cache(dcuop_binary, environment, place, system_cache):
    op, cache = system_cache
    (op / "op.cpp").write_text('extern "C" int scaled(int x) { return x * 4; }\n')
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache))
    one = json.loads(done.stdout)["ops"][0]
    assert one["status"] == "built"
    assert one["path"].startswith(str(place / "home"))


@pytest.mark.parametrize("fault", ["owner", "writable"])
def test_cache_that_cannot_be_trusted_is_left_out(dcuop_binary, environment, place, system_cache, fault):
    op, cache = system_cache
    if fault == "owner":
        os.chown(cache, 12345, 12345)
    else:
        cache.chmod(0o777)
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache))
    assert done.returncode == 0, done.stderr
    assert "system cache left out" in done.stderr
    assert json.loads(done.stdout)["ops"][0]["path"].startswith(str(place / "home"))


def test_owner_that_the_user_trusts(dcuop_binary, environment, place, system_cache):
    op, cache = system_cache
    for path in [cache, *cache.rglob("*")]:
        os.chown(path, 12345, 12345)
    done = as_nobody(dcuop_binary, environment, place, "build", op, "--json", DCUOP_SYSTEM_CACHES=str(cache),
                     DCUOP_TRUSTED_OWNERS="12345")
    assert json.loads(done.stdout)["ops"][0]["status"] == "hit", done.stderr
