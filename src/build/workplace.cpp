#include "workplace.hpp"

#include "dcuop/support/temporary_directory.hpp"

namespace dcuop::build {

Workplace make_workplace(const Workshop& workshop) {
  std::string problem;
  if (workshop.store.read_only()) {
    problem = workshop.store.root().string() + " is read-only";
  } else {
    try {
      return {workshop.store.private_directory(), {}};
    } catch (const Error& fault) { // a full disk: this build can still have its result
      problem = fault.what();
    }
  }
  return {store::PrivateDirectory(make_temporary_directory(workshop.environment), std::nullopt), problem};
}

} // namespace dcuop::build
