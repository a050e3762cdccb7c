#include "arch_option.hpp"

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

void add_arch_option(const Subcommand& subcommand, std::vector<std::string>& into,
                     const std::string& meaning) {
  subcommand.option("--arch", into, meaning).type_name("ARCH[,ARCH]").one_word();
}

std::vector<std::string> checked_archs(const std::vector<std::string>& given, ArchOf of) {
  std::vector<std::string> archs;
  for (const auto& part : given) {
    for (const auto& arch : split(part, ',')) {
      const auto target = elf::TargetId::parse(arch);
      if (!target || (of == ArchOf::device && !target->processor.starts_with("gfx"))) {
        throw Error(ExitCode::usage, "--arch " + arch + " is not a target id",
                    of == ArchOf::device ? "write it like gfx936 or gfx90a:sramecc+:xnack-"
                                         : "write it like gfx936, gfx90a:sramecc+:xnack- or gfx9-4-generic");
      }
      archs.push_back(target->text());
    }
  }
  return archs;
}

} // namespace dcuop::cli
