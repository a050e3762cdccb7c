// DCU6xx: what a running process has loaded.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {
namespace {

// All of them are found in the same way.
constexpr Text how_loaded = {
    "The files that /proc/PID/maps names as mapped code, by device and inode, with their SONAMEs. The "
    "process is "
    "neither stopped nor traced.",
    "/proc/PID/maps 中映射为代码的文件（按设备号和 inode），以及它们的 SONAME。不暂停也不跟踪该进程。"};

constexpr Rule table[] = {
    {.id = "DCU601",
     .severity = Severity::error,
     .name = "process-two-hip-runtimes",
     .title = {"The process has more than one HIP runtime loaded: streams, memory and kernels of one are "
               "unknown to "
               "the other.",
               "进程加载了不止一个 HIP 运行时：一个运行时的流、内存和核函数对另一个不可见。"},
     .summary = {"{count} HIP runtimes are loaded", "加载了 {count} 个 HIP 运行时"},
     .cause = {"{process} has {count} HIP runtimes loaded", "{process} 加载了 {count} 个 HIP 运行时"},
     .how = how_loaded,
     .causes =
         {"torch's wheel brings libamdhip64.so, and LD_LIBRARY_PATH leads the operator to the toolkit's\n"
          "an operator for ROCm in a process of DTK (libgalaxyhip), or the reverse\n"
          "two SONAME versions: libamdhip64.so.5 and .so.6",
          "torch 的 wheel 自带 libamdhip64.so，而 LD_LIBRARY_PATH 让算子使用了工具包的那份\n"
          "在 DTK（libgalaxyhip）进程中使用 ROCm 版算子，或相反\n"
          "两个 SONAME 版本：libamdhip64.so.5 与 .so.6"},
     .fixes =
         {"leave one: unset LD_LIBRARY_PATH where torch brings its own runtime\nbuild the operator for "
          "torch's "
          "runtime: dcuop build OP\nrestart the process",
          "只保留一个：若 torch 自带运行时则 unset LD_LIBRARY_PATH\n针对 torch 的运行时编译算子：dcuop build "
          "OP\n重启进程"},
     .references =
         "https://github.com/pytorch/pytorch/issues/141014\nhttps://github.com/pytorch/builder/pull/1468"},
    {.id = "DCU602",
     .severity = Severity::error,
     .name = "process-library-twice",
     .title = {"The process has loaded a library twice that must be there once: each copy has its own state.",
               "进程把只应存在一份的库加载了两次：每份各有自己的状态。"},
     .summary = {"{library} is loaded {count} times", "{library} 被加载了 {count} 次"},
     .cause = {"{process} has {library} loaded from {count} files",
               "{process} 从 {count} 个文件加载了 {library}"},
     .how = how_loaded,
     .causes =
         {"conda's libstdc++ beside the system's, by LD_PRELOAD or an RPATH\ntorch of another environment on "
          "LD_LIBRARY_PATH\na package that carries its own copy",
          "通过 LD_PRELOAD 或 RPATH，conda 的 libstdc++ 与系统的并存\nLD_LIBRARY_PATH 上有另一环境的 torch\n"
          "某软件包自带一份"},
     .fixes =
         {"LD_DEBUG=libs python ... 2>&1 | grep NAME   (who asks for which)\nleave one copy, then restart",
          "LD_DEBUG=libs python ... 2>&1 | grep NAME   （查看谁要哪一份）\n只保留一份，然后重启进程"},
     .references = "https://github.com/pytorch/pytorch/issues/186516"},
    {.id = "DCU603",
     .severity = Severity::warning,
     .name = "process-runs-replaced-file",
     .title =
         {"A file was replaced on disk after the process loaded it: the process still runs the old code.",
          "文件在进程加载之后被替换：进程仍在运行旧代码。"},
     .summary = {"it still runs the old {files}", "它仍在运行旧的 {files}"},
     .cause = {"{process} still runs the old {files}: another file has that name now",
               "{process} 仍在运行旧的 {files}：该名字现在属于另一个文件"},
     .how = {"Device and inode of the mapping against stat(2) of its name, and the kernel's mark "
             "\"(deleted)\". On "
             "overlayfs the mark alone, as inodes there differ from those of maps.",
             "比较映射的设备号和 inode 与按名字 stat(2) 的结果，以及内核的 \"(deleted)\" 标记。overlayfs "
             "上只看该标记，"
             "因为其 inode 与 maps 中的不同。"},
     .causes = {"the operator was built again, or a package was upgraded, while the process ran\nanother "
                "file system "
                "was mounted over the directory",
                "进程运行期间重新编译了算子或升级了软件包\n目录上又挂载了另一个文件系统"},
     .fixes = {"restart the process", "重启进程"},
     .references = "https://man7.org/linux/man-pages/man5/proc_pid_maps.5.html"},
    {.id = "DCU604",
     .severity = Severity::warning,
     .name = "process-runs-deleted-file",
     .title = {"A file was deleted after the process loaded it: it runs on, but cannot be started again.",
               "文件在进程加载之后被删除：进程继续运行，但无法再次启动。"},
     .summary = {"it runs {files}, which is deleted", "它运行的 {files} 已被删除"},
     .cause = {"{process} runs {files}, which is on no disk any more",
               "{process} 运行的 {files} 已不在磁盘上"},
     .how = {"The kernel's mark \"(deleted)\" in /proc/PID/maps, and nothing under that name.",
             "/proc/PID/maps 中内核的 \"(deleted)\" 标记，且该名字下没有文件。"},
     .causes = {"a cache was cleaned\na package was removed, or its upgrade changed the file's name",
                "缓存被清理\n软件包被卸载，或升级后文件改名"},
     .fixes = {"build or install it again, then restart the process", "重新编译或安装，然后重启进程"},
     .references = "https://man7.org/linux/man-pages/man5/proc_pid_maps.5.html"},
    {.id = "DCU605",
     .severity = Severity::error,
     .name = "process-cuda-and-hip",
     .title = {"Libraries of CUDA and of HIP are loaded in one process.",
               "同一进程中加载了 CUDA 和 HIP 的库。"},
     .summary = {"CUDA and HIP are mixed", "CUDA 与 HIP 混用"},
     .cause = {"{process} has {cuda} of CUDA and {hip} of HIP loaded",
               "{process} 加载了 CUDA 的 {cuda} 和 HIP 的 {hip}"},
     .how = how_loaded,
     .causes =
         {"the CUDA build of torch, with an operator for HIP\na package whose default wheel is for CUDA",
          "CUDA 版 torch 加上面向 HIP 的算子\n某软件包的默认 wheel 面向 CUDA"},
     .fixes = {"install the DTK (+das...dtk) or ROCm wheels of all of them",
               "全部安装 DTK（+das...dtk）或 ROCm wheel"},
     .references = "https://github.com/sgl-project/sglang/issues/2584"},
};

} // namespace

std::vector<Rule> live_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
