#include "saved_machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <system_error>

#include "dcuop/support/files.hpp"

namespace dcuop::cli {
namespace {

constexpr std::size_t largest_text = std::size_t{16} << 20;

[[noreturn]] void refuse_root(const std::string& given, const std::string& why) {
  throw Error(
      ExitCode::usage, "--root " + (given.empty() ? "\"\"" : given) + " " + why,
      "name the directory that stands for / of the other machine: below it lie sys, dev, proc, opt or etc");
}

void require_machine(const std::filesystem::path& root, const std::string& given) {
  const auto identity = identity_of(root);
  if (given.empty() || !identity) {
    refuse_root(given, "does not exist");
  }
  if (!identity->is_directory()) {
    refuse_root(given, "is not a directory");
  }
  constexpr std::array places = {"sys", "dev", "proc", "opt", "etc"};
  const bool has_one = std::any_of(places.begin(), places.end(), [&root](const char* place) {
    return identity_of(probe::inside(root, place)).has_value();
  });
  if (!has_one) {
    refuse_root(given, "holds none of sys, dev, proc, opt, etc");
  }
}

std::string text_of(const std::string& given, const std::filesystem::path& working_directory) {
  if (given == "-") {
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  }
  const auto text = read_file_prefix(absolute_from(given, working_directory), largest_text);
  if (given.empty() || !text) {
    throw Error(ExitCode::usage,
                "--rocminfo " + (given.empty() ? "\"\"" : given) + " cannot be read as a file",
                "save the output first: rocminfo > FILE 2>&1");
  }
  return *text;
}

} // namespace

void add_saved_machine_options(const Subcommand& subcommand, SavedMachine& into) {
  subcommand
      .text_option(
          "--root", [&into](const std::string& text) { into.root = text; },
          "Judge the machine whose / is DIR, an unpacked image, or of which /sys, /dev, /proc, /opt or /etc "
          "were saved. Nothing of it is started; its Python, torch and libraries are read from its files. "
          "Where it has none, those of this machine count")
      .type_name("DIR");
  subcommand
      .text_option(
          "--rocminfo", [&into](const std::string& text) { into.rocminfo = text; },
          "Read this saved output of rocminfo ('-': standard input) instead of running it")
      .type_name("FILE");
}

probe::Machine machine_of(Context& context, const SavedMachine& saved) {
  auto machine = context.machine();
  if (!saved.root) {
    return machine;
  }
  const auto given = absolute_from(*saved.root, context.working_directory);
  require_machine(given, *saved.root);
  std::error_code unreadable;
  machine.root = std::filesystem::canonical(given, unreadable);
  if (unreadable) {
    refuse_root(*saved.root, "cannot be read: " + unreadable.message());
  }
  machine.is_saved = machine.root != "/";
  return machine;
}

std::optional<probe::SavedRocminfo> rocminfo_of(const Context& context, const SavedMachine& saved) {
  if (!saved.rocminfo) {
    return std::nullopt;
  }
  const auto origin = *saved.rocminfo == "-" ? std::string("standard input") : *saved.rocminfo;
  return probe::read_saved_rocminfo(text_of(*saved.rocminfo, context.working_directory), origin);
}

} // namespace dcuop::cli
