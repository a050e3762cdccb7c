#!/usr/bin/env python3
"""Writes the seeds that real tools make: tests/fuzz/seeds/<reader>/<name>.

What fuzzers found lies beside them and is left alone. Needs gcc, clang-15 with lld, libzstd and ldconfig. Run it again
when a format changes, and look at the difference.
"""

import base64
import ctypes
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEEDS = SOURCE / "tests/fuzz/seeds"
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"

KERNEL = """
#define __global __attribute__((address_space(1)))
__attribute__((amdgpu_kernel)) void scale(__global float* y, __global const float* x, float a) {
  y[0] = a * x[0];
}
"""


def save(reader, name, content):
    path = SEEDS / reader / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def run(*command, directory):
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)


def zstd(content):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(content) + 1024)
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), content, ctypes.c_size_t(len(content)), 3)
    return room.raw[:size]


# ELF files

def shared_objects(directory):
    """A library with versions, and one that needs it, from GNU ld: small ones without page alignment."""
    small = ["-shared", "-nostdlib", "-fPIC", "-O1", "-Wl,-z,max-page-size=64,-z,common-page-size=64",
             "-Wl,-z,norelro", "-Wl,-z,noseparate-code",
             "-Wl,--build-id", "-fno-asynchronous-unwind-tables"]
    (directory / "versions").write_text("V1 { global: one; local: *; };\nV2 { global: two; } V1;\n")
    (directory / "library.c").write_text("int one(void) { return 1; }\nint two(void) { return one(); }\n")
    run("gcc", *small, "-Wl,--version-script=versions", "-Wl,-soname,libone.so.1", "library.c", "-o", "library",
        directory=directory)
    (directory / "module.c").write_text(
        "int one(void);\nint two(void);\nint missing(void) __attribute__((weak));\nint absent(void);\n"
        "int PyInit_op(void) { return one() + two() + absent() + (missing ? missing() : 0); }\n")
    run("gcc", *small, "-Wl,-rpath,$ORIGIN/../lib:/opt/dtk/lib", "-Wl,--hash-style=both", "module.c", "./library",
        "-o", "module", directory=directory)
    run("gcc", *small, "-Wl,--disable-new-dtags", "-Wl,-rpath,/opt/rocm/lib", "module.c", "-o", "rpath",
        directory=directory)
    for name in ("library", "module", "rpath"):
        run("strip", "--strip-unneeded", name, directory=directory)
        save("elf_image", name, (directory / name).read_bytes())
    headless = without_section_headers((directory / "module").read_bytes())
    save("elf_image", "module_without_section_headers", headless)
    run("gcc", "-c", "-fPIC", "module.c", "-o", "object", directory=directory)
    save("device_file", "object", (directory / "object").read_bytes())
    return headless


def without_section_headers(image):
    cut = bytearray(image[: struct.unpack_from("<Q", image, 40)[0]])
    struct.pack_into("<Q", cut, 40, 0)
    struct.pack_into("<HHH", cut, 58, 0, 0, 0)
    return bytes(cut)


def code_objects(directory):
    (directory / "kernel.c").write_text(KERNEL)
    objects = {}
    for arch, version in (("gfx906", 4), ("gfx906", 3), ("gfx1030", 4)):
        name = f"{arch}_v{version}"
        run("clang-15", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"-mcode-object-version={version}", "-O2",
            "-nogpulib", "-nostdlib", "-Wl,-z,max-page-size=64", "-Wl,-s", "-Wl,--no-rosegment", "kernel.c", "-o", name,
            directory=directory)
        objects[name] = (directory / name).read_bytes()
        save("code_object", name, objects[name])
        save("metadata", name, note_of(objects[name]))
    return objects


def note_of(image):
    start, count = struct.unpack_from("<Q", image, 32)[0], struct.unpack_from("<H", image, 56)[0]
    for i in range(count):
        kind, _, offset = struct.unpack_from("<IIQ", image, start + 56 * i)
        if kind == 4:
            names, size, _ = struct.unpack_from("<III", image, offset)
            content = offset + 12 + (names + 3) // 4 * 4
            return image[content : content + size]
    raise SystemExit("a code object without a note")


