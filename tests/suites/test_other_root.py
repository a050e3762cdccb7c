"""doctor and env --root with an unpacked image: its Python, its torch, its libraries, its links."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from test_machine import compile_library, evidence, facts_of, finding

TRIPLE = "usr/lib/x86_64-linux-gnu"
#: c10::Error's constructor: the torch probe tells the string ABI from it.
ERROR = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the tree is one of x86-64")


@pytest.fixture
def environment(environment):
    """Without the interpreter that the suites' environment names."""
    return {name: value for name, value in environment.items() if name != "DCUOP_PYTHON"}


def compile_program(path: Path, source: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["/usr/bin/gcc", "-rdynamic", "-x", "c", "-", "-o", str(path)], input=source.encode(), check=True
    )
    return path


def add_python(root: Path, version: str, functions: str = "", prefix: str = "usr", constant: bool = True) -> Path:
    """An interpreter that leaves a trace when it is run, its standard library and its build values."""
    series = version.rsplit(".", 1)[0]
    text = f'const char py_version[] = "\\000{version}";' if constant else ""
    source = f'#include <stdio.h>\n{text}\n{functions}\nint main(void) {{ fopen("{root}-was-run", "w"); return 0; }}'
    program = compile_program(root / prefix / f"bin/python{series}", source)
    (root / prefix / "bin/python3").symlink_to(f"/{prefix}/bin/python{series}")
    library = root / prefix / f"lib/python{series}"
    (library / "site-packages").mkdir(parents=True)
    (library / "os.py").write_text("")
    tag = "cpython-" + series.replace(".", "")
    (library / "_sysconfigdata__linux_x86_64-linux-gnu.py").write_text(
        f"build_time_vars = {{'EXT_SUFFIX': '.{tag}-x86_64-linux-gnu.so',\n 'SOABI': '{tag}-x86_64-linux-gnu'}}\n"
    )
    return program


def add_torch(root: Path, site: Path, version: str = "9.8.7") -> Path:
    """Its libraries lie in /opt/torch; the package has absolute links to them."""
    package, libraries = site / "torch", root / "opt/torch"
    (package / "lib").mkdir(parents=True)
    libraries.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text(f"__version__ = '{version}'\ncuda = None\nhip = None\n")
    for name, source in {
        "libc10.so": f"void {ERROR}(void) {{}}\nvoid _ZN3c1014only_in_imagesEv(void) {{}}",
        "libtorch_cpu.so": "void _ZN2at3addEv(void) {}",
        "libtorch_python.so": "void THPVariable_Wrap(void) {}",
    }.items():
        compile_library(libraries / name, source, f"-Wl,-soname,{name}")
        (package / "lib" / name).symlink_to(f"/opt/torch/{name}")
    return package


@pytest.fixture
def image(tmp_path) -> Path:
    """This machine's C library, /lib64 by an absolute link, Python 3.9 and a torch."""
    root = tmp_path / "image"
    (root / TRIPLE).mkdir(parents=True)
    (root / "etc").mkdir()
    for name in ("libc.so.6", "ld-linux-x86-64.so.2"):
        shutil.copy(Path("/", TRIPLE, name).resolve(), root / TRIPLE / name)
    (root / "lib").symlink_to("/usr/lib")
    (root / "lib64").symlink_to("/usr/lib/x86_64-linux-gnu")
    add_python(root, "3.9.18", "void PyList_New(void) {}")
    add_torch(root, root / "usr/lib/python3.9/site-packages")
    return root


@pytest.fixture
def extension(tmp_path, image) -> Path:
    """Of the machine that asks, for the image's torch."""
    source = "void _ZN3c1014only_in_imagesEv(void); void f(void) { _ZN3c1014only_in_imagesEv(); }"
    return compile_library(tmp_path / "scale.so", source, str(image / "opt/torch/libc10.so"))


def origins_of(result):
    return {fact["name"]: fact["origin"] for fact in result.json["facts"]}


