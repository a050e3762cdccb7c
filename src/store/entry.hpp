#pragma once
// One published directory: its manifest, and whether its files are what the manifest says.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/store/store.hpp"

namespace dcuop::store {

inline constexpr const char* manifest_name = "manifest.json";

struct ManifestFile {
  std::string path; ///< relative to the entry, without "." and ".."
  std::uint64_t size = 0;
  std::string sha256;
};

struct Manifest {
  std::string name;
  std::string artifact;
  std::string facts_json = "{}";
  std::chrono::system_clock::time_point built;
  std::vector<ManifestFile> files; ///< all but the manifest itself, sorted by path
};

/// Throws Error(failed) when the facts are no JSON object or a name is not UTF-8.
[[nodiscard]] std::string manifest_text(Shelf shelf, const Digest& key, const Manifest& manifest);

/// What a directory turned out to be.
struct Reading {
  std::optional<Manifest> manifest; ///< set when it is whole as far as it was checked
  std::string damage;               ///< else why not; empty when there is nothing at all
  Digest identities;                ///< of the stat of every file; says later whether anything was touched
  bool settled = false;             ///< no file changed within the last two seconds
};

/// The manifest, the kind and the size of every file.
[[nodiscard]] Reading read_entry(const std::filesystem::path& directory, Shelf shelf, const Digest& key);

/// The manifest alone.
[[nodiscard]] std::optional<Manifest> read_manifest(const std::filesystem::path& directory, Shelf shelf,
                                                    const Digest& key);

/// Reads every file: what is wrong, or empty.
[[nodiscard]] std::string content_damage(const std::filesystem::path& directory, const Manifest& manifest);

/// read_entry, then content_damage in its `damage`.
[[nodiscard]] Reading read_whole_entry(const std::filesystem::path& directory, Shelf shelf,
                                       const Digest& key);

[[nodiscard]] Entry entry_from(const Digest& key, const std::filesystem::path& directory,
                               const Manifest& manifest);

} // namespace dcuop::store
