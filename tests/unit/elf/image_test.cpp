#include "dcuop/elf/image.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include "dcuop/support/error.hpp"

#include "built_files.hpp"

namespace dcuop::elf {
namespace {

using test::content_of;
using test::shared_object;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string header(char elf_class, char data) {
  std::string bytes(64, '\0');
  bytes.replace(0, 4, ELFMAG);
  bytes[EI_CLASS] = elf_class;
  bytes[EI_DATA] = data;
  bytes[EI_VERSION] = EV_CURRENT;
  return bytes;
}

const Symbol* find(const Image& image, std::string_view name) {
  const auto found = std::find_if(image.symbols.begin(), image.symbols.end(),
                                  [&](const Symbol& symbol) { return symbol.name == name; });
  return found == image.symbols.end() ? nullptr : &*found;
}

std::string error_of(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_image(path));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Identify, TellsWhatAFileIs) {
  const TemporaryDirectory directory;
  const auto kind = [&](std::string_view content) { return identify(directory.write("f", content)).kind; };
  EXPECT_EQ(identify(directory / "absent").kind, FileKind::missing);
  EXPECT_EQ(identify(directory / "absent" / "below").kind, FileKind::missing);
  EXPECT_EQ(identify(directory.path()).kind, FileKind::directory);
  EXPECT_EQ(kind(""), FileKind::empty);
  EXPECT_EQ(kind("hello"), FileKind::too_short);
  EXPECT_EQ(kind(std::string(64, 'x')), FileKind::not_elf);
  EXPECT_EQ(kind(header(ELFCLASS64, ELFDATA2LSB).substr(0, 63)), FileKind::too_short);
  EXPECT_EQ(kind(header(ELFCLASS64, ELFDATA2LSB)), FileKind::elf);
  EXPECT_EQ(kind("!<arch>\n/               0"), FileKind::archive);
  EXPECT_EQ(kind("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"),
            FileKind::lfs_pointer);
}

TEST(Identify, DoesNotBlockOnAFifo) {
  const TemporaryDirectory directory;
  test::shell("mkfifo " + test::quoted(directory / "fifo"));
  EXPECT_EQ(identify(directory / "fifo").kind, FileKind::unreadable);
}

TEST(Identify, ReadsTheHeaderInItsByteOrder) {
  const TemporaryDirectory directory;
  std::string bytes = header(ELFCLASS32, ELFDATA2MSB);
  bytes[0x11] = 3;      // e_type
  bytes[0x13] = 8;      // e_machine: MIPS
  bytes[0x24] = '\x12'; // e_flags of the 32-bit header
  bytes[0x27] = '\x34';
  const Identity identity = identify(directory.write("f", bytes));
  EXPECT_EQ(identity.elf_class, 32);
  EXPECT_FALSE(identity.little_endian);
  EXPECT_EQ(identity.type, 3);
  EXPECT_EQ(identity.machine, 8);
  EXPECT_EQ(identity.flags, 0x12000034U);
  EXPECT_EQ(identity.file_size, 64U);
}

TEST(ReadImage, RefusesWhatIsNoElf64WithTheReason) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of(directory / "absent.so"), HasSubstr("absent.so: no such file"));
  EXPECT_THAT(error_of(directory.write("a", "x")), HasSubstr("too short"));
  EXPECT_THAT(error_of(directory.write("b", header(ELFCLASS32, ELFDATA2LSB))), HasSubstr("wrong ELF class"));
  EXPECT_THAT(error_of(directory.write("c", header(ELFCLASS64, ELFDATA2MSB))), HasSubstr("big-endian"));
  std::string cut = header(ELFCLASS64, ELFDATA2LSB);
  test::patch(cut, offsetof(Elf64_Ehdr, e_version), std::uint32_t{1});
  test::patch(cut, offsetof(Elf64_Ehdr, e_phoff), std::uint64_t{64});
  test::patch(cut, offsetof(Elf64_Ehdr, e_phentsize), std::uint16_t{56});
  test::patch(cut, offsetof(Elf64_Ehdr, e_phnum), std::uint16_t{2});
  EXPECT_THAT(error_of(directory.write("d", cut)), HasSubstr("program headers are cut off"));
}

