// DCU20x, DCU22x, DCU23x: dynamic linking: libraries, symbol versions, the Python module.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {
namespace {

constexpr Rule library_rules[] = {
    {.id = "DCU201",
     .severity = Severity::error,
     .name = "library-not-found",
     .title = {"A library that the file needs is nowhere on the loader's search path.",
               "文件所需的库不在加载器的任何查找路径上。"},
     .summary = {"{library} is not found", "找不到 {library}"},
     .cause = {"{library} is not found", "找不到 {library}"},
     .how = {"The DT_NEEDED closure is resolved as ld.so(8) does it: libraries already loaded by Python and "
             "torch, "
             "DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the default directories.",
             "按 ld.so(8) 的方式解析 DT_NEEDED 闭包：Python 和 torch 已加载的库、DT_RPATH、LD_LIBRARY_PATH、"
             "DT_RUNPATH、ld.so.cache、默认目录。"},
     .causes = {"the package of the library is not installed\nthe toolkit's environment is not loaded\n"
                "RUNPATH was lost when the file was installed or moved",
                "没有安装该库的软件包\n没有加载工具包环境\n安装或移动文件时丢失了 RUNPATH"},
     .fixes = {"install the package that has it: apt-file search NAME\nsource /opt/dtk/env.sh\n"
               "export LD_LIBRARY_PATH=DIR:$LD_LIBRARY_PATH",
               "安装含有它的软件包：apt-file search NAME\nsource /opt/dtk/env.sh\n"
               "export LD_LIBRARY_PATH=DIR:$LD_LIBRARY_PATH"},
     .references = "https://man7.org/linux/man-pages/man8/ld.so.8.html"},
    {.id = "DCU202",
     .severity = Severity::error,
     .name = "library-other-version",
     .title = {"The file needs another version of a library than the one that is installed.",
               "文件需要的库版本与已安装的不同。"},
     .summary = {"it needs {library}, here there is {candidates}", "它需要 {library}，这里只有 {candidates}"},
     .cause = {"{library} is not found, but {candidates} is here", "找不到 {library}，但有 {candidates}"},
     .how = {"As DCU201; then libraries of the same name with another version are looked for in the search "
             "path, in "
             "torch and in the toolkit.",
             "同 DCU201；再在查找路径、torch 和工具包中查找同名的其他版本。"},
     .causes = {"built with another ROCm or DTK than the installed one\nbuilt against another torch",
                "编译所用的 ROCm 或 DTK 与安装的不同\n编译所用的 torch 不同"},
     .fixes = {"build it here: dcuop build OP\nload the toolkit that it was built with",
               "在此重新编译：dcuop build OP\n加载编译时所用的工具包"},
     .references = "https://github.com/ROCm/legacy-rocm-build/issues/1753"},
    {.id = "DCU203",
     .severity = Severity::error,
     .name = "cuda-build",
     .title = {"The file needs NVIDIA's libraries: it is a CUDA build.",
               "文件需要 NVIDIA 的库：它是 CUDA 版本。"},
     .summary = {"it is a CUDA build", "它是 CUDA 版本"},
     .cause = {"CUDA libraries are wanted: {libraries}", "需要 CUDA 库：{libraries}"},
     .how = {"DT_NEEDED names CUDA's libraries or torch's CUDA half, and none is found.",
             "DT_NEEDED 中有 CUDA 的库或 torch 的 CUDA 部分，且都找不到。"},
     .causes = {"pip took the CUDA wheel as the default one\nan image for NVIDIA was taken over",
                "pip 默认装了 CUDA 版 wheel\n沿用了 NVIDIA 的镜像"},
     .fixes = {"install the +das...dtk (or rocm) wheel of the package\nbuild it from source: dcuop build OP",
               "安装该软件包的 +das...dtk（或 rocm）wheel\n从源码编译：dcuop build OP"},
     .references = "https://github.com/sgl-project/sglang/issues/2584"},
    {.id = "DCU204",
     .severity = Severity::error,
     .name = "torch-without-hip",
     .title = {"The file needs torch's HIP half, which the installed torch does not have.",
               "文件需要 torch 的 HIP 部分，而已安装的 torch 没有。"},
     .summary = {"it needs a torch with HIP, and torch {torch} has none",
                 "它需要带 HIP 的 torch，而 torch {torch} 没有"},
     .cause = {"{libraries} wanted, but torch {torch} has no HIP",
               "需要 {libraries}，但 torch {torch} 没有 HIP"},
     .how = {"DT_NEEDED names libc10_hip.so or libtorch_hip.so; torch.version.hip is None.",
             "DT_NEEDED 中有 libc10_hip.so 或 libtorch_hip.so；torch.version.hip 为 None。"},
     .causes = {"pip replaced the DTK/ROCm torch by the default one\nanother Python's torch is used",
                "pip 用默认 torch 替换了 DTK/ROCm 版本\n使用了另一个 Python 的 torch"},
     .fixes = {"install the +das...dtk (or rocm) wheel of torch\nname the Python that has it: --python PATH",
               "安装 torch 的 +das...dtk（或 rocm）wheel\n指定含有它的 Python：--python PATH"},
     .references = "https://github.com/Looong01/pyg-rocm-build/issues/1"},
    {.id = "DCU205",
     .severity = Severity::error,
     .name = "other-hip-runtime",
     .title = {"The file is linked to the HIP runtime of the other vendor: DTK's is libgalaxyhip, ROCm's is "
               "libamdhip64.",
               "文件链接的是另一家的 HIP 运行时：DTK 的是 libgalaxyhip，ROCm 的是 libamdhip64。"},
     .summary = {"it was built with {built}, this machine has {installed}",
                 "它由 {built} 编译，本机是 {installed}"},
     .cause = {"{library} of {built} is wanted, this machine has {candidates} of {installed}",
               "需要 {built} 的 {library}，本机有 {installed} 的 {candidates}"},
     .how = {"DT_NEEDED names one runtime, and only the other one is found.",
             "DT_NEEDED 写的是一个运行时，只找到另一个。"},
     .causes = {"a ROCm build on a DCU machine, or the reverse", "在 DCU 机器上使用 ROCm 版本，或相反"},
     .fixes = {"build it here: dcuop build OP", "在此重新编译：dcuop build OP"},
     .references = "https://github.com/HYGON-AI"},
    {.id = "DCU206",
     .severity = Severity::error,
     .name = "library-damaged",
     .title = {"A library that the file needs is there but cannot be loaded.",
               "文件所需的库存在但无法加载。"},
     .summary = {"{library} is there but cannot be loaded", "{library} 存在但无法加载"},
     .cause = {"{library} is there but cannot be loaded", "{library} 存在但无法加载"},
     .how = {"The candidates that the search passed over, and why; each library found is read.",
             "查找时被跳过的候选及其原因；读取每个找到的库。"},
     .causes = {"a damaged install or a Git LFS pointer\na 32-bit or foreign library on the path",
                "安装损坏或为 Git LFS 指针\n路径上有 32 位或其他架构的库"},
     .fixes = {"install the package of that library again", "重新安装该库的软件包"},
     .references = "https://github.com/niuchuangnn/SPICE/issues/4"},
    {.id = "DCU207",
     .severity = Severity::error,
     .name = "torch-absent",
     .title = {"The file needs torch's libraries, and this Python has no torch.",
               "文件需要 torch 的库，而该 Python 没有 torch。"},
     .summary = {"it needs torch, and there is none", "它需要 torch，但没有安装"},
     .cause = {"{libraries} wanted, but {python} has no torch", "需要 {libraries}，但 {python} 没有 torch"},
     .how = {"DT_NEEDED names torch's libraries; no torch is on sys.path.",
             "DT_NEEDED 中有 torch 的库；sys.path 上没有 torch。"},
     .causes = {"another Python than the one that torch was installed for",
                "使用的不是安装了 torch 的那个 Python"},
     .fixes = {"name the Python that has torch: dcuop doctor FILE --python PATH",
               "指定有 torch 的 Python：dcuop doctor FILE --python PATH"},
     .references = ""},
    {.id = "DCU208",
     .severity = Severity::error,
     .name = "other-python-library",
     .title = {"The file is linked to another Python's libpython.", "文件链接了另一个 Python 的 libpython。"},
     .summary = {"it was built for another Python", "它是为另一个 Python 编译的"},
     .cause = {"{library} is wanted, this Python is {python}", "需要 {library}，而该 Python 是 {python}"},
     .how = {"DT_NEEDED names a libpython that is not found.", "DT_NEEDED 中有找不到的 libpython。"},
     .causes = {"built under another Python version\nlinked with -lpython, which an extension does not need",
                "在另一个 Python 版本下编译\n链接了扩展并不需要的 -lpython"},
     .fixes = {"dcuop build OP --python PATH\nlink without -lpython",
               "dcuop build OP --python PATH\n链接时去掉 -lpython"},
     .references = "https://docs.python.org/3/extending/building.html"},
    {.id = "DCU209",
     .severity = Severity::error,
     .name = "library-off-path",
     .title = {"The library exists, in a directory that the loader does not search.",
               "库存在，但所在目录不在加载器的查找路径上。"},
     .summary = {"{library} is installed, but not where the loader looks",
                 "{library} 已安装，但不在加载器查找的位置"},
     .cause = {"{library} is at {path}, where the loader does not look",
               "{library} 位于 {path}，加载器不会在那里查找"},
     .how = {"As DCU201; then the same name is looked for in torch, the toolkit and Python's packages.",
             "同 DCU201；再在 torch、工具包和 Python 软件包中查找同名文件。"},
     .causes = {"the toolkit's environment is not loaded, or its env.sh leaves the directory out\n"
                "RUNPATH was lost when the file was installed or moved",
                "没有加载工具包环境，或其 env.sh 漏掉了该目录\n安装或移动文件时丢失了 RUNPATH"},
     .fixes = {"export LD_LIBRARY_PATH=DIR:$LD_LIBRARY_PATH\nlink with -Wl,-rpath,DIR",
               "export LD_LIBRARY_PATH=DIR:$LD_LIBRARY_PATH\n链接时加 -Wl,-rpath,DIR"},
     .references = "https://man7.org/linux/man-pages/man8/ld.so.8.html"},
};

constexpr Rule version_rules[] = {
    {.id = "DCU220",
     .severity = Severity::error,
     .name = "version-node-missing",
     .title = {"A library is older than the one that the file was linked to: it lacks a symbol version.",
               "库比文件链接时的更旧：缺少某个符号版本。"},
     .summary = {"{library} is too old", "{library} 太旧"},
     .cause = {"{path} has no version {versions}", "{path} 没有版本 {versions}"},
     .how = {".gnu.version_r of the file against .gnu.version_d of the library that the loader would choose.",
             "比较文件的 .gnu.version_r 与加载器将选用的库的 .gnu.version_d。"},
     .causes = {"built with a newer GCC, glibc or ROCm than this machine has\n"
                "conda's or LD_LIBRARY_PATH's older copy comes before the system's\n"
                "a copy that was loaded earlier in the process wins",
                "编译所用的 GCC、glibc 或 ROCm 比本机新\nconda 或 LD_LIBRARY_PATH 中的旧库排在系统库之前\n"
                "进程中先加载的旧库优先"},
     .fixes = {"build it on this machine: dcuop build OP\nuse the newer copy of the library",
               "在本机重新编译：dcuop build OP\n使用较新的库"},
     .references = "https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/"
                   "symversion.html\n"
                   "https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html"},
    {.id = "DCU221",
     .severity = Severity::error,
     .name = "provider-without-versions",
     .title = {"A library stands in for another one under its name, but has no symbol versions at all: the "
               "loader "
               "ends the process with an assertion.",
               "某个库冒用另一个库的名字，但完全没有符号版本：加载器会以断言失败结束进程。"},
     .summary = {"{library} is not the library that it was linked to", "{library} 不是链接时的那个库"},
     .cause = {"{path} has no symbol versions, {versions} wanted", "{path} 没有符号版本，需要 {versions}"},
     .how = {"The file wants versioned symbols of a library that has no version section.",
             "文件需要带版本的符号，而该库没有版本节。"},
     .causes = {"a symbolic link from one vendor's library name to the other's\na stub library",
                "用符号链接把一家的库名指向另一家的库\n桩库"},
     .fixes = {"remove the link and build the file for this library: dcuop build OP",
               "删除该链接并针对此库重新编译：dcuop build OP"},
     .references = "https://sourceware.org/git/?p=glibc.git;a=blob;f=elf/dl-lookup.c"},
};

constexpr Rule module_rules[] = {
    {.id = "DCU222",
     .severity = Severity::error,
     .name = "llvm-twice",
     .title = {"Two copies of LLVM are bound to each other; the second registers its options with the first, "
               "which "
               "ends the process.",
               "两份 LLVM 被绑定在一起；第二份向第一份注册选项，使进程终止。"},
     .summary = {"{first} and {second} each bring a copy of LLVM, and the two are mixed",
                 "{first} 与 {second} 各带一份 LLVM，且两者混在一起"},
     .cause =
         {"{second} has a copy of LLVM that is bound to the one of {first}: both register the same options",
          "{second} 自带的 LLVM 被绑定到 {first} 的那一份：两者注册相同的选项"},
     .how = {"Images in one lookup scope that define llvm::cl::Option::addArgument() with the same version "
             "or none, and "
             "the relocations of the later one against it.",
             "同一查找范围内以相同版本（或无版本）定义 llvm::cl::Option::addArgument() "
             "的映像，以及后者针对它的重定位。"},
     .causes = {"two libraries with LLVM linked in statically, and its symbols exported",
                "两个静态链接了 LLVM 且导出其符号的库"},
     .fixes = {"link one of them with -Wl,--exclude-libs,ALL or -Wl,-Bsymbolic, or both to one libLLVM.so",
               "其中之一链接时加 -Wl,--exclude-libs,ALL 或 -Wl,-Bsymbolic，或两者都使用同一个 libLLVM.so"},
     .references = "https://github.com/pytorch/pytorch/issues/90166"},
    {.id = "DCU223",
     .severity = Severity::warning,
     .name = "old-revision-by-name",
     .title =
         {"The file looks up by name a HIP function that HIP 6 has in two revisions; it gets the older one.",
          "文件按名称查找在 HIP 6 中有两个版本的函数；得到的是旧版本。"},
     .summary = {"it looks up {function} by name, and gets that of HIP 5",
                 "它按名称查找 {function}，得到的是 HIP 5 的版本"},
     .cause = {"{file} looks up {function} by name; in {library} that name is the function of HIP 5",
               "{file} 按名称查找 {function}；在 {library} 中该名称是 HIP 5 的函数"},
     .how = {"dlsym is wanted, the plain name stands in .rodata without the revised one, and the runtime "
             "exports both.",
             "需要 dlsym，.rodata 中有原名而没有修订名，且运行时两者都导出。"},
     .causes = {"HIP 6 changed hipDeviceProp_t; its header turns the plain name into NAMER0600, which "
                "dlsym(3) does "
                "not see",
                "HIP 6 改变了 hipDeviceProp_t；其头文件把原名替换为 NAMER0600，而 dlsym(3) 看不到"},
     .fixes = {"look up NAMER0600, or link to the runtime instead of dlsym",
               "查找 NAMER0600，或直接链接运行时而不用 dlsym"},
     .references = "https://github.com/ROCm/legacy-rocm-build/issues/2728"},
    {.id = "DCU230",
     .severity = Severity::error,
     .name = "no-init-function",
     .title = {"The file is imported as a Python module, but exports no PyInit_ function.",
               "文件被当作 Python 模块导入，但没有导出 PyInit_ 函数。"},
     .summary = {"it is not a Python module", "它不是 Python 模块"},
     .cause = {"{file} exports no PyInit_{module}", "{file} 没有导出 PyInit_{module}"},
     .how = {"The defined dynamic symbols that begin with PyInit_.", "以 PyInit_ 开头的已定义动态符号。"},
     .causes = {"the source with PYBIND11_MODULE or PyInit_ is missing from the build\n"
                "a Python 2 module (init<name>)\nit is meant for torch.ops.load_library or ctypes",
                "编译时漏了含 PYBIND11_MODULE 或 PyInit_ 的源文件\nPython 2 模块（init<name>）\n"
                "它本应由 torch.ops.load_library 或 ctypes 加载"},
     .fixes =
         {"add PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) to a source\nload it with "
          "torch.ops.load_library(FILE)",
          "在源文件中加入 PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)\n用 torch.ops.load_library(FILE) 加载"},
     .references = "https://docs.python.org/3/extending/building.html"},
    {.id = "DCU231",
     .severity = Severity::error,
     .name = "other-init-function",
     .title = {"The file's PyInit_ function has another name than the module that is imported.",
               "文件的 PyInit_ 函数与导入的模块名不同。"},
     .summary = {"it was built as module {found}, not {module}",
                 "它是作为模块 {found} 编译的，不是 {module}"},
     .cause = {"{file} exports PyInit_{found}, the import of {module} wants PyInit_{module}",
               "{file} 导出 PyInit_{found}，而导入 {module} 需要 PyInit_{module}"},
     .how = {"The defined dynamic symbols that begin with PyInit_, against the name that it is imported by.",
             "比较以 PyInit_ 开头的已定义动态符号与导入名。"},
     .causes = {"the file was renamed\nthe name in PYBIND11_MODULE is not that of the file",
                "文件被改名\nPYBIND11_MODULE 中的名字与文件名不同"},
     .fixes = {"write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m), or give the file its name back",
               "写成 PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)，或恢复文件名"},
     .references = "https://github.com/sophgo/LLM-TPU/issues/33"},
    {.id = "DCU232",
     .severity = Severity::note,
     .name = "import-torch-first",
     .title = {"The file loads only after `import torch`, which brings the libraries that it needs.",
               "文件只有在 `import torch` 之后才能加载，它需要 torch 带来的库。"},
     .summary = {"it loads after `import torch`", "它在 `import torch` 之后才能加载"},
     .cause = {"{file} loads only after `import torch`", "{file} 只有在 `import torch` 之后才能加载"},
     .how = {"The closure is resolved with torch's libraries already loaded, and without.",
             "分别在 torch 的库已加载和未加载时解析闭包。"},
     .causes = {"the usual way of torch extensions", "torch 扩展的通常做法"},
     .fixes = {"import torch before it", "先 import torch"},
     .references = "https://github.com/pytorch/extension-cpp/issues/6"},
    {.id = "DCU233",
     .severity = Severity::warning,
     .name = "other-python-tag",
     .title = {"The file's name is tagged for another Python, whose imports look for it alone.",
               "文件名带有另一个 Python 版本的标记，只有那个版本才会按名字找到它。"},
     .summary = {"`import {module}` does not find it: it is tagged for another Python",
                 "`import {module}` 找不到它：文件名是为另一个 Python 标记的"},
     .cause =
         {"Python {version} imports {module} from names that end in {suffix}, .abi3.so or .so, not in {tag}",
          "Python {version} 只从以 {suffix}、.abi3.so 或 .so 结尾的文件导入 {module}，不认 {tag}"},
     .how = {"What follows the first dot of the name, against the interpreter's EXT_SUFFIX.",
             "比较文件名第一个点之后的部分与解释器的 EXT_SUFFIX。"},
     .causes = {"it was built by another Python, and copied or left by an upgrade",
                "它由另一个 Python 编译，被复制过来，或在升级后遗留"},
     .fixes = {"build it with this Python, or use the one that it was built by",
               "用当前 Python 重新编译，或改用编译它的 Python"},
     .references = "https://peps.python.org/pep-3149/"},
};

} // namespace

std::vector<Rule> symbol_rules() {
  std::vector<Rule> all;
  all.insert(all.end(), std::begin(library_rules), std::end(library_rules));
  all.insert(all.end(), std::begin(version_rules), std::end(version_rules));
  all.insert(all.end(), std::begin(module_rules), std::end(module_rules));
  return all;
}

} // namespace dcuop::finding