# Offload bundles

def bundle(entries):
    header = BUNDLE_MAGIC + struct.pack("<Q", len(entries))
    at = len(header) + sum(24 + len(name) for name, _ in entries)
    body = b""
    for name, content in entries:
        header += struct.pack("<QQQ", at + len(body), len(content), len(name)) + name.encode()
        body += content
    return header + body


def compressed(version, method, content):
    payload = zlib.compress(content, 9) if method == 0 else zstd(content)
    check = zlib.crc32(content)
    head = b"CCOB" + struct.pack("<HH", version, method)
    if version == 1:
        return head + struct.pack("<IQ", len(content), check) + payload
    if version == 2:
        return head + struct.pack("<IIQ", 24 + len(payload), len(content), check) + payload
    return head + struct.pack("<QQQ", 32 + len(payload), len(content), check) + payload


def bundles(objects):
    host = ("host-x86_64-unknown-linux--", b"")
    first = ("hipv4-amdgcn-amd-amdhsa--gfx906", objects["gfx906_v4"])
    second = ("hipv4-amdgcn-amd-amdhsa--gfx1030", objects["gfx1030_v4"])
    plain = bundle([host, first])
    save("bundle", "plain", plain)
    save("bundle", "no_code", bundle([host, ("hipv4-amdgcn-amd-amdhsa--gfx906:xnack-", b"")]))
    save("bundle", "not_code", bundle([host, ("hipv4-amdgcn-amd-amdhsa--gfx90a", b"BC\xc0\xde" * 4)]))
    save("bundle", "two_in_a_row", bundle([host, first]) + b"\0" * 64 + bundle([host]))
    save("bundle", "behind_a_page", b"\x90" * 4096 + bundle([host]))
    save("bundle", "spirv", bundle([host, ("hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07")]))
    for version in (1, 2, 3):
        for method, name in ((0, "zlib"), (1, "zstd")):
            content = compressed(version, method, plain if version == 3 else bundle([host, second]))
            save("ccob", f"v{version}_{name}", content)
            save("bundle", f"ccob_v{version}_{name}", content)
    save("device_file", "bundle", plain)
    save("device_file", "ccob", compressed(3, 1, bundle([host, first, second])))
    save("device_file", "code_object", objects["gfx906_v3"])
    return plain


def shared_object_with_code(directory, plain):
    (directory / "fatbin").write_bytes(plain)
    (directory / "fatbin.s").write_text(
        '.section .hip_fatbin,"a",@progbits\n.balign 8\n__hip_fatbin: .incbin "fatbin"\n'
        '.section .hipFatBinSegment,"aw",@progbits\n.balign 8\n.long 0x48495046, 1\n.quad __hip_fatbin, 0\n')
    run("gcc", "-shared", "-nostdlib", "-Wl,-z,max-page-size=64,-z,common-page-size=64", "-Wl,-z,norelro", "-Wl,-z,noseparate-code", "-Wl,--build-id=none",
        "-Wl,--hash-style=gnu", "fatbin.s", "-o", "with_code", directory=directory)
    run("strip", "--strip-unneeded", "with_code", directory=directory)
    save("device_file", "shared_object", (directory / "with_code").read_bytes())


