#include "dcuop/key/components.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "dcuop/key/explain.hpp"
#include "dcuop/support/error.hpp"

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Components of(std::initializer_list<std::tuple<Group, const char*, const char*>> parts) {
  Components components;
  for (const auto& [group, name, value] : parts) {
    components.add(group, name, value);
  }
  return components;
}

TEST(Components, FieldsAreFramed) {
  EXPECT_NE(of({{Group::op, "ab", "c"}}).digest(), of({{Group::op, "a", "bc"}}).digest());
  EXPECT_NE(of({{Group::op, "a", "1"}, {Group::op, "b", "2"}}).digest(),
            of({{Group::op, "b", "2"}, {Group::op, "a", "1"}}).digest());
  EXPECT_NE(of({{Group::op, "a", ""}}).digest(), of({}).digest());
  EXPECT_NE(of({{Group::op, "a", "1"}}).digest(), of({{Group::flag, "a", "1"}}).digest());
}

TEST(Components, ValueForPeopleIsNotInTheDigest) {
  Components one;
  one.add(Group::toolchain, "clang", digest_of("x"), "/usr/bin/clang");
  Components two;
  two.add(Group::toolchain, "clang", digest_of("x"), "/opt/bin/clang");
  EXPECT_EQ(one.digest(), two.digest());
}

TEST(Components, EqualOnesAreSaidOnce) {
  Components components =
      of({{Group::toolchain, "ld", "1"}, {Group::toolchain, "ld", "1"}, {Group::toolchain, "ld", "2"}});
  EXPECT_EQ(components.all().size(), 2U);
}

TEST(Components, JsonRoundTrip) {
  const Components components = of({{Group::source, "a.cpp", "x"}, {Group::environment, "CPATH", "/a b"}});
  EXPECT_EQ(components_from_json(to_json(components)).all(), components.all());
  EXPECT_THROW((void)components_from_json(
                   nlohmann::json::parse(R"([{"group":"what","name":"a","digest":"00","value":""}])")),
               Error);
  EXPECT_THROW((void)components_from_json(nlohmann::json::parse(R"([{"group":"op"}])")), Error);
}

std::vector<std::string> texts(const Components& before, const Components& now) {
  std::vector<std::string> result;
  for (const Difference& difference : compare_components(before, now)) {
    result.push_back(difference.name + " " + difference.text);
  }
  return result;
}

TEST(Explain, NothingDiffers) {
  EXPECT_THAT(texts(of({{Group::op, "a", "1"}}), of({{Group::op, "a", "1"}})), IsEmpty());
}

TEST(Explain, InWords) {
  EXPECT_THAT(texts(of({{Group::source, "a.cpp", "1"},
                        {Group::flag, "a.cpp flags", "-O3 -DX=1"},
                        {Group::torch, "torch", "1.13"}}),
                    of({{Group::source, "a.cpp", "2"},
                        {Group::flag, "a.cpp flags", "-O3 -DX=2 -g"},
                        {Group::torch, "torch", "2.4"},
                        {Group::environment, "CPATH", "/x"}})),
              ElementsAre("a.cpp changed", "a.cpp flags had -DX=1, have -DX=2 -g",
                          "torch was \"1.13\", is \"2.4\"", "CPATH was not set, is \"/x\""));
  EXPECT_THAT(texts(of({{Group::environment, "CPATH", ""}, {Group::source, "b.cpp", "1"}}), of({})),
              ElementsAre("CPATH was empty, is not set", "b.cpp is gone"));
  EXPECT_THAT(texts(of({{Group::flag, "f", "-a -b"}}), of({{Group::flag, "f", "-b -a"}})),
              ElementsAre("f are in another order"));
}

TEST(Explain, AnotherBackendIsSaidFirst) {
  const Components hip = of({{Group::op, "artifact", "a.so"}, {Group::source, "k.hip", "1"}});
  const Components host =
      of({{Group::op, "artifact", "a.so"}, {Group::source, "h.cpp", "1"}, {Group::op, "backend", "host"}});
  const Components cuda =
      of({{Group::op, "artifact", "a.so"}, {Group::source, "h.cpp", "1"}, {Group::op, "backend", "cuda"}});
  EXPECT_THAT(texts(hip, host),
              ElementsAre("backend was \"hip\", is \"host\"", "h.cpp is new", "k.hip is gone"));
  EXPECT_THAT(texts(host, hip),
              ElementsAre("backend was \"host\", is \"hip\"", "k.hip is new", "h.cpp is gone"));
  EXPECT_THAT(texts(host, cuda), ElementsAre("backend was \"host\", is \"cuda\""));
}

TEST(Explain, EqualNamesArePairedByContentFirst) {
  const Components before =
      of({{Group::toolchain, "linker ld", "one"}, {Group::toolchain, "linker ld", "two"}});
  EXPECT_THAT(
      texts(before, of({{Group::toolchain, "linker ld", "one"}, {Group::toolchain, "linker ld", "three"}})),
      ElementsAre("linker ld was \"two\", is \"three\""));
  EXPECT_THAT(texts(before, of({{Group::toolchain, "linker ld", "two"}})), ElementsAre("linker ld is gone"));
}

TEST(Explain, ReplacedPartOfTheSameVersion) {
  Components before;
  before.add(Group::toolchain, "library libLLVM", digest_of("1"), "15.0.6");
  Components now;
  now.add(Group::toolchain, "library libLLVM", digest_of("2"), "15.0.6");
  EXPECT_THAT(texts(before, now), ElementsAre("library libLLVM changed (15.0.6, other content)"));
}

TEST(Explain, OneLine) {
  const std::vector<Difference> differences = {{Group::header, "op.h", "changed, read by a.cpp and b.cpp"},
                                               {Group::flag, "f", "changed"}};
  EXPECT_EQ(summary(differences), "op.h changed and 1 more");
  EXPECT_EQ(summary({differences[0]}), "op.h changed");
  EXPECT_EQ(summary({}), "");
}

} // namespace
} // namespace dcuop::key
