// dcuop superkernel check: faults that operators have, or get, inside a SuperKernel.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "check_view.hpp"
#include "sarif.hpp"
#include "superkernel_group.hpp"
#include "superkernel_sources.hpp"

#include "dcuop/check/superkernel.hpp"
#include "dcuop/source/mask.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::cli {
namespace {

using superkernel::Product;

struct Request {
  std::vector<std::string> targets;
  std::vector<std::string> include_dirs;
  std::optional<Product> product;
  bool sarif = false;
};

constexpr std::array<std::string_view, 5> qualifiers = {"__aicore__", "__vector__", "__cube__", "__mix__",
                                                        "__sk__"};
constexpr std::array<std::string_view, 4> words = {"AscendC", "TilingContext", "IMPL_OP", "SK_BIND"};

template <std::size_t count>
bool has_any(std::string_view text, const std::array<std::string_view, count>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// A kernel or device function, host tiling, or Python that speaks of super_kernel(). Comments of C++ do not count.
bool is_ascend(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) {
    return true; // that it cannot be read is what the report says
  }
  if (path.extension() == ".py") {
    return text->find("super_kernel") != std::string::npos;
  }
  if (!has_any(*text, qualifiers) && !has_any(*text, words)) {
    return false;
  }
  const source::Masked masked = source::mask(*text, source::ascend_dialect());
  return std::any_of(masked.variants.begin(), masked.variants.end(), [&](const source::Variant& variant) {
    const bool has_mark = std::any_of(variant.marks.begin(), variant.marks.end(), [&](const auto& mark) {
      return std::find(qualifiers.begin(), qualifiers.end(), mark.name) != qualifiers.end();
    });
    return has_mark || has_any(variant.text, words);
  });
}

ExitCode run(Context& context, const Request& request) {
  std::vector<check::Report> reports;
  std::vector<bool> has_ascend;
  for (const std::string& target : request.targets) {
    check::SuperKernelRequest one = superkernel_request(context, {target}, request.product);
    for (const std::string& directory : request.include_dirs) {
      one.include_dirs.push_back(absolute_from(directory, context.working_directory));
    }
    reports.push_back(check::check_superkernel(one));
    has_ascend.push_back(!reports.back().findings.empty() ||
                         std::any_of(one.files.begin(), one.files.end(), is_ascend));
  }
  return answer_reports(context, reports, request.sarif, has_ascend);
}

constexpr const char* examples =
    "  dcuop superkernel check ops/                  operators (op_kernel, op_host) and Python below it\n"
    "  dcuop superkernel check ops/ --product A2     what concerns one product too: A2, A3, 950\n"
    "  dcuop superkernel check ops/ --sarif > check.sarif\n"
    "  dcuop rule DCU840                             more about a finding\n"
    "A comment allows a finding on its line, or on the next when it stands alone:\n"
    "  // dcuop: allow(DCU845) always launched with all cores";

} // namespace

check::SuperKernelRequest superkernel_request(const Context& context, const std::vector<std::string>& targets,
                                              std::optional<Product> product) {
  check::SuperKernelRequest request;
  for (const std::string& target : targets) {
    const auto path = absolute_from(target, context.working_directory);
    const auto identity = target.empty() ? std::nullopt : identity_of(path);
    if (!identity) {
      throw Error(ExitCode::usage, target + " is not there", "name a directory of sources, or one of them");
    }
    if (request.directory.empty()) {
      request.directory = identity->is_directory() ? path : path.parent_path();
    }
    const auto files = identity->is_directory() ? check::source_files(path) : std::vector{path};
    if (files.empty()) {
      throw Error(ExitCode::usage, target + " holds no sources (C++ or Python)",
                  "name a directory of operators");
    }
    request.files.insert(request.files.end(), files.begin(), files.end());
  }
  request.product = product;
  request.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  return request;
}

void add_superkernel_check(Commands& commands, const Subcommand& group) {
  auto request = std::make_shared<Request>();
  const Subcommand command = group.subcommand(
      "check", "Find faults in the sources of Ascend operators before they hang a SuperKernel");
  command.footer(std::string("Examples:\n") + examples);
  command.option("target", request->targets, "Directories of operators, or single sources")
      .required()
      .type_name("DIR|FILE");
  command.option("-I,--include", request->include_dirs, "Where headers in quotes are looked for, besides")
      .type_name("DIR");
  const std::map<std::string, Product> products = {
      {"A2", Product::a2}, {"A3", Product::a3}, {"950", Product::ascend_950}};
  command
      .text_option(
          "--product", [request, products](const std::string& name) { request->product = products.at(name); },
          "A2, A3 or 950 (default: what holds for any)")
      .one_of({"A2", "A3", "950"})
      .type_name("PRODUCT");
  add_sarif_option(command, request->sarif);
  commands.run(command, [request](Context& context) { return run(context, *request); });
}

} // namespace dcuop::cli
