// Sources as dcuop check reads them, from the bytes to the findings.

#include <algorithm>
#include <fstream>

#include "dcuop/check/check.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/temporary_directory.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const TemporaryDirectory directory(Environment::of_this_process());
  const std::string_view text = fuzz::text_of(data, size);
  check::Request request;
  request.directory = directory.path();
  request.files = {directory.path() / "input.hip"};
  std::ofstream(request.files.front(), std::ios::binary) << text;
  const check::Report report = check::check(request);
  fuzz::require(report.files == 1 && report.understood >= 0 && report.understood <= 1, "a file was read");
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const auto& finding : report.findings) {
    fuzz::require(finding.line <= lines, "a finding has a line of the file");
  }
  return 0;
}
