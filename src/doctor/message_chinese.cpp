// From the message catalogues, which differ by release: gcc (po/zh_CN.po), binutils (ld/po/zh_CN.po), glibc
// (po/zh_CN.po) and bash (po/zh_CN.po). Clang, hipcc, ninja and Python have none.
#include "message_chinese.hpp"

#include <algorithm>
#include <array>

namespace dcuop::doctor {
namespace {

constexpr auto none = std::string::npos;

struct Phrase {
  std::string_view chinese, english;
};
// Longer ones first where one holds another.
constexpr std::array phrases = {
    Phrase{"致命错误", "fatal error"},
    Phrase{"编译器内部错误", "internal compiler error"},
    Phrase{"符号查询错误", "symbol lookup error"},
    Phrase{"载入共享库时出错", "error while loading shared libraries"},
    Phrase{"加载共享库时出错", "error while loading shared libraries"},
    Phrase{"无法打开共享对象文件", "cannot open shared object file"},
    Phrase{"无法打开共享目标文件", "cannot open shared object file"},
    Phrase{"无法从共享目标中映射段", "failed to map segment from shared object"},
    Phrase{"无法从共享对象中映射段", "failed to map segment from shared object"},
    Phrase{"无法在静态 TLS 块中分配内存", "cannot allocate memory in static TLS block"},
    Phrase{"无法启用共享目标需要的执行栈", "cannot enable executable stack as shared object requires"},
    Phrase{"无效的 ELF 头", "invalid ELF header"},
    Phrase{"错误的 ELF 类", "wrong ELF class"},
    Phrase{"文件过短", "file too short"},
    Phrase{"没有那个文件或目录", "No such file or directory"},
    Phrase{"没有该文件或目录", "No such file or directory"},
    Phrase{"权限不够", "Permission denied"},
    Phrase{"设备上没有空间", "No space left on device"},
    Phrase{"未定义的符号", "undefined symbol"},
    Phrase{"未定义符号", "undefined symbol"},
    Phrase{"未找到命令", "command not found"},
    Phrase{"找不到命令", "command not found"},
    Phrase{"ld 返回 ", "ld returned "},
    Phrase{"找不到 -l", "cannot find -l"},
    Phrase{"段错误", "Segmentation fault"},
    Phrase{"总线错误", "Bus error"},
    Phrase{"非法指令", "Illegal instruction"},
    Phrase{"核心已转储", "core dumped"},
    Phrase{"已放弃", "Aborted"},
    Phrase{"已杀死", "Killed"},
    Phrase{"错误：", "error: "},
    Phrase{"错误: ", "error: "},
};

bool replace_all(std::string& text, std::string_view from, std::string_view to) {
  bool found = false;
  for (auto at = text.find(from); at != none; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    found = true;
  }
  return found;
}

/// ld: "对'f'未定义的引用", "对 'f' 未定义的引用": the name stands in the midst.
bool turn_reference(std::string& text) {
  constexpr std::string_view mark = "未定义的引用", towards = "对";
  const auto end = text.find(mark);
  const auto begin = end == none ? none : text.rfind(towards, end);
  if (begin == none) {
    return false;
  }
  auto name = text.substr(begin + towards.size(), end - begin - towards.size());
  std::erase(name, ' ');
  text.replace(begin, end + mark.size() - begin, "undefined reference to " + name);
  return true;
}

} // namespace

std::string in_english(std::string_view line) {
  std::string text(line);
  if (std::none_of(line.begin(), line.end(),
                   [](char byte) { return static_cast<unsigned char>(byte) >= 0xE4; })) {
    return text; // no byte that begins a Chinese character
  }
  bool known = turn_reference(text);
  for (const auto& [chinese, english] : phrases) {
    known = replace_all(text, chinese, english) || known;
  }
  if (!known) {
    return std::string(line);
  }
  replace_all(text, "：", ": ");
  replace_all(text, "（", " (");
  replace_all(text, "）", ")");
  replace_all(text, ":  ", ": ");
  return text;
}

} // namespace dcuop::doctor
