#include "dcuop/source/mask.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dcuop::source {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Mask, KeepsEveryByteWhereItWas) {
  const std::string text =
      "// c\r\n#if A\nint a; /* b\n c */ int d;\n#else\nint e;\n#endif\n\"//\" R\"x(/*)x\";\n";
  for (const auto& variant : mask(text, hip_dialect()).variants) {
    ASSERT_EQ(variant.text.size(), text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
      EXPECT_EQ(variant.text[at] == '\n', text[at] == '\n') << at;
    }
    EXPECT_THAT(variant.text, HasSubstr("\"//\" R\"x(/*)x\";"));
    EXPECT_THAT(variant.text, Not(HasSubstr("c */")));
  }
}

TEST(Mask, ReadsEveryBranchInSomeConfiguration) {
  const auto masked = mask("#if defined(A) && B > 3\none;\n#elif C\ntwo;\n#else\nthree;\n#endif\n"
                           "#ifndef A\nfour;\n#ifdef D\nfive;\n#endif\n#endif\n",
                           hip_dialect());
  EXPECT_TRUE(masked.unread.empty());
  ASSERT_GE(masked.variants.size(), 4U);
  EXPECT_THAT(masked.variants[0].text, HasSubstr("three;"));
  EXPECT_THAT(masked.variants[0].text, HasSubstr("four;"));
  EXPECT_TRUE(masked.variants[0].assumed.empty());
  for (const char* word : {"one;", "two;", "five;"}) {
    EXPECT_THAT(masked.variants, testing::Contains(testing::Field(&Variant::text, HasSubstr(word)))) << word;
  }
  for (const auto& variant : masked.variants) { // A is defined, or it is not
    EXPECT_FALSE(variant.text.find("one;") != std::string::npos &&
                 variant.text.find("four;") != std::string::npos);
  }
}

TEST(Mask, LeavesOutWhatTheCompilerOfTheDialectNeverReads) {
  const auto masked =
      mask("#ifdef __CUDACC__\ncuda;\n#elif defined(__HIPCC__)\nhip;\n#else\nhost;\n#endif\n", hip_dialect());
  ASSERT_EQ(masked.variants.size(), 1U);
  EXPECT_THAT(masked.variants[0].text, HasSubstr("hip;"));
  EXPECT_THAT(masked.variants[0].text, Not(HasSubstr("cuda;")));
  EXPECT_TRUE(masked.unread.empty());
}

TEST(Mask, SaysNothingOfBranchesThatTheDialectNeverTakesWhateverIsAround) {
  // binding.h's: the outer branch asks what nobody knows, the inner one is known to be left out.
  EXPECT_TRUE(
      mask("#if __has_include(<a.h>)\n#ifndef USE_ROCM\n#define USE_ROCM 1\n#endif\n#endif\n", hip_dialect())
          .unread.empty());
  EXPECT_TRUE(
      mask("#ifdef __CUDA_ARCH__\n#if FOO > 3\nint a;\n#endif\n#endif\n", hip_dialect()).unread.empty());
  EXPECT_TRUE(
      mask("#ifdef USE_ROCM\n#else\n#ifdef FOO\nint a;\n#endif\n#endif\n", hip_dialect()).unread.empty());
  // Contradicts itself: no configuration compiles it, and it is said.
  const std::string text = "#ifdef FOO\n#ifndef FOO\nint a;\n#endif\n#endif\n";
  EXPECT_THAT(mask(text, hip_dialect()).unread, testing::ElementsAre(text.find("#ifndef")));
}

TEST(Mask, FollowsDefinesOfTheFile) {
  const auto masked =
      mask("#define N 3\n#if N == 3\nyes;\n#else\nno;\n#endif\n#undef N\n#ifdef N\nalso;\n#endif\n",
           hip_dialect());
  ASSERT_EQ(masked.variants.size(), 1U);
  EXPECT_THAT(masked.variants[0].text, HasSubstr("yes;"));
  EXPECT_THAT(masked.variants[0].text, Not(HasSubstr("no;")));
  EXPECT_EQ(masked.unread.size(), 2U);
}

TEST(Mask, TakesQualifiersOutAndRemembersThem) {
  const auto variant =
      mask("template <class T> __global__ __launch_bounds__(256, 2) void k(T* __restrict__ x);",
           hip_dialect())
          .variants[0];
  EXPECT_THAT(variant.text, Not(HasSubstr("__")));
  ASSERT_EQ(variant.marks.size(), 3U);
  EXPECT_EQ(variant.marks[0].name, "__global__");
  EXPECT_EQ(variant.marks[1].argument, "256, 2");
}

TEST(Mask, MakesACallOfALaunch) {
  const auto variant =
      mask("k<T, 3><<<dim3(a, b), 256, 0, s>>>(x, y); e<<<1, 2>>>(); c << d << (f >> 3);", hip_dialect())
          .variants[0];
  EXPECT_THAT(variant.text, HasSubstr("k<T, 3>  (dim3(a, b), 256, 0, s   ,x, y);"));
  EXPECT_THAT(variant.text, HasSubstr("e  (1, 2    );"));
  EXPECT_THAT(variant.text, HasSubstr("c << d << (f >> 3);"));
  EXPECT_EQ(variant.launches.size(), 2U);
}

TEST(Mask, WritesAscendSidesAsExpressions) {
  const auto variant =
      mask("if ASCEND_IS_AIV { a.template f<T>(); } else if ASCEND_IS_AIC {}", ascend_dialect()).variants[0];
  EXPECT_EQ(variant.text, "if (AIV_ASCEND_) { a.         f<T>(); } else if (AIC_ASCEND_) {}");
}

TEST(Mask, CopesWithWhatIsCutAnywhere) {
  const std::string text = "#if A\n#define F(x) \\\n k<<<1, \"s\\\"\", 'c'>>>(x)\nR\"d(\n)d\" /* c */ // "
                           "e\n#endif\n__launch_bounds__(3) hipLaunchKernelGGL((k<1>), a)";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (const auto& variant : mask(text.substr(0, size), hip_dialect()).variants) {
      EXPECT_EQ(variant.text.size(), size);
    }
  }
}

} // namespace
} // namespace dcuop::source
