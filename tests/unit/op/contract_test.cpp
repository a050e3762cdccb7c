#include "dcuop/op/contract.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dcuop/op/manifest.hpp"
#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class ContractTest : public TreeTest {
 protected:
  /// The contract of an op whose manifest ends in `tables`.
  json contract(const std::string& tables) {
    write("reference.py", "");
    write("e2e.py", "");
    return read_contract(write("dcuop.toml", "[op]\nname = \"a\"\n" + tables));
  }
  std::string fault(const std::string& tables) {
    return fault_of([&] { static_cast<void>(contract(tables)); });
  }
  /// A function with these further lines, which begin in line 7.
  static std::string function(const std::string& lines) {
    return "[[verify.function]]\nname = \"f\"\nformula = \"reference.py:f\"\n"
           "arguments = [{ name = \"x\", dtypes = [\"float16\"], shape = \"..., n\" }]\n" +
           lines;
  }
};

TEST_F(ContractTest, WithoutOneThereAreNoFunctions) {
  EXPECT_EQ(contract("")["functions"], json::array());
  EXPECT_TRUE(contract("")["e2e"].is_null());
}

TEST_F(ContractTest, EveryKeyIsThereWithItsDefault) {
  const json contract = this->contract(function(""));
  EXPECT_EQ(contract["functions"][0], json::parse(R"({
    "name": "f", "call": null, "formula": "reference.py:f", "reference": null, "block": null, "sizes": [],
    "arguments": [{"name": "x", "kind": "tensor", "shape": ["...", "n"], "dtypes": ["float16"], "broadcast": false,
                   "alias": "exact", "range": null}],
    "tolerance": {}, "refuses": [], "inplace": null, "backward": false, "deterministic": true, "bytes": null,
    "flops": null})"));
  EXPECT_EQ(contract["micro"], json::parse(R"({"sizes": [1024, 1048576, 16777216], "runs": 25})"));
  EXPECT_EQ(contract["gate"],
            json::parse(R"({"speedup": null, "break_even": null, "max_ulp": null, "e2e": null})"));
}

TEST_F(ContractTest, ScalarsAndTheOtherLayers) {
  const json contract = this->contract(R"([[verify.function]]
name = "f"
formula = "reference.py:f"
arguments = [
  { name = "x", shape = "8, n" }, { name = "w", shape = "n", broadcast = true, range = [0, 1.5] },
  { name = "eps", range = [1e-6, 0.5], default = 1e-5 }, { name = "k", type = "int", choices = [1, 2] },
]
inplace = "x"
bytes = "2 * n * size + 4*8"
[verify.e2e]
script = "e2e.py"
metric = "rate"
[verify.gate]
speedup = 1
)");
  const json& function = contract["functions"][0];
  EXPECT_EQ(function["arguments"][0]["shape"], json({"8", "n"}));
  EXPECT_EQ(function["arguments"][1]["range"], json({0.0, 1.5}));
  EXPECT_EQ(function["arguments"][2]["default"], 1e-5);
  EXPECT_EQ(function["arguments"][3]["choices"], json({1, 2}));
  EXPECT_EQ(function["inplace"], "x");
  EXPECT_EQ(contract["e2e"],
            json::parse(R"({"script": "e2e.py", "metric": "rate", "better": "higher", "runs": 5})"));
  EXPECT_EQ(contract["gate"]["speedup"], 1.0);
}

