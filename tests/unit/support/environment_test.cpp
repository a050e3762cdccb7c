#include "dcuop/support/environment.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

namespace fs = std::filesystem;

TEST(Environment, TellsUnsetFromEmpty) {
  Environment environment({{"EMPTY", ""}, {"SET", "x"}});
  EXPECT_EQ(environment.get("EMPTY"), "");
  EXPECT_FALSE(environment.get("UNSET"));
  EXPECT_FALSE(environment.get_nonempty("EMPTY"));
  EXPECT_EQ(environment.get_nonempty("SET"), "x");
  environment.unset("SET");
  EXPECT_FALSE(environment.get("SET"));
}

TEST(Environment, GivesLinesForExec) {
  Environment environment({{"B", "2=3"}, {"A", ""}});
  environment.set("C", "c d");
  EXPECT_THAT(environment.as_lines(), testing::ElementsAre("A=", "B=2=3", "C=c d"));
}

TEST(Environment, ReadsThisProcess) {
  ::setenv("DCUOP_TEST_VARIABLE", "a=b", 1);
  EXPECT_EQ(Environment::of_this_process().get("DCUOP_TEST_VARIABLE"), "a=b");
  ::unsetenv("DCUOP_TEST_VARIABLE");
  EXPECT_FALSE(Environment::of_this_process().get("DCUOP_TEST_VARIABLE"));
}

class FindProgram : public testing::Test {
 protected:
  fs::path program(const std::string& name) {
    fs::path file = directory_.write(name, "#!/bin/sh\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  test::TemporaryDirectory directory_;
};

TEST_F(FindProgram, TakesTheFirstExecutableRegularFile) {
  directory_.write("first/tool", "not executable");
  fs::create_directories(directory_ / "second/tool");
  const fs::path third = program("third/tool");
  program("fourth/tool");
  std::string path;
  for (const char* name : {"missing", "first", "second", "third", "fourth"}) {
    path += (path.empty() ? "" : ":") + (directory_ / name).string();
  }
  EXPECT_EQ(Environment({{"PATH", path}}).find_program("tool"), third.string());
}

TEST_F(FindProgram, IgnoresRelativeEntries) {
  program("tool");
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  EXPECT_FALSE(Environment({{"PATH", ":.:"}}).find_program("tool"));
  fs::current_path(before);
}

TEST_F(FindProgram, TakesAPathAsItIs) {
  const fs::path tool = program("tool");
  EXPECT_EQ(Environment().find_program(tool.string()), tool.string());
  EXPECT_FALSE(Environment().find_program((directory_ / "none").string()));
  EXPECT_FALSE(Environment().find_program("tool"));
  EXPECT_FALSE(Environment({{"PATH", directory_.path().string()}}).find_program(""));
}

TEST(Asked, NotesWhatIsAskedOfCopiesToo) {
  Environment environment({{"A", "1"}, {"B_1", "2"}, {"B_2", "3"}, {"C", "4"}});
  EXPECT_EQ(environment.get("C"), "4");
  const auto asked = std::make_shared<AskedVariables>();
  environment.note_in(asked);
  Environment copy = environment;
  copy.set("A", "5");
  EXPECT_EQ(copy.get("A"), "5");
  EXPECT_FALSE(environment.get_nonempty("MISSING"));
  const std::map<std::string, std::string> expected = {{"B_1", "2"}, {"B_2", "3"}};
  EXPECT_EQ(environment.starting_with("B_"), expected);
  EXPECT_EQ(asked->taken().names, (std::set<std::string>{"A", "MISSING"}));
  EXPECT_EQ(asked->taken().prefixes, (std::set<std::string>{"B_"}));
  EXPECT_FALSE(asked->taken().all);
  EXPECT_EQ(environment.as_lines().size(), 4U);
  EXPECT_TRUE(asked->taken().all);
}

} // namespace
} // namespace dcuop