/// A library with everything that the reader knows.
std::filesystem::path rich_object(const TemporaryDirectory& directory, const std::string& options = "") {
  const auto map = directory.write("map", "V1 { global: old; }; V2 { global: fresh; } V1;");
  return shared_object(
      directory, "librich.so",
      "#include <stdio.h>\n"
      "extern int optional(void) __attribute__((weak));\n"
      "extern int elsewhere(int);\n"
      "__asm__(\".symver old_1, fresh@V1\");\n"
      "int old_1(void) { return 1; }\n"
      "int fresh(void) { return puts(\"x\") + (optional ? optional() : 0); }\n"
      "int old(void) { return elsewhere(2); }\n",
      "-Wl,-soname,librich.so.7 -Wl,--build-id=0xDEADBEEF00420001 -Wl,--version-script=" + test::quoted(map) +
          " -Wl,--enable-new-dtags -Wl,-rpath,'$ORIGIN/../lib:/opt/x' -Wl,-z,now "
          "-Wl,--no-as-needed -lm " +
          options);
}

TEST(ReadImage, ReadsTheDynamicPart) {
  const TemporaryDirectory directory;
  const Image image = read_image(rich_object(directory));
  EXPECT_EQ(image.identity.machine, identify("/proc/self/exe").machine);
  EXPECT_THAT(image.needed, ElementsAre("libm.so.6", "libc.so.6"));
  EXPECT_EQ(image.soname, "librich.so.7");
  EXPECT_EQ(image.runpath, "$ORIGIN/../lib:/opt/x");
  EXPECT_EQ(image.rpath, "");
  EXPECT_NE(image.flags & DF_BIND_NOW, 0U);
  EXPECT_NE(image.flags_1 & DF_1_NOW, 0U);
  EXPECT_EQ(image.build_id, "deadbeef00420001");
  EXPECT_FALSE(image.truncated());
  EXPECT_FALSE(image.section_headers_cut);
  ASSERT_NE(image.section(".dynsym"), nullptr);
  EXPECT_EQ(image.section(".dynsym")->size, (image.symbols.size() + 1) * sizeof(Elf64_Sym));
  EXPECT_EQ(image.section(".nonsense"), nullptr);
}

TEST(ReadImage, KeepsRpathApartFromRunpath) {
  const TemporaryDirectory directory;
  const Image image = read_image(
      shared_object(directory, "liba.so", "int a;", "-Wl,--disable-new-dtags -Wl,-rpath,/opt/old"));
  EXPECT_EQ(image.rpath, "/opt/old");
  EXPECT_EQ(image.runpath, "");
  EXPECT_FALSE(image.version_definitions.size() > 0);
}

TEST(ReadImage, ReadsSymbolsAndTheirVersions) {
  const TemporaryDirectory directory;
  const Image image = read_image(rich_object(directory));
  EXPECT_THAT(image.version_definitions, ElementsAre("V1", "V2"));
  EXPECT_TRUE(image.has_version_section);
  ASSERT_EQ(image.version_needs.size(), 1U);
  EXPECT_EQ(image.version_needs[0].file, "libc.so.6");
  EXPECT_THAT(image.version_needs[0].versions, testing::Contains(HasSubstr("GLIBC_2.")));

  std::map<std::string, const Symbol*> fresh;
  for (const Symbol& symbol : image.symbols) {
    if (symbol.name == "fresh") {
      fresh[symbol.version] = &symbol;
    }
  }
  ASSERT_EQ(fresh.size(), 2U);
  EXPECT_TRUE(fresh.at("V2")->default_version);
  EXPECT_FALSE(fresh.at("V1")->default_version);
  EXPECT_EQ(fresh.at("V2")->type, STT_FUNC);

  const Symbol* const puts = find(image, "puts");
  ASSERT_NE(puts, nullptr);
  EXPECT_FALSE(puts->defined);
  EXPECT_EQ(puts->version_file, "libc.so.6");
  EXPECT_THAT(puts->version, HasSubstr("GLIBC_2."));
  ASSERT_NE(find(image, "optional"), nullptr);
  EXPECT_TRUE(find(image, "optional")->weak);
  ASSERT_NE(find(image, "elsewhere"), nullptr);
  EXPECT_EQ(find(image, "elsewhere")->version, "");
  EXPECT_TRUE(find(image, "old")->defined);
}

