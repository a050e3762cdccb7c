#pragma once
// A traceback, a log or a loader's message that somebody pasted: what failed first, and what the file that it
// names is like here.

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/finding/finding.hpp"
#include "dcuop/probe/machine.hpp"

namespace dcuop::doctor {

/// A text, as far as it is kept: of a longer one its beginning and its end.
struct MessageText {
  std::string text;
  std::uint64_t bytes = 0; ///< of all of it
  bool binary = false;     ///< it is no text
  bool cut = false;        ///< the middle was left out
  std::size_t cut_at = 0;  ///< where in `text`
  std::uint64_t lines_left_out = 0;
};
/// At most `limit` bytes are kept, half from each end.
[[nodiscard]] MessageText read_message(std::istream& from, std::size_t limit = std::size_t{32} << 20);

/// A failure that a line tells of.
struct Clue {
  std::string rule;               ///< that it is reported under when the message is all there is
  std::filesystem::path file;     ///< that it is about; empty: the line names none
  std::string says;               ///< the telling part of the line
  std::string name;               ///< the symbol, library, header, arch, module that it names
  std::string detail;             ///< of a version: the library that lacks it; of a device: its arch
  std::size_t line = 0;           ///< from 1
  std::vector<std::string> ranks; ///< that say the same: "rank3", "12"
  std::string fix, fix_chinese;   ///< of this very failure; empty: the rule's
};

struct MessageReport {
  std::string headline, headline_chinese;
  std::vector<finding::Finding> findings; ///< of the message; sorted
  std::vector<Clue> clues;                ///< the cause first, then what else was recognised
  std::filesystem::path file;             ///< that the cause is about; as the message names it
  bool file_is_here = false;
  std::optional<bool> claim_holds; ///< of the file here; nullopt: could not be compared
  std::optional<Report> diagnosis; ///< of the file here
  std::vector<FactLine> facts;
};

struct MessageQuestion {
  MessageText message;
  std::string origin;             ///< "-" or the name of the file
  std::filesystem::path file;     ///< taken for the file that the message is about; empty: as it says
  std::vector<std::string> archs; ///< --arch
};

/// Never throws for what the text is like. Nothing recognised is a finding of severity error.
[[nodiscard]] MessageReport examine_message(const MessageQuestion& question, const EnvironmentFacts& facts,
                                            const probe::Machine& machine);
[[nodiscard]] nlohmann::json to_json(const MessageReport& report);

} // namespace dcuop::doctor
