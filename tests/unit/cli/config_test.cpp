#include "dcuop/cli/config.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/error.hpp"

namespace dcuop::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dcuop config XXXXXX").string();
    home_ = mkdtemp(pattern.data());
    environment_.set("HOME", home_.string());
  }
  ~ConfigTest() override {
    std::error_code error;
    std::filesystem::remove_all(home_, error);
  }

  [[nodiscard]] std::string file() const { return (home_ / ".config/dcuop/config.toml").string(); }
  void write(const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(file()).parent_path());
    std::ofstream(file(), std::ios::binary) << content;
  }
  [[nodiscard]] Config load(const std::map<std::string, std::string>& command_line = {}) const {
    return Config::load(environment_, command_line);
  }
  [[nodiscard]] std::string fault(const std::map<std::string, std::string>& command_line = {}) const {
    try {
      static_cast<void>(load(command_line));
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ExitCode::usage);
      return error.hint.empty() ? error.what() : std::string(error.what()) + " | " + error.hint;
    }
    return "no error";
  }

  std::filesystem::path home_;
  Environment environment_;
};

TEST_F(ConfigTest, HasDefaults) {
  const Config config = load();
  EXPECT_EQ(config.cache_dir(), home_ / ".cache/dcuop");
  EXPECT_EQ(config.value("cache_dir").origin, "default");
  EXPECT_EQ(config.user_file(), file());
  EXPECT_EQ(config.text("build"), "auto");
  EXPECT_EQ(config.text("lang"), "auto");
  EXPECT_EQ(config.text("python"), "");
  EXPECT_THAT(config.list("arch"), IsEmpty());
  EXPECT_EQ(config.integer("jobs"), std::nullopt);
  EXPECT_EQ(config.seconds("lock_timeout"), std::nullopt);
  EXPECT_EQ(config.seconds("lock_wait"), 600);
  EXPECT_EQ(config.size("max_size"), std::uint64_t{5} << 30);
}

TEST_F(ConfigTest, EveryDefaultIsAValueOfItsType) {
  std::set<std::string> names;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_FALSE(setting.default_text.empty()) << setting.name;
    EXPECT_TRUE(setting.meaning.ends_with('.')) << setting.name;
    if (!setting.default_value.empty()) {
      environment_.set(setting.variable, setting.default_value);
      EXPECT_EQ(load().value(setting.name).origin, setting.variable);
    }
  }
  EXPECT_EQ(names.size(), 15U);
}

TEST_F(ConfigTest, CommandLineGoesBeforeVariableBeforeFile) {
  write("# mine\njobs = 2\nlang = \"zh\"\nbuild = \"never\"\n");
  environment_.set("DCUOP_JOBS", "3");
  environment_.set("DCUOP_BUILD", "auto");
  const Config config = load({{"jobs", "4"}});
  EXPECT_EQ(config.integer("jobs"), 4);
  EXPECT_EQ(config.value("jobs").origin, "--jobs");
  EXPECT_EQ(config.text("build"), "auto");
  EXPECT_EQ(config.value("build").origin, "DCUOP_BUILD");
  EXPECT_EQ(config.text("lang"), "zh");
  EXPECT_EQ(config.value("lang").origin, file() + ":3");
  EXPECT_EQ(load({{"lock_timeout", "5s"}}).value("lock_timeout").origin, "--lock-timeout");
}

TEST_F(ConfigTest, AnEmptyVariableIsNotSet) {
  write("jobs = 2\n");
  environment_.set("DCUOP_JOBS", "");
  EXPECT_EQ(load().value("jobs").origin, file() + ":1");
  EXPECT_EQ(load().integer("jobs"), 2);
}

TEST_F(ConfigTest, FollowsTheXdgDirectories) {
  environment_.set("XDG_CACHE_HOME", (home_ / "c").string());
  environment_.set("XDG_CONFIG_HOME", (home_ / "f").string());
  EXPECT_EQ(load().cache_dir(), home_ / "c/dcuop");
  EXPECT_EQ(load().user_file(), home_ / "f/dcuop/config.toml");
  environment_.set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(load().cache_dir(), home_ / ".cache/dcuop") << "relative ones are to be ignored";
}

TEST_F(ConfigTest, NeedsAHomeOnlyForTheDefaultCache) {
  environment_.unset("HOME");
  EXPECT_TRUE(load().user_file().empty());
  try {
    static_cast<void>(load().cache_dir());
    FAIL() << "there is no place for a cache";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
    EXPECT_THAT(error.hint, HasSubstr("DCUOP_CACHE_DIR"));
  }
  environment_.set("DCUOP_CACHE_DIR", "/var/cache/dcuop");
  EXPECT_EQ(load().cache_dir(), "/var/cache/dcuop");
}

TEST_F(ConfigTest, MakesPathsAbsolute) {
  environment_.set("DCUOP_CACHE_DIR", "a/../b c");
  EXPECT_EQ(load().cache_dir(), std::filesystem::current_path() / "b c");
  environment_.set("DCUOP_CACHE_DIR", "~/cache");
  EXPECT_EQ(load().cache_dir(), home_ / "cache");
  environment_.set("DCUOP_PYTHON", "python3.11");
  EXPECT_EQ(load().text("python"), "python3.11") << "for PATH to find";
  environment_.set("DCUOP_PYTHON", "venv/bin/python");
  EXPECT_EQ(load().text("python"), (std::filesystem::current_path() / "venv/bin/python").string());
  environment_.set("DCUOP_HIPCC", "/opt/dtk/bin/../bin/hipcc");
  EXPECT_EQ(load().text("hipcc"), "/opt/dtk/bin/../bin/hipcc") << "a wrapper may look at its own name";
}