class TestInterpreter:
    def test_it_is_read_and_nothing_is_run(self, run, image):
        result = run("env", "--json", "--root", image)
        facts, origins = facts_of(result), origins_of(result)
        assert facts["python"] == "cpython 3.9.18", str(result)
        assert facts["python executable"] == str(image / "usr/bin/python3.9")
        assert facts["python EXT_SUFFIX"] == ".cpython-39-x86_64-linux-gnu.so"
        assert origins["python EXT_SUFFIX"] == str(
            image / "usr/lib/python3.9/_sysconfigdata__linux_x86_64-linux-gnu.py"
        )
        assert facts["torch"] == "9.8.7 cpu"
        assert facts["torch libraries"] == str(image / "opt/torch")
        assert facts["torch C++ string ABI"].startswith("cxx11")
        for compiler in ("HIP compiler", "C++ compiler"):
            assert facts[compiler] == "unknown" and origins[compiler] == f"nothing is started of {image}"
        assert not Path(f"{image}-was-run").exists()

    def test_what_its_files_do_not_tell_is_unknown_and_why(self, run, image):
        library = image / "usr/lib/python3.9"
        (library / "_sysconfigdata__linux_x86_64-linux-gnu.py").unlink()
        (library / "site-packages/_hook.pth").write_text("import hook\n")
        (image / "usr/bin/python3.9").unlink()
        (image / "usr/bin/python3").unlink()
        shutil.rmtree(library / "site-packages/torch")
        shutil.rmtree(image / "opt")
        (image / "root/.local/lib/python3.9/site-packages").mkdir(parents=True)
        shutil.move(library, image / "kept")
        add_python(image, "3.9.18", constant=False)
        shutil.rmtree(library)
        shutil.move(image / "kept", library)
        result = run("env", "--json", "--root", image)
        facts, origins = facts_of(result), origins_of(result)
        assert facts["python"] == "cpython 3.9" and facts["python patch version"] == "unknown", str(result)
        assert facts["python EXT_SUFFIX"] == "unknown"
        assert origins["python EXT_SUFFIX"] == f"there is no _sysconfigdata*.py in {library}"
        assert origins["python search path"] == f"{library}/site-packages/_hook.pth runs code that can change it"
        assert "PYTHONPATH=/root/.local/lib/python3.9/site-packages" in origins["python user"]
        assert facts["torch"] == "none"

    def test_a_script_is_no_answer(self, run, image):
        (image / "usr/bin/python3").unlink()
        (image / "usr/bin/python3").write_text("#!/bin/sh\nexec python3.9\n")
        result = run("env", "--json", "--root", image)
        assert facts_of(result)["python"] == "none"
        assert "is known only by running it" in origins_of(result)["python"]

    def test_another_one_by_its_name_there(self, run, image):
        add_python(image, "3.12.1", prefix="opt/py")
        result = run("env", "--json", "--root", image, "--python", "/opt/py/bin/python3")
        assert facts_of(result)["python"] == "cpython 3.12.1"
        assert facts_of(result)["torch"] == "none"
        missing = run("env", "--json", "--root", image, "--python", "/opt/none/python3")
        assert facts_of(missing)["python"] == "none"
        assert "no Python at '/opt/none/python3'" in origins_of(missing)["python"]

    def test_the_one_with_a_torch_goes_before_others_of_an_unknown_path(self, run, image):
        add_python(image, "3.12.1", prefix="usr/local")
        result = run("env", "--json", "--root", image)
        assert facts_of(result)["python"] == "cpython 3.9.18"
        assert "PATH of that machine is not known" in origins_of(result)["python"]

    def test_a_virtual_environment(self, run, image):
        site = image / "opt/venv/lib/python3.9/site-packages"
        add_torch(image / "second", site, "5.6.7")
        shutil.move(image / "second/opt/torch", image / "opt/torch", copy_function=shutil.copy)
        for link in (site / "torch/lib").iterdir():
            link.unlink()
            link.symlink_to(f"/opt/torch/torch/{link.name}")
        (image / "opt/venv/bin").mkdir()
        (image / "opt/venv/bin/python3").symlink_to("/usr/bin/python3")
        (image / "opt/venv/pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
        facts = facts_of(run("env", "--json", "--root", image))
        assert facts["python"] == "cpython 3.9.18" and facts["torch"] == "5.6.7 cpu"

    def test_an_editable_torch(self, run, image):
        site = image / "usr/lib/python3.9/site-packages"
        (image / "srv/checkout").mkdir(parents=True)
        shutil.move(site / "torch", image / "srv/checkout/torch")
        (image / "srv/link").symlink_to("/srv/checkout")
        (site / "__editable___torch_9_8_7_finder.py").write_text("MAPPING = {'torch': '/srv/link/torch'}\n")
        result = run("env", "--json", "--root", image)
        assert facts_of(result)["torch"] == "9.8.7 cpu", str(result)
        assert origins_of(result)["torch"] == str(image / "srv/checkout/torch/version.py")

    def test_a_tree_without_user_space_is_judged_with_this_machines(self, run, tmp_path):
        (tmp_path / "saved/etc").mkdir(parents=True)
        result = run("env", "--json", "--root", tmp_path / "saved")
        assert facts_of(result)["python executable"] == facts_of(run("env", "--json"))["python executable"]
        assert "are this machine's" in origins_of(result)["machine"]


class TestFile:
    def test_it_is_bound_to_the_trees_torch(self, run, image, extension):
        there = run("doctor", "--json", extension, "--root", image)
        assert there.json["verdict"] == "loads", str(there)
        here = run("doctor", "--json", extension)
        assert here.json["verdict"] == "does_not_load", str(here)

    def test_a_file_of_the_tree_may_be_named_as_there(self, run, image, extension):
        shutil.copy(extension, image / "opt/scale.so")
        result = run("doctor", "--json", "/opt/scale.so", "--root", image)
        assert result.json["verdict"] == "loads", str(result)

    def test_links_are_followed_in_the_tree(self, run, image, tmp_path):
        """By RUNPATH /opt/dep/lib: a link to a directory, and in it one to the file; both absolute."""
        (image / "opt/dep").mkdir()
        (image / "srv/lib").mkdir(parents=True)
        (image / "opt/dep/lib").symlink_to("/srv/lib")
        library = compile_library(image / "srv/lib/libdep.so.1.0", "void dep(void) {}", "-Wl,-soname,libdep.so.1")
        (image / "srv/lib/libdep.so.1").symlink_to("/srv/lib/libdep.so.1.0")
        user = compile_library(
            tmp_path / "user.so", "void dep(void); void f(void) { dep(); }", str(library), "-Wl,-rpath,/opt/dep/lib"
        )
        result = run("doctor", "--json", user, "--root", image)
        assert result.json["verdict"] == "loads", str(result)

    @pytest.mark.parametrize("way", ["absolute", "upwards", "origin"])
    def test_none_leads_out_of_it(self, run, image, tmp_path, way):
        """What lies on this machine where a link, or $ORIGIN/../.., would lead, is not in the tree."""
        outside = tmp_path / "outside"
        outside.mkdir()
        library = compile_library(outside / "libdep.so.1", "void dep(void) {}", "-Wl,-soname,libdep.so.1")
        climb = "../" * 20
        rpath = f"$ORIGIN/{climb}{str(outside)[1:]}" if way == "origin" else "/opt/dep"
        if way == "absolute":
            (image / "opt/dep").symlink_to(outside)
        elif way == "upwards":
            (image / "opt/dep").symlink_to(climb + str(outside)[1:])
        source = "void dep(void); void f(void) { dep(); }"
        compile_library(image / "opt/user.so", source, str(library), f"-Wl,-rpath,{rpath}")
        result = run("doctor", "--json", "/opt/user.so", "--root", image)
        assert result.json["verdict"] == "does_not_load", str(result)
        (image / str(outside)[1:]).mkdir(parents=True)
        shutil.copy(library, image / str(outside)[1:])
        assert run("doctor", "--json", "/opt/user.so", "--root", image).json["verdict"] == "loads"

    @pytest.mark.skipif(os.geteuid() != 0, reason="ldconfig -r needs chroot")
    def test_its_ld_so_cache_is_what_counts(self, run, image, tmp_path):
        (image / "opt/dep").mkdir()
        library = compile_library(image / "opt/dep/libdep.so.1", "void dep(void) {}", "-Wl,-soname,libdep.so.1")
        user = compile_library(tmp_path / "user.so", "void dep(void); void f(void) { dep(); }", str(library))
        (image / "etc/ld.so.conf").write_text("/opt/dep\n")
        (image / "var/cache/ldconfig").mkdir(parents=True)
        assert run("doctor", "--json", user, "--root", image).json["verdict"] == "does_not_load"
        subprocess.run(["/sbin/ldconfig", "-r", str(image)], check=True)
        result = run("doctor", "--json", user, "--root", image)
        assert result.json["verdict"] == "loads", str(result)

    def test_another_version_of_python(self, run, image, tmp_path):
        """Py_NewRef came with 3.10: the tree's 3.9 has none, this machine's has."""
        module = compile_library(
            tmp_path / "fresh.so",
            "void Py_NewRef(void); void PyList_New(void); void PyInit_fresh(void) { Py_NewRef(); PyList_New(); }",
        )
        result = run("doctor", "--json", module, "--root", image)
        found = finding(result, "DCU215")
        assert found and "is Python 3.9.18" in evidence(found), str(result)
        assert str(image / "usr/bin/python3.9") in evidence(found)
