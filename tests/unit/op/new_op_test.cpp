#include "dcuop/op/new_op.hpp"

#include <algorithm>

#include "../../../src/op/new_op_name.hpp"
#include "tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> paths_of(const std::vector<NewFile>& files) {
  std::vector<std::string> paths;
  for (const NewFile& file : files) {
    paths.push_back(file.path);
  }
  return paths;
}

std::string text_of(const std::vector<NewFile>& files, const std::string& path) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const NewFile& file) { return file.path == path; });
  return found == files.end() ? "no such file" : found->text;
}

class NewOpTest : public TreeTest {
 protected:
  Op written(const NewOp& wanted) {
    for (const NewFile& file : files_of(wanted)) {
      write(wanted.name + "/" + file.path, file.text);
    }
    return read_op(top() / wanted.name / "dcuop.toml");
  }
};

TEST(NewOpName, WhatPythonOrCxxTakesForSomethingElseIsRefused) {
  for (const char* const name : {"", "2d", "a-b", "a.b", "a b", "größe", "class", "None", "int", "namespace",
                                 "__x", "_", "torch", "dcuop", "copy", "select", "load"}) {
    EXPECT_TRUE(why_unfit(name, Kind::pybind_module)) << name;
  }
  for (const char* const name :
       {"relu", "exp", "abs", "scale", "bias", "x", "half", "a2", "_private", "Upper", "affine"}) {
    EXPECT_EQ(why_unfit(name, Kind::pybind_module), std::nullopt) << name;
    EXPECT_EQ(why_unfit(name, Kind::torch_library), std::nullopt) << name;
  }
}

TEST(NewOpName, ANamespaceOfTorchIsRefusedWhereOneIsMade) {
  EXPECT_TRUE(why_unfit("aten", Kind::torch_library));
  EXPECT_EQ(why_unfit("aten", Kind::pybind_module), std::nullopt);
}

TEST(NewOpFiles, TheOldNameIsNowhere) {
  for (const Kind kind : {Kind::pybind_module, Kind::torch_library, Kind::plain}) {
    for (const NewFile& file : files_of({"mul", kind, {}})) {
      EXPECT_THAT(file.text, Not(HasSubstr("affine"))) << file.path;
      EXPECT_THAT(file.text, Not(HasSubstr("AFFINE"))) << file.path;
      EXPECT_THAT(file.text, Not(HasSubstr("Affine"))) << file.path;
    }
  }
}

TEST(NewOpFiles, TheDirectoryIsCompleteInItself) {
  for (const Kind kind : {Kind::pybind_module, Kind::torch_library, Kind::plain}) {
    for (const NewFile& file : files_of({"mul", kind, {}})) {
      EXPECT_THAT(file.text, Not(HasSubstr("../"))) << file.path;
      EXPECT_THAT(file.text, Not(HasSubstr("__path__"))) << file.path;
    }
  }
}

TEST(NewOpFiles, ANameThatHoldsTheOldOneIsPutInOnce) {
  const std::vector<NewFile> files = files_of({"affine_affine", Kind::pybind_module, {}});
  EXPECT_THAT(text_of(files, "op.h"), HasSubstr("int affine_affine_launch("));
  EXPECT_THAT(text_of(files, "binding.cpp"),
              HasSubstr("contract(\"affine_affine\", affine_affine_backend())"));
}