def ld_cache(directory):
    root = directory / "root"
    for name in ("lib/libone.so.1", "usr/lib/libtwo.so.2", "usr/lib/glibc-hwcaps/x86-64-v3/libone.so.1"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        soname = name.rsplit("/", 1)[1]
        run("gcc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "library.c", "-o", str(root / name),
            directory=directory)
    (root / "etc").mkdir()
    (root / "etc/ld.so.conf").write_text("/lib\n/usr/lib\n")
    run("/usr/sbin/ldconfig", "-r", str(root), directory=directory)
    cache = (root / "etc/ld.so.cache").read_bytes()
    save("ld_cache", "new", cache)
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + struct.pack("<iII", 3, 0, 0)
    save("ld_cache", "behind_an_old_one", old + b"\0" * (-len(old) % 8) + cache)


# Texts

def steady(told, directory):
    """The same each time: without the names of temporary files."""
    return re.sub(r"/tmp/\w+[-\w]*", "/tmp/ccAAAAAA", told.replace(str(directory), "/op"))


def texts(directory):
    for path in sorted((SOURCE / "tests/corpus/rocminfo").iterdir()):
        save("rocminfo", path.name, path.read_bytes()[:3500])
    (directory / "a.cpp").write_text("#include <cstddef>\nint main() {}\n")
    (directory / "a.hip").write_text("int main() {}\n")
    # Of this machine: its paths are those of the distribution.
    for name, command in {
        "gcc": ["gcc", "-###", "-march=x86-64-v3", "a.cpp", "-o", "a"],
        "clang": ["clang-15", "-###", "a.cpp", "-o", "a"],
        "refused": ["clang-15", "-###", "-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc", "a.hip"],
    }.items():
        told = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False).stderr
        save("driver_report", name, steady(told, directory))
    run("gcc", "-MD", "-MF", "a.d", "-c", "a.cpp", "-o", "a.o", directory=directory)
    save("compiler_report", "depfile", "\n".join((directory / "a.d").read_text().splitlines()[:12]) + "\n")
    save("compiler_report", "escaped", "a\\ b.o: a\\ b.cpp \\\n c$$d.h\t\\\r\n e\\#f.h\n\ng.h:\n")
    save("compiler_report", "link", "liba.so: \\\n  a b.o \\\n  /usr/lib/crt\\ i.o\n\na.o:\n")
    told = steady(run("gcc", "-v", "a.cpp", "-o", "a", directory=directory).stderr, directory)
    save("compiler_report", "verbose", "\n".join(line[:600] for line in told.splitlines()[4:]) + "\n")
    for name, text in {"words": "-O2 '-DNAME=a b' \"x\\\"y\" \\  z", "size": "5GiB", "duration": "2d",
                       "target_id": "gfx936:sramecc+:xnack-", "digest": "0123456789abcdef" * 2,
                       "mangled": "_ZNSt6vectorIiSaIiEE9push_backERKi",
                       "mangled_doubles": "_Z1f1PIiiE" + "".join(f"S_IS{i:X}_S{i:X}_E" for i in range(16)),
                       "wide": "編譯 \x1b[31merror\x1b[0m: %C3%A4 \u00e4"}.items():
        save("text", name, text)


def manifests():
    op = '[op]\nname = "op"\nkind = "pybind"\nabi = "torch"\n\n[build]\nsources = ["*.hip", "src/**/*.cpp"]\n' \
         'include_dirs = ["src/include"]\ncxx_standard = 17\ncxx_flags = ["-O3", "@flags.rsp", "-Wl,-z,now"]\n' \
         'libraries = ["m"]\narchs = ["gfx906", "gfx90a:xnack-"]\nhost_compiler = "toolchain"\n' \
         'allow_cpu_torch = true\n\n[build.arch_flags]\ngfx906 = ["-DWAVE=64"]\n'
    workspace = '[workspace]\nmembers = ["ops/*", "."]\n\n[defaults]\nhip_flags = ["-O3"]\n\n' \
                '[build]\nsources = ["src/binding.cpp"]\n'
    for reader in ("manifest", "toml"):
        save(reader, "op", op)
        save(reader, "workspace", workspace)
    save("manifest", "above", '[op]\nname = "op"\n[build]\nsources = ["../**/*.cpp"]\n')
    save("toml", "types", 'a.b = [1, 2.5, true, 1979-05-27T07:32:00Z, {c = """\n"x"""}]\n[[d]]\n"e" = \'f\'\n')


