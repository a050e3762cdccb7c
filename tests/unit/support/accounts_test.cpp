#include "dcuop/support/accounts.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AccountsTest : public ::testing::Test {
 protected:
  std::vector<Account> accounts(const std::string& text) {
    std::ofstream(file_, std::ios::trunc) << text;
    return accounts_in(file_);
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "file";
};

TEST_F(AccountsTest, NamesAndNumbersOfUsers) {
  const auto users = accounts("root:x:0:0:root:/root:/bin/sh\nada:x:4294967294:100::/home/ada:\n");
  EXPECT_EQ(users.size(), 2U);
  EXPECT_EQ(account_name(users, 4294967294U), "ada");
  EXPECT_EQ(account_name(users, 7), "7");
  EXPECT_EQ(account_id(users, "root"), 0U);
  EXPECT_EQ(account_id(users, "roo"), std::nullopt);
  EXPECT_EQ(account_id(users, ""), std::nullopt);
}

TEST_F(AccountsTest, MembersOfGroups) {
  const auto groups = accounts("video:x:44:ada,bob\nrender:x:109:\n");
  ASSERT_NE(account_with_id(groups, 44), nullptr);
  EXPECT_THAT(account_with_id(groups, 44)->members, ElementsAre("ada", "bob"));
  EXPECT_THAT(account_with_id(groups, 109)->members, IsEmpty());
  EXPECT_EQ(account_with_id(groups, 45), nullptr);
}

TEST_F(AccountsTest, TheFirstOfTwoCounts) {
  EXPECT_EQ(account_id(accounts("ada:x:1:1\nada:x:2:2\n"), "ada"), 1U);
  EXPECT_EQ(account_name(accounts("toor:x:0:0\nroot:x:0:0\n"), 0), "toor");
}

TEST_F(AccountsTest, LinesThatAreNoAccountsArePassedOver) {
  const auto users =
      accounts("\n# comment\n+::::::\nada\nada:x\nada:x:\nada:x:-1:\nada:x:4294967296:\nbob:x:5");
  EXPECT_EQ(users.size(), 1U);
  EXPECT_EQ(account_id(users, "bob"), 5U);
}

TEST_F(AccountsTest, NoFileIsNoAccounts) {
  EXPECT_THAT(accounts_in(directory_.path() / "absent"), IsEmpty());
  EXPECT_THAT(accounts_in(directory_.path()), IsEmpty());
}

} // namespace
} // namespace dcuop
