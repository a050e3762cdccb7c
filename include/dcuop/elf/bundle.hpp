#pragma once
// Device code inside a HIP shared object: offload bundles in .hip_fatbin, plain or compressed (CCOB).
// Formats: clang/docs/ClangOffloadBundler.rst and llvm/lib/Object/OffloadBundle.cpp of llvm-project.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

/// <processor>(:<feature>(+|-))*. Processors: gfx906, gfx9-4-generic, amdgcnspirv. Features: sramecc,
/// xnack; absent means any.
struct TargetId {
  std::string processor;
  std::optional<bool> sramecc, xnack;

  /// nullopt for a malformed one, an unknown feature or one given twice.
  [[nodiscard]] static std::optional<TargetId> parse(std::string_view text);
  [[nodiscard]] std::string text() const; ///< canonical
  bool operator==(const TargetId&) const = default;
};

/// Whether code for `code` runs on an agent `agent` (AMDGPUUsage, target ID; ROCm CLR's
/// isCodeObjectCompatibleWithDevice). There is no forward compatibility between processors.
enum class Fit { match, generic_match, spirv, wrong_processor, xnack_conflict, sramecc_conflict };
[[nodiscard]] Fit fit_of(const TargetId& code, const TargetId& agent);
[[nodiscard]] bool fits(Fit fit); ///< match or generic_match

struct KernelInfo {
  std::string name;
  std::uint32_t vgprs = 0, sgprs = 0, agprs = 0;
  std::uint32_t vgpr_spills = 0, sgpr_spills = 0;
  std::uint64_t lds_bytes = 0;     ///< static, per workgroup
  std::uint64_t scratch_bytes = 0; ///< per lane
  std::uint64_t kernarg_bytes = 0;
  std::uint32_t wavefront = 0;
  std::uint32_t max_workgroup = 0; ///< .max_flat_workgroup_size
};

/// One code object of a bundle.
struct CodeObject {
  std::string entry_id;     ///< "hipv4-amdgcn-amd-amdhsa--gfx906"
  std::string target;       ///< the target id of the entry id, "amdgcnspirv" for SPIR-V; "" for the host
  std::uint64_t offset = 0; ///< in the unpacked bundle
  std::uint64_t size = 0;
  int code_object_version = 0; ///< 2 to 6, 0 when it is no AMDGPU ELF
  std::uint32_t elf_flags = 0; ///< e_flags; the mach byte of DCU processors is not public: never decoded here
  std::string metadata_target; ///< amdhsa.target, "" when absent
  std::vector<KernelInfo> kernels;
  std::string problem; ///< why it could not be read; empty when it was
  [[nodiscard]] bool is_host() const { return entry_id.starts_with("host-"); }
};

enum class Packing { plain, ccob_zlib, ccob_zstd, unknown };

/// One translation unit's device code.
struct Bundle {
  std::uint64_t offset = 0; ///< in the file
  std::uint64_t size = 0;   ///< as stored
  Packing packing = Packing::plain;
  int ccob_version = 0; ///< 1, 2, 3; 0 for plain
  std::vector<CodeObject> code_objects;
  std::string problem; ///< damaged or of an unknown version: what is wrong; empty when readable
};

struct DeviceCode {
  bool has_fatbin_section = false;
  bool found_by_scan = false; ///< no section headers: found by magic at page-aligned offsets
  std::vector<Bundle> bundles;
  std::uint64_t registered = 0; ///< records in .hipFatBinSegment: one a translation unit
  bool has_cuda_fatbin = false; ///< .nv_fatbin: a CUDA build
  bool has_rdc_leftover =
      false; ///< __hip_fatbin* or __hip_gpubin_handle* undefined: linked without --hip-link
  [[nodiscard]] std::vector<std::string> targets() const; ///< of all bundles, sorted, unique
};

/// Never throws for what the file holds: problems are said per bundle and code object.
/// Unpacks at most 1 GiB a bundle and 4 GiB a file.
[[nodiscard]] DeviceCode read_device_code(const Image& image);

/// The bundles in a block of bytes (the content of .hip_fatbin, or an offload bundle file).
[[nodiscard]] std::vector<Bundle> read_bundles(std::string_view bytes);

/// The code object's own header and metadata note (MessagePack, AMDGPUUsage "Code Object V3 Metadata" on).
void read_code_object(std::string_view bytes, CodeObject& into);

} // namespace dcuop::elf
