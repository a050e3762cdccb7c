#include <gtest/gtest.h>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {
namespace {

TargetId id(std::string_view text) {
  return TargetId::parse(text).value();
}
Fit fit(std::string_view code, std::string_view agent) {
  return fit_of(id(code), id(agent));
}

TEST(TargetId, ParsesFeaturesInAnyOrderAndWritesThemCanonically) {
  EXPECT_EQ(id("gfx906").text(), "gfx906");
  EXPECT_EQ(id("gfx90a:xnack-:sramecc+").text(), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(id("gfx90a:sramecc+:xnack-"), id("gfx90a:xnack-:sramecc+"));
  EXPECT_EQ(id("gfx90a:xnack+").xnack, true);
  EXPECT_EQ(id("gfx90a:xnack+").sramecc, std::nullopt);
  for (const char* const text :
       {"gfx9-generic", "gfx9-4-generic:sramecc+", "gfx10-3-generic", "gfx12-generic",
        "gfx936:sramecc+:xnack-", "gfx90c", "gfx1201", "amdgcnspirv"}) {
    EXPECT_EQ(id(text).text(), text);
  }
}

TEST(TargetId, RefusesWhatIsNone) {
  for (const char* const text : {"",
                                 ":",
                                 "gfx",
                                 "gfx906:",
                                 "gfx906:xnack",
                                 "gfx906:+",
                                 "gfx906:xnack+:",
                                 "gfx906::xnack+",
                                 "gfx906:xnack+:xnack+",
                                 "gfx906:xnack+:xnack-",
                                 "gfx906:fancy+",
                                 "nonsense",
                                 "gfx9o6",
                                 "GFX906",
                                 "gfx906 ",
                                 "gfx-generic",
                                 "gfx9--generic",
                                 "906",
                                 "native",
                                 "gfx906,gfx90a",
                                 "sm_80"}) {
    EXPECT_FALSE(TargetId::parse(text)) << text;
  }
}

TEST(Fit, NeedsTheSameProcessor) {
  EXPECT_EQ(fit("gfx906", "gfx906:sramecc+:xnack-"), Fit::match);
  EXPECT_EQ(fit("gfx906", "gfx926"), Fit::wrong_processor); // no forward compatibility
  EXPECT_EQ(fit("gfx936", "gfx928"), Fit::wrong_processor);
  EXPECT_EQ(fit("gfx1030", "gfx1031"), Fit::wrong_processor);
  EXPECT_EQ(fit("gfx90a", "gfx90c"), Fit::wrong_processor);
}

TEST(Fit, WantsANamedFeatureToBeEqual) {
  EXPECT_EQ(fit("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"), Fit::match);
  EXPECT_EQ(fit("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"), Fit::xnack_conflict);
  EXPECT_EQ(fit("gfx90a:xnack+", "gfx90a"), Fit::xnack_conflict);
  EXPECT_EQ(fit("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-"), Fit::sramecc_conflict);
  EXPECT_EQ(fit("gfx90a", "gfx90a:xnack+"), Fit::match);
}

TEST(Fit, KnowsGenericTargetsAndSpirv) {
  EXPECT_EQ(fit("gfx9-generic", "gfx906:sramecc+:xnack-"), Fit::generic_match);
  EXPECT_EQ(fit("gfx9-generic:xnack+", "gfx906:sramecc+:xnack-"), Fit::xnack_conflict);
  EXPECT_EQ(fit("gfx9-generic", "gfx90a"), Fit::wrong_processor);
  EXPECT_EQ(fit("gfx9-generic", "gfx90"), Fit::wrong_processor);
  EXPECT_EQ(fit("gfx9-4-generic", "gfx942:sramecc+:xnack-"), Fit::generic_match);
  EXPECT_EQ(fit("gfx10-3-generic", "gfx1036"), Fit::generic_match);
  EXPECT_EQ(fit("gfx11-generic", "gfx1201"), Fit::wrong_processor);
  EXPECT_EQ(fit("gfx11-generic", "gfx11-generic"), Fit::match);
  EXPECT_EQ(fit("gfx906", "gfx9-generic"), Fit::wrong_processor);
  EXPECT_EQ(fit("amdgcnspirv", "gfx906"), Fit::spirv);
}

TEST(Fit, CountsOnlyTheTwoMatchesAsFitting) {
  EXPECT_TRUE(fits(Fit::match));
  EXPECT_TRUE(fits(Fit::generic_match));
  for (const Fit other : {Fit::spirv, Fit::wrong_processor, Fit::xnack_conflict, Fit::sramecc_conflict}) {
    EXPECT_FALSE(fits(other));
  }
}

} // namespace
} // namespace dcuop::elf
