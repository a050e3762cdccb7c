// DCU95x: what a release needs.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU951",
     .severity = Severity::error,
     .name = "loader-checks-nothing",
     .title = {"The loader does not ask whether torch is built for HIP, and for which arch the code must be.",
               "加载器没有检查 torch 是否为 HIP 构建，也没有检查架构。"},
     .summary = {"no Python file beside the tests loads through dcuop, or checks torch.version.hip and the "
                 "device's arch",
                 "除测试外，没有 Python 文件通过 dcuop 加载，或检查 torch.version.hip 与设备架构"},
     .cause = {"{at}: no Python file beside the tests loads through dcuop, or checks torch.version.hip and "
               "the device's arch",
               "{at}：除测试外，没有 Python 文件通过 dcuop 加载，或检查 torch.version.hip 与设备架构"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"torch.ops.load_library or an import of the .so alone",
                "只用 torch.ops.load_library 或直接导入 .so"},
     .fixes = {"dcuop.load_op, which checks both before the import",
               "使用 dcuop.load_op，它在导入之前检查两者"},
     .references = "",
     .bad = R"(torch.ops.load_library("build/affine.so"))",
     .good = R"(import dcuop
module = dcuop.load_op("affine")  # refuses another torch, HIP or arch before the import)",
     .language = "python"},
    {.id = "DCU952",
     .severity = Severity::error,
     .name = "edge-sizes-untested",
     .title = {"The tests leave out the sizes at which operators break.", "测试没有覆盖容易出错的尺寸。"},
     .summary = {"the tests have no size {missing}", "测试中没有尺寸 {missing}"},
     .cause = {"{at}: the tests have no size {missing}", "{at}：测试中没有尺寸 {missing}"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"only sizes that are multiples of the block are tested", "只测试了块大小整数倍的尺寸"},
     .fixes = {"test 0, 1, and sizes beside a multiple of the block: 255, 257",
               "测试 0、1，以及块大小倍数旁边的尺寸：255、257"},
     .references = "",
     .bad = R"(@pytest.mark.parametrize("count", [256, 1024, 65536]))",
     .good = R"(@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 65537]))",
     .language = "python"},
    {.id = "DCU953",
     .severity = Severity::error,
     .name = "reference-untested",
     .title = {"No test compares the operator with a reference.", "没有测试将算子与参考实现比较。"},
     .summary = {"no test compares results with a reference", "没有测试把结果与参考实现比较"},
     .cause = {"{at}: no test compares results with a reference", "{at}：没有测试把结果与参考实现比较"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"there is no test, or it only looks at shapes", "没有测试，或只检查形状"},
     .fixes = {"a reference in torch operations, and torch.testing.assert_close against it",
               "用 torch 运算写一个参考实现，并用 torch.testing.assert_close 比较"},
     .references = "",
     .bad = R"(assert affine(x, 2.0, 1.0).shape == x.shape)",
     .good =
         R"(torch.testing.assert_close(affine(x, 2.0, 1.0), affine_reference(x, 2.0, 1.0), rtol=0, atol=0))",
     .language = "python"},
    {.id = "DCU954",
     .severity = Severity::error,
     .name = "refusals-untested",
     .title = {"No test gives the operator what it must refuse.", "没有测试传入算子应当拒绝的输入。"},
     .summary = {"no test expects an argument to be refused", "没有测试期望参数被拒绝"},
     .cause = {"{at}: no test expects an argument to be refused", "{at}：没有测试期望参数被拒绝"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"the checks of the binding were never run", "绑定中的检查从未执行过"},
     .fixes = {"pytest.raises(RuntimeError) for a wrong dtype, device and stride",
               "对错误的 dtype、设备和步长使用 pytest.raises(RuntimeError)"},
     .references = "",
     .bad = R"(def test_values(): ...  # and no other)",
     .good = R"(def test_float64_is_refused():
    with pytest.raises(RuntimeError, match="must be float16"):
        affine(torch.ones(4, dtype=torch.float64, device="cuda"), 2.0, 1.0))",
     .language = "python"},
    {.id = "DCU955",
     .severity = Severity::error,
     .name = "micro-benchmark-missing",
     .title = {"There is no micro-benchmark.", "没有微基准测试。"},
     .summary = {"neither [[verify.function]] nor a benchmark file",
                 "既没有 [[verify.function]]，也没有基准测试文件"},
     .cause = {"{at}: neither [[verify.function]] nor a benchmark file",
               "{at}：既没有 [[verify.function]]，也没有基准测试文件"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"speed was measured by hand", "速度只手工测过"},
     .fixes = {"[[verify.function]] in dcuop.toml, which dcuop verify measures beside torch's own path",
               "在 dcuop.toml 中写 [[verify.function]]，由 dcuop verify 与 torch 自身的实现对比测量"},
     .references = "",
     .bad = R"([op]
name = "affine")",
     .good = R"([op]