TEST(NewOpFiles, EachKindHasItsOwn) {
  EXPECT_THAT(paths_of(files_of({"mul", Kind::pybind_module, {}})),
              ElementsAre("README.md", "__init__.py", "binding.cpp", "binding.h", "dcuop.toml", "e2e.py",
                          "emulated_grid.h", "gpu.h", "loader.py", "loading.py", "op.h", "op_kernel.cu",
                          "op_kernel.hip", "op_kernel_host.cpp", "reference.py", "rounding.py", "test_mul.py",
                          "testing.py"));
  EXPECT_THAT(paths_of(files_of({"mul", Kind::plain, {}})),
              ElementsAre("README.md", "__init__.py", "binding.py", "dcuop.toml", "e2e.py", "emulated_grid.h",
                          "gpu.h", "loader.py", "loading.py", "op.h", "op_kernel.cu", "op_kernel.hip",
                          "op_kernel_host.cpp", "reference.py", "rounding.py", "test_mul.py", "testing.py"));
  const std::string library = text_of(files_of({"mul", Kind::torch_library, {}}), "binding.cpp");
  EXPECT_THAT(library, HasSubstr("TORCH_LIBRARY(mul, library)"));
  EXPECT_THAT(library, HasSubstr("#include <torch/library.h>"));
  EXPECT_THAT(library, Not(HasSubstr("PYBIND11_MODULE")));
  EXPECT_THAT(library, Not(HasSubstr("pybind.h")));
}

TEST_F(NewOpTest, TheManifestSaysWhatItIs) {
  const Op pybind = written({"a", Kind::pybind_module, {}});
  EXPECT_EQ(pybind.name, "a");
  EXPECT_EQ(pybind.abi, Abi::torch_python);
  EXPECT_TRUE(pybind.allow_cpu_torch);
  const Op library = written({"b", Kind::torch_library, {}});
  EXPECT_EQ(library.kind, Kind::torch_library);
  EXPECT_EQ(library.abi, Abi::torch);
  const Op plain = written({"c", Kind::plain, {}});
  EXPECT_EQ(plain.kind, Kind::plain);
  EXPECT_EQ(plain.abi, Abi::none);
  // One op in three bindings: for the same devices.
  EXPECT_EQ(library.archs, pybind.archs);
  EXPECT_EQ(plain.archs, pybind.archs);
}

TEST_F(NewOpTest, ArchsStandInManifestAndLoader) {
  const NewOp one{"a", Kind::pybind_module, {"gfx936"}};
  EXPECT_THAT(written(one).archs, ElementsAre("gfx936"));
  EXPECT_THAT(text_of(files_of(one), "loader.py"), HasSubstr("\nSUPPORTED_ARCHS = (\"gfx936\",)\n"));
  const NewOp two{"b", Kind::plain, {"gfx906", "gfx90a:sramecc+:xnack-"}};
  EXPECT_THAT(written(two).archs, ElementsAre("gfx906", "gfx90a:sramecc+:xnack-"));
  EXPECT_THAT(text_of(files_of(two), "loader.py"),
              HasSubstr("\nSUPPORTED_ARCHS = (\"gfx906\", \"gfx90a:sramecc+:xnack-\")\n"));
}

TEST_F(NewOpTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(fault_of([] {
                check_new_op({"class", Kind::plain, {}});
              }),
              StartsWith("an op cannot be called 'class': that is a keyword of Python | "));
  EXPECT_THAT(fault_of([] {
                check_new_op({"a", Kind::plain, {"gfx906", "sm_80"}});
              }),
              StartsWith("'sm_80' (--arch) is no target id"));
  EXPECT_THAT(fault_of([] { check_new_op({"a", Kind::plain, {"*"}}); }), StartsWith("'*' (--arch)"));
  EXPECT_THAT(fault_of([] {
                check_new_op({"a", Kind::plain, {"gfx906", "gfx906"}});
              }),
              "'gfx906' stands twice in --arch");
  EXPECT_EQ(fault_of([] { check_new_op({"a", Kind::plain, {"gfx906"}}); }), "no error");
}

TEST_F(NewOpTest, MembersAreToldAsWritten) {
  EXPECT_FALSE(find_workspace_members(top()));
  write("dcuop.toml", "[workspace]\nmembers = [\"ops/*\", \"not/there\"]\n");
  const std::optional<WorkspaceMembers> members = find_workspace_members(top() / "ops" / "deep");
  ASSERT_TRUE(members);
  EXPECT_EQ(members->root, top());
  EXPECT_THAT(members->patterns, ElementsAre("ops/*", "not/there"));
}

} // namespace
} // namespace dcuop::op
