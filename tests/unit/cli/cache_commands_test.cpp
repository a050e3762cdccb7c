// list, clean and cache as they are typed, on a cache with known entries.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../../../src/cli/command.hpp"
#include "../../../src/cli/table.hpp"
#include "dcuop/store/statistics.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Answer {
  ExitCode code = ExitCode::ok;
  std::string text; ///< stdout
  std::string error;
  std::string hint;
};

class CacheCommandsTest : public ::testing::Test {
 protected:
  CacheCommandsTest() {
    std::string pattern = (fs::temp_directory_path() / "dcuop-cli-XXXXXX").string();
    base_ = mkdtemp(pattern.data());
    root_ = base_ / "cache";
    environment_ = Environment({{"HOME", base_.string()}, {"DCUOP_CACHE_DIR", root_.string()}});
    fs::create_directories(base_ / "ops" / "affine");
    // One that cannot be read: whether its entries are stale is unknown.
    std::ofstream(base_ / "ops" / "affine" / "dcuop.toml") << "[op\n";
  }
  ~CacheCommandsTest() override { (void)remove_tree(base_); }
  CacheCommandsTest(const CacheCommandsTest&) = delete;
  CacheCommandsTest& operator=(const CacheCommandsTest&) = delete;

  store::Entry make(const std::string& name, const fs::path& origin,
                    store::Shelf shelf = store::Shelf::entries) {
    store::Store store = store::Store::open(root_);
    store::PrivateDirectory directory = store.private_directory();
    std::ofstream(directory.path() / "op.so") << std::string(2048, 'x');
    const json facts = {{"arch", {"gfx906", "gfx936"}}, {"torch", "1.13.1 cpu"}, {"origin", origin.string()}};
    const Digest key = digest_of(name + origin.string());
    store::Entry entry = store.publish(shelf, std::move(directory), {key, name, "op.so", facts.dump()});
    if (shelf == store::Shelf::entries) {
      store.record_origin(entry, origin);
    }
    return entry;
  }

  Answer run(std::vector<std::string> arguments) {
    const CommandLine line("", "");
    Commands commands{line.program(), {}};
    add_list(commands);
    add_clean(commands);
    add_cache(commands);
    const bool wants_json = std::erase(arguments, "--json") > 0;
    std::vector<const char*> words = {"dcuop"};
    for (const std::string& argument : arguments) {
      words.push_back(argument.c_str());
    }
    EXPECT_EQ(line.parse(static_cast<int>(words.size()), words.data()), std::nullopt);
    Terminal terminal(environment_, {false, false, wants_json});
    const Config config = Config::load(environment_, {});
    SystemProcessRunner processes;
    Context context{environment_, base_, processes, terminal, config, std::make_shared<AskedVariables>(),
                    {},           {},    nullptr,   nullptr};
    Answer answer;
    ::testing::internal::CaptureStdout();
    try {
      for (const auto& [subcommand, function] : commands.all) {
        if (subcommand.is_parsed()) {
          answer.code = function(context);
        }
      }
    } catch (const Error& error) {
      answer = {error.code, "", error.what(), error.hint};
    }
    std::fflush(stdout);
    answer.text = ::testing::internal::GetCapturedStdout();
    return answer;
  }

  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const store::Entry& entry : store::Store::open(root_).list(store::Shelf::entries)) {
      names.push_back(entry.name);
    }
    return names;
  }

  fs::path base_;
  fs::path root_;
  Environment environment_;
};

TEST_F(CacheCommandsTest, list_shows_what_is_known_and_dashes_for_the_rest) {
  EXPECT_EQ(run({"list"}).text, "");
  const store::Entry entry = make("affine", base_ / "ops" / "affine");
  (void)make("matmul", base_ / "gone");
  const std::string text = run({"list"}).text;
  EXPECT_THAT(text,
              HasSubstr("op      backend  arch           torch       built     last use  size     entry      "
                        "origin         state\n"));
  EXPECT_THAT(text, HasSubstr("affine  hip      gfx906,gfx936  1.13.1 cpu  just now  just now  2.0 KiB  " +
                              entry.key.hex().substr(0, 8) + "…  ~/ops/affine   unknown\n"));
  EXPECT_THAT(text, HasSubstr("~/gone (gone)  stale\n"));
  EXPECT_THAT(run({"list", "matmul"}).text, Not(HasSubstr("affine")));

  const json document = json::parse(run({"list", "--json"}).text);
  ASSERT_EQ(document["entries"].size(), 2U);
  const json& first = document["entries"][0];
  EXPECT_EQ(first["op"], "affine");
  EXPECT_EQ(first["entry"], entry.key.hex());
  EXPECT_EQ(first["path"], entry.artifact_path().string());
  EXPECT_EQ(first["size"], 2048);
  EXPECT_EQ(first["facts"]["arch"], json({"gfx906", "gfx936"}));
  EXPECT_EQ(first["origins"][0]["exists"], true);
  EXPECT_EQ(first["state"], "unknown");
  EXPECT_EQ(document["entries"][1]["stale_because"], "its origin is gone");
  EXPECT_EQ(document["entries"][1]["origins"][0]["exists"], false);
}

TEST_F(CacheCommandsTest, clean_without_a_selection_says_what_to_give) {
  const Answer answer = run({"clean"});
  EXPECT_EQ(answer.code, ExitCode::usage);
  EXPECT_THAT(answer.hint, HasSubstr("--stale"));
  EXPECT_EQ(run({"clean", "--all", "--stale"}).code, ExitCode::usage);
  EXPECT_THAT(run({"clean", "--older-than", "soon"}).error, HasSubstr("--older-than soon"));
  EXPECT_THAT(run({"clean", "--max-size", "big"}).error, HasSubstr("--max-size big"));
}