name = "affine"

[[verify.function]]
name = "affine"
formula = "reference.py:affine_formula"
arguments = [{ name = "x", dtypes = ["float16"], shape = "..." }]
bytes = "2 * n * size")",
     .language = "toml"},
    {.id = "DCU956",
     .severity = Severity::error,
     .name = "end-to-end-missing",
     .title = {"There is no end-to-end measurement.", "没有端到端测量。"},
     .summary = {"neither [verify.e2e] nor an end-to-end file", "既没有 [verify.e2e]，也没有端到端文件"},
     .cause = {"{at}: neither [verify.e2e] nor an end-to-end file",
               "{at}：既没有 [verify.e2e]，也没有端到端文件"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"a kernel that is faster alone may not be in a model", "单独更快的核函数在模型中未必更快"},
     .fixes = {"[verify.e2e] in dcuop.toml", "在 dcuop.toml 中写 [verify.e2e]"},
     .references = "",
     .bad = R"([[verify.function]]
name = "affine")",
     .good = R"([verify.e2e]
script = "e2e.py"
metric = "steps_per_second")",
     .language = "toml"},
    {.id = "DCU957",
     .severity = Severity::error,
     .name = "compile-is-timed",
     .title = {"A benchmark measures the compilation too.", "基准测试把编译时间也算了进去。"},
     .summary = {"{call} stands between two readings of the clock", "{call} 位于两次读表之间"},
     .cause = {"{at}: {call} stands between two readings of the clock", "{at}：{call} 位于两次读表之间"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"the extension is loaded where it is first used", "扩展在首次使用处加载"},
     .fixes = {"load, and run once, before the clock is read", "在读表之前加载并先运行一次"},
     .references = "",
     .bad = R"(start = time.perf_counter()
affine = dcuop.load_op("affine").affine
affine(x, 2.0, 1.0)
print(time.perf_counter() - start))",
     .good = R"(affine = dcuop.load_op("affine").affine
affine(x, 2.0, 1.0)
torch.cuda.synchronize()
start = time.perf_counter()
affine(x, 2.0, 1.0)
torch.cuda.synchronize()
print(time.perf_counter() - start))",
     .language = "python"},
    {.id = "DCU958",
     .severity = Severity::error,
     .name = "product-in-tree",
     .title = {"A product of a build lies among the sources.", "源码目录中有构建产物。"},
     .summary = {"{at} is no source", "{at} 不是源码"},
     .cause = {"{at} is no source", "{at} 不是源码"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"torch's loader with build_directory; tests that were run",
                "torch 加载器用了 build_directory；运行测试的遗留"},
     .fixes = {"remove it, and name it in .gitignore: dcuop builds into its cache",
               "删除它并写入 .gitignore：dcuop 在缓存中构建"},
     .references = "",
     .bad = R"(affine/binding.cpp  affine/op_kernel.hip  affine/affine.so  affine/__pycache__/)",
     .good = R"(affine/binding.cpp  affine/op_kernel.hip)",
     .language = "text"},
    {.id = "DCU959",
     .severity = Severity::error,
     .name = "readme-incomplete",
     .title = {"The README does not say what is needed, how to build and how to run.",
               "README 没有说明环境、构建和运行方法。"},
     .summary = {"the README does not say {missing}", "README 没有说明{missing}"},
     .cause = {"{at}: the README does not say {missing}", "{at}：README 没有说明{missing}"},
     .how = {"dcuop check --release reads the operator's Python files, tests and benchmarks, its dcuop.toml "
             "and its README.",
             "dcuop check --release 读取算子的 Python 文件、测试、基准测试、dcuop.toml 与 README。"},
     .causes = {"it was written for its author", "只写给作者自己"},
     .fixes = {"three lines: DTK or ROCm and torch versions; dcuop build; an example in Python",
               "三行即可：DTK 或 ROCm 与 torch 的版本；dcuop build；一个 Python 例子"},
     .references = "",
     .bad = R"(An affine operator.)",
     .good = R"(Environment: DTK 25.04, a PyTorch that is built for HIP, Python 3.8 or later.
Build: dcuop build affine
Run: python3 -c "from affine import affine")",
     .language = "text"},
};

} // namespace

std::vector<Rule> release_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