TEST(ReadImage, NeedsNoSectionHeaders) {
  for (const std::string style : {"gnu", "sysv", "both"}) {
    const TemporaryDirectory directory;
    const auto path = rich_object(directory, "-Wl,--hash-style=" + style);
    const Image whole = read_image(path);
    const Image bare =
        read_image(directory.write("bare.so", test::without_section_headers(content_of(path))));
    EXPECT_TRUE(bare.sections.empty());
    EXPECT_EQ(bare.needed, whole.needed);
    EXPECT_EQ(bare.build_id, whole.build_id);
    EXPECT_EQ(bare.version_definitions, whole.version_definitions);
    ASSERT_EQ(bare.symbols.size(), whole.symbols.size()) << style;
    for (std::size_t i = 0; i < whole.symbols.size(); ++i) {
      EXPECT_EQ(bare.symbols[i].name, whole.symbols[i].name);
      EXPECT_EQ(bare.symbols[i].version, whole.symbols[i].version);
    }
  }
}

TEST(ReadImage, FindsTheUndefinedOnesOfAFileThatDefinesNothing) {
  const TemporaryDirectory directory;
  const auto path = shared_object(directory, "libu.so", "extern int away; int* keep = &away;",
                                  "-Wl,--hash-style=gnu -fvisibility=hidden -nostdlib");
  const Image bare = read_image(directory.write("bare.so", test::without_section_headers(content_of(path))));
  EXPECT_NE(find(bare, "away"), nullptr);
}

/// A file with a chain of `count` version needs that all have one name of `length` bytes.
std::string overlapping_version_names(std::uint32_t count, std::uint32_t length) {
  struct Head {
    Elf64_Ehdr header{};
    Elf64_Phdr load{}, dynamic{};
    Elf64_Dyn tags[6]{};
  } head;
  const std::uint64_t strings_at = sizeof(Head);
  const std::uint64_t needs_at = strings_at + length;
  const std::uint64_t symbols_at = needs_at + count * (sizeof(Elf64_Verneed) + sizeof(Elf64_Vernaux));
  const std::uint64_t end = symbols_at + sizeof(Elf64_Sym);
  std::memcpy(head.header.e_ident, header(ELFCLASS64, ELFDATA2LSB).data(), EI_NIDENT);
  head.header.e_type = ET_DYN;
  head.header.e_machine = EM_X86_64;
  head.header.e_version = EV_CURRENT;
  head.header.e_phoff = offsetof(Head, load);
  head.header.e_ehsize = sizeof(Elf64_Ehdr);
  head.header.e_phentsize = sizeof(Elf64_Phdr);
  head.header.e_phnum = 2;
  head.load = {PT_LOAD, PF_R, 0, 0, 0, end, end, 4096};
  head.dynamic = {PT_DYNAMIC,        PF_R, offsetof(Head, tags), offsetof(Head, tags), 0, sizeof(head.tags),
                  sizeof(head.tags), 8};
  const std::pair<std::int64_t, std::uint64_t> tags[] = {{DT_STRTAB, strings_at},
                                                         {DT_STRSZ, length},
                                                         {DT_SYMTAB, symbols_at},
                                                         {DT_VERNEED, needs_at},
                                                         {DT_VERNEEDNUM, count}};
  for (std::size_t i = 0; i < std::size(tags); ++i) {
    head.tags[i] = {tags[i].first, {tags[i].second}};
  }
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  bytes.append(length, 'n');
  for (std::uint32_t i = 0; i < count; ++i) {
    const Elf64_Verneed need{1, 1, 0, sizeof(Elf64_Verneed), sizeof(Elf64_Verneed) + sizeof(Elf64_Vernaux)};
    const Elf64_Vernaux aux{0, 0, 2, 0, 0};
    bytes.append(reinterpret_cast<const char*>(&need), sizeof(need));
    bytes.append(reinterpret_cast<const char*>(&aux), sizeof(aux));
  }
  return bytes.append(sizeof(Elf64_Sym), '\0');
}

