// DCU90x: what a binding demands of its tensors.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU901",
     .severity = Severity::error,
     .name = "binding-device-unchecked",
     .title = {"A tensor's memory goes to a kernel, and nothing has looked at which device it is on.",
               "张量的内存被传给核函数，而没有检查它在哪个设备上。"},
     .summary = {"{function} does not check the device of {tensor} before it launches",
                 "{function} 在启动核函数之前没有检查 {tensor} 所在的设备"},
     .cause = {"{at}: {function} does not check the device of {tensor} before it launches",
               "{at}：{function} 在启动核函数之前没有检查 {tensor} 所在的设备"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"a CPU tensor, or one of another kind of device, is given: the kernel faults, and the "
                "process is lost",
                "传入 CPU 张量或其他种类设备的张量：核函数访问非法地址，进程随之终止"},
     .fixes = {"TORCH_CHECK(x.is_cuda(), ...) before the launch (a HIP torch calls its devices cuda)\na "
               "helper that is called for every tensor",
               "在启动之前加 TORCH_CHECK(x.is_cuda(), ...)（HIP 版 torch 把设备称为 "
               "cuda）\n用一个辅助函数检查每个张量"},
     .references = "https://pytorch.org/tutorials/advanced/cpp_extension.html",
     .bad = R"(at::Tensor f(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  launch(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
})",
     .good = R"(at::Tensor f(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "f: x must be on a DCU device, got ", x.device());
  at::Tensor y = at::empty_like(x);
  launch(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
})"},
    {.id = "DCU902",
     .severity = Severity::error,
     .name = "binding-dtype-unchecked",
     .title = {"A tensor's memory is taken for one type, and nothing has looked at its dtype.",
               "张量的内存被当作某一类型使用，而没有检查它的 dtype。"},
     .summary = {"{function} does not check the dtype of {tensor} before it launches",
                 "{function} 在启动核函数之前没有检查 {tensor} 的 dtype"},
     .cause = {"{at}: {function} does not check the dtype of {tensor} before it launches",
               "{at}：{function} 在启动核函数之前没有检查 {tensor} 的 dtype"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"data_ptr() without a type is cast, and a tensor of another dtype is read as what it is not",
                "不带类型的 data_ptr() 被强制转换，其他 dtype 的张量被误读"},
     .fixes = {"TORCH_CHECK(x.scalar_type() == at::kHalf, ...), or data_ptr<T>(), which "
               "compares\nAT_DISPATCH_FLOATING_TYPES for several",
               "TORCH_CHECK(x.scalar_type() == at::kHalf, ...)，或使用会做比较的 "
               "data_ptr<T>()\n支持多种类型时用 AT_DISPATCH_FLOATING_TYPES"},
     .references = "https://pytorch.org/tutorials/advanced/cpp_extension.html",
     .bad = R"(launch(static_cast<const __half*>(x.data_ptr()), x.numel(), stream);)",
     .good = R"(TORCH_CHECK(x.scalar_type() == at::kHalf, "f: x must be float16, got ", x.scalar_type());
launch(static_cast<const __half*>(x.data_ptr()), x.numel(), stream);)"},
    {.id = "DCU903",
     .severity = Severity::error,
     .name = "binding-contiguity-unchecked",
     .title = {"A kernel walks through a tensor as if it were contiguous, and nothing has looked at that.",
               "核函数按连续内存访问张量，而没有检查它是否连续。"},
     .summary = {"{function} neither checks that {tensor} is contiguous nor reads its strides",
                 "{function} 既没有检查 {tensor} 是否连续，也没有读取它的步长"},
     .cause = {"{at}: {function} neither checks that {tensor} is contiguous nor reads its strides",
               "{at}：{function} 既没有检查 {tensor} 是否连续，也没有读取它的步长"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"x.t(), a slice or an expanded tensor is given: the results are wrong, and nothing fails",
                "传入 x.t()、切片或 expand 得到的张量：结果错误，但不报错"},
     .fixes = {"TORCH_CHECK(x.is_contiguous(), ...) before the launch\nor give the kernel the strides",
               "在启动之前加 TORCH_CHECK(x.is_contiguous(), ...)\n或把步长传给核函数"},
     .references = "https://pytorch.org/docs/stable/tensor_view.html",
     .bad = R"(TORCH_CHECK(x.is_cuda());
launch(x.data_ptr<float>(), x.numel(), stream);)",
     .good = R"(TORCH_CHECK(x.is_cuda());
