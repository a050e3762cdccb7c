#pragma once
// What inspect found in a file, kernel by kernel, and what changed between two files.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/elf/occupancy.hpp"

namespace dcuop::cli {

struct InspectWish {
  std::vector<std::string> archs; ///< target ids; empty: all
  std::string kernel;             ///< a name, mangled or not; empty: all
  std::uint32_t threads = 0;      ///< of a workgroup; 0: each kernel's own largest
  std::uint64_t dynamic_lds = 0;
};

/// One kernel of one code object.
struct KernelReport {
  std::size_t bundle = 0; ///< index into the file's bundles
  const elf::CodeObject* object = nullptr;
  const elf::KernelInfo* kernel = nullptr;
  std::string name; ///< demangled
  std::optional<elf::Occupancy> occupancy;
  std::string unknown; ///< why there is none
};

class Inspection {
 public:
  /// Reads the file. Throws Error(usage) when it cannot be read or the wished kernel is not in it.
  Inspection(const std::filesystem::path& path, InspectWish wish);
  Inspection(const Inspection&) = delete; // the reports point into the file
  Inspection& operator=(const Inspection&) = delete;

  [[nodiscard]] const elf::DeviceFile& file() const { return file_; }
  [[nodiscard]] const std::vector<KernelReport>& kernels() const { return kernels_; }
  [[nodiscard]] const InspectWish& wish() const { return wish_; }
  [[nodiscard]] bool wants(const elf::CodeObject& object) const; ///< --arch lets it through; never the host
  [[nodiscard]] std::vector<std::string> targets() const;        ///< wanted ones, sorted, unique

 private:
  [[nodiscard]] KernelReport report_of(std::size_t bundle, const elf::CodeObject& object,
                                       const elf::KernelInfo& kernel) const;

  elf::DeviceFile file_;
  InspectWish wish_;
  std::vector<KernelReport> kernels_;
};

/// "scale<float>": without return type, parameters and unnamed namespaces.
[[nodiscard]] std::string short_name(const std::string& demangled);

enum class Verdict { better, worse, mixed, neutral };
[[nodiscard]] std::string to_string(Verdict verdict);

/// A number of a kernel in both files; nullopt where a file does not know it.
struct FieldChange {
  std::string field; ///< as in the JSON
  std::optional<std::uint64_t> before, after;
};

struct KernelChange {
  const KernelReport* before = nullptr;
  const KernelReport* after = nullptr;
  std::vector<FieldChange> fields; ///< those that differ
  Verdict verdict = Verdict::neutral;
};

struct Comparison {
  std::vector<std::string> targets_added, targets_removed;
  std::vector<const KernelReport*> added, removed;
  std::vector<KernelChange> changed;
  std::size_t unchanged = 0;
};

/// Kernels are the same by target id and mangled name; of several, in the file's order. The verdict goes by
/// occupancy, spills and scratch: a register more or less that costs no wave is neutral.
[[nodiscard]] Comparison compare(const Inspection& before, const Inspection& after);

} // namespace dcuop::cli
