#pragma once
// The Python that an extension is for. Asked once by starting it, then remembered with the files that the
// answer depends on (interpreter, pyvenv.cfg, site directories, .pth files, pyenv's version files).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/probe/machine.hpp"

namespace dcuop::probe {

struct Python {
  std::filesystem::path executable; ///< as chosen, absolute; a shim is resolved to sys.executable
  std::string origin;  ///< "--python", "DCUOP_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "python3 on PATH"
  std::string version; ///< "3.11.2"
  std::string implementation;        ///< "cpython"
  std::string ext_suffix;            ///< ".cpython-311-x86_64-linux-gnu.so" (sysconfig EXT_SUFFIX)
  std::string soabi;                 ///< "cpython-311-x86_64-linux-gnu"
  std::filesystem::path include_dir; ///< sysconfig "include"
  std::vector<std::filesystem::path> search_path; ///< sys.path's directories without the working directory
  std::filesystem::path prefix, base_prefix;
  /// Of a Python that was not asked but read (another tree's): where EXT_SUFFIX is from, and what its files do not
  /// tell. `search_path`, `prefix` and the like are then where they lie here.
  std::filesystem::path config_file;
  struct NotTold {
    std::string fact, reason;
  };
  std::vector<NotTold> not_told;
};

/// Which interpreter somebody asked for, and where: "--python", or the place in a configuration file.
struct PythonWish {
  PythonWish() = default;
  PythonWish(const char* wanted) : path(wanted) {}
  PythonWish(std::string wanted, std::string from = "--python")
      : path(std::move(wanted)), origin(std::move(from)) {}
  std::string path; ///< empty: nobody did
  std::string origin = "--python";
  /// What the interpreter at `path` says of itself (python/dcuop/_interpreter.py), as it is the one that asks: then it
  /// is not started. Empty otherwise.
  std::string answer;
};

/// A wish goes before DCUOP_PYTHON, that before the active venv or conda environment. Throws
/// Error(environment) when there is none, or it does not answer. Of a saved machine it is that tree's Python, read
/// from its files: nothing is started.
[[nodiscard]] Python find_python(const Machine& machine, const PythonWish& wish);

} // namespace dcuop::probe
