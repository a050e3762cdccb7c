#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Bindings : public Clinic {
 protected:
  /// A library with a function that every copy of LLVM exports, and that its own constructor calls.
  std::filesystem::path with_llvm(const std::string& name, const std::string& function,
                                  std::vector<std::string> options = {}) {
    const std::string source =
        "namespace llvm { namespace cl { struct Option { void addArgument(); }; } }\n"
        "int count; void llvm::cl::Option::addArgument() { ++count; }\n"
        "static struct Registers { Registers() { llvm::cl::Option().addArgument(); } } r;\n"
        "extern \"C\" int " +
        function + "() { return count; }";
    options.insert(options.begin(), {"-L" + directory_.string(), "-Wl,-rpath,$ORIGIN"});
    return build(name, source, options, true);
  }
  Report user_of_both() {
    return examine(build("op.so",
                         "int first(void); int second(void); int run(void) { return first() + second(); }",
                         {"-L" + directory_.string(), "-lfirst", "-lsecond", "-Wl,-rpath,$ORIGIN"}));
  }
  /// A runtime with the plain name, and with the revised one when asked for.
  void put_runtime(bool revised) {
    build("libamdhip64.so.6", std::string("int hipGetDeviceProperties(void) { return 5; }") +
                                  (revised ? "int hipGetDevicePropertiesR0600(void) { return 6; }" : ""));
    environment_.set("LD_LIBRARY_PATH", directory_.string());
  }
  std::filesystem::path looking_up(const std::string& name, const std::string& strings) {
    return build(name, "#include <dlfcn.h>\nvoid* look(int i) { static const char* const names[] = {" +
                           strings + "}; return dlsym(dlopen(\"libamdhip64.so.6\", RTLD_NOW), names[i]); }");
  }
};

TEST_F(Bindings, NameTwoLlvmsThatAreMixed) {
  with_llvm("libfirst.so", "first");
  with_llvm("libsecond.so", "second");
  const auto report = user_of_both();
  EXPECT_THAT(errors_of(report), ElementsAre("DCU222"));
  EXPECT_EQ(report.verdict, Verdict::does_not_load);
  EXPECT_THAT(find(report, "DCU222")->cause,
              HasSubstr("libsecond.so has a copy of LLVM that is bound to the one of libfirst.so"));
}

TEST_F(Bindings, SeeTheFilesOwnCopyAsTheFirst) {
  with_llvm("libsecond.so", "second");
  const auto report = examine(with_llvm("op.so", "first", {"-Wl,--no-as-needed", "-lsecond"}));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU222"));
  EXPECT_THAT(report.headline, HasSubstr("op.so and libsecond.so"));
}

TEST_F(Bindings, LeaveAloneCopiesThatKeepToThemselves) {
  with_llvm("libfirst.so", "first");
  const auto script = write("only.map", "{ global: second; local: *; };").string();
  for (const auto& kept : {std::string("-Wl,-Bsymbolic"), std::string("-Wl,-Bsymbolic-functions"),
                           "-Wl,--version-script," + script}) {
    with_llvm("libsecond.so", "second", {kept});
    EXPECT_THAT(errors_of(user_of_both()), IsEmpty()) << kept;
  }
}

TEST_F(Bindings, TellVersionsOfLlvmApart) {
  write("first.map", "LLVM_14 { global: *; };");
  write("second.map", "LLVM_15 { global: *; };");
  with_llvm("libfirst.so", "first", {"-Wl,--version-script," + (directory_ / "first.map").string()});
  with_llvm("libsecond.so", "second", {"-Wl,--version-script," + (directory_ / "second.map").string()});
  EXPECT_THAT(errors_of(user_of_both()), IsEmpty());
  with_llvm("libsecond.so", "second", {"-Wl,--version-script," + (directory_ / "first.map").string()});
  EXPECT_THAT(errors_of(user_of_both()), ElementsAre("DCU222"));
}

TEST_F(Bindings, WarnOfTheOlderRevisionThatAPlainNameGets) {
  const auto plain = looking_up("plain.so", "\"hipInit\", \"hipGetDeviceProperties\"");
  put_runtime(false);
  EXPECT_EQ(find(examine(plain), "DCU223"), nullptr) << "a HIP 5 has but one";
  put_runtime(true);
  const auto report = examine(plain);
  ASSERT_NE(find(report, "DCU223"), nullptr);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(find(report, "DCU223")->cause, HasSubstr("looks up hipGetDeviceProperties by name"));
  EXPECT_THAT(evidence_of(report, "DCU223"), HasSubstr("libamdhip64.so.6 has hipGetDevicePropertiesR0600"));
  EXPECT_EQ(
      find(examine(looking_up("both.so", "\"hipGetDeviceProperties\", \"hipGetDevicePropertiesR0600\"")),
           "DCU223"),
      nullptr);
  EXPECT_EQ(find(examine(looking_up("other.so", "\"my_hipGetDeviceProperties\"")), "DCU223"), nullptr);
  EXPECT_EQ(find(examine(build("no.so", "const char* name(void) { return \"hipGetDeviceProperties\"; }")),
                 "DCU223"),
            nullptr)
      << "it looks nothing up";
}

} // namespace
} // namespace dcuop::doctor
