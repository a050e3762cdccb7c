#include "dcuop/support/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using testing::HasSubstr;
using testing::Not;

Environment logging(const std::string& value) {
  return Environment({{"DCUOP_LOG", value}});
}

class Log : public testing::Test {
 protected:
  ~Log() override { configure_log(Environment()); }
  [[nodiscard]] std::string written() const { return read_file(file_).value_or(""); }

  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "a:b.log";
};

TEST_F(Log, WritesToAFileFromItsLevelOn) {
  configure_log(logging("debug:" + file_.string()));
  log_debug("a {} debug");
  log_warning("a warning");
  EXPECT_THAT(written(), HasSubstr("debug a {} debug\n"));
  EXPECT_THAT(written(), HasSubstr("warning a warning\n"));
  configure_log(logging("warning:" + (directory_ / "second").string()));
  log_debug("not here");
  log_warning("here");
  const std::string second = read_file(directory_ / "second").value_or("");
  EXPECT_THAT(second, HasSubstr("here\n"));
  EXPECT_THAT(second, Not(HasSubstr("not here")));
}

TEST_F(Log, IsOffUnlessAsked) {
  testing::internal::CaptureStderr();
  configure_log(Environment());
  log_warning("x");
  configure_log(logging(""));
  log_warning("x");
  configure_log(logging("off"));
  log_warning("x");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  configure_log(logging("debug"));
  log_debug("traced");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("traced\n"));
}

TEST_F(Log, KeepsWarningsOnceAndInOrder) {
  (void)take_warnings();
  configure_log(logging("off"));
  log_debug("no warning");
  log_warning("second {}");
  {
    const std::jthread other([] { log_warning("another thread's"); });
  }
  log_warning("second {}");
  EXPECT_THAT(take_warnings(), testing::ElementsAre("second {}", "another thread's"));
  EXPECT_THAT(take_warnings(), testing::IsEmpty());
  for (int index = 0; index < 23; ++index) {
    log_warning(std::to_string(index));
  }
  const std::vector<std::string> many = take_warnings();
  ASSERT_EQ(many.size(), 21U);
  EXPECT_EQ(many[19], "19");
  EXPECT_EQ(many[20], "3 more; DCUOP_LOG=warning shows all");
}

TEST_F(Log, RefusesWhatIsNoLevel) {
  for (const char* value : {"loud", "DEBUG", "debug ", ":x", "1"}) {
    try {
      configure_log(logging(value));
      ADD_FAILURE() << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ExitCode::usage);
      EXPECT_THAT(error.hint, HasSubstr("debug"));
    }
  }
  try {
    configure_log(logging("debug:" + (directory_ / "log").string() + "/none/x"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
  }
}

} // namespace
} // namespace dcuop