TEST(ReadImage, RefusesVersionNamesThatOverlap) {
  const TemporaryDirectory directory;
  const Image small = read_image(directory.write("small", overlapping_version_names(3, 100)));
  ASSERT_EQ(small.version_needs.size(), 4U); // the null symbol's bytes read as one more
  EXPECT_EQ(small.version_needs[2].versions, std::vector<std::string>{std::string(100, 'n')});
  // 128 MB of names in a file of 128 KB.
  EXPECT_THAT(error_of(directory.write("large", overlapping_version_names(2000, 64000))),
              HasSubstr("damaged .dynsym: its names overlap"));
}

TEST(ReadImage, ReadsTheFormsOfPackedRelocations) {
  const dcuop::test::TemporaryDirectory directory;
  const std::string code = "static int v; int* p = &v; int* q(void) { return p; }";
  const auto packed = [&](const std::string& name, const std::string& options) {
    return read_image(shared_object(directory, name, code, options)).packed_relocations;
  };
  EXPECT_THAT(packed("none.so", ""), IsEmpty());
  EXPECT_THAT(packed("relr.so", "-Wl,-z,pack-relative-relocs"), ElementsAre(Packed::relr));
  if (std::system("command -v ld.lld-15 >/dev/null") != 0) {
    GTEST_SKIP() << "the rest needs lld";
  }
  const std::string lld = "-B/usr/lib/llvm-15/bin -fuse-ld=lld -Wl,--pack-dyn-relocs=";
  EXPECT_THAT(packed("android.so", lld + "relr,--use-android-relr-tags"), ElementsAre(Packed::android_relr));
  EXPECT_THAT(packed("rela.so", lld + "android"), ElementsAre(Packed::android_rela));
  EXPECT_THAT(packed("both.so", lld + "android+relr"),
              testing::UnorderedElementsAre(Packed::relr, Packed::android_rela));
}

TEST(ReadImage, SaysThatSectionHeadersAreCut) {
  const TemporaryDirectory directory;
  const std::string bytes = content_of(rich_object(directory));
  const Image image = read_image(directory.write("cut.so", bytes.substr(0, bytes.size() - 64)));
  EXPECT_TRUE(image.section_headers_cut);
  EXPECT_FALSE(image.truncated());
  EXPECT_EQ(image.soname, "librich.so.7");
}

TEST(ReadImage, SurvivesTruncationAnywhere) {
  const TemporaryDirectory directory;
  const auto path = rich_object(directory);
  const std::uint64_t needed = read_image(path).bytes_needed;
  const std::uint64_t whole = std::filesystem::file_size(path);
  ASSERT_LT(needed, whole);
  int partial = 0;
  for (std::uint64_t length = whole; length > 0; length -= length <= 1500 ? 1 : 23) {
    std::filesystem::resize_file(path, length - 1);
    try {
      const Image image = read_image(path);
      EXPECT_EQ(image.truncated(), length - 1 < needed) << length;
      ++partial;
    } catch (const Error& error) {
      EXPECT_LT(length, needed) << error.what();
    }
  }
  EXPECT_GT(partial, 100);
}

