#include "dcuop/elf/loader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_files.hpp"

namespace dcuop::elf {
namespace {

using test::quoted;
using test::shared_object;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* empty_library = "-nostdlib -Wl,--no-as-needed";

/// lib<name>.so.1 in `folder`, which needs the libraries given as linker options.
std::filesystem::path library(const TemporaryDirectory& directory, const std::string& folder,
                              const std::string& name, const std::string& options = "") {
  std::filesystem::create_directories(directory / folder);
  return shared_object(directory, folder + "/lib" + name + ".so.1", "int value_of_" + name + ";",
                       std::string(empty_library) + " -Wl,-soname,lib" + name + ".so.1 " + options);
}

std::string needs(const std::filesystem::path& path) {
  return quoted(path);
}
std::string runpath(const std::string& path) {
  return " -Wl,--enable-new-dtags -Wl,-rpath,'" + path + "' ";
}
std::string rpath(const std::string& path) {
  return " -Wl,--disable-new-dtags -Wl,-rpath,'" + path + "' ";
}

/// Nothing of this machine: another tree for the cache and the default directories.
LoaderContext bare(const TemporaryDirectory& directory) {
  LoaderContext context;
  context.root = directory.path();
  return context;
}

const Library& of(const Closure& closure, std::string_view name) {
  const auto found = std::find_if(closure.libraries.begin(), closure.libraries.end(),
                                  [&](const Library& library) { return library.name == name; });
  if (found == closure.libraries.end()) {
    throw std::runtime_error(std::string(name) + " is not in the closure");
  }
  return *found;
}

std::vector<std::string> names(const Closure& closure) {
  std::vector<std::string> names;
  for (const Library& library : closure.libraries) {
    names.push_back(library.name);
  }
  return names;
}

TEST(ResolveClosure, GoesBreadthFirstAndNamesTheWanter) {
  const TemporaryDirectory directory;
  const auto d = library(directory, "l", "d");
  const auto b = library(directory, "l", "b", needs(d) + runpath("$ORIGIN"));
  const auto c = library(directory, "l", "c", needs(d) + runpath("$ORIGIN"));
  const auto a = library(directory, "l", "a", needs(b) + " " + needs(c) + runpath("${ORIGIN}"));
  const Closure closure = resolve_closure(read_image(a), bare(directory));
  EXPECT_THAT(names(closure), ElementsAre("libb.so.1", "libc.so.1", "libd.so.1"));
  EXPECT_TRUE(closure.complete());
  EXPECT_EQ(of(closure, "libd.so.1").wanted_by, b);
  EXPECT_EQ(of(closure, "libd.so.1").path, d);
  EXPECT_EQ(of(closure, "libd.so.1").found_by, FoundBy::runpath);
}

TEST(ResolveClosure, InheritsRpathButNotRunpath) {
  const TemporaryDirectory directory;
  const auto c = library(directory, "deep", "c");
  const auto b = library(directory, "l", "b", needs(c));
  const std::string paths = (directory / "l").string() + ":" + (directory / "deep").string();
  const auto with_rpath = library(directory, "l", "a", needs(b) + rpath(paths));
  const auto with_runpath = library(directory, "l", "r", needs(b) + runpath(paths));

  const Closure inherited = resolve_closure(read_image(with_rpath), bare(directory));
  EXPECT_EQ(of(inherited, "libc.so.1").found_by, FoundBy::rpath);
  EXPECT_TRUE(inherited.complete());
  const Closure alone = resolve_closure(read_image(with_runpath), bare(directory));
  EXPECT_EQ(of(alone, "libb.so.1").found_by, FoundBy::runpath);
  EXPECT_EQ(of(alone, "libc.so.1").found_by, FoundBy::not_found);
  EXPECT_EQ(of(alone, "libc.so.1").wanted_by, directory / "l" / "libb.so.1");
  EXPECT_FALSE(alone.complete());
}

TEST(ResolveClosure, ARunpathMakesTheInheritedRpathVoidForItsOwnLibraries) {
  const TemporaryDirectory directory;
  const auto c = library(directory, "deep", "c");
  const auto b = library(directory, "l", "b", needs(c) + runpath("/nonexistent"));
  const std::string paths = (directory / "l").string() + ":" + (directory / "deep").string();
  const auto a = library(directory, "l", "a", needs(b) + rpath(paths));
  EXPECT_EQ(of(resolve_closure(read_image(a), bare(directory)), "libc.so.1").found_by, FoundBy::not_found);
}

TEST(ResolveClosure, LibraryPathStandsBetweenRpathAndRunpath) {
  const TemporaryDirectory directory;
  const auto own = library(directory, "own", "b");
  const auto other = library(directory, "other", "b");
  const auto with_runpath = library(directory, "l", "a", needs(own) + runpath("$ORIGIN/../own"));
  const auto with_rpath = library(directory, "l", "r", needs(own) + rpath("$ORIGIN/../own"));
  LoaderContext context = bare(directory);
  context.library_path = {directory / "absent", directory / "other"};
  const Closure overridden = resolve_closure(read_image(with_runpath), context);
  EXPECT_EQ(of(overridden, "libb.so.1").path, other);
  EXPECT_EQ(of(overridden, "libb.so.1").found_by, FoundBy::library_path);
  EXPECT_EQ(of(resolve_closure(read_image(with_rpath), context), "libb.so.1").found_by, FoundBy::rpath);
}

TEST(ResolveClosure, PassesOverForeignFilesAndSaysWhich) {
  const TemporaryDirectory directory;
  const auto good = library(directory, "good", "b");
  std::string foreign = test::content_of(good);
  test::patch(foreign, offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_S390});
  directory.write("foreign/libb.so.1", foreign);
  std::string small = test::content_of(good);
  small[EI_CLASS] = ELFCLASS32;
  directory.write("small/libb.so.1", small);
  std::filesystem::create_directories(directory / "dangling");
  std::filesystem::create_symlink("nowhere", directory / "dangling" / "libb.so.1");
  const auto a = library(directory, "l", "a", needs(good));
  LoaderContext context = bare(directory);
  context.library_path = {directory / "foreign", directory / "small", directory / "dangling",
                          directory / "good"};
  const Closure closure = resolve_closure(read_image(a), context);
  EXPECT_EQ(of(closure, "libb.so.1").path, good);
  EXPECT_TRUE(closure.complete());
  EXPECT_THAT(of(closure, "libb.so.1").rejected,
              ElementsAre(HasSubstr("foreign/libb.so.1: for another machine: s390x"),
                          HasSubstr("small/libb.so.1: wrong ELF class: ELFCLASS32"),
                          HasSubstr("dangling/libb.so.1: no such file")));
  context.library_path.pop_back();
  const Closure missing = resolve_closure(read_image(a), context);
  EXPECT_EQ(of(missing, "libb.so.1").found_by, FoundBy::not_found);
  EXPECT_EQ(of(missing, "libb.so.1").rejected.size(), 3U);
}

TEST(ResolveClosure, StopsAtAFileThatIsNoElf) {
  const TemporaryDirectory directory;
  const auto good = library(directory, "good", "b");
  const auto bad = directory.write("bad/libb.so.1", std::string(100, 'x'));
  const auto a = library(directory, "l", "a", needs(good));
  LoaderContext context = bare(directory);
  context.library_path = {directory / "bad", directory / "good"};
  const Closure closure = resolve_closure(read_image(a), context);
  EXPECT_EQ(of(closure, "libb.so.1").path, bad);
  EXPECT_EQ(of(closure, "libb.so.1").problem, "invalid ELF header");
  EXPECT_FALSE(closure.complete());
  directory.write("bad/libb.so.1", test::content_of(good).substr(0, 2000));
  EXPECT_THAT(of(resolve_closure(read_image(a), context), "libb.so.1").problem, HasSubstr("truncated"));
}

TEST(ResolveClosure, TakesWhatIsLoadedBeforeAnySearch) {
  const TemporaryDirectory directory;
  const auto deep = library(directory, "torch", "deep");
  const auto loaded = library(directory, "torch", "b", needs(deep) + runpath("$ORIGIN"));
  const auto other = library(directory, "other", "b");
  std::filesystem::rename(loaded, directory / "torch" / "libb-1234.so"); // the SONAME counts, not the name
  const auto a = library(directory, "l", "a", needs(other) + " " + needs(deep) + runpath("$ORIGIN/../other"));
  LoaderContext context = bare(directory);
  context.already_loaded = {directory / "torch" / "libb-1234.so"};
  const Closure closure = resolve_closure(read_image(a), context);
  EXPECT_EQ(of(closure, "libb.so.1").path, directory / "torch" / "libb-1234.so");
  EXPECT_EQ(of(closure, "libb.so.1").found_by, FoundBy::already_loaded);
  // What the loaded file needed is loaded as well, though this one has no path to it.
  EXPECT_EQ(of(closure, "libdeep.so.1").found_by, FoundBy::already_loaded);

  context.already_loaded.clear();
  context.preload = {directory / "torch" / "libb-1234.so"};
  EXPECT_EQ(of(resolve_closure(read_image(a), context), "libb.so.1").found_by, FoundBy::already_loaded);
}

TEST(ResolveClosure, LoadsOneFileOnceWhateverItsNames) {
  const TemporaryDirectory directory;
  const auto b = shared_object(directory, "libb.so", "int b;", empty_library);
  const auto c = shared_object(directory, "libc2.so", "int c;", empty_library);
  const auto a = shared_object(directory, "liba.so", "int a;",
                               std::string(empty_library) + " -L" + quoted(directory.path()) + " -lb -lc2" +
                                   runpath(directory.path().string()));
  std::filesystem::remove(c);
  std::filesystem::create_hard_link(b, c);
  const Closure closure = resolve_closure(read_image(a), bare(directory));
  EXPECT_THAT(names(closure), ElementsAre("libb.so"));
}

TEST(ResolveClosure, TakesNamesWithASlashAsPaths) {
  const TemporaryDirectory directory;
  const auto b =
      shared_object(directory, "libb.so", "int b;", empty_library); // no SONAME: needed by its path
  const auto a = shared_object(directory, "liba.so", "int a;", std::string(empty_library) + " " + quoted(b));
  const Closure closure = resolve_closure(read_image(a), bare(directory));
  EXPECT_EQ(of(closure, b.string()).found_by, FoundBy::path);
  std::filesystem::remove(b);
  EXPECT_EQ(of(resolve_closure(read_image(a), bare(directory)), b.string()).found_by, FoundBy::not_found);
}

TEST(ResolveClosure, ReadsLdSoCacheThenTheDefaultDirectories) {
  const TemporaryDirectory directory;
  const auto cached = library(directory, "opt/rocm/lib", "hip");
  const auto plain = library(directory, "usr/lib", "plain");
  directory.write("etc/ld.so.conf", "/opt/rocm/lib\n");
  const auto a = library(directory, "l", "a", needs(cached) + " " + needs(plain));
  const Closure before = resolve_closure(read_image(a), bare(directory));
  EXPECT_EQ(of(before, "libhip.so.1").found_by, FoundBy::not_found);
  EXPECT_EQ(of(before, "libplain.so.1").found_by, FoundBy::default_directory);
  EXPECT_EQ(of(before, "libplain.so.1").path, plain);

  if (std::system(("/sbin/ldconfig -X -r " + quoted(directory.path()) + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no ldconfig here";
  }
  const Closure after = resolve_closure(read_image(a), bare(directory));
  EXPECT_EQ(of(after, "libhip.so.1").found_by, FoundBy::cache);
  EXPECT_EQ(of(after, "libhip.so.1").path, cached);
  EXPECT_EQ(of(after, "libplain.so.1").found_by, FoundBy::cache);

  // -z nodefaultlib forbids what lies in the default directories, in the cache too.
  const auto strict =
      library(directory, "l", "n", needs(cached) + " " + needs(plain) + " -Wl,-z,nodefaultlib");
  const Closure without = resolve_closure(read_image(strict), bare(directory));
  EXPECT_EQ(of(without, "libhip.so.1").found_by, FoundBy::cache);
  EXPECT_EQ(of(without, "libplain.so.1").found_by, FoundBy::not_found);
}

TEST(ResolveClosure, TakesAbsolutePathsAndLinksForThoseOfTheTree) {
  const TemporaryDirectory directory;
  const auto own = library(directory, "l", "own");
  const auto deep = library(directory, "tree/srv/lib", "deep");
  const auto there = library(directory, "tree/opt", "dep", needs(deep) + runpath("$ORIGIN/../beside"));
  std::filesystem::create_symlink("/srv/lib", directory / "tree/beside");
  std::filesystem::create_symlink("/opt", directory / "tree/link");
  const auto a = library(directory, "l", "a", needs(own) + " " + needs(there) + runpath("$ORIGIN:/link"));
  LoaderContext context;
  context.root = directory / "tree";
  const Closure closure = resolve_closure(read_image(a), context);
  EXPECT_EQ(of(closure, "libown.so.1").path, own) << "$ORIGIN of a file outside stays outside";
  EXPECT_EQ(of(closure, "libdep.so.1").path, there);
  // $ORIGIN is /link there, not /opt: what the loader was told, not where that leads.
  EXPECT_EQ(of(closure, "libdeep.so.1").path, deep);
  EXPECT_TRUE(closure.complete());
}

TEST(ResolveClosure, NeverLeavesTheTree) {
  const TemporaryDirectory directory;
  const auto outside = library(directory, "out", "dep");
  const std::string climb = "../../../../../../../../../../..";
  std::filesystem::create_directories(directory / "tree/opt");
  std::filesystem::create_symlink(directory / "out", directory / "tree/absolute");
  std::filesystem::create_symlink(climb + (directory / "out").string(), directory / "tree/upwards");
  for (const std::string& way :
       {std::string("/absolute"), std::string("/upwards"), (directory / "out").string(),
        "$ORIGIN/" + climb + (directory / "out").string()}) {
    const auto a = library(directory, "tree/opt", "a", needs(outside) + runpath(way));
    LoaderContext context;
    context.root = directory / "tree";
    EXPECT_EQ(of(resolve_closure(read_image(a), context), "libdep.so.1").found_by, FoundBy::not_found) << way;
    context.root = "/";
    EXPECT_EQ(of(resolve_closure(read_image(a), context), "libdep.so.1").found_by,
              way.starts_with('/') && !way.starts_with(directory.path().string()) ? FoundBy::not_found
                                                                                  : FoundBy::runpath)
        << way;
  }
}

TEST(ResolveClosure, SurvivesADamagedCache) {
  const TemporaryDirectory directory;
  const auto cached = library(directory, "opt/rocm/lib", "hip");
  directory.write("etc/ld.so.conf", "/opt/rocm/lib\n");
  const Image image = read_image(library(directory, "l", "a", needs(cached)));
  if (std::system(("/sbin/ldconfig -X -r " + quoted(directory.path()) + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no ldconfig here";
  }
  const std::string cache = test::content_of(directory / "etc/ld.so.cache");
  ASSERT_GT(cache.size(), 100U);
  int found = 0;
  for (std::size_t at = 0; at < cache.size(); ++at) {
    std::string damaged = cache;
    damaged[at] = '\xff';
    directory.write("etc/ld.so.cache", damaged);
    found += resolve_closure(image, bare(directory)).complete() ? 1 : 0;
    directory.write("etc/ld.so.cache", cache.substr(0, at));
    EXPECT_FALSE(resolve_closure(image, bare(directory)).complete() && at < 60) << at;
  }
  EXPECT_GT(found, 10);
}

TEST(ResolveClosure, FindsWhatLddFindsForThisProgram) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("ldd \"$(readlink /proc/$PPID/exe)\" 2>/dev/null", "r"), &pclose);
  ASSERT_NE(pipe, nullptr);
  std::set<std::string> expected;
  std::array<char, 4096> line{};
  while (fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    const std::string text(line.data());
    const std::size_t arrow = text.find(" => /");
    const std::size_t end = text.find(" (0x");
    if (arrow != std::string::npos && end != std::string::npos) {
      expected.insert(std::filesystem::canonical(text.substr(arrow + 4, end - arrow - 4)).string());
    }
  }
  if (expected.size() < 3) {
    GTEST_SKIP() << "no ldd here, or linked otherwise";
  }
  std::set<std::string> found;
  const Closure closure = resolve_closure(read_image("/proc/self/exe"), {});
  EXPECT_TRUE(closure.complete());
  for (const Library& library : closure.libraries) {
    if (!library.name.starts_with("ld-linux")) {
      found.insert(std::filesystem::canonical(library.path).string());
    }
  }
  EXPECT_EQ(found, expected);
}

} // namespace
} // namespace dcuop::elf
