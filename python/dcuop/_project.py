"""An extension's sources and the project's own headers that they reach, laid out below one directory.

Names in the layout are relative and do not tell where the project lies, so that two checkouts of one text are one op.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sysconfig
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._errors import UsageProblem

# What follows is "name", <name> or, as the third, something that only the preprocessor can tell. One within a comment
# or a branch that is not taken is found as well: then a file more is laid out, which nobody reads. Two patterns that
# begin with a literal are five times as fast as one for both at the beginning of a line.
_OPERAND = r'[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\S))'
_INCLUDE = re.compile(r"#[ \t]*(?:include|include_next|import)\b" + _OPERAND)
_HAS_INCLUDE = re.compile(r"__has_include(?:_next)?[ \t]*\(" + _OPERAND)


class Project(NamedTuple):
    """The layout. Names have "/" between their parts."""

    texts: Mapping[str, str]  #: by name
    originals: Mapping[str, str]  #: absolute path by name; none for a text that came without a file
    sources: Sequence[str]  #: names of those to compile
    own_include_dirs: Sequence[str]  #: names of the include directories within the layout
    include_dirs: Sequence[str]  #: all for the compiler, in its order: those, and paths of others
    includes: Mapping[str, Sequence[str]]  #: name -> names of the files that it includes


def lay_out(sources: Sequence[str], files: Mapping[str, str], include_dirs: Sequence[str], torch_dir: str) -> Project:
    """`sources` are absolute paths; `files` instead of them are texts by name. Raises UsageProblem for what is no text.

    A header that is not found is left for the compiler to miss.
    """
    roots: Dict[str, Optional[str]] = dict.fromkeys(sources)
    if files:
        # As if they lay in a directory of their own: one that can have no other files.
        roots = {os.path.join("/dev/null/files", name): text for name, text in files.items()}
    scan = _Scan(include_dirs, torch_dir)
    for path, text in roots.items():
        scan.add(path, text)
    scan.follow()
    places = _Places(scan, os.path.commonpath([os.path.dirname(path) for path in roots]))
    names = {path: places.name_of(path) for path in scan.texts}
    return Project(
        texts={name: scan.texts[path] for path, name in names.items()},
        originals={} if files else {name: path for path, name in names.items()},
        sources=[names[path] for path in roots],
        own_include_dirs=[places.name_of(path) for path in scan.used_dirs()],
        include_dirs=_for_compiler(scan, include_dirs, places),
        includes={names[path]: [names[file] for file in found] for path, found in scan.includes.items()},
    )


class _Scan:
    """The files reached so far, by absolute path."""

    def __init__(self, include_dirs: Sequence[str], torch_dir: str) -> None:
        outside = _directories_of_others(torch_dir)
        self.texts: Dict[str, str] = {}
        self.includes: Dict[str, List[str]] = {}
        self.beside: List[Tuple[str, str]] = []  #: (file, what it includes relative to itself)
        self.computed: Dict[str, None] = {}  #: directories of files with an include that only the preprocessor can tell
        self.reaches_others = False  #: a header of an include directory that is not laid out
        self.own_dirs = [path for path in dict.fromkeys(include_dirs) if not _is_below_any(path, outside)]
        self._include_dirs = list(dict.fromkeys(include_dirs))
        self._torch_dir = torch_dir
        self._pending: List[str] = []
        self._is_file = functools.lru_cache(maxsize=None)(os.path.isfile)

    def add(self, path: str, text: Optional[str] = None) -> None:
        if path not in self.texts:
            self.texts[path] = _text_of(path) if text is None else text
            self._pending.append(path)

    def follow(self) -> None:
        while self._pending:
            path = self._pending.pop()
            found = self.includes.setdefault(path, [])
            text = self.texts[path]
            for quoted, angled, other in _INCLUDE.findall(text) + _HAS_INCLUDE.findall(text):
                if other:
                    self.computed[os.path.dirname(path)] = None
                    continue
                included = (self._beside(path, quoted) if quoted else None) or self._in_directories(quoted or angled)
                if included:
                    found.append(included)
                    self.add(included)

    def used_dirs(self) -> List[str]:
        return [path for path in self.own_dirs if any(_is_below(file, path) for file in self.texts)]

    def _beside(self, path: str, name: str) -> Optional[str]:
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if beside not in self.texts and not self._is_file(beside):
            return None
        self.beside.append((path, beside))
        return beside

    def _in_directories(self, name: str) -> Optional[str]:
        for directory in self._include_dirs:
            path = os.path.normpath(os.path.join(directory, name))
            if path in self.texts or self._is_file(path):
                if directory in self.own_dirs:
                    return path
                self.reaches_others = self.reaches_others or not _is_below(directory, self._torch_dir)
                return None
        return None


class _Places:
    """Which directories become the tops of the layout, and what they are called there."""

    def __init__(self, scan: _Scan, base: str) -> None:
        tops = _outermost([base, *scan.used_dirs()])
        # "../common/x.cuh" has to lead to x.cuh in the layout too.
        for includer, included in scan.beside:
            top = next(top for top in tops if _is_below(includer, top))
            if not _is_below(included, top):
                tops[tops.index(top)] = os.path.commonpath([top, os.path.dirname(included)])
                tops = _outermost(tops)
        main = next(top for top in tops if _is_below(base, top))
        taken = {os.path.relpath(path, main).split(os.sep)[0] for path in scan.texts if _is_below(path, main)}
        self._names = {main: ""}
        for number, top in enumerate((top for top in tops if top != main), 1):
            name = f"include-{number}"
            while name in taken:
                name += "_"
            self._names[top] = name

    def name_of(self, path: str) -> str:
        top = next(top for top in self._names if _is_below(path, top))
        name = os.path.normpath(os.path.join(self._names[top], os.path.relpath(path, top)))
        return name.replace(os.sep, "/")


def _for_compiler(scan: _Scan, include_dirs: Sequence[str], places: _Places) -> List[str]:
    # An original is there behind its copy only when something may be found in it that was not laid out: its path makes
    # the op one of this place alone.
    needs_originals = bool(scan.computed or scan.reaches_others)
    used = scan.used_dirs()
    result = []
    for path in dict.fromkeys(include_dirs):
        if path in used:
            result.append(places.name_of(path))
        if path not in scan.own_dirs or needs_originals:
            result.append(path)
    return result + [path for path in scan.computed if os.path.isdir(path) and path not in result]


def _directories_of_others(torch_dir: str) -> List[str]:
    """Headers there are HIP's already, or have nothing to do with either: torch does not hipify them."""
    hipcc = shutil.which("hipcc")
    roots = [os.environ.get("ROCM_HOME"), os.environ.get("ROCM_PATH"), os.environ.get("HIP_PATH"), "/opt/rocm"]
    if hipcc:
        roots.append(os.path.dirname(os.path.dirname(os.path.realpath(hipcc))))
    headers = ["/usr/include", "/usr/local/include", sysconfig.get_paths()["include"], torch_dir]
    headers += [root if root.rstrip("/") not in ("/usr", "/usr/local") else f"{root}/include" for root in roots if root]
    return [os.path.normpath(path) for path in headers]


def _text_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}", "", 2) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageProblem(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is no UTF-8, and hipify translates nothing else",
            "Convert the file: iconv -f latin1 -t utf-8",
            2,
        ) from error
    if "\0" in text:
        raise UsageProblem(f"{path} is no text: it has NUL bytes", "", 2)
    return text


def _outermost(directories: Sequence[str]) -> List[str]:
    unique = list(dict.fromkeys(directories))
    return [path for path in unique if not any(path != other and _is_below(path, other) for other in unique)]


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _is_below_any(path: str, directories: Sequence[str]) -> bool:
    return any(_is_below(path, directory) for directory in directories)


def reachable(includes: Mapping[str, Sequence[str]], name: str) -> Iterator[str]:
    """What `name` includes, and what that includes, and so on; `name` itself only if an include leads back to it."""
    seen = set()
    pending = list(includes.get(name, ()))
    while pending:
        following = pending.pop()
        if following not in seen:
            seen.add(following)
            yield following
            pending += includes.get(following, ())