TEST_F(CacheCommandsTest, clean_takes_an_op_by_name_or_directory) {
  (void)make("affine", base_ / "ops" / "affine");
  (void)make("affine", base_ / "ops" / "affine", store::Shelf::objects);
  (void)make("matmul", base_ / "ops" / "matmul");
  (void)make("matmul", base_ / "other" / "matmul");
  EXPECT_THAT(run({"clean", "affine", "--dry-run"}).text,
              HasSubstr("would remove 1 entry and 1 object, 4.0 KiB\n"));
  EXPECT_EQ(left().size(), 3U);
  EXPECT_THAT(run({"clean", "affine"}).text, HasSubstr("removed 1 entry and 1 object, 4.0 KiB\n"));
  EXPECT_THAT(left(), ElementsAre("matmul", "matmul"));
  EXPECT_EQ(run({"clean", "affine"}).text, "nothing to remove\n");

  const Answer ambiguous = run({"clean", "matmul"});
  EXPECT_EQ(ambiguous.code, ExitCode::usage);
  EXPECT_THAT(ambiguous.error, HasSubstr("'matmul' is ambiguous: 2 directories"));
  EXPECT_THAT(ambiguous.hint, HasSubstr("dcuop clean " + (base_ / "other" / "matmul").string()));
  EXPECT_THAT(run({"clean", "./ops/matmul"}).text, HasSubstr("removed 1 entry"));
  EXPECT_THAT(left(), ElementsAre("matmul"));
  EXPECT_THAT(run({"clean", "matmul"}).text, HasSubstr("removed 1 entry")) << "no longer ambiguous";
}

TEST_F(CacheCommandsTest, clean_stale_takes_what_has_no_origin_left) {
  (void)make("affine", base_ / "ops" / "affine");
  (void)make("lost", base_ / "gone");
  const Answer answer = run({"clean", "--stale"});
  EXPECT_THAT(answer.text, HasSubstr("removed 1 entry, 2.0 KiB: its origin is gone\n"));
  EXPECT_THAT(left(), ElementsAre("affine"));
}

TEST_F(CacheCommandsTest, clean_all_wants_yes_without_a_terminal_and_keeps_what_is_in_use) {
  const store::Entry used = make("affine", base_ / "ops" / "affine");
  (void)make("matmul", base_ / "ops" / "matmul");
  if (isatty(STDIN_FILENO) == 0) {
    const Answer refused = run({"clean", "--all"});
    EXPECT_EQ(refused.code, ExitCode::usage);
    EXPECT_THAT(refused.error, HasSubstr("--yes"));
    EXPECT_EQ(left().size(), 2U);
  }
  const std::optional<FileLock> lock = store::Store::open(root_).lock_for_use(used.key);
  const json done = json::parse(run({"clean", "--all", "--yes", "--json"}).text);
  EXPECT_EQ(done["removed"].size(), 1U);
  EXPECT_EQ(done["removed_bytes"], 2048);
  EXPECT_EQ(done["kept_in_use"][0]["op"], "affine");
  EXPECT_EQ(done["dry_run"], false);
  EXPECT_THAT(left(), ElementsAre("affine"));
  EXPECT_THAT(run({"clean", "--all", "--yes"}).text, HasSubstr("nothing to remove; kept 1 entry in use\n"));
}

TEST_F(CacheCommandsTest, cache_says_where_how_much_and_how_it_is) {
  EXPECT_EQ(run({"cache", "dir"}).text, root_.string() + "\n");
  EXPECT_FALSE(fs::exists(root_)) << "asking where it is does not make it";
  const store::Entry entry = make("affine", base_ / "ops" / "affine");
  record_event(store::Store::open(root_), store::Event::hit, std::chrono::milliseconds(3200));
  const json figures = json::parse(run({"cache", "stats", "--json"}).text);
  EXPECT_EQ(figures["entries"], 1);
  EXPECT_EQ(figures["hits"], 1);
  EXPECT_EQ(figures["saved_ms"], 3200);
  EXPECT_THAT(run({"cache", "stats"}).text,
              HasSubstr("1 hit, 0 built, 0 failed; hits spared 3.2s of compiling"));

  EXPECT_EQ(run({"cache", "verify"}).text, "verified 1 entry, 0 objects and 0 index records: no damage\n");
  fs::permissions(entry.artifact_path(), fs::perms(0644));
  std::ofstream(entry.artifact_path()) << "short";
  const Answer damaged = run({"cache", "verify"});
  EXPECT_EQ(damaged.code, ExitCode::failed);
  EXPECT_THAT(damaged.text, HasSubstr("op.so: 5 of 2048 bytes\n"));
  EXPECT_THAT(damaged.text, HasSubstr(": 1 damaged\n"));
  const json report = json::parse(run({"cache", "verify", "--json"}).text);
  EXPECT_EQ(report["damaged"][0]["path"], entry.directory.string());
  EXPECT_EQ(run({"cache", "prune"}).text, "removed 0 entries, 0 B, and 0 leftovers\n");
}

TEST(TableTest, columns_are_as_wide_as_their_characters) {
  EXPECT_THAT(aligned({{"op", "entry", "x"}, {"affine", "3f…", "y"}, {"a"}}),
              ElementsAre("op      entry  x", "affine  3f…    y", "a"));
  EXPECT_THAT(aligned({}), IsEmpty());
}

} // namespace
} // namespace dcuop::cli
