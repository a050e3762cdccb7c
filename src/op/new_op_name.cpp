#include "new_op_name.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "dcuop/support/text.hpp"
#include "identifier.hpp"

namespace dcuop::op {

namespace {

// https://docs.python.org/3/reference/lexical_analysis.html#keywords
constexpr std::string_view python_keywords =
    "False None True and as assert async await break class continue def del elif else except finally for"
    " from global if import in is lambda nonlocal not or pass raise return try while with yield";

// https://en.cppreference.com/w/cpp/keyword
constexpr std::string_view cxx_keywords =
    "alignas alignof and_eq asm auto bitand bitor bool case catch char char16_t char32_t char8_t co_await"
    " co_return co_yield compl concept const const_cast consteval constexpr constinit decltype default"
    " delete do double dynamic_cast enum explicit export extern false float friend goto inline int long"
    " mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register"
    " reinterpret_cast requires short signed sizeof static static_assert static_cast struct switch"
    " template this thread_local throw true typedef typeid typename union unsigned using virtual void"
    " volatile wchar_t xor xor_eq";

// sys.stdlib_module_names of Python 3.10 to 3.13, and what the op itself imports: a package of such a name would be
// imported instead.
constexpr std::string_view modules =
    "abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii"
    " binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop"
    " collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt"
    " csv ctypes curses dataclasses datetime dbm dcuop decimal difflib dis distutils doctest email"
    " encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib"
    " functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http"
    " idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache"
    " locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt"
    " multiprocessing netrc nis nntplib nt ntpath nturl2path numbers numpy opcode operator optparse os"
    " ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath"
    " pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat pytest queue quopri random"
    " re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil"
    " signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants"
    " sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig"
    " syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token"
    " tokenize tomllib torch trace traceback tracemalloc tty turtle turtledemo types typing unicodedata"
    " unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml"
    " xmlrpc zipapp zipfile zipimport zlib zoneinfo";

// Those that torch 2 registers itself: a second TORCH_LIBRARY of one is an error when it is loaded.
constexpr std::string_view torch_namespaces =
    "aten c10d debugprims export fsdp inductor inductor_prims mkl mkldnn mkldnn_prepacked onednn prim"
    " prims profiler quantization quantized rngprims sparse static_runtime symm_mem";

bool is_among(const std::string& name, std::string_view words) {
  const std::vector<std::string> list = split(words, ' ');
  return std::find(list.begin(), list.end(), name) != list.end();
}

} // namespace

std::optional<std::string> why_unfit(const std::string& name, Kind kind) {
  if (!is_identifier(name)) {
    return "is not an identifier (letters, digits and _, no digit first)";
  }
  if (name.starts_with("__") || name == "_") {
    return "begins with what Python and C++ keep for themselves";
  }
  if (is_among(name, python_keywords)) {
    return "is a keyword of Python";
  }
  if (is_among(name, cxx_keywords)) {
    return "is a keyword of C++";
  }
  if (is_among(name, modules)) {
    return "is a module that the op and its tests import, or may";
  }
  if (name == "load") {
    return "is what the op's package calls the function that loads it";
  }
  if (kind == Kind::torch_library && is_among(name, torch_namespaces)) {
    return "is a namespace of torch's own operators";
  }
  return std::nullopt;
}

} // namespace dcuop::op
