"""Files that are damaged, foreign, cut off, or lie where nothing can be mapped."""

import os
import subprocess

from workshop import Bench, Made, patch, recipe, run

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"


@recipe
def lfs_pointer(bench: Bench) -> Made:
    return Made(str(bench.write("persistent_homology_cpu.cpython-311-x86_64-linux-gnu.so", POINTER)), "import")


@recipe
def plain_data(bench: Bench) -> Made:
    return Made(str(bench.write("op.so", bytes(range(256)) * 40)))


@recipe
def web_page(bench: Bench) -> Made:
    return Made(str(bench.write("op.so", "<!DOCTYPE html><html><body>404: Not Found</body></html>\n" * 9)))


@recipe
def object_file(bench: Bench) -> Made:
    source = bench.object("int op_run(void) { return 1; }")
    return Made(str(bench.write("op.so", source.read_bytes())))


@recipe
def damaged_library(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10")
    file = bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    library.write_bytes(b"damaged " * 5000)
    return Made(str(file))


@recipe
def pointer_instead_of_library(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10")
    file = bench.module("op", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    library.write_text(POINTER)
    return Made(str(file), "import")


@recipe
def truncated_library(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10", "static char room[200000] = {1}; char* answer(void) { return room; }")
    file = bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    os.truncate(library, 6000)
    return Made(str(file))


@recipe
def empty_file(bench: Bench) -> Made:
    return Made(str(bench.write("cuda_utils.so")))


@recipe
def forty_bytes(bench: Bench) -> Made:
    return Made(str(bench.write("op.so", bench.library("whole.so").read_bytes()[:40])))


@recipe
def cut_in_its_segments(bench: Bench) -> Made:
    file = bench.library("op.so", "static char room[200000] = {1}; char* answer(void) { return room; }")
    os.truncate(file, 9000)
    return Made(str(file))


@recipe
def cut_in_its_section_headers(bench: Bench) -> Made:
    file = bench.library("op.so")
    os.truncate(file, file.stat().st_size - 100)
    return Made(str(file))


@recipe
def class_32(bench: Bench) -> Made:
    source = bench.object("int op_run(void) { return 1; }", "-m32")
    return Made(str(bench.link("op.so", source, "-m32", "-nostdlib", linker="gcc")))


@recipe
def library_of_class_32(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10")
    file = bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    small = bench.link(
        "small.so", bench.object("int answer(void) { return 1; }", "-m32"), "-m32", "-nostdlib", linker="gcc"
    )
    library.write_bytes(small.read_bytes())
    return Made(str(file))


@recipe
def for_aarch64(bench: Bench) -> Made:
    source = bench.object("int op_run(void) { return 1; }", "--target=aarch64-linux-gnu", compiler="clang-15")
    target = bench.path("op.so")
    run("ld.lld-15", "-shared", source, "-o", target)
    return Made(str(target))


@recipe
def library_for_ppc64le(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10")
    file = bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    patch(library, 18, b"\x15\x00")
    return Made(str(file))


def mounts_noexec(bench: Bench, name: str) -> "list[str]":
    """Runs what follows where the case's directory `name` is a noexec file system with the same files in it."""
    place = bench.path(f"{name}/x").parent
    script = (
        f"cp -a '{place}' '{bench.directory}/copy' 2>/dev/null; mount -t tmpfs -o noexec none '{place}' && "
        f"cp -a '{bench.directory}/copy/.' '{place}/' && exec \"$@\""
    )
    return ["unshare", "-m", "sh", "-c", script, "noexec"]


def can_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


NO_MOUNTS = "mounting takes root here"


@recipe
def on_noexec(bench: Bench) -> Made:
    file = bench.library("shm/op.so")
    prefix = mounts_noexec(bench, "shm")
    return Made(str(file), prefix=prefix, impossible="" if can_mount() else NO_MOUNTS)


@recipe
def library_on_noexec(bench: Bench) -> Made:
    library = bench.library("shm/libcore.so.10")
    file = bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/shm"])
    prefix = mounts_noexec(bench, "shm")
    return Made(str(file), prefix=prefix, impossible="" if can_mount() else NO_MOUNTS)


@recipe
def little_address_space(bench: Bench) -> Made:
    file = bench.library("op.so", "char room[4UL << 30]; char* answer(void) { return room; }", "-mcmodel=large")
    return Made(str(file), prefix=["prlimit", f"--as={2 << 30}"])


@recipe
def little_address_space_for_a_library(bench: Bench) -> Made:
    library = bench.library(
        "lib/libcore.so.10", "char room[3UL << 30]; char* answer(void) { return room; }", "-mcmodel=large"
    )
    file = bench.module("op", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    return Made(str(file), "import", prefix=["prlimit", f"--as={5 << 29}"])


@recipe
def executable_stack(bench: Bench) -> Made:
    return Made(str(bench.library("op.so", "int op_run(void) { return 1; }", "-Wl,-z,execstack")))


@recipe
def executable_stack_of_a_library(bench: Bench) -> Made:
    library = bench.library("lib/libcore.so.10", "int answer(void) { return 1; }", "-Wl,-z,execstack")
    return Made(str(bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])))


STATIC_TLS = '__thread char room[65536] __attribute__((tls_model("initial-exec"))); char* answer(void) { return room; }'


@recipe
def static_tls(bench: Bench) -> Made:
    return Made(str(bench.library("op.so", STATIC_TLS)))


@recipe
def static_tls_of_a_library(bench: Bench) -> Made:
    library = bench.library("lib/libjemalloc.so.2", STATIC_TLS)
    return Made(str(bench.module("_C", "answer", options=[library, "-Wl,-rpath,$ORIGIN/lib"])), "import")
