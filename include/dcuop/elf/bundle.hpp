#pragma once
// Device code inside a HIP shared object: offload bundles in .hip_fatbin, plain or compressed (CCOB).
// Formats: clang/docs/ClangOffloadBundler.rst and llvm/lib/Object/OffloadBundle.cpp of llvm-project.

#include <array>
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

/// What the metadata note says of a kernel.
struct KernelInfo {
  std::string name;
  std::string symbol; ///< of its descriptor, "<name>.kd"
  /// A lane's; on gfx90a and later of its line, of the one file that AGPRs are a part of.
  std::uint32_t vgprs = 0;
  std::uint32_t sgprs = 0, agprs = 0;
  std::uint32_t vgpr_spills = 0, sgpr_spills = 0;
  std::uint64_t lds_bytes = 0;     ///< static, per workgroup
  std::uint64_t scratch_bytes = 0; ///< per lane
  std::uint64_t kernarg_bytes = 0;
  std::uint32_t wavefront = 0;
  std::uint32_t max_workgroup = 0;                   ///< .max_flat_workgroup_size
  std::array<std::uint32_t, 3> required_workgroup{}; ///< .reqd_workgroup_size; zeros: any
  std::array<std::uint32_t, 3> max_workgroups{};     ///< .max_num_work_groups_{x,y,z}; zeros: any
  std::optional<bool> dynamic_stack;                 ///< scratch_bytes is not all that it may take
  std::optional<bool> uniform_workgroup;             ///< the grid is a multiple of the workgroup
  /// Its workgroups run on both CUs of a WGP (gfx10 and later); from the kernel descriptor where the metadata
  /// (before V5) does not say it.
  std::optional<bool> wgp_mode;
};

/// One code object of a bundle.
struct CodeObject {
  std::string entry_id; ///< "hipv4-amdgcn-amd-amdhsa--gfx906"
  /// The target id of the entry id, "amdgcnspirv" for SPIR-V; "" for the host, and for a bare code object of
  /// which nothing says it.
  std::string target;
  std::uint64_t offset = 0; ///< in the unpacked bundle
  std::uint64_t size = 0;
  int code_object_version = 0; ///< 2 to 6, 0 when it is no AMDGPU ELF
  std::uint32_t elf_flags = 0; ///< e_flags
  std::string metadata_target; ///< amdhsa.target, "" when absent
  std::vector<KernelInfo> kernels;
  std::string problem; ///< why it could not be read; empty when it was
  [[nodiscard]] bool is_host() const { return entry_id.starts_with("host-"); }
};

/// `bare`: a code object that is a file of its own. `rdc_sections`: an object of -fgpu-rdc, whose device side
/// is bitcode in sections named by entry id.
enum class Packing { plain, ccob_zlib, ccob_zstd, unknown, bare, rdc_sections };

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

/// The target id in a code object's e_flags: EF_AMDGPU_MACH and the feature bits of that code object version.
/// "" for a mach that LLVM does not list, as those of the DCU processors gfx926 to gfx938.
[[nodiscard]] std::string target_of_flags(std::uint32_t elf_flags, int code_object_version);

/// "gfx906", or "unknown mach 0x81".
[[nodiscard]] std::string mach_text(std::uint32_t elf_flags);

/// A file with device code in any form.
struct DeviceFile {
  enum class Form { shared_object, relocatable, code_object, bundle };
  std::filesystem::path path;
  Form form = Form::shared_object;
  bool truncated = false;              ///< segments, or the section headers of a .o, end behind it
  bool has_offloading_section = false; ///< .llvm.offloading (clang's new driver), which is not read
  DeviceCode code;
};

/// A shared object or program, a relocatable object, a bare code object, or an offload bundle. Throws
/// Error(usage) when it is none of these or cannot be read.
[[nodiscard]] DeviceFile read_device_file(const std::filesystem::path& path);

} // namespace dcuop::elf