def scopes():
    save("scope", "ge", (SOURCE / "docs/superkernel.example.toml").read_bytes())
    op = '[[operator]]\nname = "%s"\nkernel_type = "%s"\nblock_num = %d\nbatch_mode = %s\nstream = %d\n'
    save("scope", "npugraph_ex",
         'backend = "npugraph_ex"\noptions = { early_start = 1, dcci_after_kernel_end = [".*a.*"], '
         'aggressive_opt_strategies = { task_breaker_bypass = 0 } }\ndebug_options = { debug_sync_all = 0 }\n'
         'platform = { product = "950", aic = 4, aiv = 8 }\n' + op % ("a", "AIV_ONLY", 8, "false", 0) +
         'gm = { frequent = true, writes = ["x"] }\n' + op % ("b", "MIX_AIC_1_2", 3, "true", 1) +
         'gm = { assigns = true, reads = ["x"] }\ntask = "collective"\n'
         'early_start = { set = "some-cores", wait = "every-core" }\n'
         '[operator.sync]\nall = "mix"\nall_count = 2\nflags = [{ id = 15, from = "aic", sets = 2, waits = 1 }]\n')


# Records

def records():
    digest = "0123456789abcdef0123456789abcdef"
    asked = base64.b64encode(zstd(b"/usr/include\0-op.h\0fstdio.h\0\0include\0dlib\0\0")).decode()
    input_set = {
        "parts": ["binding.cpp", "link"],
        "inputs": [["include/", [["op.h", digest, 3], ["b%20c.h", digest, 1]]], ["", [["a.cpp", digest, 1]]]],
        "directories": [["include", digest, None], ["/opt", None, digest]],
        "look_ups": [["l", "/opt/current", "v1"], ["t", "/opt/x", "nothing"], ["p", "as", "/usr/bin/as"]],
        "asked": asked, "answers": digest, "probed": ["version.h"],
    }
    save("input_set", "whole", json.dumps(input_set))
    save("input_set", "empty", json.dumps({**input_set, "inputs": [], "directories": [], "asked": ""}))
    save("asked_names", "packed", asked)
    save("asked_names", "text", b"/usr/include\0-op.h\0fstdio.h\0\0include\0dlib\0\0")
    identity = [2049, 131, 4096, 1700000000123456789, 1700000000123456789, 33188, 0]
    fixed = struct.pack("<5Q2I", *identity) + bytes(16)
    memo = b"@version@\0" + struct.pack("<Q", 7) + b'{"a":1}'
    save("memo", "two_witnesses", memo + b"\7" + fixed + b"/usr/bin/c++\0" + b"\0/opt/none\0")
    save("memo", "none", memo)
    record = b"".join(struct.pack("<I", len(path)) + path + fixed for path in (b"/dev/null", b"/usr/bin/c++"))
    save("digest_memo", "two_records", struct.pack("<Q", 2) + record)
    save("digest_memo", "none", struct.pack("<Q", 0))
    manifest = {"key": digest, "name": "op", "artifact": "op.so", "built": 1700000000000,
                "facts": {"archs": ["gfx906"], "torch": {"version": "1.13.1"}},
                "files": [{"path": "op.so", "size": 177440, "sha256": "ab" * 32},
                          {"path": "log/build.log", "size": 0, "sha256": "cd" * 32}]}
    save("store", "manifest", json.dumps(manifest))
    save("store", "record", f'{{"key":"{digest}","input_set":{{"parts":[]}}}}')
    save("store", "failure", '{"message":"no compiler","hint":"install one","exit_code":3,"when":1700000000000}')
    save("store", "holder", '{"host":"node1","pid":42,"container":"","since":1700000000000,'
                            '"activity":"compiling op","activity_since":1700000000001}\n')
    calls = b"".join(struct.pack("<3Q2q2IiBBHH6x", *identity, error, use, relative, len(path), len(real)) + path + real
                     for error, use, relative, path, real in (
                         (0, 3, 0, b"/usr/include/stdio.h", b""), (2, 0, 1, b"op.h", b""), (0, 2, 1, b"lib", b""),
                         (0, 6, 1, b"a.o", b""), (0, 3, 1, b"op.h", b"/op/include/op.h"), (0, 9, 0, b"", b"")))
    save("trace", "six_calls", b"\xff" + calls)
    save("trace", "in_pieces", b"\x06" + calls)


# What readers have done wrong