TEST_F(ContractTest, FaultsAreNamedWithTheirPlace) {
  EXPECT_EQ(
      fault(function("tolerances = {}\n")),
      "dcuop.toml:7:1: error: unknown key 'tolerances' in [[verify.function]]; did you mean 'tolerance'?");
  EXPECT_THAT(fault(function("block = 0\n")),
              StartsWith("dcuop.toml:7:9: error: 'block' in [[verify.function]] must be at least 1, not 0"));
  EXPECT_THAT(fault(function("refuses = [\"dtypes\"]\n")), HasSubstr("did you mean 'dtype'?"));
  EXPECT_THAT(fault(function("tolerance = { float23 = { ulp = 1 } }\n")),
              HasSubstr("did you mean 'float32'?"));
  EXPECT_THAT(fault(function("tolerance = { float16 = { ulp = 1, rtol = 1 } }\n")),
              HasSubstr("must be { ulp = N }, or { rtol = X, atol = Y }"));
  EXPECT_THAT(fault(function("inplace = \"y\"\n")), HasSubstr("must be one of x, not 'y'"));
  EXPECT_THAT(fault(function("bytes = \"2 * m\"\n")), HasSubstr("must be one of n, size, n, not 'm'"));
  EXPECT_THAT(fault(function("bytes = \"n ** __import__\"\n")), HasSubstr("must be one of"));
  EXPECT_THAT(fault(function("reference = \"other.py:f\"\n")), HasSubstr("the op has no such file"));
  EXPECT_THAT(fault(function("call = \"reference.py\"\n")), HasSubstr("must be \"file.py:name\""));
  EXPECT_THAT(fault(function("") + function("")), HasSubstr("two [[verify.function]] are named 'f'"));
  EXPECT_THAT(fault("[verify.e2e]\nscript = \"e2e.py\"\n"), HasSubstr("needs a script and the metric"));
  EXPECT_THAT(fault("[verify.gate]\nspeedup = \"fast\"\n"), HasSubstr("must be a number, not a string"));
  EXPECT_THAT(fault("[verify.gate]\nspeedup = nan\n"), HasSubstr("must be finite"));
  EXPECT_THAT(fault("[verify.micros]\n"),
              HasSubstr("unknown key 'micros' in [verify]; did you mean 'micro'?"));
}

TEST_F(ContractTest, AToleranceMayBeForAnyDtypeThatAResultCanHave) {
  const std::string of_result = function("tolerance = { float32 = { ulp = 2 } }\n");
  EXPECT_EQ(contract(of_result)["functions"][0]["tolerance"], json::parse(R"({"float32": {"ulp": 2.0}})"));
  const json by_default = contract("[[verify.function]]\nname = \"f\"\nformula = \"reference.py:f\"\n"
                                   "arguments = [{ name = \"x\", shape = \"...\" }]\n"
                                   "tolerance = { float32 = { rtol = 0.5 } }\n");
  EXPECT_EQ(by_default["functions"][0]["tolerance"], json::parse(R"({"float32": {"rtol": 0.5}})"));
}

TEST_F(ContractTest, FaultsOfArguments) {
  const auto fault_with = [&](const std::string& argument) {
    return fault("[[verify.function]]\nname = \"f\"\nformula = \"reference.py:f\"\narguments = [" + argument +
                 "]\n");
  };
  EXPECT_THAT(fault_with("{ name = \"a\" }"), HasSubstr("'f' has no tensor among its arguments"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n, ...\" }"), HasSubstr("must come first"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n,\" }"), HasSubstr("is empty"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n\", dtypes = [\"half\"] }"),
              HasSubstr("must be one of float16"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n\", broadcast = true }"),
              HasSubstr("is the first tensor"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n\" }, { name = \"x\", shape = \"n\" }"),
              HasSubstr("two arguments named 'x'"));
  EXPECT_THAT(fault_with("{ name = \"x\", shape = \"n\", range = [2, 1] }"), HasSubstr("in the wrong order"));
  EXPECT_THAT(fault_with("{ name = \"x\", dtypes = [\"float16\"] }"), HasSubstr("has dtypes and no shape"));
}

TEST_F(ContractTest, BuildsDoNotReadIt) {
  write("binding.cpp");
  const Op op = read_op(write(
      "dcuop.toml", "[op]\nname = \"a\"\n[build]\nsources = [\"binding.cpp\"]\n[verify]\nnonsense = true\n"));
  EXPECT_EQ(op.name, "a");
}

TEST_F(ContractTest, TheExamplesContractParses) {
  write("reference.py", "");
  const std::filesystem::path copy = write("dcuop.toml", "");
  std::filesystem::copy_file(std::filesystem::path(DCUOP_SOURCE_DIR) / "dcuop.toml.example", copy,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(read_contract(copy)["functions"][0]["block"], 256);
}

} // namespace
} // namespace dcuop::op