TEST_F(ConfigTest, SplitsLists) {
  environment_.set("DCUOP_ARCH", " gfx906;gfx936:sramecc+:xnack-, gfx90a ");
  environment_.set("DCUOP_SYSTEM_CACHES", "/opt/my caches:/opt/two;~/three");
  const Config config = load();
  EXPECT_THAT(config.list("arch"), ElementsAre("gfx906", "gfx936:sramecc+:xnack-", "gfx90a"));
  EXPECT_EQ(config.text("arch"), "gfx906,gfx936:sramecc+:xnack-,gfx90a");
  EXPECT_THAT(config.list("system_caches"),
              ElementsAre("/opt/my caches", "/opt/two", (home_ / "three").string()));
}

TEST_F(ConfigTest, ReadsEveryKindFromTheFile) {
  write("arch = [\"gfx906\", \"gfx936\"]\ntrusted_owners = \"root build\"\nsystem_caches = [\"/opt/a:b\", "
        "\"~/c\"]\n"
        "max_size = 1048576\nlock_wait = 90\nlock_timeout = \"2h\"\njobs = \"7\"\ncache_dir = \"~/my "
        "cache\"\n");
  const Config config = load();
  EXPECT_THAT(config.list("arch"), ElementsAre("gfx906", "gfx936"));
  EXPECT_THAT(config.list("trusted_owners"), ElementsAre("root", "build"));
  EXPECT_THAT(config.list("system_caches"), ElementsAre("/opt/a:b", (home_ / "c").string()));
  EXPECT_EQ(config.size("max_size"), 1048576U);
  EXPECT_EQ(config.seconds("lock_wait"), 90);
  EXPECT_EQ(config.seconds("lock_timeout"), 7200);
  EXPECT_EQ(config.integer("jobs"), 7);
  EXPECT_EQ(config.cache_dir(), home_ / "my cache");
}

TEST_F(ConfigTest, NamesFaultsOfTheFileWithTheirPlace) {
  const auto with = [&](const std::string& content) {
    write(content);
    return fault();
  };
  EXPECT_EQ(with("jobs = 1\ncachedir = \"/x\"\n"),
            file() + ":2:1: error: unknown key 'cachedir'; did you mean 'cache_dir'?");
  EXPECT_THAT(with("[zzz]\n"),
              StartsWith(file() + ":1:2: error: unknown key 'zzz' | the keys are: cache_dir, "));
  EXPECT_EQ(with("lang = \"zn\"\n"),
            file() + ":1:8: error: 'lang' must be one of auto, en, zh, not 'zn'; did you mean 'en'?");
  EXPECT_THAT(with("jobs = 0\n"), HasSubstr(":1:8: error: 'jobs' must be a whole number from 1, not '0'"));
  EXPECT_THAT(with("jobs = -3\n"), HasSubstr("not '-3'"));
  EXPECT_THAT(with("jobs = 2.5\n"),
              HasSubstr(":1:8: error: 'jobs' must be a string, not a floating-point number"));
  EXPECT_THAT(with("max_size = \"big\"\n"),
              HasSubstr(":1:12: error: 'max_size' must be a size, not 'big' | such as"));
  EXPECT_THAT(with("lock_wait = \"5 fortnights\"\n"), HasSubstr("'lock_wait' must be a duration"));
  EXPECT_THAT(with("arch = [\"gfx906\", 936]\n"),
              HasSubstr(":1:19: error: an element of 'arch' must be a string"));
  EXPECT_THAT(with("cache_dir = \"cache\"\n"),
              HasSubstr(":1:13: error: 'cache_dir' must be an absolute path or begin with ~/, not 'cache'"));
  EXPECT_THAT(with("python = \"venv/bin/python\"\n"), HasSubstr("'python' must be an absolute path"));
  EXPECT_THAT(with("cache_dir = [\"/x\"]\n"), HasSubstr("'cache_dir' must be a string, not an array"));
  EXPECT_THAT(with("jobs = \n"), HasSubstr(":1:"));
}

TEST_F(ConfigTest, NamesFaultsOfVariablesAndOptions) {
  EXPECT_EQ(fault({{"jobs", "many"}}), "--jobs must be a whole number from 1, not 'many'");
  EXPECT_EQ(fault({{"cache_dir", ""}}), "--cache-dir must not be empty");
  EXPECT_EQ(fault({{"cash_dir", "x"}}), "--cash-dir names no setting");
  environment_.set("DCUOP_BUILD", "nevr");
  EXPECT_EQ(fault(), "DCUOP_BUILD must be one of auto, never, not 'nevr'; did you mean 'never'?");
  environment_.set("DCUOP_BUILD", "never");
  environment_.set("DCUOP_JOBS", "99999999999999999999");
  EXPECT_THAT(fault(), StartsWith("DCUOP_JOBS must be a whole number"));
}

TEST_F(ConfigTest, AFileThatCannotBeReadIsNamed) {
  std::filesystem::create_directories(file());
  EXPECT_THAT(fault(), StartsWith("cannot read " + file()));
}

TEST_F(ConfigTest, RemarksOnMisspeltVariables) {
  EXPECT_THAT(load().remarks(), IsEmpty());
  for (const char* name : {"DCUOP_CACHEDIR", "DCUOP_LOG", "DCUOP_JOBS", "DCUOP_SOMETHING_ELSE"}) {
    environment_.set(name, "1");
  }
  EXPECT_THAT(load().remarks(),
              ElementsAre("the environment has DCUOP_CACHEDIR, which dcuop does not read; did you mean "
                          "DCUOP_CACHE_DIR?"));
}

TEST_F(ConfigTest, DoesNotKnowOtherNames) {
  EXPECT_THROW(static_cast<void>(load().value("colour")), std::out_of_range);
}

} // namespace
} // namespace dcuop::cli
