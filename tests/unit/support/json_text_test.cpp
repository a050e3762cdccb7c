#include "dcuop/support/json_text.hpp"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dcuop {
namespace {

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_text({{"a", "x\xffy"}, {"b", "é"}}), "{\"a\":\"x\xef\xbf\xbdy\",\"b\":\"é\"}");
  EXPECT_EQ(json_text({{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) {
    text += "[";
  }
  return text + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ShallowJson, TakesJsonThatDoesNotNestDeeply) {
  EXPECT_EQ(shallow_json(R"({"a":[1,{"b":null}]})"), (nlohmann::json{{"a", {1, {{"b", nullptr}}}}}));
  EXPECT_EQ(json_text(shallow_json(nested(100))), nested(100));
  EXPECT_TRUE(shallow_json(nested(102)).is_discarded());
  EXPECT_TRUE(shallow_json(nested(1'000'000)).is_discarded());
  EXPECT_TRUE(shallow_json("[1").is_discarded());
  EXPECT_TRUE(shallow_json("").is_discarded());
}

TEST(IntegersFromJson, AreIntegersOfTheirType) {
  EXPECT_EQ(unsigned_from(nlohmann::json::parse("18446744073709551615")), 18446744073709551615U);
  EXPECT_EQ(signed_from(nlohmann::json::parse("-9223372036854775808")),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(signed_from(nlohmann::json::parse("7")), 7);
  for (const char* text : {"-1", "1e300", "1.0", "true", R"("1")", "18446744073709551616", "null"}) {
    EXPECT_THROW((void)unsigned_from(nlohmann::json::parse(text)), std::invalid_argument) << text;
  }
  for (const char* text : {"9223372036854775808", "1e300", "0.5", "false", "[]"}) {
    EXPECT_THROW((void)signed_from(nlohmann::json::parse(text)), std::invalid_argument) << text;
  }
}

TEST(EscapedBytes, GiveEveryByteAgain) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(unescaped_bytes(escaped_bytes(all)), all);
  EXPECT_EQ(unescaped_bytes(json_text(escaped_bytes("a\xff%41"))), "\"a\xff%41\"");
  EXPECT_EQ(escaped_bytes("inc/a b.h"), "inc/a b.h");
  EXPECT_EQ(escaped_bytes("%\xc3"), "%25%C3");
}

TEST(EscapedBytes, WhatIsNoEscapeStays) {
  for (const char* text : {"%", "%4", "%zz", "100%", "%-1", "a%4g"}) {
    EXPECT_EQ(unescaped_bytes(text), text);
  }
}

} // namespace
} // namespace dcuop