/// Every byte of the headers and tables set to other values, one at a time, in place.
TEST(ReadImage, SurvivesAnyDamagedByte) {
  const TemporaryDirectory directory;
  const auto path = rich_object(directory);
  const Image image = read_image(path);
  const std::string bytes = content_of(path);
  const Section& dynamic = *image.section(".dynamic");
  const Section& last_table = *image.section(".gnu.version_r");
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto set = [&](std::size_t at, char value) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(value).flush();
  };
  int read = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool in_tables = at < last_table.offset + last_table.size;
    const bool in_dynamic = at >= dynamic.offset && at < dynamic.offset + dynamic.size;
    const bool in_section_headers = at >= bytes.size() - image.sections.size() * sizeof(Elf64_Shdr);
    if (!in_tables && !in_dynamic && !in_section_headers) {
      continue;
    }
    for (const char value : {'\xff', '\x7f', '\x00', '\x01'}) {
      set(at, value);
      try {
        static_cast<void>(read_image(path));
        ++read;
      } catch (const Error& error) {
        EXPECT_EQ(error.code, ExitCode::usage);
      }
    }
    set(at, bytes[at]);
  }
  EXPECT_GT(read, 5000);
  EXPECT_EQ(content_of(path), bytes);
}

TEST(ReadImage, AgreesWithLdSoOnTheAddressesOfLibz) {
  void* const handle = dlopen("libz.so.1", RTLD_NOW);
  ASSERT_NE(handle, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  int compared = 0;
  for (const Symbol& symbol : read_image(map->l_name).symbols) {
    if (symbol.defined && symbol.default_version && symbol.type == STT_FUNC) {
      const void* const address = symbol.version.empty()
                                      ? dlsym(handle, symbol.name.c_str())
                                      : dlvsym(handle, symbol.name.c_str(), symbol.version.c_str());
      EXPECT_EQ(reinterpret_cast<std::uint64_t>(address), map->l_addr + symbol.value)
          << symbol.name << "@" << symbol.version;
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
  dlclose(handle);
}

TEST(ReadRange, KeepsInsideTheFileAndTheLimit) {
  const TemporaryDirectory directory;
  const auto path = directory.write("f", "0123456789");
  EXPECT_EQ(read_range(path, 2, 3), "234");
  EXPECT_EQ(read_range(path, 2, 8), "23456789");
  EXPECT_EQ(read_range(path, 2, 9), "");
  EXPECT_EQ(read_range(path, 11, 0), "");
  EXPECT_EQ(read_range(path, ~std::uint64_t{0}, 2), "");
  EXPECT_EQ(read_range(path, 0, 10, 4), "0123");
  EXPECT_EQ(read_range(directory / "absent", 0, 1), "");
}

/// f(P<int, int>, P<P<int, int>, P<int, int> >, ...): each argument is twice as long as the one before.
std::string doubling_name(std::size_t arguments) {
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1PIiiE";
  for (std::size_t i = 0; i < arguments; ++i) {
    const std::string last = std::string("S") + digits.at(i) + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

TEST(Demangled, TakesLongNamesButNotWhatDoublesWithEachArgument) {
  EXPECT_EQ(demangled(doubling_name(1)), "f(P<int, int>, P<P<int, int>, P<int, int> >)");
  EXPECT_GT(demangled(doubling_name(10)).size(), 30000U);
  EXPECT_EQ(demangled(doubling_name(36)), doubling_name(36)); // a terabyte
}

TEST(Demangled, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangled("_ZN3c105ErrorC1ENS_14SourceLocationESs"),
            "c10::Error::Error(c10::SourceLocation, std::string)");
  EXPECT_EQ(demangled("i"), "i");
  EXPECT_EQ(demangled("_Zbroken("), "_Zbroken(");
  EXPECT_EQ(demangled(""), "");
  EXPECT_EQ(demangled("hipLaunchKernel"), "hipLaunchKernel");
  std::string deep = "_Z1f";
  deep.append(200000, 'P');
  EXPECT_FALSE(demangled(deep + "i").empty());
}

TEST(MachineName, SaysTheNumberOfAnUnknownOne) {
  EXPECT_EQ(machine_name(EM_X86_64), "x86-64");
  EXPECT_EQ(machine_name(EM_AARCH64), "AArch64");
  EXPECT_EQ(machine_name(9999), "machine 9999");
}

} // namespace
} // namespace dcuop::elf
