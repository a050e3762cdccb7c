#include "dcuop/support/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dcuop {
namespace {

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_text({{"a", "x\xffy"}, {"b", "é"}}), "{\"a\":\"x\xef\xbf\xbdy\",\"b\":\"é\"}");
  EXPECT_EQ(json_text({{"a", 1}}, 2), "{\n  \"a\": 1\n}");
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
