#include "inspect.hpp"

#include <algorithm>
#include <set>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/elf/image.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::build {

namespace {

constexpr std::uint16_t program_at_one_address = 2; // ET_EXEC
constexpr std::uint16_t shared_object = 3;          // ET_DYN: position-independent programs too

std::string fault_of_module(const key::Request& request, const elf::Image& image) {
  if (request.op.kind != op::Kind::pybind_module) {
    return {};
  }
  const std::string wanted = "PyInit_" + request.op.name;
  const bool defined =
      std::any_of(image.symbols.begin(), image.symbols.end(),
                  [&](const elf::Symbol& symbol) { return symbol.defined && symbol.name == wanted; });
  return defined ? ""
                 : "it does not define " + wanted +
                       ": no source has PYBIND11_MODULE(TORCH_EXTENSION_NAME, m), or " +
                       "its name is not \"" + request.op.name + "\"";
}

/// A compiler whose libstdc++.so leads nowhere (a copied GCC) links libstdc++.a instead, without a word. Of some of its
/// symbols the process then uses torch's copy and of others this one: the first number that is printed crashes.
std::string fault_of_cxx_runtime(const key::Request& request, const elf::Image& image) {
  const std::vector<std::string>& flags = request.op.link_flags;
  if (request.op.abi == op::Abi::none || request.op.kind == op::Kind::executable ||
      std::find(flags.begin(), flags.end(), "-static-libstdc++") != flags.end()) {
    return {};
  }
  const bool has_copy =
      std::any_of(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
        return symbol.defined && symbol.name == "_ZNSt6locale7classicEv";
      });
  return has_copy ? "it holds a copy of libstdc++, and torch brings another: what prints a number would "
                    "crash. Is the "
                    "libstdc++.so beside the compiler's libstdc++.a a link that leads nowhere? Another "
                    "compiler (CXX), "
                    "or -static-libstdc++ in link_flags if it is meant"
                  : "";
}

/// Every translation unit with device code must have each arch that was asked for, and no other.
std::string fault_of_device_code(const key::Request& request, const elf::Image& image) {
  if (!request.op.has_hip()) {
    return {};
  }
  const elf::DeviceCode code = elf::read_device_code(image);
  if (code.has_rdc_leftover) {
    return "it has unresolved __hip_fatbin symbols: -fgpu-rdc code was linked without its device link";
  }
  const std::set<std::string> wanted(request.archs.begin(), request.archs.end());
  for (const elf::Bundle& bundle : code.bundles) {
    if (!bundle.problem.empty()) {
      return "a device code bundle in it cannot be read: " + bundle.problem;
    }
    std::set<std::string> found;
    for (const elf::CodeObject& object : bundle.code_objects) {
      if (!object.is_host() && object.size > 0) {
        found.insert(object.target);
      }
    }
    if (found != wanted) {
      return "it holds device code for " + join({found.begin(), found.end()}, ", ") + " where " +
             join(request.archs, ", ") + " was asked for";
    }
  }
  return {};
}

} // namespace

std::string fault_of_artifact(const key::Request& request, const std::filesystem::path& artifact) {
  try {
    const elf::Image image = elf::read_image(artifact);
    if (request.op.kind == op::Kind::executable) {
      if (image.identity.type != shared_object && image.identity.type != program_at_one_address) {
        return "it is no program";
      }
    } else if (image.identity.type != shared_object) {
      return "it is no shared object";
    }
    if (image.truncated()) {
      return "it is truncated: " + std::to_string(image.identity.file_size) + " of " +
             std::to_string(image.bytes_needed) + " bytes";
    }
    for (const auto fault_of : {fault_of_module, fault_of_device_code, fault_of_cxx_runtime}) {
      if (std::string fault = fault_of(request, image); !fault.empty()) {
        return fault;
      }
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace dcuop::build
