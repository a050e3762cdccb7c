// DCU21x: undefined symbols, by what their names tell.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {
namespace {

// All of them are found in the same way.
constexpr Text how_undefined = {
    "Every undefined symbol of the file and of the libraries that it brings is bound as RTLD_NOW does, in "
    "the scope "
    "that an import has: the interpreter's libraries, then the file and its own DT_NEEDED closure. What "
    "stays unbound "
    "is classified by its namespace and compared with the nearest exported symbol.",
    "对文件及其带来的库的每个未定义符号，按 RTLD_NOW 在导入时的作用域中绑定：先是解释器的库，然后是文件及其 "
    "DT_NEEDED 闭包。仍未绑定的按命名空间分类，并与最接近的导出符号比较。"};

constexpr Rule torch_rules[] = {
    {.id = "DCU210",
     .severity = Severity::error,
     .name = "other-torch",
     .title = {"The file was compiled against another torch than the installed one.",
               "文件编译时所用的 torch 与已安装的不同。"},
     .summary = {"it was built for another PyTorch", "它是为另一个 PyTorch 编译的"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"torch was upgraded or replaced after the build\na cache that is shared by several torch "
                "versions\n"
                "a wheel for another torch",
                "编译后升级或替换了 torch\n多个 torch 版本共用一个缓存\nwheel 面向另一个 torch"},
     .fixes = {"dcuop build OP\ninstall the wheel for this torch",
               "dcuop build OP\n安装面向该 torch 的 wheel"},
     .references = "https://github.com/ROCm/aiter/issues/2843\nhttps://github.com/Dao-AILab/"
                   "flash-attention/issues/723"},
    {.id = "DCU211",
     .severity = Severity::error,
     .name = "string-abi",
     .title = {"The file was compiled with the other std::string ABI than torch (_GLIBCXX_USE_CXX11_ABI).",
               "文件与 torch 的 std::string ABI 不同（_GLIBCXX_USE_CXX11_ABI）。"},
     .summary = {"it was built with the other std::string ABI than torch",
                 "它与 torch 的 std::string ABI 不同"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"compiled without -D_GLIBCXX_USE_CXX11_ABI as torch has it\na cxx11abiTRUE wheel on a "
                "cxx11abiFALSE "
                "torch, or the reverse",
                "编译时没有采用 torch 的 -D_GLIBCXX_USE_CXX11_ABI\ncxx11abiTRUE 的 wheel 用在 "
                "cxx11abiFALSE 的 torch 上，或相反"},
     .fixes = {"dcuop build OP (it takes the ABI from torch)\ncompile with -D_GLIBCXX_USE_CXX11_ABI as "
               "torch has it",
               "dcuop build OP（自动采用 torch 的 ABI）\n用与 torch 相同的 -D_GLIBCXX_USE_CXX11_ABI 编译"},
     .references = "https://gcc.gnu.org/onlinedocs/libstdc++/manual/using_dual_abi.html\n"
                   "https://github.com/pytorch/pytorch/issues/13541"},
    {.id = "DCU212",
     .severity = Severity::error,
     .name = "torch-library-not-linked",
     .title = {"A symbol is in a library of torch that the file is not linked to; importing torch first "
               "does not "
               "help, as its libraries are loaded RTLD_LOCAL.",
               "符号在 torch 的某个库中，但文件没有链接该库；先 import torch 也无效，因为 torch 的库以 "
               "RTLD_LOCAL 加载。"},
     .summary = {"it is not linked to {library}", "它没有链接 {library}"},
     .cause = {"undefined symbol {symbol}{more}, which {library} has",
               "未定义符号 {symbol}{more}，它在 {library} 中"},
     .how = how_undefined,
     .causes = {"linked by hand without -ltorch_python or -lc10\nlinked with --as-needed before the objects",
                "手工链接时缺少 -ltorch_python 或 -lc10\n--as-needed 放在目标文件之前"},
     .fixes = {"link with -lc10 -ltorch_cpu -ltorch -ltorch_python behind the objects",
               "在目标文件之后链接 -lc10 -ltorch_cpu -ltorch -ltorch_python"},
     .references = "https://github.com/pytorch/extension-cpp/issues/6"},
};

constexpr Rule gpu_rules[] = {
    {.id = "DCU213",
     .severity = Severity::error,
     .name = "hip-api",
     .title = {"The file calls a function that this HIP runtime does not have.",
               "文件调用了该 HIP 运行时没有的函数。"},
     .summary = {"it was built for another HIP", "它是为另一个 HIP 编译的"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes =
         {"built with ROCm 6 headers (names with R0600), run with a ROCm 5 runtime\n"
          "torch's own, older runtime is loaded first",
          "用 ROCm 6 头文件编译（名字带 R0600），用 ROCm 5 运行时运行\n先加载了 torch 自带的较旧运行时"},
     .fixes = {"build it with the toolkit of this machine: dcuop build OP",
               "用本机工具包重新编译：dcuop build OP"},
     .references = "https://github.com/ROCm/flash-attention/issues/31"},
    {.id = "DCU214",
     .severity = Severity::error,
     .name = "rdc-link",
     .title = {"Objects with relocatable device code were linked without the device link step.",
               "含可重定位设备代码的目标文件在链接时缺少设备链接步骤。"},
     .summary = {"its device code was not linked (-fgpu-rdc without --hip-link)",
                 "设备代码没有链接（-fgpu-rdc 而没有 --hip-link）"},
     .cause = {"undefined symbol {symbol}{more}: the device link is missing",
               "未定义符号 {symbol}{more}：缺少设备链接"},
     .how = how_undefined,
     .causes = {"compiled with -fgpu-rdc and linked by g++\nobjects of two clang versions (__hip_fatbin "
                "and __hip_fatbin_<id>)",
                "用 -fgpu-rdc 编译却由 g++ 链接\n混用两个 clang 版本的目标文件（__hip_fatbin 与 "
                "__hip_fatbin_<id>）"},
     .fixes =
         {"compile without -fgpu-rdc (-fno-gpu-rdc)\nlink with hipcc -fgpu-rdc --hip-link "
          "--offload-arch=ARCH",
          "编译时去掉 -fgpu-rdc（-fno-gpu-rdc）\n用 hipcc -fgpu-rdc --hip-link --offload-arch=ARCH 链接"},
     .references = "https://github.com/ROCm/hip/issues/2203\nhttps://github.com/cms-sw/cmsdist/pull/8271"},
    {.id = "DCU216",
     .severity = Severity::error,
     .name = "cuda-symbols",
     .title = {"The file calls CUDA: it is a CUDA build, or its source was not hipified.",
               "文件调用 CUDA：它是 CUDA 版本，或源码没有经过 hipify。"},
     .summary = {"it calls CUDA", "它调用 CUDA"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"a CUDA wheel\na source with cuda_runtime.h that was compiled by a host compiler",
                "CUDA 版 wheel\n包含 cuda_runtime.h 的源文件由主机编译器编译"},
     .fixes = {"install the DTK/ROCm wheel\nhipify the source and build it",
               "安装 DTK/ROCm 版 wheel\n对源码 hipify 后再编译"},
     .references = "https://rocm.docs.amd.com/projects/HIPIFY/en/latest/"},
};

constexpr Rule other_rules[] = {
    {.id = "DCU215",
     .severity = Severity::error,
     .name = "other-python",
     .title = {"The file uses functions that this Python does not have.", "文件使用了该 Python 没有的函数。"},
     .summary = {"it was built for another Python", "它是为另一个 Python 编译的"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"built under another Python version\nthe file was renamed to fit this one's EXT_SUFFIX",
                "在另一个 Python 版本下编译\n改了文件名以适应当前 EXT_SUFFIX"},
     .fixes = {"dcuop build OP --python PATH", "dcuop build OP --python PATH"},
     .references = "https://docs.python.org/3/c-api/stable.html"},
    {.id = "DCU217",
     .severity = Severity::error,
     .name = "library-not-linked",
     .title = {"A symbol belongs to a library that the file is not linked to.", "符号属于文件没有链接的库。"},
     .summary = {"it is not linked to {library}", "它没有链接 {library}"},
     .cause = {"undefined symbol {symbol}{more}, which belongs to {library}",
               "未定义符号 {symbol}{more}，它属于 {library}"},
     .how = how_undefined,
     .causes = {"-l is missing from the link\nthe -l stands before the objects that need it (--as-needed)",
                "链接时缺少 -l\n-l 位于需要它的目标文件之前（--as-needed）"},
     .fixes = {"add the library to `libraries` in dcuop.toml", "把该库加入 dcuop.toml 的 `libraries`"},
     .references = "https://man7.org/linux/man-pages/man1/ld.1.html"},
    {.id = "DCU218",
     .severity = Severity::error,
     .name = "own-source-missing",
     .title = {"A function of the operator itself is declared and used, but defined nowhere in the file.",
               "算子自身的某个函数被声明和使用，但文件中没有定义。"},
     .summary = {"a source of its own is missing from {who}", "{who}缺少自己的某个源文件"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"a source file is missing from the build\nthe definition has other parameters, or another "
                "language "
                "linkage (extern \"C\"), than the declaration\nthe source is compiled for some archs only",
                "编译时漏了源文件\n定义与声明的参数或语言链接（extern \"C\"）不同\n该源文件只为部分架构编译"},
     .fixes = {"add the source that defines it to `sources` in dcuop.toml",
               "把定义它的源文件加入 dcuop.toml 的 `sources`"},
     .references = "https://github.com/vllm-project/vllm/issues/23925"},
    {.id = "DCU219",
     .severity = Severity::error,
     .name = "cxx-runtime-symbol",
     .title = {"A symbol of the C++ run-time library is missing from the one that is loaded.",
               "已加载的 C++ 运行库缺少某个符号。"},
     .summary = {"it was built with another C++ library", "它由另一个 C++ 库编译"},
     .cause = {"undefined symbol {symbol}{more}", "未定义符号 {symbol}{more}"},
     .how = how_undefined,
     .causes = {"linked by a C compiler (no libstdc++)\ncompiled with -stdlib=libc++\nan older libstdc++ "
                "is loaded",
                "由 C 编译器链接（没有 libstdc++）\n用 -stdlib=libc++ 编译\n加载了较旧的 libstdc++"},
     .fixes = {"link with the C++ compiler", "用 C++ 编译器链接"},
     .references = "https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html"},
};

} // namespace

std::vector<Rule> undefined_rules() {
  std::vector<Rule> all;
  all.insert(all.end(), std::begin(torch_rules), std::end(torch_rules));
  all.insert(all.end(), std::begin(gpu_rules), std::end(gpu_rules));
  all.insert(all.end(), std::begin(other_rules), std::end(other_rules));
  return all;
}

} // namespace dcuop::finding
