"""The static program, the Python module under every interpreter that is here, and (make full) sdist and wheel.

`make suites` links build/release/static/dcuop from the objects of build/release/dcuop. The wheel compiles everything
once more, and takes its build requirements from the package index: DCUOP_FULL=1.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict

import pytest

from conftest import ARCH, PYTHON, ROOT

PACKAGE = ROOT / "python" / "dcuop"
VERSION = re.search(r"project\(dcuop VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)

full = pytest.mark.skipif("DCUOP_FULL" not in os.environ, reason="make full runs it (DCUOP_FULL=1)")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="chroot(2) needs root")


# The static program ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def static_binary(dcuop_binary: Path) -> Path:
    binary = Path(os.environ.get("DCUOP_STATIC_BINARY", dcuop_binary.parent / "static" / "dcuop")).resolve()
    if not os.access(binary, os.X_OK):
        pytest.skip(f"{binary} is missing: cmake --build build/release --target dcuop_static")
    return binary


def needs_nothing(binary: Path) -> None:
    headers = subprocess.run(["readelf", "-dlW", binary], capture_output=True, text=True, check=True).stdout
    assert "LOAD" in headers
    assert "NEEDED" not in headers and "INTERP" not in headers and "interpreter" not in headers, headers
    assert "GNU_EH_FRAME" in headers, "exceptions are slow"


def test_the_static_program_needs_no_library(static_binary):
    needs_nothing(static_binary)


@dataclasses.dataclass
class EmptyRoot:
    """A directory that holds the program and nothing else, to be run as the root directory."""

    directory: Path

    def __call__(self, *arguments: str, user: int = 0, **environment: str) -> "subprocess.CompletedProcess[str]":
        def enter() -> None:
            os.chroot(self.directory)
            os.chdir("/")
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

        return subprocess.run(
            ["/dcuop", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            preexec_fn=enter, timeout=60, check=False,
        )

    def put(self, source: Path, name: str) -> None:
        target = self.directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


@pytest.fixture
def empty_root(tmp_path: Path, static_binary: Path) -> EmptyRoot:
    root = EmptyRoot(tmp_path / "root")
    root.put(static_binary, "dcuop")
    root.directory.chmod(0o755)
    return root


@root_only
class TestEmptyRoot:
    def test_it_starts(self, empty_root):
        done = empty_root("--version")
        assert (done.returncode, done.stderr) == (0, "") and VERSION in done.stdout
        assert "doctor" in empty_root("--help").stdout
        assert "DCU301" in empty_root("rule", "DCU301").stdout

    def test_it_says_what_it_finds_there(self, empty_root):
        done = empty_root("env", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        facts = {fact["name"]: fact["value"] for fact in json.loads(done.stdout)["facts"]}
        assert (facts["python"], facts["HIP compiler"], facts["devices"]) == ("none", "none", "none"), facts
        assert facts["build inputs"] == "unknown", "there is nothing to try ptrace with"

    @pytest.mark.parametrize("user", [0, 4711])
    def test_the_doctor_reads_a_file(self, empty_root, run, hip_op, user):
        built = run("build", hip_op, "--json", "--arch", ARCH)
        assert built.rc == 0, built
        empty_root.put(Path(built.op["path"]), "op/fill.so")
        done = empty_root("doctor", "--json", "/op/fill.so", "--arch", "gfx936", user=user)
        report = json.loads(done.stdout)
        assert report["verdict"] == "does_not_load", done.stdout
        errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
        assert {"DCU201", "DCU301"} == {finding["rule"] for finding in errors}, done.stdout
        assert "libamdhip64.so.5" in done.stdout and "libc.so.6" in done.stdout

    def test_inspect_reads_device_code(self, empty_root, run, hip_op):
        built = run("build", hip_op, "--json", "--arch", ARCH)
        empty_root.put(Path(built.op["path"]), "fill.so")
        done = empty_root("inspect", "--json", "/fill.so")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "fill" in done.stdout and ARCH in done.stdout

    def test_without_home_or_accounts(self, empty_root):
        """No HOME, no /etc/passwd, a user without a name: nothing may be looked up that loads a library."""
        done = empty_root("cache", "dir", user=4711)
        assert done.returncode == 3 and "HOME" in done.stderr and "DCUOP_CACHE_DIR" in done.stderr, done
        assert empty_root("cache", "dir", user=4711, DCUOP_CACHE_DIR="/c").stdout.strip().startswith("/c")
        self.add_device_node(empty_root)
        facts = json.loads(empty_root("env", "--json", user=4711).stdout)["facts"]
        assert {fact["value"] for fact in facts if fact["name"] == "/dev/kfd"} == {"4711:4711 0600, can be opened"}

    def test_name_services_are_not_loaded(self, empty_root):
        """glibc would load what nsswitch.conf names, of another release than the one that is linked in."""
        etc = empty_root.directory / "etc"
        etc.mkdir()
        (etc / "nsswitch.conf").write_text("passwd: odd files\ngroup: odd files\n")
        (etc / "passwd").write_text("ada:x:4711:4711::/home/ada:/bin/sh\n")
        (etc / "group").write_text("render:x:4711:ada\n")
        self.add_device_node(empty_root)
        facts = json.loads(empty_root("env", "--json", user=4711).stdout)["facts"]
        assert {fact["value"] for fact in facts if fact["name"] == "/dev/kfd"} == {"ada:render 0600, can be opened"}

    @staticmethod
    def add_device_node(root: EmptyRoot) -> None:
        node = root.directory / "dev" / "kfd"
        node.parent.mkdir()
        node.touch()
        node.chmod(0o600)
        os.chown(node, 4711, 4711)


def test_the_static_program_traces_what_it_builds(static_binary, run, make_op, tmp_path, environment):
    """A header that comes to lie earlier on the search path is seen by tracing alone."""
    op = make_op("op", sources={"a.cpp": '#include "v.h"\nextern "C" int a() { return VALUE; }\n'},
                 files={"first/.keep": "", "second/v.h": "#define VALUE 2\n"}, build={"include_dirs": ["first", "second"]})

    def status() -> Dict[str, Any]:
        done = subprocess.run([static_binary, "build", "--json", op], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["ops"][0]

    assert [status()["status"], status()["status"]] == ["built", "hit"]
    (op / "first" / "v.h").write_text("#define VALUE 1\n")
    assert [status()["status"], status()["status"]] == ["built", "hit"]
    # Both programs are of the same sources: what one has built, the other finds.
    assert run("build", "--json", op).op["status"] == "hit"


# The Python module -------------------------------------------------------------------------------------------


def interpreters() -> Dict[str, str]:
    """Of each release from 3.8 on, one: on PATH, pyenv's, and those that DCUOP_TEST_PYTHONS names."""
    found: Dict[str, str] = {}
    places = [*map(Path, os.environ.get("DCUOP_TEST_PYTHONS", "").split(":")), Path(PYTHON)]
    for directory in map(Path, ("/usr/bin", "/usr/local/bin")):
        places += directory.glob("python3.*")
    places += Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin/python3")
    for place in places:
        if place.is_file() and re.fullmatch(r"python3?(\.\d+)?", place.name):
            done = subprocess.run(
                [place, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
            )
            release = tuple(map(int, done.stdout.split())) if done.returncode == 0 else (0, 0)
            if release >= (3, 8):
                found.setdefault("{}.{}".format(*release), str(place))
    return dict(sorted(found.items(), key=lambda entry: tuple(map(int, entry[0].split(".")))))


INTERPRETERS = interpreters()


def python(interpreter: str, code: str, environment: Dict[str, str], *arguments: object) -> str:
    done = subprocess.run(
        [interpreter, "-W", "error", "-c", code, *map(str, arguments)],
        env={"PYTHONDONTWRITEBYTECODE": "1", **environment}, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(params=list(INTERPRETERS.values()), ids=list(INTERPRETERS))
def interpreter(request) -> str:
    return request.param


class TestEveryInterpreter:
    def test_every_file_compiles(self, interpreter, environment):
        code = """
import pathlib, sys
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    compile(file.read_bytes(), str(file), "exec")
    print(file.name)
"""
        compiled = python(interpreter, code, environment, PACKAGE).split()
        assert "_program.py" in compiled and len(compiled) == len(list(PACKAGE.glob("*.py")))

    def test_it_builds_and_loads(self, interpreter, environment, dcuop_binary, make_op):
        environment = {**environment, "PYTHONPATH": str(PACKAGE.parent), "DCUOP": str(dcuop_binary)}
        environment["DCUOP_PYTHON"] = interpreter
        code = "import sys, dcuop; print(dcuop.load_op(sys.argv[1]).scaled(14), len(dcuop.__all__) > 5)"
        assert python(interpreter, code, environment, make_op()) == "42 True"

    def test_names_and_hints_of_the_public_interface_resolve(self, interpreter, environment):
        code = """
import dcuop, importlib.util, inspect, typing
names = set(dcuop.__all__) | {"build_ext"}
if importlib.util.find_spec("setuptools") is None:  # none comes with Python since 3.12
    names.remove("build_ext")
    try:
        dcuop.build_ext
    except ImportError as error:
        assert "setuptools" in str(error)
for name in names:
    value = getattr(dcuop, name)
    assert value.__doc__, name
    if inspect.isfunction(value):
        typing.get_type_hints(value)
print("fine")
"""
        assert python(interpreter, code, {**environment, "PYTHONPATH": str(PACKAGE.parent)}) == "fine"


SITES = {
    "venv": "lib/python3.8/site-packages",
    "lib64": "lib64/python3.12/site-packages",
    "debian": "lib/python3/dist-packages",
    "debian-local": "lib/python3.11/dist-packages",
    "target": ".",
}


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
def test_the_program_of_the_same_prefix_is_found(environment, tmp_path, site):
    prefix = tmp_path / "prefix"
    shutil.copytree(PACKAGE, prefix / site / "dcuop", ignore=shutil.ignore_patterns("__pycache__"))
    other = tmp_path / "path" / "dcuop"
    for program in (prefix / "bin" / "dcuop", other):
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    environment = {**environment, "PYTHONPATH": str(prefix / site), "PATH": str(other.parent)}
    code = "from dcuop._program import find_program; print(find_program())"
    assert python(PYTHON, code, environment) == str(prefix / "bin" / "dcuop")
    assert python(PYTHON, code, {**environment, "DCUOP": "/bin/true"}) == "/bin/true"
    (prefix / "bin" / "dcuop").chmod(0o644)
    assert python(PYTHON, code, environment) == str(other)


# sdist and wheel ---------------------------------------------------------------------------------------------


def checked(*command: object, **options: Any) -> str:
    """With the caller's environment: proxies and indexes of packages are set there."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def make_venv(directory: Path, *packages: str) -> Path:
    checked(PYTHON, "-m", "venv", directory)
    if packages:
        checked(directory / "bin" / "pip", "install", "--quiet", *packages)
    return directory


@dataclasses.dataclass(frozen=True)
class Packages:
    tools: Path  # a venv with what builds
    sdist: Path
    source: Path  # the sdist, unpacked
    wheel: Path


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The sdist of this tree, and the wheel that pip makes of it with build isolation."""
    directory = tmp_path_factory.mktemp("packages")
    tools = make_venv(directory / "tools", "build", "scikit-build-core")
    checked(tools / "bin" / "python", "-m", "build", "--sdist", "--no-isolation", "--outdir", directory, ROOT)
    sdist = directory / f"dcuop-{VERSION}.tar.gz"
    with tarfile.open(sdist) as archive:
        archive.extractall(directory)
    source = directory / f"dcuop-{VERSION}"
    checked(tools / "bin" / "pip", "wheel", "--no-deps", "--wheel-dir", directory / "wheels", source)
    (wheel,) = (directory / "wheels").iterdir()
    return Packages(tools, sdist, source, wheel)


def find_program_of(interpreter: Path, **environment: str) -> Path:
    code = "import dcuop._program as p; print(p.find_program())"
    return Path(python(str(interpreter), code, {"PATH": "/usr/bin:/bin", **environment}))


@full
class TestPackages:
    def test_the_sdist_has_what_builds_and_no_more(self, packages):
        with tarfile.open(packages.sdist) as archive:
            names = {name.split("/", 1)[1] for name in archive.getnames()}
        tracked = set(subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n"))
        # The grammar is fetched, not tracked: with it in the sdist nothing is fetched where that is built.
        grammar = {"build/grammar/LICENSE", "build/grammar/src/parser.c", "build/grammar/src/scanner.c"}
        assert names - tracked == {"PKG-INFO", *grammar}
        assert {name.split("/")[0] for name in names} == {
            "CMakeLists.txt", "CMakePresets.json", "LICENSE", "PKG-INFO", "README.md", "build", "cmake", "include",
            "ops", "pyproject.toml", "python", "script", "src", "templates",
        }  # fmt: skip

    def test_what_the_wheel_holds(self, packages):
        assert re.fullmatch(rf"dcuop-{VERSION}-py3-none-linux_\w+\.whl", packages.wheel.name)
        with zipfile.ZipFile(packages.wheel) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            metadata = archive.read(f"dcuop-{VERSION}.dist-info/METADATA").decode()
        files = [file.relative_to(PACKAGE) for file in PACKAGE.rglob("*") if file.is_file()]
        modules = {f"dcuop/{file}" for file in files if "__pycache__" not in file.parts}
        program = f"dcuop-{VERSION}.data/scripts/dcuop"
        others = set(sizes) - modules - {program}
        assert modules <= set(sizes) and "dcuop/py.typed" in modules
        assert {name for name in others if ".dist-info/" not in name} == {"dcuop.pth", "dcuop/libdcuop_recall.so"}
        assert any(name.endswith("LICENSE") for name in others)
        # 15 MB, of which the tables of the C++ grammar are 3.
        assert 5_000_000 < sizes[program] < 20_000_000
        assert f"\nVersion: {VERSION}\n" in metadata and "\nRequires-Python: >=3.8\n" in metadata

    def test_in_a_venv(self, packages, tmp_path, make_op, environment):
        venv = make_venv(tmp_path / "venv")
        checked(venv / "bin" / "pip", "install", "--no-index", packages.wheel)
        program = venv / "bin" / "dcuop"
        needs_nothing(program)
        sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
        assert ".text" in sections and ".symtab" not in sections and ".debug" not in sections
        version = checked("sh", "-c", "dcuop --version", env={"PATH": f"{venv}/bin:/usr/bin:/bin"})
        assert VERSION in version
        assert find_program_of(venv / "bin" / "python") == program
        code = "import sys, dcuop; print(dcuop.load_op(sys.argv[1]).scaled(14))"
        assert python(str(venv / "bin" / "python"), code, environment, make_op()) == "42"
        checked(venv / "bin" / "pip", "uninstall", "--yes", "dcuop")
        assert not program.exists()

    @pytest.mark.parametrize("option", ["--prefix", "--target"])
    def test_in_a_prefix(self, packages, tmp_path, option):
        place = tmp_path / "place"
        checked(packages.tools / "bin" / "pip", "install", "--no-index", option, place, packages.wheel)
        (package,) = place.rglob("dcuop/__init__.py")
        found = find_program_of(packages.tools / "bin" / "python", PYTHONPATH=str(package.parents[1]))
        assert found == place / "bin" / "dcuop"
        assert VERSION in checked(found, "--version")

    def test_in_a_copied_interpreter(self, packages, tmp_path, interpreter):
        """As conda has it: a prefix with an interpreter and its library of its own, and no pyvenv.cfg."""
        facts = json.loads(python(interpreter, "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))", {}))
        base = Path(facts[1])
        release = next(name for name, path in INTERPRETERS.items() if path == interpreter)
        if base == Path("/usr"):
            pytest.skip("a distribution's interpreter is compiled for /usr")
        prefix = tmp_path / "prefix"
        library = f"lib/python{release}"
        ignored = shutil.ignore_patterns("test", "site-packages", "__pycache__", "config-*", "idlelib", "tkinter")
        shutil.copytree(base / library, prefix / library, symlinks=True, ignore=ignored)
        (prefix / library / "site-packages").mkdir()
        (prefix / "bin").mkdir()
        own = prefix / "bin" / f"python{release}"
        shutil.copy(base / "bin" / f"python{release}", own)
        for shared in (base / "lib").glob("libpython*.so*"):
            shutil.copy(shared, prefix / "lib", follow_symlinks=False)
        checked(own, "-m", "ensurepip")
        checked(own, "-m", "pip", "install", "--no-index", packages.wheel)
        assert find_program_of(own) == prefix / "bin" / "dcuop"
        assert VERSION in checked(prefix / "bin" / "dcuop", "--version")

    def test_without_build_isolation(self, packages, tmp_path):
        """In the tree that was built already: what is installed is the same program."""
        checked(packages.tools / "bin" / "pip", "install", "--no-build-isolation", "--no-deps", packages.source)
        program = packages.tools / "bin" / "dcuop"
        needs_nothing(program)
        with zipfile.ZipFile(packages.wheel) as archive:
            assert program.read_bytes() == archive.read(f"dcuop-{VERSION}.data/scripts/dcuop")
        assert find_program_of(packages.tools / "bin" / "python") == program

    def test_an_editable_install_runs_this_trees_module(self, packages, tmp_path):
        venv = make_venv(tmp_path / "venv")
        environment = {**os.environ, "PATH": f"{packages.tools}/bin:{os.environ['PATH']}"}
        checked(packages.tools / "bin" / "pip", "--python", venv / "bin" / "python", "install", "--no-deps",
                "--editable", packages.source, env=environment)
        where = python(str(venv / "bin" / "python"), "import dcuop; print(dcuop.__file__)", {})
        assert Path(where) == packages.source / "python" / "dcuop" / "__init__.py"
        assert find_program_of(venv / "bin" / "python") == venv / "bin" / "dcuop"