TORCH_CHECK(x.is_contiguous(), "f: x must be contiguous");
launch(x.data_ptr<float>(), x.numel(), stream);)"},
    {.id = "DCU904",
     .severity = Severity::warning,
     .name = "binding-sizes-unchecked",
     .title = {"A tensor's memory goes to a kernel, and its sizes are never looked at.",
               "张量的内存被传给核函数，而从未查看它的尺寸。"},
     .summary = {"{function} never looks at the sizes of {tensor}", "{function} 从未查看 {tensor} 的尺寸"},
     .cause = {"{at}: {function} never looks at the sizes of {tensor}",
               "{at}：{function} 从未查看 {tensor} 的尺寸"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"a tensor that is smaller than another is read behind its end",
                "比另一个张量小的张量被越界读取"},
     .fixes = {"TORCH_CHECK(b.sizes() == a.sizes(), ...) before the launch",
               "在启动之前加 TORCH_CHECK(b.sizes() == a.sizes(), ...)"},
     .references = "https://pytorch.org/tutorials/advanced/cpp_extension.html",
     .bad = R"(launch(a.data_ptr<float>(), b.data_ptr<float>(), a.numel());)",
     .good = R"(TORCH_CHECK(b.sizes() == a.sizes(), "add: b must have the sizes of a");
launch(a.data_ptr<float>(), b.data_ptr<float>(), a.numel());)"},
    {.id = "DCU905",
     .severity = Severity::warning,
     .name = "binding-devices-not-compared",
     .title = {"Two tensors go to one launch, and nothing has compared their devices.",
               "两个张量传给同一次启动，而没有比较它们所在的设备。"},
     .summary = {"{function} does not check that {tensor} is on the same device as the other tensors",
                 "{function} 没有检查 {tensor} 与其他张量在同一设备上"},
     .cause = {"{at}: {function} does not check that {tensor} is on the same device as the other tensors",
               "{at}：{function} 没有检查 {tensor} 与其他张量在同一设备上"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"one tensor is on cuda:0 and one on cuda:1: the kernel faults, or is slow where peers can be "
                "reached",
                "一个张量在 cuda:0，另一个在 cuda:1：核函数出错，或在可互访时变慢"},
     .fixes = {"TORCH_CHECK(b.device() == a.device(), ...)", "TORCH_CHECK(b.device() == a.device(), ...)"},
     .references = "https://pytorch.org/tutorials/advanced/cpp_extension.html",
     .bad = R"(TORCH_CHECK(a.is_cuda() && b.is_cuda());)",
     .good = R"(TORCH_CHECK(a.is_cuda());
TORCH_CHECK(b.device() == a.device(), "add: b must be on the device of a");)"},
    {.id = "DCU906",
     .severity = Severity::warning,
     .name = "binding-alias-unchecked",
     .title =
         {"A kernel writes to one argument while it reads another, and nothing has compared their memory.",
          "核函数一边写某个参数一边读另一个参数，而没有比较它们的内存。"},
     .summary = {"{function} writes to {tensor}, and does not check that the other tensors lie elsewhere",
                 "{function} 写入 {tensor}，而没有检查其他张量是否位于别处"},
     .cause = {"{at}: {function} writes to {tensor}, and does not check that the other tensors lie elsewhere",
               "{at}：{function} 写入 {tensor}，而没有检查其他张量是否位于别处"},
     .how = {"Read from the sources: for each tensor parameter whose memory goes to a launch, what is asked "
             "of it before that launch, helper functions and macros of the operator's directory included.",
             "从源码读取：对每个内存会传给核函数启动的张量参数，查看启动之前对它做了哪些检查，包括算子目录中"
             "的辅助函数和宏。"},
     .causes = {"f(a, a[1:]): elements are read after they were overwritten",
                "f(a, a[1:])：元素在被覆盖之后才被读取"},
     .fixes = {"at::assert_no_overlap(out, x), or compare the ranges of data_ptr()",
               "at::assert_no_overlap(out, x)，或比较 data_ptr() 的范围"},
     .references = "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/MemoryOverlap.h",
     .bad = R"(void f_(at::Tensor out, const at::Tensor& x) {
  launch(out.data_ptr<float>(), x.data_ptr<float>(), x.numel());
})",
     .good = R"(void f_(at::Tensor out, const at::Tensor& x) {
  at::assert_no_overlap(out, x);
  launch(out.data_ptr<float>(), x.data_ptr<float>(), x.numel());
})"},
    {.id = "DCU907",
     .severity = Severity::warning,
     .name = "hidden-conversion",
     .title = {"The binding converts or copies a tensor instead of refusing it.",
               "绑定代码悄悄转换或复制张量，而不是拒绝它。"},
     .summary = {"{function} calls .{call}() on {tensor}: a copy that the caller does not see",
                 "{function} 对 {tensor} 调用 .{call}()：调用者看不到的一次复制"},
     .cause = {"{at}: {function} calls .{call}() on {tensor}: a copy that the caller does not see",
               "{at}：{function} 对 {tensor} 调用 .{call}()：调用者看不到的一次复制"},
     .how = {"Calls of .contiguous(), .to(), .float() and the like on a tensor parameter before the launch.",
             "启动之前对张量参数调用 .contiguous()、.to()、.float() 等。"},
     .causes = {"every call pays for another kernel and for memory, and a benchmark measures it; a target "
                "that is written is lost with the copy",
                "每次调用都多一个核函数和一份内存，基准测试会把它算进去；若写入的是副本，结果会丢失"},
     .fixes = {"TORCH_CHECK(x.is_contiguous(), ...) and let the caller convert",
               "改为 TORCH_CHECK(x.is_contiguous(), ...)，由调用者转换"},
     .references = "",
     .bad = R"(const at::Tensor packed = x.contiguous();)",
     .good = R"(TORCH_CHECK(x.is_contiguous(), "f: x must be contiguous; call x.contiguous() first");)"},
    {.id = "DCU908",
     .severity = Severity::error,
     .name = "data-ptr-type",
     .title = {"data_ptr() is taken as a type that the tensor cannot have.",
               "data_ptr() 的类型与张量可能的类型不符。"},
     .summary = {"{function} takes the data of {tensor} as {type}, wanted is {wanted}",
                 "{function} 把 {tensor} 的数据当作 {type}，应为 {wanted}"},
     .cause = {"{at}: {function} takes the data of {tensor} as {type}, wanted is {wanted}",
               "{at}：{function} 把 {tensor} 的数据当作 {type}，应为 {wanted}"},
     .how = {"The type of data_ptr<T>() or of its cast, against the dtype that a TORCH_CHECK of the same "
             "function demands.",
             "将 data_ptr<T>() 或其强制转换的类型，与同一函数中 TORCH_CHECK 要求的 dtype 比较。"},
     .causes = {"a check was changed and the pointer was not\ndata_ptr<__half>(), which torch does not "
                "define: the library does not load (undefined symbol)",
                "改了检查却没改指针\ndata_ptr<__half>() 在 torch 中没有定义：库无法加载（未定义符号）"},
     .fixes = {"data_ptr<at::Half>() for at::kHalf, and reinterpret_cast<__half*> of that for the kernel",
               "at::kHalf 用 data_ptr<at::Half>()，再用 reinterpret_cast<__half*> 传给核函数"},
     .references = "https://pytorch.org/tutorials/advanced/cpp_extension.html",
     .bad = R"(TORCH_CHECK(x.scalar_type() == at::kHalf);
launch(x.data_ptr<float>(), x.numel());)",
     .good = R"(TORCH_CHECK(x.scalar_type() == at::kHalf);
launch(reinterpret_cast<const __half*>(x.data_ptr<at::Half>()), x.numel());)"},
};

} // namespace

std::vector<Rule> binding_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
