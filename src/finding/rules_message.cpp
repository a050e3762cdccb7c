// DCU7xx: what a message alone tells, where no file is at hand.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {
namespace {

// All of them are found in the same way.
constexpr Text how_read = {
    "The text of the message: dcuop doctor --message. The first cause is taken, not the last consequence.",
    "消息文本：dcuop doctor --message。取最先的原因，而不是最后的后果。"};

constexpr Rule loading_rules[] = {
    {.id = "DCU701",
     .severity = Severity::error,
     .name = "message-loader-refused",
     .title = {"The loader refused a file for what it is or where it lies.",
               "加载器因文件本身或其位置而拒绝加载。"},
     .summary = {"the loader refused it: {reason}", "加载器拒绝了它：{reason}"},
     .cause = {"the loader refused {file}: {reason}", "加载器拒绝了 {file}：{reason}"},
     .how = how_read,
     .causes =
         {"\"invalid ELF header\", \"file too short\": a cut-off copy, a Git LFS pointer, a text (DCU104 to "
          "DCU111)\n"
          "\"wrong ELF class\": a 32-bit file (DCU109)\n"
          "\"failed to map segment\": a noexec mount, or a limit on the address space (DCU116, DCU421)\n"
          "\"cannot enable executable stack\": glibc 2.41 or SELinux (DCU115)\n"
          "\"static TLS\": a library compiled with -ftls-model=initial-exec that is opened late (DCU117)\n"
          "\"DT_RELR without GLIBC_ABI_DT_RELR dependency\": linked with --pack-dyn-relocs=relr (DCU118)\n"
          "\"Inconsistency detected by ld.so\": a library without versions in the place of one with (DCU221)",
          "\"invalid ELF header\"、\"file too short\"：文件被截断、是 Git LFS 指针或文本（DCU104 至 "
          "DCU111）\n"
          "\"wrong ELF class\"：32 位文件（DCU109）\n"
          "\"failed to map segment\"：noexec 挂载，或地址空间限制（DCU116、DCU421）\n"
          "\"cannot enable executable stack\"：glibc 2.41 或 SELinux（DCU115）\n"
          "\"static TLS\"：以 -ftls-model=initial-exec 编译的库打开得太晚（DCU117）\n"
          "\"DT_RELR without GLIBC_ABI_DT_RELR dependency\"：用 --pack-dyn-relocs=relr 链接（DCU118）\n"
          "\"Inconsistency detected by ld.so\"：无版本的库顶替了有版本的库（DCU221）"},
     .fixes = {"where the file is: dcuop doctor FILE", "在文件所在的机器上：dcuop doctor FILE"},
     .references = "https://github.com/niuchuangnn/SPICE/issues/4"},
    {.id = "DCU715",
     .severity = Severity::error,
     .name = "message-other-abi",
     .title = {"A module says itself that it was compiled for another Python, NumPy, torch or CUDA.",
               "模块自己报告它是为另一个 Python、NumPy、torch 或 CUDA 编译的。"},
     .summary = {"it was built for another {what}", "它是为另一个 {what} 编译的"},
     .cause = {"built for another {what}: {message}", "为另一个 {what} 编译：{message}"},
     .how = how_read,
     .causes = {"the environment was upgraded after the build\na cache shared by environments",
                "编译之后升级了环境\n多个环境共用缓存"},
     .fixes = {"build it here: dcuop build OP\ninstall the wheel for this environment",
               "在此重新编译：dcuop build OP\n安装面向该环境的 wheel"},
     .references = ""},
    {.id = "DCU716",
     .severity = Severity::error,
     .name = "message-op-absent",
     .title = {"An operator is called that the loaded library does not have.",
               "调用了已加载的库中没有的算子。"},
     .summary = {"{op} was not compiled in, or its library was not loaded",
                 "{op} 没有编译进去，或其库没有加载"},
     .cause = {"there is no operator {op}", "没有算子 {op}"},
     .how = how_read,
     .causes = {"the library failed to load before, and that was only a warning\nthe build for DTK or ROCm "
                "leaves the "
                "operator out\nPYBIND11_MODULE or TORCH_LIBRARY without it",
                "库之前已加载失败，但只报了警告\nDTK 或 ROCm 版本没有包含该算子\nPYBIND11_MODULE 或 "
                "TORCH_LIBRARY 中没有它"},
     .fixes = {"look above for the import that failed\ndcuop doctor FILE.so",
               "查看上文中失败的导入\ndcuop doctor FILE.so"},
     .references = ""},
    {.id = "DCU717",
     .severity = Severity::error,
     .name = "message-module-absent",
     .title = {"Python does not find a module.", "Python 找不到模块。"},
     .summary = {"there is no Python module {module}", "没有 Python 模块 {module}"},
     .cause = {"there is no Python module {module}", "没有 Python 模块 {module}"},
     .how = how_read,
     .causes =
         {"it was not built, or not for this Python\nanother Python than the one that it was installed for",
          "没有编译，或不是为该 Python 编译\n不是安装它的那个 Python"},
     .fixes = {"build or install it for this Python", "为该 Python 编译或安装"},
     .references = ""},
    {.id = "DCU718",
     .severity = Severity::error,
     .name = "message-llvm-twice",
     .title = {"Two copies of LLVM in one process register the same option.",
               "同一进程中的两份 LLVM 注册了相同的选项。"},
     .summary = {"two copies of LLVM are loaded", "加载了两份 LLVM"},
     .cause = {"two copies of LLVM register the option {option}", "两份 LLVM 都注册了选项 {option}"},
     .how = how_read,
     .causes = {"triton, comgr and a system LLVM in one process, with global symbols",
                "triton、comgr 与系统 LLVM 以全局符号存在于同一进程"},
     .fixes = {"dcuop doctor --pid PID while it runs says which copies\nunset LD_PRELOAD and RTLD_GLOBAL "
               "(TORCH_USE_RTLD_GLOBAL)",
               "运行时 dcuop doctor --pid PID 可列出各份\n取消 LD_PRELOAD 和 "
               "RTLD_GLOBAL（TORCH_USE_RTLD_GLOBAL）"},
     .references = "https://github.com/pytorch/pytorch/issues/90166"},
    {.id = "DCU719",
     .severity = Severity::error,
     .name = "message-wheel-unfit",
     .title = {"pip refuses a wheel for another Python, platform or C library.",
               "pip 拒绝面向其他 Python、平台或 C 库的 wheel。"},
     .summary = {"the wheel is for another Python, platform or glibc", "wheel 面向其他 Python、平台或 glibc"},
     .cause = {"{wheel} is not for this Python or platform", "{wheel} 不适用于该 Python 或平台"},
     .how = how_read,
     .causes = {"the cpXY tag is another Python's\nmanylinux_2_28 on a machine with an older glibc\nthe file "
                "was renamed",
                "cpXY 标签属于另一个 Python\n在 glibc 较旧的机器上使用 manylinux_2_28\n文件被改名"},
     .fixes = {"python -m pip debug --verbose lists the tags that fit\ntake the manylinux2014 build",
               "python -m pip debug --verbose 列出适用的标签\n使用 manylinux2014 版本"},
     .references = "https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/"},
    {.id = "DCU720",
     .severity = Severity::error,
     .name = "message-process-died",
     .title = {"The process was ended by a signal.", "进程被信号终止。"},
     .summary = {"the process died: {signal}", "进程死亡：{signal}"},
     .cause = {"the process died: {signal}", "进程死亡：{signal}"},
     .how = how_read,
     .causes =
         {"bus error: a library that is cut off, or was rewritten in place while it was loaded (DCU111)\n"
          "segmentation fault: two copies of a runtime (DCU601, DCU602), or a bug of the operator\n"
          "aborted: the line before says why",
          "bus error：库被截断，或加载后被原地改写（DCU111）\nsegmentation fault：同一运行时有两份（DCU601、"
          "DCU602），或算子自身的错误\naborted：原因在前一行"},
     .fixes =
         {"python -X faulthandler SCRIPT says where\ndcuop doctor FILE.so; dcuop doctor --pid PID while it "
          "runs",
          "python -X faulthandler SCRIPT 可指出位置\ndcuop doctor FILE.so；运行时 dcuop doctor --pid PID"},
     .references = ""},
};

constexpr Rule launch_rules[] = {
    {.id = "DCU702",
     .severity = Severity::error,
     .name = "message-no-code-for-device",
     .title = {"The runtime found no code for the device.", "运行时没有找到适合该设备的代码。"},
     .summary = {"there is no code for {device} in it", "其中没有 {device} 的代码"},
     .cause = {"{file} has no code for {device}", "{file} 没有 {device} 的代码"},
     .how = how_read,
     .causes = {"built for other archs than this device's\na wheel that does not know the device\n"
                "HSA_OVERRIDE_GFX_VERSION, left set from another machine",
                "编译时的 arch 不包含该设备\nwheel 不支持该设备\n残留的 HSA_OVERRIDE_GFX_VERSION"},
     .fixes = {"where the file is: dcuop doctor FILE --arch ARCH\ndcuop build OP --arch ARCH",
               "在文件所在的机器上：dcuop doctor FILE --arch ARCH\ndcuop build OP --arch ARCH"},
     .references = "https://github.com/pytorch/pytorch/issues/73534"},
    {.id = "DCU703",
     .severity = Severity::error,
     .name = "message-code-object-rejected",
     .title = {"The runtime found device code and does not accept it.", "运行时找到了设备代码，但不接受。"},
     .summary = {"the runtime rejects its device code", "运行时拒绝了它的设备代码"},
     .cause = {"the runtime rejects the device code: {message}", "运行时拒绝了设备代码：{message}"},
     .how = how_read,
     .causes =
         {"a damaged file\na code object version or a compression (CCOB) that is newer than the runtime\n"
          "hand-written assembly without metadata",
          "文件损坏\n代码对象版本或压缩格式（CCOB）比运行时新\n手写汇编缺少元数据"},
     .fixes =
         {"dcuop inspect FILE says what is inside\nbuild it with the toolkit of this runtime: dcuop build OP",
          "dcuop inspect FILE 可查看内容\n用该运行时对应的工具包编译：dcuop build OP"},
     .references = "https://github.com/warpfront/hipfire/issues/569"},
    {.id = "DCU704",
     .severity = Severity::error,
     .name = "message-no-device",
     .title = {"The runtime reaches no device.", "运行时无法访问任何设备。"},
     .summary = {"no device is reached", "无法访问设备"},
     .cause = {"no device is reached: {message}", "无法访问设备：{message}"},
     .how = how_read,
     .causes = {"/dev/kfd is not there or not allowed (a container without --device, a login node, no group "
                "video or "
                "render)\na visible-devices variable hides all\ntorch's CPU or CUDA build\non DTK, "
                "libamd_comgr is not "
                "found",
                "/dev/kfd 不存在或没有权限（容器没有 --device、登录节点、不在 video 或 render 组）\n"
                "可见设备变量隐藏了全部设备\ntorch 是 CPU 或 CUDA 版\nDTK 上找不到 libamd_comgr"},
     .fixes = {"on that machine: dcuop doctor", "在那台机器上：dcuop doctor"},
     .references = ""},
    {.id = "DCU705",
     .severity = Severity::error,
     .name = "message-kernel-failed",
     .title = {"A kernel was launched and failed while it ran.", "核函数已启动，但在运行中失败。"},
     .summary = {"a kernel failed while it ran", "核函数在运行中失败"},
     .cause = {"a kernel failed: {message}", "核函数失败：{message}"},
     .how = how_read,
     .causes = {"an index beyond a tensor\nHSA_OVERRIDE_GFX_VERSION that is not the chip's\nmore registers "
                "or LDS than "
                "the launch allows\na kernel before the one that the trace shows: launches are asynchronous",
                "访问越界\nHSA_OVERRIDE_GFX_VERSION 与芯片不符\n寄存器或 LDS 超过启动所允许\n"
                "出错的是调用栈所示之前的核函数：启动是异步的"},
     .fixes = {"AMD_SERIALIZE_KERNEL=3 HIP_LAUNCH_BLOCKING=1 SCRIPT says which\ndcuop inspect FILE shows "
               "registers, LDS "
               "and workgroup limits",
               "AMD_SERIALIZE_KERNEL=3 HIP_LAUNCH_BLOCKING=1 SCRIPT 可定位\ndcuop inspect FILE "
               "显示寄存器、LDS 和工作组限制"},
     .references = "https://github.com/ROCm/legacy-rocm-build/issues/5238"},
    {.id = "DCU706",
     .severity = Severity::error,
     .name = "message-device-memory",
     .title = {"The device's memory is full.", "设备内存已满。"},
     .summary = {"the device's memory is full", "设备内存已满"},
     .cause = {"the device's memory is full: {message}", "设备内存已满：{message}"},
     .how = how_read,
     .causes = {"larger tensors than the device holds\nanother process on the device",
                "张量超出设备容量\n设备上有其他进程"},
     .fixes = {"hy-smi or rocm-smi --showmemuse shows who uses it",
               "hy-smi 或 rocm-smi --showmemuse 可查看占用"},
     .references = ""},
};

constexpr Rule build_rules[] = {
    {.id = "DCU707",
     .severity = Severity::error,
     .name = "message-compile-error",
     .title = {"A source does not compile; this is the compiler's first error.",
               "源文件编译失败；这是编译器的第一个错误。"},
     .summary = {"a source does not compile", "源文件无法编译"},
     .cause = {"{message}", "{message}"},
     .how = how_read,
     .causes =
         {"an API of another torch or toolkit than the installed one\nCUDA source that was not hipified",
          "使用了其他版本 torch 或工具包的 API\nCUDA 源码没有 hipify"},
     .fixes = {"correct the source; dcuop build OP shows the first error alone",
               "修改源文件；dcuop build OP 只显示第一个错误"},
     .references = ""},
    {.id = "DCU708",
     .severity = Severity::error,
     .name = "message-header-missing",
     .title = {"A header is not found.", "找不到头文件。"},
     .summary = {"the header {header} is not found", "找不到头文件 {header}"},
     .cause = {"the header {header} is not found", "找不到头文件 {header}"},
     .how = how_read,
     .causes = {"the package that has it is not installed\nits directory is on no include path",
                "没有安装含有它的软件包\n其目录不在头文件搜索路径上"},
     .fixes = {"install the package, or add its directory: include_dirs in dcuop.toml",
               "安装软件包，或加入其目录：dcuop.toml 的 include_dirs"},
     .references = ""},
    {.id = "DCU709",
     .severity = Severity::error,
     .name = "message-arch-unknown",
     .title = {"The compiler or the build script does not know an offload arch.",
               "编译器或编译脚本不认识某个 offload arch。"},
     .summary = {"the compiler does not know {arch}", "编译器不认识 {arch}"},
     .cause = {"the compiler does not know {arch}", "编译器不认识 {arch}"},
     .how = how_read,
     .causes = {"AMD's compiler for a DCU arch (gfx926, gfx928, gfx936, gfx938): these need DTK's\na toolkit "
                "that is "
                "older than the device\na mistyped arch in PYTORCH_ROCM_ARCH",
                "用 AMD 的编译器编译 DCU 的 arch（gfx926、gfx928、gfx936、gfx938）：需要 DTK "
                "的编译器\n工具包比设备旧\n"
                "PYTORCH_ROCM_ARCH 拼写错误"},
     .fixes = {"source /opt/dtk/env.sh, so that hipcc is DTK's\ndcuop env says which compiler is found",
               "source /opt/dtk/env.sh，使 hipcc 为 DTK 的\ndcuop env 显示所用的编译器"},
     .references = "https://llvm.org/docs/AMDGPUUsage.html#processors"},
    {.id = "DCU710",
     .severity = Severity::error,
     .name = "message-device-library-missing",
     .title = {"The compiler does not find the toolkit's device libraries or HIP runtime.",
               "编译器找不到工具包的设备库或 HIP 运行时。"},
     .summary = {"the compiler does not find its toolkit", "编译器找不到工具包"},
     .cause = {"the compiler does not find its toolkit: {message}", "编译器找不到工具包：{message}"},
     .how = how_read,
     .causes = {"ROCM_PATH or HIP_PATH unset, or of another toolkit",
                "ROCM_PATH 或 HIP_PATH 未设置，或指向另一个工具包"},
     .fixes = {"source /opt/dtk/env.sh, or export ROCM_PATH=DIR",
               "source /opt/dtk/env.sh，或 export ROCM_PATH=DIR"},
     .references = ""},
    {.id = "DCU711",
     .severity = Severity::error,
     .name = "message-build-tool-missing",
     .title = {"A program or module that the build needs is not there.", "缺少编译所需的程序或模块。"},
     .summary = {"{tool} is not found", "找不到 {tool}"},
     .cause = {"the build needs {tool}, which is not found", "编译需要 {tool}，但没有找到"},
     .how = how_read,
     .causes = {"the toolkit's environment is not loaded\nthe package is not installed",
                "没有加载工具包的环境\n没有安装软件包"},
     .fixes = {"source /opt/dtk/env.sh (hipcc); pip install ninja \"setuptools<70\"",
               "source /opt/dtk/env.sh（hipcc）；pip install ninja \"setuptools<70\""},
     .references = ""},
    {.id = "DCU712",
     .severity = Severity::error,
     .name = "message-link-error",
     .title = {"The linker does not find a symbol or a library.", "链接器找不到符号或库。"},
     .summary = {"the linker does not find {symbol}", "链接器找不到 {symbol}"},
     .cause = {"the linker does not find {symbol}", "链接器找不到 {symbol}"},
     .how = how_read,
     .causes = {"a source or a -l is missing from the build\n__hip_fatbin: -fgpu-rdc without --hip-link, or "
                "a link by g++\n"
                "std::__cxx11 in the name: the other string ABI",
                "缺少源文件或 -l\n__hip_fatbin：-fgpu-rdc 没有 --hip-link，或用 g++ 链接\n名字中有 "
                "std::__cxx11：string ABI 不同"},
     .fixes = {"add it to sources or libraries in dcuop.toml", "加入 dcuop.toml 的 sources 或 libraries"},
     .references = "https://github.com/cms-sw/cmsdist/pull/8271"},
    {.id = "DCU713",
     .severity = Severity::error,
     .name = "message-compiler-killed",
     .title = {"The compiler was killed, or ran out of memory.", "编译器被杀死，或内存不足。"},
     .summary = {"the compiler ran out of memory", "编译器内存不足"},
     .cause = {"the compiler ran out of memory: {message}", "编译器内存不足：{message}"},
     .how = how_read,
     .causes = {"more compilers at once than the memory holds\nthe memory limit of a container or job",
                "同时运行的编译器过多\n容器或作业的内存限制"},
     .fixes = {"fewer at once: dcuop build --jobs 1, MAX_JOBS=1",
               "减少并行：dcuop build --jobs 1、MAX_JOBS=1"},
     .references = ""},
    {.id = "DCU714",
     .severity = Severity::error,
     .name = "message-waits-for-lock",
     .title = {"torch's JIT waits for the lock file of a build.", "torch 的 JIT 在等待编译的锁文件。"},
     .summary = {"it waits for torch's JIT lock", "它在等待 torch JIT 的锁"},
     .cause = {"torch's JIT waits for a lock file", "torch 的 JIT 在等待锁文件"},
     .how = how_read,
     .causes = {"a build was killed and left its lock: everybody waits for ever\nanother process is building",
                "编译被杀死并留下锁：所有进程永远等待\n另一个进程正在编译"},
     .fixes = {"dcuop doctor --torch-extensions says which lock nobody holds; --fix removes it",
               "dcuop doctor --torch-extensions 指出没有持有者的锁；--fix 删除它"},
     .references = "https://github.com/pytorch/pytorch/issues/6353"},
    {.id = "DCU721",
     .severity = Severity::error,
     .name = "message-cannot-write",
     .title = {"A directory cannot be written, or is full.", "目录无法写入，或已满。"},
     .summary = {"it cannot write: {message}", "无法写入：{message}"},
     .cause = {"it cannot write: {message}", "无法写入：{message}"},
     .how = how_read,
     .causes = {"a full disk or quota\na read-only container", "磁盘或配额已满\n只读容器"},
     .fixes = {"another cache: DCUOP_CACHE_DIR, TORCH_EXTENSIONS_DIR, TMPDIR",
               "换一个缓存：DCUOP_CACHE_DIR、TORCH_EXTENSIONS_DIR、TMPDIR"},
     .references = ""},
    {.id = "DCU722",
     .severity = Severity::error,
     .name = "message-jit-library-absent",
     .title = {"torch's JIT cache has no library where one was built or should have been.",
               "torch 的 JIT 缓存中缺少应已编译的库。"},
     .summary = {"its build in torch's JIT cache failed, or was removed",
                 "它在 torch JIT 缓存中的编译失败，或已被删除"},
     .cause = {"there is no {file}: its build failed, or the cache was pruned",
               "没有 {file}：编译失败，或缓存被清理"},
     .how = how_read,
     .causes =
         {"the build before failed: its error is above\nseveral ranks built at once\nthe cache was pruned",
          "之前的编译失败：错误在上文\n多个 rank 同时编译\n缓存被清理"},
     .fixes = {"dcuop doctor --torch-extensions", "dcuop doctor --torch-extensions"},
     .references = "https://github.com/turboderp/exllama/issues/148"},
};

constexpr Rule verdict_rules[] = {
    {.id = "DCU790",
     .severity = Severity::warning,
     .name = "message-not-seen-here",
     .title = {"The file that the message names is here, and does not have what the message says.",
               "消息所指的文件在本机，但没有消息所说的问题。"},
     .summary = {"what the message says is not so here", "消息所说的在本机不成立"},
     .cause = {"the message says \"{claim}\", which is not so of the {file} here",
               "消息说 \"{claim}\"，但本机的 {file} 并非如此"},
     .how = {"The file is diagnosed as ever, and the message's claim compared with what is found.",
             "照常诊断该文件，并将消息的说法与结果比较。"},
     .causes = {"the file was built again since\nanother Python or environment than this one\nthe message is "
                "from another "
                "machine",
                "之后重新编译过\n不是同一个 Python 或环境\n消息来自另一台机器"},
     .fixes =
         {"ask in that environment: dcuop doctor FILE --python PATH\nof a running process: dcuop doctor "
          "--pid PID FILE",
          "在当时的环境中：dcuop doctor FILE --python PATH\n对运行中的进程：dcuop doctor --pid PID FILE"},
     .references = ""},
    {.id = "DCU791",
     .severity = Severity::error,
     .name = "message-unknown",
     .title = {"The text holds no failure that is known.", "文本中没有已知的失败。"},
     .summary = {"no known failure is in the message", "消息中没有已知的失败"},
     .cause = {"no known failure is in the message; its last error is: {line}",
               "消息中没有已知的失败；最后的错误是：{line}"},
     .how = how_read,
     .causes = {"the part with the error was not copied\na failure of the program, not of an operator",
                "没有复制包含错误的部分\n是程序自身的失败，与算子无关"},
     .fixes = {"copy all from the first \"Traceback\" or \"error:\" on\nexamine the file itself: dcuop "
               "doctor FILE",
               "从第一个 \"Traceback\" 或 \"error:\" 起全部复制\n直接检查文件：dcuop doctor FILE"},
     .references = ""},
};

} // namespace

std::vector<Rule> message_rules() {
  std::vector<Rule> all;
  all.insert(all.end(), std::begin(loading_rules), std::end(loading_rules));
  all.insert(all.end(), std::begin(launch_rules), std::end(launch_rules));
  all.insert(all.end(), std::begin(build_rules), std::end(build_rules));
  all.insert(all.end(), std::begin(verdict_rules), std::end(verdict_rules));
  return all;
}

} // namespace dcuop::finding
