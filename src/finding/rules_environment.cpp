// DCU4xx: the machine, whatever the file.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU401",
     .severity = Severity::warning,
     .name = "no-python",
     .title = {"No Python interpreter was found, or it does not answer.",
               "没有找到 Python 解释器，或它没有回应。"},
     .summary = {"there is no usable Python", "没有可用的 Python"},
     .cause = {"no usable Python: {reason}", "没有可用的 Python：{reason}"},
     .how = {"--python, DCUOP_PYTHON, the active venv or conda, then python3 on PATH.",
             "--python、DCUOP_PYTHON、当前的 venv 或 conda，然后是 PATH 上的 python3。"},
     .causes = {"a venv was moved or its base Python removed", "venv 被移动或其基础 Python 被删除"},
     .fixes = {"name one: dcuop doctor --python /usr/bin/python3",
               "指定一个：dcuop doctor --python /usr/bin/python3"},
     .references = ""},
    {.id = "DCU402",
     .severity = Severity::note,
     .name = "no-torch",
     .title = {"This Python has no torch.", "该 Python 没有 torch。"},
     .summary = {"there is no torch", "没有 torch"},
     .cause = {"no torch: {reason}", "没有 torch：{reason}"},
     .how = {"A directory torch with version.py on sys.path.", "sys.path 上含有 version.py 的 torch 目录。"},
     .causes = {"another Python than the one that torch was installed for",
                "使用的不是安装了 torch 的那个 Python"},
     .fixes = {"name the other one: --python PATH, or activate its venv",
               "指定另一个：--python PATH，或激活其 venv"},
     .references = ""},
    {.id = "DCU403",
     .severity = Severity::error,
     .name = "torch-incomplete",
     .title = {"A torch is installed, but files of it are missing.", "已安装 torch，但缺少文件。"},
     .summary = {"the installed torch is incomplete", "已安装的 torch 不完整"},
     .cause = {"the installed torch is incomplete: {reason}", "已安装的 torch 不完整：{reason}"},
     .how = {"version.py and the libraries that `import torch` loads.",
             "version.py 以及 `import torch` 加载的库。"},
     .causes = {"an interrupted pip install or a copied directory", "pip 安装中断，或拷贝的目录"},
     .fixes = {"install it again", "重新安装"},
     .references = ""},
    {.id = "DCU404",
     .severity = Severity::note,
     .name = "torch-cpu-only",
     .title = {"The installed torch knows no GPU: tensors cannot be on a device.",
               "已安装的 torch 不支持 GPU：张量无法放到设备上。"},
     .summary = {"torch is CPU-only", "torch 仅支持 CPU"},
     .cause = {"torch {torch} is CPU-only", "torch {torch} 仅支持 CPU"},
     .how = {"torch.version.hip and torch.version.cuda are both None.",
             "torch.version.hip 与 torch.version.cuda 均为 None。"},
     .causes = {"pip took the default wheel\na build machine", "pip 装了默认 wheel\n编译机"},
     .fixes = {"install the torch of your DTK (a +das...dtk wheel) or of ROCm",
               "安装与 DTK（+das...dtk wheel）或 ROCm 配套的 torch"},
     .references = ""},
    {.id = "DCU405",
     .severity = Severity::note,
     .name = "no-hip-compiler",
     .title = {"No hipcc was found: operators cannot be built here.", "没有找到 hipcc：无法在此编译算子。"},
     .summary = {"there is no hipcc", "没有 hipcc"},
     .cause = {"no HIP compiler: {reason}", "没有 HIP 编译器：{reason}"},
     .how = {"DCUOP_HIPCC, ROCM_PATH, ROCM_HOME, HIP_PATH, PATH, /opt/dtk and /opt/rocm.",
             "DCUOP_HIPCC、ROCM_PATH、ROCM_HOME、HIP_PATH、PATH、/opt/dtk 和 /opt/rocm。"},
     .causes = {"the toolkit's environment is not loaded\na run-time image without the compiler",
                "没有加载工具包环境\n不含编译器的运行镜像"},
     .fixes = {"source /opt/dtk/env.sh\nmodule load compiler/dtk/25.04\nexport ROCM_PATH=DIR",
               "source /opt/dtk/env.sh\nmodule load compiler/dtk/25.04\nexport ROCM_PATH=DIR"},
     .references = ""},
    {.id = "DCU406",
     .severity = Severity::note,
     .name = "no-device",
     .title = {"No device is visible on this machine.", "本机没有可见设备。"},
     .summary = {"no device is visible", "没有可见设备"},
     .cause = {"no device is visible", "没有可见设备"},
     .how = {"KFD sysfs (/sys/class/kfd), then rocminfo, then nvidia-smi.",
             "KFD sysfs（/sys/class/kfd），然后 rocminfo，再 nvidia-smi。"},
     .causes =
         {"a login node or build machine\na container started without --device=/dev/kfd --device=/dev/dri "
          "(DCU: /dev/mkfd too)\nthe kernel driver is not loaded",
          "登录节点或编译机\n容器启动时没有 --device=/dev/kfd --device=/dev/dri（DCU 还需 "
          "/dev/mkfd）\n内核驱动未加载"},
     .fixes = {"on a device node: ls -l /dev/kfd /dev/dri; lsmod | grep -E 'hycu|hydcu|amdgpu'",
               "在计算节点上：ls -l /dev/kfd /dev/dri; lsmod | grep -E 'hycu|hydcu|amdgpu'"},
     .references = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html"},
    {.id = "DCU407",
     .severity = Severity::warning,
     .name = "devices-disagree",
     .title = {"Two sources say different things about the devices.", "两个来源对设备的说法不一致。"},
     .summary = {"the sources disagree about the devices", "各来源对设备的说法不一致"},
     .cause = {"{what}", "{what}"},
     .how = {"KFD sysfs against rocminfo.", "比较 KFD sysfs 与 rocminfo。"},
     .causes = {"HSA_OVERRIDE_GFX_VERSION renames the device for the runtime\na visible-devices variable "
                "hides some\n"
                "no permission for /dev/kfd or a render node",
                "HSA_OVERRIDE_GFX_VERSION 对运行时改了设备名\n可见设备变量隐藏了部分设备\n没有 /dev/kfd 或 "
                "render 节点的权限"},
     .fixes = {"unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES and look again",
               "unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES 后再看"},
     .references = ""},
    {.id = "DCU408",
     .severity = Severity::warning,
     .name = "dtk-mismatch",
     .title = {"torch was built for another DTK than the one installed.",
               "torch 所对应的 DTK 与已安装的不同。"},
     .summary = {"torch is for DTK {torch}, DTK {installed} is installed",
                 "torch 面向 DTK {torch}，安装的是 DTK {installed}"},
     .cause = {"torch is for DTK {torch}, but {root} is DTK {installed}",
               "torch 面向 DTK {torch}，而 {root} 是 DTK {installed}"},
     .how = {"The dtk tag of torch's version against .dtk_version of the toolkit.",
             "比较 torch 版本中的 dtk 标签与工具包的 .dtk_version。"},
     .causes = {"the wheel's dtk tag was not compared with the toolkit\nanother DTK's env.sh was sourced",
                "没有核对 wheel 的 dtk 标签与工具包\nsource 了另一个 DTK 的 env.sh"},
     .fixes = {"install the torch wheel whose tag is that DTK, or load that DTK",
               "安装标签与该 DTK 一致的 torch wheel，或加载对应的 DTK"},
     .references = ""},
    {.id = "DCU409",
     .severity = Severity::warning,
     .name = "gfx-override",
     .title =
         {"HSA_OVERRIDE_GFX_VERSION is set: the runtime believes in another device than the one there is.",
          "设置了 HSA_OVERRIDE_GFX_VERSION：运行时看到的不是真实设备。"},
     .summary = {"HSA_OVERRIDE_GFX_VERSION hides the real device", "HSA_OVERRIDE_GFX_VERSION 掩盖了真实设备"},
     .cause = {"{variable}={value} makes the runtime take every device for {arch}, and look for its code",
               "{variable}={value} 使运行时把所有设备当作 {arch}，并查找其代码"},
     .how =
         {"The environment variable (or HSA_OVERRIDE_GFX_VERSION_<node>, for one device) against KFD's "
          "gfx_target_version; major.minor.stepping of the processor's name. A file then needs code for the "
          "processor that the variable names: device code is judged against that one, and --arch native "
          "builds for it.",
          "比较该环境变量（或针对单个设备的 HSA_OVERRIDE_GFX_VERSION_<node>）与 KFD 的 "
          "gfx_target_version；即处理器名的 major.minor.stepping。此时文件需要该变量所指处理器的代码："
          "设备代码按它判断，--arch native 也按它编译。"},
     .causes =
         {"copied from advice for another card\nset for the whole machine, while only one card needs it",
          "照搬了针对其他卡的建议\n只有一张卡需要，却对整机设置"},
     .fixes = {"unset HSA_OVERRIDE_GFX_VERSION, and build for the chip: dcuop build OP --arch ARCH",
               "unset HSA_OVERRIDE_GFX_VERSION，并针对真实芯片编译：dcuop build OP --arch ARCH"},
     .references = "https://github.com/ROCm/legacy-rocm-build/issues/5238\n"
                   "https://github.com/ROCm/ROCR-Runtime/blob/master/libhsakmt/src/topology.c"},
    {.id = "DCU410",
     .severity = Severity::warning,
     .name = "devices-hidden",
     .title = {"A visible-devices variable hides every device from the process.",
               "某个可见设备变量对进程隐藏了所有设备。"},
     .summary = {"{variable} hides every device", "{variable} 隐藏了所有设备"},
     .cause = {"{variable}=\"{value}\" hides every device", "{variable}=\"{value}\" 隐藏了所有设备"},
     .how =
         {"The list is applied to the devices as the runtime does it: indices and GPU-<uuid>, up to the "
          "first "
          "entry that names none. ROCR_VISIBLE_DEVICES hides all when it is empty; HIP_VISIBLE_DEVICES (or "
          "CUDA_VISIBLE_DEVICES in its place) counts what that left, and an empty one hides nothing.",
          "按运行时的方式应用列表：序号和 GPU-<uuid>，到第一个不对应设备的项为止。ROCR_VISIBLE_DEVICES "
          "为空时隐藏所有设备；HIP_VISIBLE_DEVICES（或代替它的 CUDA_VISIBLE_DEVICES）在其结果上计数，"
          "为空时不隐藏。"},
     .causes = {"a scheduler that granted no device\nleft over from a CPU test",
                "调度系统没有分配设备\n做 CPU 测试时遗留"},
     .fixes = {"unset {the variable}", "unset 该变量"},
     .references = "https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html"},
    {.id = "DCU411",
     .severity = Severity::error,
     .name = "device-denied",
     .title = {"A device file is there, but this process may not open it.",
               "设备文件存在，但本进程无权打开。"},
     .summary = {"{nodes} cannot be opened", "无法打开 {nodes}"},
     .cause = {"{nodes} cannot be opened: {error}", "无法打开 {nodes}：{error}"},
     .how =
         {"/dev/kfd and the render nodes are opened as the HSA runtime does it (for /dev/mkfd access(2) is "
          "asked); owner and group by /etc/passwd and /etc/group.",
          "像 HSA 运行时那样打开 /dev/kfd 和 render 节点（/dev/mkfd 用 access(2) 询问）；属主和组取自 "
          "/etc/passwd 和 /etc/group。"},
     .causes = {"the user is not in the group (render, video)\n"
                "added to the group after this session began\n"
                "a container was given the file, and not the group: EACCES\n"
                "a container's device list does not hold it: EPERM",
                "用户不在该组（render、video）\n本次会话开始之后才加入该组\n容器得到了设备文件，但没有该组：E"
                "ACCES\n"
                "容器的设备列表不含它：EPERM"},
     .fixes = {"sudo usermod -aG render USER, and log in again\n"
               "docker run --device=/dev/kfd --device=/dev/dri --group-add GID ...",
               "sudo usermod -aG render USER，然后重新登录\n"
               "docker run --device=/dev/kfd --device=/dev/dri --group-add GID ..."},
     .references =
         "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html\n"
         "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html"},
    {.id = "DCU412",
     .severity = Severity::warning,
     .name = "device-file-missing",
     .title = {"The kernel has devices, but the file to reach them by is not here.",
               "内核中有设备，但此处没有访问它们的文件。"},
     .summary = {"{nodes} is missing", "缺少 {nodes}"},
     .cause = {"{nodes} is missing: {trace}", "缺少 {nodes}：{trace}"},
     .how = {"/sys/class/kfd, /sys/module and /sys/bus/pci, which containers see, against /dev.",
             "比较容器也能看到的 /sys/class/kfd、/sys/module、/sys/bus/pci 与 /dev。"},
     .causes = {"a container started without --device=/dev/kfd --device=/dev/dri\n"
                "a scheduler that granted no device",
                "容器启动时没有 --device=/dev/kfd --device=/dev/dri\n调度系统没有分配设备"},
     .fixes = {"docker run --device=/dev/kfd --device=/dev/dri ... (DCU: --device=/dev/mkfd too)",
               "docker run --device=/dev/kfd --device=/dev/dri ...（DCU 还需 --device=/dev/mkfd）"},
     .references = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html\n"
                   "https://github.com/HYGON-AI/hcu-container-toolkit"},
    {.id = "DCU413",
     .severity = Severity::warning,
     .name = "driver-not-loaded",
     .title = {"The kernel has no driver for AMD's or Hygon's devices.", "内核没有 AMD 或海光设备的驱动。"},
     .summary = {"{place} has no device driver", "{place}没有设备驱动"},
     .cause = {"{place} has neither amdgpu nor Hygon's driver (hycu, hydcu, hyhcu)",
               "{place}既没有 amdgpu，也没有海光驱动（hycu、hydcu、hyhcu）"},
     .how =
         {"/proc/modules and /sys/module; PCI devices of vendors 1002 and 1d94 say whether there is one to "
          "drive. In a container it is a note: the driver is the host's.",
          "/proc/modules 和 /sys/module；厂商为 1002 和 1d94 的 PCI "
          "设备说明是否有设备可驱动。在容器中只是提示：驱动属于宿主机。"},
     .causes = {"a build host or login node\nthe driver was not built for the running kernel after an update",
                "编译机或登录节点\n内核更新后没有为新内核编译驱动"},
     .fixes =
         {"sudo modprobe amdgpu, or install Hygon's driver package\ndmesg says why a driver did not start",
          "sudo modprobe amdgpu，或安装海光驱动包\n驱动为何没有启动见 dmesg"},
     .references = "https://github.com/HYGON-AI/hcu-container-toolkit"},
    {.id = "DCU414",
     .severity = Severity::warning,
     .name = "hyhal-missing",
     .title = {"A DTK is here without /opt/hyhal, the driver's half of the libraries.",
               "有 DTK，但没有驱动侧的库 /opt/hyhal。"},
     .summary = {"{what}", "{what}"},
     .cause = {"{what}, which the DTK in {root} takes the HSA runtime from",
               "{what}，而 {root} 中的 DTK 要从中取得 HSA 运行时"},
     .how = {"/opt/hyhal and /usr/local/hyhal: a directory with something in it, in a container or where "
             "/dev/kfd is.",
             "/opt/hyhal 和 /usr/local/hyhal：在容器中，或有 /dev/kfd 时，应为非空目录。"},
     .causes = {"a container started without Hygon's container toolkit and without the mount",
                "容器启动时既没有用海光容器工具，也没有挂载它"},
     .fixes = {"docker run -v /opt/hyhal:/opt/hyhal:ro ...\ninstall the driver package on the host",
               "docker run -v /opt/hyhal:/opt/hyhal:ro ...\n在宿主机上安装驱动包"},
     .references = "https://github.com/HYGON-AI/hcu-container-toolkit"},
    {.id = "DCU415",
     .severity = Severity::warning,
     .name = "toolkit-not-sourced",
     .title = {"A DTK is installed, but its environment is not loaded.", "已安装 DTK，但没有加载其环境。"},
     .summary = {"DTK's env.sh was not sourced", "没有 source DTK 的 env.sh"},
     .cause = {"DTK {version} in {root} is not in this environment",
               "{root} 中的 DTK {version} 不在当前环境中"},
     .how =
         {"None of ROCM_PATH, ROCM_HOME and HIP_PATH is set, and neither LD_LIBRARY_PATH nor /etc/ld.so.conf "
          "leads into it.",
          "ROCM_PATH、ROCM_HOME、HIP_PATH 均未设置，LD_LIBRARY_PATH 和 /etc/ld.so.conf 也不指向它。"},
     .causes = {"a shell, service or cron job that does not read the profile",
                "没有读取 profile 的 shell、服务或 cron 任务"},
     .fixes = {"source /opt/dtk/env.sh (it reads variables that may not be set: not under set -u)\n"
               "module load compiler/dtk/25.04",
               "source /opt/dtk/env.sh（它会读取可能未设置的变量：不要在 set -u 下执行）\n"
               "module load compiler/dtk/25.04"},
     .references = ""},
    {.id = "DCU416",
     .severity = Severity::warning,
     .name = "toolkits-mixed",
     .title = {"Variables of the environment lead into different toolkits, or into one that is gone.",
               "环境变量指向不同的工具包，或指向已不存在的工具包。"},
     .summary = {"{what}", "{what}"},
     .cause = {"{what}", "{what}"},
     .how =
         {"ROCM_PATH, ROCM_HOME, HIP_PATH and the entries of LD_LIBRARY_PATH and PATH, each followed to the "
          "directory that says a version (.dtk_version, .info); links resolved.",
          "ROCM_PATH、ROCM_HOME、HIP_PATH 以及 LD_LIBRARY_PATH 和 PATH 的各项，"
          "解析链接后追溯到写有版本（.dtk_version、.info）的目录。"},
     .causes = {"env.sh of one version was sourced after another's\n"
                "a module of one version in a shell that has another's\n"
                "the toolkit was updated, and the shell is older",
                "先后 source 了两个版本的 env.sh\n在已有另一版本的 shell 中加载 module\n工具包已更新，而 "
                "shell 是旧的"},
     .fixes = {"start a new shell and load one of them", "新开一个 shell，只加载其中一个"},
     .references = ""},
    {.id = "DCU417",
     .severity = Severity::warning,
     .name = "runtime-twice",
     .title = {"One process would hold two copies of a runtime library.",
               "同一进程会加载某个运行时库的两份。"},
     .summary = {"{library} would be loaded {count} times", "{library} 会被加载 {count} 次"},
     .cause = {"{library} would be loaded from {count} files", "{library} 会从 {count} 个文件加载"},
     .how =
         {"The files that Python, torch and this file load, by the stem of their SONAME; HIP, HSA and ROCm "
          "libraries.",
          "Python、torch 和此文件所加载的文件，按 SONAME 主干归并；仅 HIP、HSA 和 ROCm 的库。"},
     .causes =
         {"a torch wheel brings libamdhip64, and the file is linked to the system's\n"
          "LD_LIBRARY_PATH leads to another version than the file's RUNPATH",
          "torch wheel 自带 libamdhip64，而文件链接到系统的\nLD_LIBRARY_PATH 与文件的 RUNPATH 指向不同版本"},
     .fixes = {"build it against the torch that loads it: dcuop build OP\n"
               "take the toolkit's directory out of LD_LIBRARY_PATH",
               "针对加载它的 torch 编译：dcuop build OP\n从 LD_LIBRARY_PATH 中去掉该工具包目录"},
     .references = "https://github.com/pytorch/pytorch/issues/141014\n"
                   "https://github.com/pytorch/pytorch/issues/186516"},
    {.id = "DCU418",
     .severity = Severity::error,
     .name = "gfx-override-invalid",
     .title = {"HSA_OVERRIDE_GFX_VERSION is no version: the runtime does not start with it.",
               "HSA_OVERRIDE_GFX_VERSION 不是版本：运行时无法启动。"},
     .summary = {"{variable} is no version", "{variable} 不是版本"},
     .cause = {"{variable}=\"{value}\" is no version: the HSA runtime finds no device with it",
               "{variable}=\"{value}\" 不是版本：HSA 运行时因此找不到设备"},
     .how =
         {"Read as libhsakmt does it: three numbers with dots, nothing behind them; minor and stepping are "
          "hexadecimal digits of the processor's name. An empty value is none either.",
          "按 libhsakmt 的方式读取：以点分隔的三个数，后面没有别的；minor 和 stepping "
          "是处理器名中的十六进制数字。空值也不是版本。"},
     .causes = {"the processor's name instead of its version (gfx1030)\ntwo numbers (10.3)",
                "写成了处理器名（gfx1030）而不是版本\n只写了两个数（10.3）"},
     .fixes = {"unset HSA_OVERRIDE_GFX_VERSION, or export HSA_OVERRIDE_GFX_VERSION=10.3.0",
               "unset HSA_OVERRIDE_GFX_VERSION，或 export HSA_OVERRIDE_GFX_VERSION=10.3.0"},
     .references = "https://github.com/ROCm/ROCR-Runtime/blob/master/libhsakmt/src/topology.c"},
    {.id = "DCU419",
     .severity = Severity::warning,
     .name = "visible-device-unknown",
     .title = {"A visible-devices variable names a device that does not exist.",
               "某个可见设备变量指定了不存在的设备。"},
     .summary = {"{variable} names a device that does not exist", "{variable} 指定了不存在的设备"},
     .cause = {"{variable}=\"{value}\": entry \"{entry}\" names none of {count} devices",
               "{variable}=\"{value}\"：{count} 个设备中没有 \"{entry}\""},
     .how = {"As for DCU410: indices and GPU-<uuid> against KFD's topology (unique_id), and what an earlier "
             "variable left.",
             "同 DCU410：序号和 GPU-<uuid> 与 KFD 拓扑（unique_id）及前一变量的结果比较。"},
     .causes = {"indices of the host inside a container that has fewer devices\n"
                "HIP_VISIBLE_DEVICES counts what ROCR_VISIBLE_DEVICES left, from 0 again",
                "容器中设备较少，却用了宿主机的序号\nHIP_VISIBLE_DEVICES 在 ROCR_VISIBLE_DEVICES 的结果上从 "
                "0 重新计数"},
     .fixes = {"dcuop env lists the devices; set one of the two variables, not both",
               "dcuop env 会列出设备；两个变量只设一个"},
     .references = "https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html"},
    {.id = "DCU420",
     .severity = Severity::error,
     .name = "older-libstdcxx-wins",
     .title =
         {"The process has an older libstdc++ than the file needs, while a newer one is on this machine.",
          "进程中的 libstdc++ 比文件所需的旧，而本机另有较新的。"},
     .summary = {"an older libstdc++ is loaded first", "先加载了较旧的 libstdc++"},
     .cause = {"{winner} is loaded and has no {versions}; {better} has",
               "已加载 {winner}，它没有 {versions}；{better} 有"},
     .how =
         {"What the interpreter and torch have loaded counts first, then the loader's search; "
          ".gnu.version_r of the file against .gnu.version_d of each copy. A directory with conda-meta above "
          "it is conda's.",
          "先看解释器和 torch 已加载的，再看加载器的查找顺序；比较文件的 .gnu.version_r 与每份拷贝的 "
          ".gnu.version_d。上层目录有 conda-meta 的属于 conda。"},
     .causes = {"conda's libstdc++ is older than the compiler that built the file\n"
                "LD_LIBRARY_PATH leads to an old toolchain's libraries",
                "conda 的 libstdc++ 比编译该文件的编译器旧\nLD_LIBRARY_PATH 指向旧工具链的库"},
     .fixes = {"conda install -c conda-forge libstdcxx-ng\n"
               "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6 python ...\n"
               "build with conda's own compiler: conda install -c conda-forge gxx",
               "conda install -c conda-forge libstdcxx-ng\n"
               "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6 python ...\n"
               "用 conda 自己的编译器编译：conda install -c conda-forge gxx"},
     .references = "https://github.com/shader-slang/slang-torch/issues/7\n"
                   "https://github.com/pytorch/pytorch/issues/115138"},
    {.id = "DCU421",
     .severity = Severity::error,
     .name = "address-space-limit",
     .title = {"The limit on a process' address space is smaller than what the file and its libraries map.",
               "进程地址空间的限制小于文件及其库所需映射的大小。"},
     .summary = {"the address space is limited to {limit}", "地址空间限制为 {limit}"},
     .cause = {"the address space is limited to {limit}, Python, torch and the file map at least {needed}",
               "地址空间限制为 {limit}，而 Python、torch 和此文件至少要映射 {needed}"},
     .how =
         {"Max address space of /proc/self/limits (RLIMIT_AS, ulimit -v) against the segments of all files "
          "that the process loads; heap, stacks and what a device driver reserves come on top.",
          "比较 /proc/self/limits 的 Max address space（RLIMIT_AS，ulimit "
          "-v）与进程加载的所有文件的段；堆、栈和设备驱动保留的空间另计。"},
     .causes = {"ulimit -v in a profile or a job script\na scheduler that limits virtual memory",
                "profile 或作业脚本中的 ulimit -v\n调度系统限制了虚拟内存"},
     .fixes = {"ulimit -v unlimited\nask the scheduler for memory, not for virtual memory",
               "ulimit -v unlimited\n向调度系统申请内存，而不是虚拟内存"},
     .references = "https://github.com/pytorch/pytorch/issues/16558"},
    {.id = "DCU422",
     .severity = Severity::error,
     .name = "torch-shadowed",
     .title = {"The loader takes another libtorch than the one that lies in the imported torch.",
               "加载器取用的 libtorch 不是所导入的 torch 自带的。"},
     .summary = {"another libtorch is loaded in the place of torch's own",
                 "加载的不是 torch 自带的 libtorch"},
     .cause = {"{taken} is loaded in the place of {own}{lack}", "加载了 {taken}，而不是 {own}{lack}"},
     .how = {"What torch._C and libtorch_global_deps.so lead to, resolved as the loader does it, against "
             "torch/lib; "
             "files of one build id are one library.",
             "按加载器的方式解析 torch._C 和 libtorch_global_deps.so 所指向的库，与 torch/lib 比较；build id "
             "相同的文件是同一个库。"},
     .causes = {"LD_LIBRARY_PATH leads into a downloaded libtorch or another environment's torch",
                "LD_LIBRARY_PATH 指向下载的 libtorch 或其他环境的 torch"},
     .fixes = {"take that directory out of LD_LIBRARY_PATH", "从 LD_LIBRARY_PATH 中去掉该目录"},
     .references = "https://github.com/pytorch/pytorch/issues/62650"},
    {.id = "DCU423",
     .severity = Severity::error,
     .name = "comgr-missing",
     .title = {"DTK's HIP runtime opens libamd_comgr by name, and it is nowhere.",
               "DTK 的 HIP 运行时按名称打开 libamd_comgr，但它不存在。"},
     .summary = {"libamd_comgr, which {runtime} opens, is missing", "缺少 {runtime} 要打开的 libamd_comgr"},
     .cause = {"libamd_comgr.so is neither in {root} nor on the loader's path; {runtime} opens it by name",
               "{root} 和加载路径中都没有 libamd_comgr.so；{runtime} 按名称打开它"},
     .how = {"The toolkit's library directories, LD_LIBRARY_PATH and the default ones; no DT_NEEDED tells of "
             "it.",
             "查看工具包的库目录、LD_LIBRARY_PATH 和默认目录；DT_NEEDED 中没有它。"},
     .causes = {"a DTK of which only a part was copied into an image", "镜像中只拷入了 DTK 的一部分"},
     .fixes = {"install the whole DTK, with dcc/comgr/lib", "安装完整的 DTK，包括 dcc/comgr/lib"},
     .references = ""},
    {.id = "DCU424",
     .severity = Severity::error,
     .name = "rocblas-without-arch",
     .title = {"rocBLAS has no kernel files for the device.", "rocBLAS 没有该设备的核函数文件。"},
     .summary = {"its rocBLAS has no kernels for {device}", "它的 rocBLAS 没有 {device} 的核函数"},
     .cause = {"{directory} has no TensileLibrary of rocBLAS for {device}",
               "{directory} 中没有 rocBLAS 面向 {device} 的 TensileLibrary"},
     .how =
         {"Names of the TensileLibrary files beside librocblas (or in ROCBLAS_TENSILE_LIBPATH) against the "
          "devices.",
          "将 librocblas 旁（或 ROCBLAS_TENSILE_LIBPATH 中）TensileLibrary 文件的名称与设备比较。"},
     .causes = {"a card that this ROCm does not support\nkernel files of another package version",
                "该 ROCm 不支持这张卡\n核函数文件来自其他版本的软件包"},
     .fixes = {"install a rocBLAS that supports the device", "安装支持该设备的 rocBLAS"},
     .references = "https://github.com/ROCm/legacy-rocm-build/issues/2719\n"
                   "https://github.com/ROCm/rocBLAS/issues/1331"},
};

} // namespace

std::vector<Rule> environment_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
