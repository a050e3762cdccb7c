#include "dcuop/key/compiler_report.hpp"

#include <gmock/gmock.h>

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Paths = std::vector<std::filesystem::path>;

TEST(Depfile, ContinuationLinesAndRelativePaths) {
  EXPECT_EQ(parse_depfile("out.o: a.cpp \\\n  ../b/c.h \\\n  /usr/include/d.h\n", "/op/src"),
            (Paths{"/op/src/a.cpp", "/op/src/../b/c.h", "/usr/include/d.h"}));
}

TEST(Depfile, EscapedBlanksHashesAndDollars) {
  EXPECT_EQ(parse_depfile("o: with\\ two\\ blanks.h no\\#1.h cash$$.h\n", "/d"),
            (Paths{"/d/with two blanks.h", "/d/no#1.h", "/d/cash$.h"}));
}

TEST(Depfile, TargetMayHoldAColonAndBlanks) {
  EXPECT_EQ(parse_depfile("/a\\ b/c:d.o: x.h\n", "/d"), (Paths{"/d/x.h"}));
}

TEST(Depfile, OnlyTheFirstRuleCounts) {
  // gcc -MP and ld add an empty rule for each prerequisite.
  EXPECT_EQ(parse_depfile("o: x.h y.h\n\nx.h:\n\ny.h:\n", "/d"), (Paths{"/d/x.h", "/d/y.h"}));
}

TEST(Depfile, WindowsLineEndsAndMissingFinalNewline) {
  EXPECT_EQ(parse_depfile("o: x.h \\\r\n y.h", "/d"), (Paths{"/d/x.h", "/d/y.h"}));
}

TEST(Depfile, NoRule) {
  EXPECT_THAT(parse_depfile("", "/d"), IsEmpty());
  EXPECT_THAT(parse_depfile("garbage", "/d"), IsEmpty());
}

TEST(LinkDepfile, BlanksAreNotEscapedByGnuLdAndAreByLld) {
  EXPECT_EQ(parse_link_depfile("out.so: \\\n  /a b/x.o \\\n  lib.so\n\n/a b/x.o:\n\nlib.so:\n", "/d"),
            (Paths{"/a b/x.o", "/d/lib.so"}));
  EXPECT_EQ(parse_link_depfile("/t t/out.so: \\\n  /a\\ b/x.o \\\n  y.o", "/d"),
            (Paths{"/a b/x.o", "/d/y.o"}));
  EXPECT_THAT(parse_link_depfile("", "/d"), IsEmpty());
}

TEST(SearchDirectories, ListsAndThoseThatDoNotExist) {
  const char* text = "ignoring nonexistent directory \"/usr/local/include/x\"\n"
                     "ignoring duplicate directory \"/usr/include\"\n"
                     "#include \"...\" search starts here:\n"
                     " quoted\n"
                     "#include <...> search starts here:\n"
                     " /usr/lib/gcc/12/../../include/c++\n"
                     " /Frameworks (framework directory)\n"
                     "End of search list.\n"
                     " /not/one\n";
  EXPECT_EQ(
      parse_search_directories(text, "/op"),
      (Paths{"/usr/local/include/x", "/op/quoted", "/usr/lib/gcc/12/../../include/c++", "/Frameworks"}));
}

TEST(LibraryDirectories, OfTheLinkersCommandAlone) {
  const char* text = "clang version 15\n"
                     " \"/usr/bin/ld\" \"-o\" \"x.so\" \"-L/usr/lib\" \"-L\" \"rel\" \"a.o\" \"-lm\"\n"
                     "-L/elsewhere\n";
  EXPECT_EQ(parse_library_directories(text, "/op"), (Paths{"/usr/lib", "/op/rel"}));
}

} // namespace
} // namespace dcuop::key
