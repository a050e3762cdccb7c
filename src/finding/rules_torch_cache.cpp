// DCU5xx: torch's own JIT cache.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU501",
     .severity = Severity::error,
     .name = "torch-lock-orphan",
     .title = {"A lock of torch's JIT cache has no holder: every load() of the extension waits for ever.",
               "torch JIT 缓存中的锁没有持有者：该扩展的每次 load() 都会永远等待。"},
     .summary = {"its lock has no holder", "它的锁没有持有者"},
     .cause = {"{file} is {age} old and no process holds it: every load() of {name} waits for it for ever",
               "{file} 已存在 {age}，没有进程持有它：{name} 的每次 load() 都会永远等待"},
     .how = {"The file exists, no process of this host has it open or works in its directory, the file "
             "system is "
             "local, and it is older than a minute.",
             "文件存在，本机没有进程打开它或在其目录中工作，文件系统是本地的，且已超过一分钟。"},
     .causes =
         {"the process that built was killed (OOM killer, Ctrl-C twice, a job's time limit, a lost pod)\n"
          "a lock copied with the cache into an image",
          "负责编译的进程被杀死（OOM、两次 Ctrl-C、作业超时、pod 丢失）\n锁随缓存被复制进镜像"},
     .fixes =
         {"rm the lock; those who wait go on at once, and fail when nothing was built: start them again\n"
          "dcuop doctor --torch-extensions --fix\nbuild with dcuop build: its locks die with their holder",
          "删除该锁；等待者会立即继续，若尚未编译则会失败：请重新启动\ndcuop doctor --torch-extensions "
          "--fix\n"
          "使用 dcuop build：其锁随持有者消失"},
     .references = "https://github.com/pytorch/pytorch/issues/189245\n"
                   "https://github.com/pytorch/pytorch/blob/v2.4.0/torch/utils/file_baton.py"},
    {.id = "DCU502",
     .severity = Severity::note,
     .name = "torch-lock-held",
     .title = {"An extension of torch's JIT cache is being built.", "torch JIT 缓存中的一个扩展正在编译。"},
     .summary = {"it is being built", "它正在编译"},
     .cause = {"{file} is in use: {holder}", "{file} 正被使用：{holder}"},
     .how = {"A process of this host has a file of the directory open, works in it, or names it.",
             "本机有进程打开了该目录中的文件、在其中工作或在命令行中提到它。"},
     .causes = {"a load() that compiles", "正在编译的 load()"},
     .fixes = {"wait for it, or end that process", "等待它完成，或结束该进程"},
     .references = ""},
    {.id = "DCU503",
     .severity = Severity::warning,
     .name = "torch-lock-unknown",
     .title = {"A lock of torch's JIT cache has no holder that can be seen from here.",
               "在此处看不到 torch JIT 缓存中某个锁的持有者。"},
     .summary = {"its lock may have no holder", "它的锁可能没有持有者"},
     .cause = {"{file} is {age} old and no holder is seen, but {reason}",
               "{file} 已存在 {age}，看不到持有者，但{reason}"},
     .how = {"As DCU501, but a holder cannot be ruled out: another host, another user, another container, or "
             "it is "
             "too young.",
             "同 DCU501，但不能排除持有者：其他主机、其他用户、其他容器，或锁太新。"},
     .causes = {"a cache on NFS or Lustre, or in a volume that several containers mount\n"
                "a build that has just begun",
                "缓存位于 NFS 或 Lustre，或多个容器挂载的卷\n编译刚刚开始"},
     .fixes = {"see that nobody builds it on any host, then rm the lock\n"
               "give each host its own: export TORCH_EXTENSIONS_DIR=DIR",
               "确认没有任何主机正在编译，然后删除该锁\n为每台主机单独设置：export TORCH_EXTENSIONS_DIR=DIR"},
     .references = "https://github.com/apache/tvm-ffi/pull/677"},
    {.id = "DCU504",
     .severity = Severity::error,
     .name = "torch-entry-half-built",
     .title = {"An extension of torch's JIT cache was left half-built.",
               "torch JIT 缓存中有一个只编译了一半的扩展。"},
     .summary = {"it is half-built", "它只编译了一半"},
     .cause = {"{file} is half-built: {reason}", "{file} 只编译了一半：{reason}"},
     .how = {"build.ninja is there and names an artifact that is missing, empty, or ends before its segments "
             "do.",
             "build.ninja 存在，但其产物缺失、为空，或在其段结束之前中断。"},
     .causes =
         {"the build failed or was killed: torch links in place, without a temporary name\nthe disk was full",
          "编译失败或被杀死：torch 就地链接，不使用临时文件名\n磁盘已满"},
     .fixes = {"remove the directory and load again\ndcuop doctor --torch-extensions --fix",
               "删除该目录后重新 load\ndcuop doctor --torch-extensions --fix"},
     .references = "https://github.com/deepspeedai/DeepSpeed/issues/3356"},
    {.id = "DCU505",
     .severity = Severity::warning,
     .name = "torch-entry-other-python",
     .title = {"An extension of torch's JIT cache was built for another Python.",
               "torch JIT 缓存中的扩展是为另一个 Python 编译的。"},
     .summary = {"it was built for another Python", "它是为另一个 Python 编译的"},
     .cause = {"{file} was built for Python {built}, this one is {here}",
               "{file} 是为 Python {built} 编译的，当前是 {here}"},
     .how = {"The directory's tag (py311_...) and the Python header directory in build.ninja.",
             "目录标签（py311_...）以及 build.ninja 中的 Python 头文件目录。"},
     .causes =
         {"one cache for several environments; TORCH_EXTENSIONS_DIR drops the tag that keeps them apart",
          "多个环境共用一个缓存；设置 TORCH_EXTENSIONS_DIR 会去掉区分它们的标签"},
     .fixes = {"remove the directory when that Python is gone", "若该 Python 已不存在，删除该目录"},
     .references = "https://github.com/pytorch/pytorch/issues/68905"},
    {.id = "DCU506",
     .severity = Severity::warning,
     .name = "torch-entry-other-torch",
     .title = {"An extension of torch's JIT cache was built for another torch.",
               "torch JIT 缓存中的扩展是为另一个 torch 编译的。"},
     .summary = {"it was built for another torch", "它是为另一个 torch 编译的"},
     .cause = {"{file} was built for {built}, this is {here}", "{file} 是为 {built} 编译的，当前是 {here}"},
     .how = {"The directory's tag (..._cpu, ..._cu121) and, in build.ninja, torch's include directory and "
             "the macros "
             "of its C++ ABI.",
             "目录标签（..._cpu、..._cu121），以及 build.ninja 中 torch 的头文件目录和 C++ ABI 宏。"},
     .causes =
         {"torch was updated, or another environment shares the cache: torch's key knows no torch version",
          "torch 已更新，或另一个环境共用该缓存：torch 的键不含 torch 版本"},
     .fixes = {"remove the directory and load again", "删除该目录后重新 load"},
     .references = "https://github.com/pytorch/pytorch/issues/68905\n"
                   "https://github.com/huggingface/transformers/pull/18868"},
    {.id = "DCU507",
     .severity = Severity::warning,
     .name = "torch-entry-does-not-load",
     .title = {"A library of torch's JIT cache does not load here.", "torch JIT 缓存中的库在本机无法加载。"},
     .summary = {"it does not load here", "它在本机无法加载"},
     .cause = {"{file} {headline}", "{file} {headline}"},
     .how = {"The same checks as `dcuop doctor FILE`.", "与 `dcuop doctor FILE` 相同的检查。"},
     .causes = {"torch, a library that it needs, or the compiler's runtime was updated after it was built",
                "编译之后 torch、所依赖的库或编译器运行时被更新"},
     .fixes = {"dcuop doctor FILE says more\nremove the directory and load again",
               "dcuop doctor FILE 给出详情\n删除该目录后重新 load"},
     .references = "https://github.com/pytorch/pytorch/issues/68905"},
    {.id = "DCU508",
     .severity = Severity::warning,
     .name = "torch-entry-other-arch",
     .title = {"A library of torch's JIT cache has no device code for the devices here.",
               "torch JIT 缓存中的库没有适合本机设备的代码。"},
     .summary = {"it has no code for the devices here", "它没有适合本机设备的代码"},
     .cause = {"{file} {headline}", "{file} {headline}"},
     .how = {"The offload bundles against the visible devices or --arch, as `dcuop doctor FILE` does it.",
             "将 offload bundle 与可见设备或 --arch 比较，与 `dcuop doctor FILE` 相同。"},
     .causes =
         {"a home directory that is shared by machines with other devices\nPYTORCH_ROCM_ARCH was another one",
          "多台设备不同的机器共用主目录\nPYTORCH_ROCM_ARCH 曾是另一个值"},
     .fixes = {"remove the directory, then load again with PYTORCH_ROCM_ARCH=ARCH",
               "删除该目录，然后以 PYTORCH_ROCM_ARCH=ARCH 重新 load"},
     .references = "https://github.com/NVIDIA/flashdreams/pull/216"},
};

} // namespace

std::vector<Rule> torch_cache_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