def faults():
    """Small damaged files, each named for the fault that it would show again."""
    digest = "0123456789abcdef0123456789abcdef"
    save("memo", "value_beyond_the_end", b"@version@\0" + struct.pack("<Q", 2**64 - 1))
    save("memo", "no_such_flag", b"@version@\0" + struct.pack("<Q", 0) + b"\x80/a\0")
    save("input_set", "readers_are_a_float", json.dumps({
        "parts": ["a"], "inputs": [["", [["a", digest, 1e300]]]], "directories": [], "look_ups": [],
        "asked": "",
        "answers": digest, "probed": []}))
    save("input_set", "no_such_question", json.dumps({
        "parts": [], "inputs": [], "directories": [], "look_ups": [["\u00e9", "/a", ""]], "asked": "",
        "answers": digest, "probed": []}))
    for when in ("9223372036854775807", "-9223372036854775808", "18446744073709551615"):
        save("store", f"holder_since_{when}", f'{{"since":{when},"activity_since":{when}}}')
        save("store", f"failed_{when}", f'{{"message":"","hint":"","exit_code":1,"when":{when}}}')
        save("store", f"built_{when}", f'{{"name":"op","artifact":"a","built":{when},"facts":{{}},"files":['
                                       f'{{"path":"a","size":1,"sha256":""}}]}}')
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", 250 << 20) + b"\x01\x00\x00"
    save("asked_names", "claims_250_mib", base64.b64encode(frame))
    call = struct.pack("<3Q2q2IiBBHH6x", *([0] * 7), 0, 3, 7, 1, 0) + b"a"
    save("trace", "relative_is_no_bool", b"\xff" + call)
    save("manifest", "pattern_over_the_whole_disk", '[build]\nsources = ["../../../../**/*.cpp"]\n')
    save("toml", "header_begins_with_a_control_character", "a = 1\n[\x7forkspace]\nb = 1\n")
    save("toml", "letter_taken_for_a_blank", "s = \"\"\"\\\n\u00a7\"\"\"\n\ufe7f[a]\n")
    save("toml", "third_bracket", "[[[1]]]\n")
    save("elf_image", "version_names_overlap", overlapping_version_names())
    save("ld_cache", "strings_overlap", overlapping_cache())


def overlapping_version_names():
    """A chain of version needs, all with the same long name: its copies grow with the square of the file."""
    count, length = 96, 2048
    strings_at = 64 + 2 * 56 + 9 * 16
    needs_at = strings_at + length
    symbols_at = needs_at + 32 * count
    end = symbols_at + 24
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, end, end, 4096)
    dynamic = struct.pack("<IIQQQQQQ", 2, 4, 64 + 112, 64 + 112, 0, 9 * 16, 9 * 16, 8)
    tags = ((5, strings_at), (10, length), (6, symbols_at), (0x6FFFFFFE, needs_at), (0x6FFFFFFF, count), (0, 0))
    table = b"".join(struct.pack("<QQ", *tag) for tag in tags).ljust(9 * 16, b"\0")
    need = struct.pack("<HHIII", 1, 1, 0, 16, 32) + struct.pack("<IHHII", 0, 0, 2, 0, 0)
    return header + load + dynamic + table + b"n" * length + need * count + bytes(24)


def overlapping_cache():
    """Each entry with the same long path under a name of its own."""
    count, length = 64, 2048
    strings_at = 48 + 24 * count
    cache = b"glibc-ld.so.cache1.1" + struct.pack("<II4xI12x", count, length, 0)
    for i in range(count):
        cache += struct.pack("<iIIIQ", 0x0303, strings_at + i, strings_at, 0, 0)
    return cache + b"n" * (length - 1) + b"\0"


def main():
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        shared_objects(work)
        objects = code_objects(work)
        plain = bundles(objects)
        shared_object_with_code(work, plain)
        ld_cache(work)
        texts(work)
        manifests()
        scopes()
        records()
        faults()
    finally:
        shutil.rmtree(work)
    sizes = [os.path.getsize(path) for path in SEEDS.rglob("*") if path.is_file()]
    print(f"{len(sizes)} seeds, {sum(sizes)} bytes, the largest {max(sizes)}")


if __name__ == "__main__":
    main()
