// DCU99x: what was not read, and what the sources allow.
#include <iterator>

#include "rules.hpp"

namespace dcuop::finding {

namespace {

constexpr Rule table[] = {
    {.id = "DCU990",
     .severity = Severity::warning,
     .name = "allowance-without-reason",
     .title = {"A comment allows a finding and does not say why.", "注释允许了一个问题，但没有说明原因。"},
     .summary = {"{rules} is allowed without a reason, so the finding stays",
                 "允许 {rules} 而没有原因，因此该问题保留"},
     .cause = {"{at}: {rules} is allowed without a reason, so the finding stays",
               "{at}：允许 {rules} 而没有原因，因此该问题保留"},
     .how = {"Comments of the form // dcuop: allow(RULE) reason.",
             "形如 // dcuop: allow(RULE) 原因 的注释。"},
     .causes = {"the reason was left for later", "原因留待以后补充"},
     .fixes = {"// dcuop: allow(DCU914) the size is known on the device alone",
               "// dcuop: allow(DCU914) 该尺寸只有设备知道"},
     .references = "",
     .bad = R"(hipStreamSynchronize(stream); // dcuop: allow(DCU914))",
     .good =
         R"(hipStreamSynchronize(stream); // dcuop: allow(DCU914) the count is known on the device alone)"},
    {.id = "DCU991",
     .severity = Severity::warning,
     .name = "allowance-unused",
     .title = {"A comment allows what is not found.", "注释允许的问题并不存在。"},
     .summary = {"{rules} is allowed, and nothing of the kind was found there",
                 "允许了 {rules}，但该处没有发现此问题"},
     .cause = {"{at}: {rules} is allowed, and nothing of the kind was found there",
               "{at}：允许了 {rules}，但该处没有发现此问题"},
     .how = {"Comments that allow something and match no finding on their line, or on the next when they "
             "stand alone.",
             "允许某个问题的注释，与本行（独占一行时为下一行）的任何问题都不匹配。"},
     .causes = {"the fault was mended, or the code has moved", "问题已修复，或代码移动了位置"},
     .fixes = {"remove the comment", "删除该注释"},
     .references = "",
     .bad = R"(int n = count(x);  // dcuop: allow(DCU914) the count is known on the device alone)",
     .good = R"(int n = count(x);)"},
    {.id = "DCU992",
     .severity = Severity::note,
     .name = "source-not-understood",
     .title = {"A part of a source was not read, so nothing is said of it.",
               "源码的一部分没有被读懂，因此对它不作判断。"},
     .summary = {"{what}", "{what}"},
     .cause = {"{at}: {what}", "{at}：{what}"},
     .how =
         {"Parts that the parser could not place, #if branches that no configuration reaches, files that are "
          "no text, calls that are nested too deep to follow. A warning from 5 % of a file's bytes on.",
          "解析器无法归类的部分、没有配置可到达的 #if "
          "分支、不是文本的文件、嵌套过深而无法跟踪的调用。超过文件字节的 5 % "
          "时为警告。"},
     .causes = {"macros that stand for statements or declarations; syntax that is newer than the parser",
                "代表语句或声明的宏；比解析器更新的语法"},
     .fixes = {"nothing, or write the macro as a function", "无需处理，或把宏改写为函数"},
     .references = "https://github.com/tree-sitter/tree-sitter-cpp",
     .bad = R"(#define KERNEL(name) __global__ void name
KERNEL(scale)(float* x) BEGIN x[0] = 1; END)",
     .good = R"(__global__ void scale(float* x) {
  x[0] = 1;
})"},
    {.id = "DCU993",
     .severity = Severity::note,
     .name = "allowance-not-understood",
     .title = {"A comment looks like an allowance and is none, so it allows nothing.",
               "注释看似允许某个问题，但写法不对，因此不起作用。"},
     .summary = {"{what}", "{what}"},
     .cause = {"{at}: {what}", "{at}：{what}"},
     .how = {"Comments that begin with dcuop: and a word like allow, without parentheses or with names that "
             "are no rules.",
             "以 dcuop: 和类似 allow 的词开头、但缺少括号或规则名不存在的注释。"},
     .causes = {"a slip of the pen, or a rule that another version has", "笔误，或规则属于其他版本"},
     .fixes = {"// dcuop: allow(RULE) reason; `dcuop rule` lists the rules",
               "// dcuop: allow(RULE) 原因；`dcuop rule` 列出所有规则"},
     .references = "",
     .bad = R"(hipStreamSynchronize(stream); // dcuop: alow(DCU914) the count is known on the device alone)",
     .good =
         R"(hipStreamSynchronize(stream); // dcuop: allow(DCU914) the count is known on the device alone)"},
};

} // namespace

std::vector<Rule> reading_rules() {
  return {std::begin(table), std::end(table)};
}

} // namespace dcuop::finding
