#include <gtest/gtest.h>

#include "dcuop/op/op.hpp"

namespace dcuop::op {
namespace {

TEST(TargetId, AcceptsProcessorsAndOrderedFeatures) {
  for (const char* id : {"gfx906", "gfx936", "gfx90a", "gfx1030", "gfx9-4-generic", "sm_90", "gfx90a:xnack-",
                         "gfx908:sramecc+", "gfx936:sramecc+:xnack-", "gfx90a:sramecc-:xnack+"}) {
    EXPECT_TRUE(is_target_id(id)) << id;
  }
}

TEST(TargetId, RefusesOtherForms) {
  for (const char* id : {"",
                         ":",
                         "gfx",
                         "native",
                         "all",
                         "GFX906",
                         "gfx906 ",
                         " gfx906",
                         "906",
                         "gfx906:",
                         "gfx906-",
                         "gfx906:xnack",
                         "gfx906:xnack*",
                         "gfx90a:xnack-:sramecc+",
                         "gfx90a:xnack-:xnack-",
                         "gfx90a:cumode+",
                         "gfx90a::xnack-",
                         "gfx90a:xnack-:",
                         "gfx90a:xnack-x",
                         "gfx906,gfx90a",
                         "gfx906;gfx90a",
                         "gfx90\xc3\xa4"}) {
    EXPECT_FALSE(is_target_id(id)) << id;
  }
}

TEST(TargetId, EveryShorterFormOfAFullOneIsRightOnlyAtItsJoints) {
  const std::string full = "gfx936:sramecc+:xnack-";
  for (std::size_t length = 0; length <= full.size(); ++length) {
    const std::string text = full.substr(0, length);
    const bool joint = (length >= 4 && length <= 6) || length == 15 || length == full.size();
    EXPECT_EQ(is_target_id(text), joint) << text;
  }
}

TEST(TargetId, KnowsItsProcessor) {
  EXPECT_EQ(processor_of("gfx90a:sramecc+:xnack-"), "gfx90a");
  EXPECT_EQ(processor_of("gfx906"), "gfx906");
  EXPECT_EQ(processor_of(""), "");
}

} // namespace
} // namespace dcuop::op
