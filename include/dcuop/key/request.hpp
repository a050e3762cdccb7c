#pragma once
// Op + facts -> request: the exact commands of a build, and the digest of everything known before it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/key/components.hpp"
#include "dcuop/key/facts.hpp"
#include "dcuop/key/input_set.hpp"
#include "dcuop/op/op.hpp"
#include "dcuop/probe/machine.hpp"

namespace dcuop::key {

/// One translation unit. Its command is: compiler, flags, then what the runner adds (input, output, dependency
/// options, prefix map); all paths are relative to the op's directory, where it is run.
struct UnitRequest {
  op::Source source;
  probe::Compiler compiler;
  std::optional<probe::Compiler> host_compiler; ///< that nvcc is called with
  std::vector<std::string> flags;               ///< in order, offload archs included
  std::vector<std::string> archs;               ///< of a HIP or CUDA unit; else empty
  std::vector<std::string> flags_without_archs; ///< for a pass that compiles for one arch
  Components components;
  Digest request;
  std::vector<std::string> uncacheable; ///< why a result must not be cached; empty: it may be
  [[nodiscard]] std::string name() const { return source.path.string(); }
};

struct LinkRequest {
  probe::Compiler compiler;
  std::vector<std::string> flags;     ///< before the objects
  std::vector<std::string> libraries; ///< behind them
};

struct Request {
  op::Op op;
  std::vector<std::string> archs;
  PathBase base;
  std::vector<UnitRequest> units;
  LinkRequest link;
  std::string artifact;  ///< file name: "affine.cpython-311-x86_64-linux-gnu.so"
  Components components; ///< of the units and the link
  Digest digest;
  std::vector<std::string> uncacheable;
  /// What the components were read from besides the inputs (tools, device libraries, files named by flags): it must
  /// still be so when the result is published. Paths are absolute.
  struct FixedFile {
    std::filesystem::path path;
    std::optional<FileIdentity> identity;
  };
  std::vector<FixedFile> fixed_files;
  Environment environment; ///< scrubbed; TMPDIR is the runner's to set
  std::string facts_json;  ///< for `dcuop list`: arch, torch, python, hip, kind
};

/// A fixed file that is no longer what it was when the request was made; "" when there is none. What was compiled
/// meanwhile may be of either, so it must not be published.
[[nodiscard]] std::string changed_fixed_file(const Request& request);

/// Throws Error(usage) when a selected arch is outside the op's set or the compiler does not know it.
[[nodiscard]] Request make_request(const op::Op& op, const Facts& facts, const probe::Machine& machine);

} // namespace dcuop::key
