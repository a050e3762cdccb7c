#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/elf/loader.hpp"

#include "built_files.hpp"

namespace dcuop::elf {
namespace {

using test::quoted;
using test::shared_object;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::IsEmpty;

/// Unbound symbols of `path` over its closure, as "name@version" with " in <file>" of a wrong version.
std::vector<std::string> unbound(const std::filesystem::path& path) {
  const Image image = read_image(path);
  std::vector<Image> images;
  for (const Library& library : resolve_closure(image, {}).libraries) {
    images.push_back(read_image(library.path));
  }
  std::vector<const Image*> scope;
  for (const Image& each : images) {
    scope.push_back(&each);
  }
  std::vector<std::string> names;
  for (const Unbound& each : unbound_symbols(image, scope)) {
    std::string text = each.symbol.name + "@" + each.symbol.version;
    if (!each.wrong_version_in.empty()) {
      text += " in " + each.wrong_version_in.filename().string();
    }
    names.push_back(text);
  }
  return names;
}

class Versions : public testing::Test {
 protected:
  /// libp.so from C code and a version script ("" for none).
  std::filesystem::path provider(const std::string& code, const std::string& script) {
    const auto map = directory_.write("map", script);
    return shared_object(directory_, "libp.so", code,
                         "-Wl,-soname,libp.so " +
                             (script.empty() ? "" : "-Wl,--version-script=" + quoted(map)));
  }
  std::filesystem::path consumer(const std::string& name, const std::string& code) {
    return shared_object(directory_, name, code,
                         "-Wl,--no-as-needed -L" + quoted(directory_.path()) + " -lp -Wl,-rpath," +
                             quoted(directory_.path()));
  }

  TemporaryDirectory directory_;
};

TEST_F(Versions, BindsToTheSameVersionOnly) {
  provider("int f(void) { return 1; } int g;", "V1 { f; g; };");
  const auto first = consumer("first.so", "extern int f(void); int run(void) { return f(); }");
  EXPECT_THAT(unbound(first), IsEmpty());
  EXPECT_TRUE(test::loads(first));
  provider("int f(void) { return 1; } int g;", "V1 { g; }; V2 { f; };");
  EXPECT_THAT(unbound(first), ElementsAre("f@V1 in libp.so"));
  EXPECT_FALSE(test::loads(first));
}

TEST_F(Versions, AnUnversionedProviderThatTheReferenceNamesIsFatal) {
  provider("int f(void) { return 1; }", "V1 { f; };");
  const auto consumer_path = consumer("c.so", "extern int f(void); int run(void) { return f(); }");
  provider("int f(void) { return 1; }", "");
  EXPECT_THAT(unbound(consumer_path), ElementsAre("f@V1 in libp.so"));
  EXPECT_FALSE(test::loads(consumer_path)); // an assertion of ld.so
}

TEST_F(Versions, AnUnversionedReferenceTakesTheDefaultOrTheFirst) {
  provider("int f(void) { return 1; }", "");
  const auto consumer_path = consumer("c.so", "extern int f(void); int run(void) { return f(); }");
  EXPECT_THAT(unbound(consumer_path), IsEmpty());
  for (const char* const script : {"V1 { f; };", "V1 { other; }; V2 { f; };"}) {
    provider("int other; int f(void) { return 1; }", script);
    EXPECT_THAT(unbound(consumer_path), IsEmpty()) << script;
    EXPECT_TRUE(test::loads(consumer_path)) << script;
  }
  // f@V2 alone, hidden and not of the first node: not taken.
  provider("int other; __asm__(\".symver old, f@V2\"); int old(void) { return 1; }",
           "V1 { other; }; V2 { }; ");
  EXPECT_THAT(unbound(consumer_path), ElementsAre("f@ in libp.so"));
  EXPECT_FALSE(test::loads(consumer_path));
  provider("int other; __asm__(\".symver old, f@V1\"); int old(void) { return 1; }", "V1 { other; };");
  EXPECT_THAT(unbound(consumer_path), IsEmpty());
  EXPECT_TRUE(test::loads(consumer_path));
}

TEST_F(Versions, AVersionedReferenceTakesABaseDefinition) {
  provider("int f(void) { return 1; } int g;", "V1 { f; g; };");
  const auto consumer_path = consumer("c.so", "extern int f(void); int run(void) { return f(); }");
  provider("int f(void) { return 1; } int g;", "V1 { g; };"); // f stays in the base
  EXPECT_THAT(unbound(consumer_path), IsEmpty());
  EXPECT_TRUE(test::loads(consumer_path));
}

TEST(UnboundSymbols, ReportsInTableOrderAndLeavesWeakOnesOut) {
  const TemporaryDirectory directory;
  const auto path = shared_object(directory, "a.so",
                                  "extern int nowhere_b(void); extern int nowhere_a(void);\n"
                                  "extern int optional(void) __attribute__((weak));\n"
                                  "#include <stdlib.h>\n#include <math.h>\n"
                                  "int run(void) { free(0); return nowhere_b() + nowhere_a() + "
                                  "(optional ? optional() : 0); }\n"
                                  "double d(double x) { return cos(x); }\n",
                                  "-lm");
  EXPECT_THAT(unbound(path), testing::UnorderedElementsAre("nowhere_a@", "nowhere_b@"));
  EXPECT_FALSE(test::loads(path));
}

TEST(UnboundSymbols, FindsThreadLocalsAndLdSoItself) {
  const TemporaryDirectory directory;
  shared_object(directory, "libt.so", "__thread int shared_counter;", "-Wl,-soname,libt.so");
  const auto path = shared_object(
      directory, "a.so", "extern __thread int shared_counter; int run(void) { return shared_counter++; }",
      "-L" + quoted(directory.path()) + " -lt -Wl,-rpath," + quoted(directory.path()));
  const Image image = read_image(path);
  EXPECT_TRUE(std::any_of(image.symbols.begin(), image.symbols.end(),
                          [](const Symbol& symbol) { return symbol.name == "__tls_get_addr"; }));
  EXPECT_THAT(unbound(path), IsEmpty());
  EXPECT_TRUE(test::loads(path));
}

TEST(UnboundSymbols, HasNothingToSayOfTheSystemsLibraries) {
  for (const char* const name : {"/proc/self/exe", "/usr/lib/x86_64-linux-gnu/libz.so.1"}) {
    if (std::filesystem::exists(name)) {
      EXPECT_THAT(unbound(name), IsEmpty()) << name;
    }
  }
}

} // namespace
} // namespace dcuop::elf
