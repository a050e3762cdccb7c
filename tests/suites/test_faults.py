"""A cache on a bad day: full, read-only, damaged, foreign. A build still gives the right code, or one clear error."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Result

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts and other owners need root")


@pytest.fixture
def op(make_op):
    return make_op("op", sources={"a.cpp": '#include "value.h"\nextern "C" int value() { return VALUE; }\n'},
                   files={"value.h": "#define VALUE 1\n"})


def build(run, op, *arguments, **kwargs) -> Result:
    result = run("build", op, "--json", *arguments, **kwargs)
    assert result.rc == 0, str(result)
    return result


def value(result):
    return ctypes.CDLL(result.op["path"]).value()


def files_of(cache: Path, pattern: str):
    found = sorted(path for path in (cache / "v1").glob(pattern) if path.is_file())
    assert found, pattern
    return found


def overwrite(path: Path, content: bytes) -> None:
    os.chmod(path, 0o644)
    path.write_bytes(content)


@pytest.fixture
def tmpfs(tmp_path):
    """tmpfs(options) -> a small file system of its own, unmounted afterwards."""
    mounted = []

    def mount(options):
        target = tmp_path / f"tmpfs{len(mounted)}"
        target.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(target)], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("cannot mount a tmpfs here")
        mounted.append(target)
        return target

    yield mount
    for target in reversed(mounted):
        subprocess.run(["umount", "-l", str(target)], check=False)


class TestDamage:
    """Whatever is damaged is a miss, never a wrong hit, and is whole after the next build."""

    @pytest.mark.parametrize("pattern", ["entries/*/*/*.so", "entries/*/*/manifest.json", "objects/*/*/unit.o",
                                         "objects/*/*/manifest.json", "index/*/*/*.json", "memo/*/*", "entries/*/*/inputs.json"])
    @pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "deleted"])
    def test_file(self, run, op, cache_dir, pattern, damage):
        first = build(run, op)
        for path in files_of(cache_dir, pattern):
            content = path.read_bytes()
            if damage == "deleted":
                path.unlink()
            elif damage == "empty":
                overwrite(path, b"")
            elif damage == "truncated":
                overwrite(path, content[: len(content) // 2])
            else:
                middle = len(content) // 2
                overwrite(path, content[:middle] + bytes([content[middle] ^ 0x55]) + content[middle + 1 :])
        second = build(run, op)
        assert value(second) == 1
        assert second.op["entry"] == first.op["entry"]
        # And with other code, so that nothing of what was damaged can hide.
        (op / "value.h").write_text("#define VALUE 2\n")
        assert value(build(run, op)) == 2

    def test_lock_directory_removed(self, run, op, cache_dir):
        build(run, op)
        shutil.rmtree(cache_dir / "v1/locks")
        (op / "value.h").write_text("#define VALUE 2\n")
        assert value(build(run, op)) == 2
        assert build(run, op).op["status"] == "hit"

    def test_verify_names_the_damage(self, run, op, cache_dir):
        build(run, op)
        assert run("cache", "verify").rc == 0
        path = files_of(cache_dir, "entries/*/*/*.so")[0]
        overwrite(path, path.read_bytes()[:-1])
        result = run("cache", "verify")
        assert result.rc == 1
        assert path.name in result.stdout

    def test_index_files_of_another_schema_are_ignored(self, run, op, cache_dir):
        build(run, op)
        for path in files_of(cache_dir, "index/*/*/*.json"):
            overwrite(path, b'{"schema": 99, "entry": "future"}')
        assert value(build(run, op)) == 1


@needs_root
class TestFull:
    def test_disk_full(self, run, op, tmpfs):
        small = tmpfs("size=64k,mode=0700")
        result = run("build", op, "--json", env={"DCUOP_CACHE_DIR": str(small / "cache")})
        if result.rc == 0:  # it fitted, or was built outside of the cache
            assert value(result) == 1
        else:
            assert result.rc == 3, str(result)
            failure = result.json.get("error") or result.op["error"]
            assert "space" in failure["message"] + failure["hint"], str(result)
        assert not list(small.glob("cache/v1/entries/*/*")) or run("cache", "verify", env={"DCUOP_CACHE_DIR": str(small / "cache")}).rc == 0

    def test_no_inodes_left(self, run, op, tmpfs):
        small = tmpfs("nr_inodes=24,mode=0700")
        result = run("build", op, "--json", env={"DCUOP_CACHE_DIR": str(small / "cache")})
        assert result.rc in (0, 3), str(result)
        if result.rc == 0:
            assert value(result) == 1

    def test_full_cache_still_hits(self, run, op, tmpfs):
        small = tmpfs("size=3m,mode=0700")
        env = {"DCUOP_CACHE_DIR": str(small / "cache")}
        first = build(run, op, env=env)
        with open(small / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        second = build(run, op, env=env)
        assert second.op["status"] == "hit"
        assert second.op["entry"] == first.op["entry"]


@needs_root
class TestReadOnly:
    def test_hit_from_a_read_only_cache(self, run, op, cache_dir, tmpfs):
        first = build(run, op)
        mount = tmpfs("mode=0700")
        shutil.copytree(cache_dir, mount / "cache")
        subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
        env = {"DCUOP_CACHE_DIR": str(mount / "cache")}
        result = build(run, op, env=env)
        assert result.op["status"] == "hit"
        assert result.op["entry"] == first.op["entry"]

    def test_miss_builds_privately_and_says_so(self, run, op, cache_dir, tmpfs):
        build(run, op)
        mount = tmpfs("mode=0700")
        shutil.copytree(cache_dir, mount / "cache")
        subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
        (op / "value.h").write_text("#define VALUE 2\n")
        result = build(run, op, env={"DCUOP_CACHE_DIR": str(mount / "cache")})
        assert value(result) == 2
        assert result.op["cached"] is False
        assert any("read-only" in remark for remark in result.op["remarks"])


@needs_root
class TestOwners:
    def test_cache_of_somebody_else_is_refused(self, run, op, cache_dir):
        build(run, op)
        for path in [cache_dir, *cache_dir.rglob("*")]:
            os.chown(path, 65534, 65534)
        result = run("build", op)
        assert result.rc == 3
        assert "owned by" in result.stderr or "belongs to" in result.stderr, str(result)

    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
    def test_cache_that_others_can_write_is_refused(self, run, op, cache_dir, mode):
        build(run, op)
        cache_dir.chmod(mode)
        result = run("build", op)
        assert result.rc == 3
        assert "writ" in result.stderr and "chmod" in result.stderr, str(result)


class TestPlaces:
    @pytest.mark.parametrize("mask", [0o077, 0o000, 0o022])
    def test_umask(self, dcuop_binary, environment, op, cache_dir, mask):
        done = subprocess.run([str(dcuop_binary), "build", str(op)], env=environment, capture_output=True,
                              preexec_fn=lambda: os.umask(mask), check=False)
        assert done.returncode == 0, done.stderr
        assert (cache_dir.stat().st_mode & 0o777) == 0o700
        again = subprocess.run([str(dcuop_binary), "build", str(op)], env=environment, capture_output=True, check=False)
        assert b"hit" in again.stdout

    def test_tmpdir_that_is_gone(self, run, op):
        assert value(build(run, op, env={"TMPDIR": "/nonexistent"})) == 1

    def test_home_that_cannot_be_written(self, run, op):
        result = run("build", op, env={"DCUOP_CACHE_DIR": None, "HOME": "/proc/nowhere", "XDG_CACHE_HOME": None})
        assert result.rc == 3
        assert "--cache-dir" in result.stderr

    def test_no_home_at_all(self, run, op):
        result = run("build", op, env={"DCUOP_CACHE_DIR": None, "HOME": None, "XDG_CACHE_HOME": None})
        assert result.rc == 3
        assert "DCUOP_CACHE_DIR" in result.stderr

    def test_symlinked_cache_directory(self, run, op, tmp_path):
        (tmp_path / "real").mkdir(mode=0o700)
        (tmp_path / "link").symlink_to(tmp_path / "real")
        env = {"DCUOP_CACHE_DIR": str(tmp_path / "link")}
        build(run, op, env=env)
        assert build(run, op, env=env).op["status"] == "hit"

    def test_links_inside_the_cache_are_not_followed(self, run, op, cache_dir, tmp_path):
        result = build(run, op)
        entry = Path(result.op["path"]).parent
        outside = tmp_path / "outside"
        entry.rename(outside)
        entry.symlink_to(outside)
        again = build(run, op)
        assert value(again) == 1
        run("clean", "--all", "--yes")
        assert (outside / Path(result.op["path"]).name).exists(), "clean went through a link out of the cache"

    def test_clock_that_jumps_back(self, run, op, cache_dir):
        """Everything in the cache is from the future."""
        build(run, op)
        later = time.time() + 86400
        for path in cache_dir.rglob("*"):
            if not path.is_symlink():
                os.utime(path, (later, later))
        assert build(run, op).op["status"] == "hit"
        (op / "value.h").write_text("#define VALUE 2\n")
        assert value(build(run, op)) == 2
        assert run("cache", "verify").rc == 0

    def test_header_from_the_future(self, run, op):
        later = time.time() + 86400
        os.utime(op / "value.h", (later, later))
        build(run, op)
        assert build(run, op).op["status"] == "hit"
