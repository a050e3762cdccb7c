#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "../../../src/doctor/message_lines.hpp"
#include "../../../src/doctor/message_scan.hpp"
#include "clinic.hpp"

#include "dcuop/doctor/message.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

MessageText message(const std::string& text, std::size_t limit = std::size_t{1} << 20) {
  std::istringstream stream(text);
  return read_message(stream, limit);
}
MessageScan scan(const std::string& text) {
  return scan_message(message(text));
}

TEST(PlainLine, TakesColoursAndQuotesOff) {
  EXPECT_EQ(plain_line("\x1b[1;31mImportError\x1b[0m: \x1b]8;;http://x\x1b\\k.so\x1b]8;;\a"),
            "ImportError: k.so");
  EXPECT_EQ(plain_line("version `A' \xE2\x80\x98"
                       "B\xE2\x80\x99 \xE2\x80\x9C"
                       "C\xE2\x80\x9D"),
            "version 'A' 'B' \"C\"");
  EXPECT_EQ(plain_line("\xE2\x94\x82 x \xE2\x95\xAF"), "  x");
  EXPECT_EQ(plain_line("ab\bc\a\x7f"), "ac");
  EXPECT_EQ(plain_line("\xC2\x9B"
                       "31mx"),
            "31mx");
  EXPECT_EQ(plain_line("\x1b["), "");
  EXPECT_LE(plain_line(std::string(1 << 20, 'x')).size(), 17000U);
}

TEST(TakeRank, KnowsLaunchers) {
  const auto rank = [](std::string line) {
    auto found = take_rank(line);
    return found + "|" + line;
  };
  EXPECT_EQ(rank("[rank3]: x"), "rank3|x");
  EXPECT_EQ(rank("[rank3]:x"), "rank3|x");
  EXPECT_EQ(rank("12: x"), "12|x");
  EXPECT_EQ(rank("[1,3]<stderr>:x"), "1,3|x");
  EXPECT_EQ(rank("[default7]:x"), "default7|x");
  EXPECT_EQ(rank("3: [rank3]: x"), "rank3|x");
  EXPECT_EQ(rank("(EngineCore_0 pid=12, ip=10.0.0.1) x"), "EngineCore_0 pid=12, ip=10.0.0.1|x");
  EXPECT_EQ(rank("worker-1  | 0: x"), "0|x");
  EXPECT_EQ(rank("E   ImportError: x"), "|ImportError: x");
  EXPECT_EQ(rank("[1/2] hipcc"), "|[1/2] hipcc");
  EXPECT_EQ(rank("x: y"), "|x: y");
}

TEST(Scan, TakesTheFirstCauseNotTheLastConsequence) {
  const auto found = scan("[1/2] hipcc -c op.hip\n"
                          "FAILED: op.o\n"
                          "op.hip:3:10: fatal error: 'cuda.h' file not found\n"
                          "op.hip:9:1: error: unknown type name 'x'\n"
                          "ninja: build stopped: subcommand failed.\n"
                          "RuntimeError: Error building extension 'op'\n"
                          "ImportError: /c/torch_extensions/op/op.so: cannot open shared object file: No "
                          "such file or directory\n");
  ASSERT_FALSE(found.clues.empty());
  EXPECT_EQ(found.clues.front().rule, "DCU708");
  EXPECT_EQ(found.clues.front().line, 3U);
  EXPECT_EQ(found.clues.back().rule, "DCU722");
  EXPECT_THAT(found.last_error, HasSubstr("ImportError"));
}

TEST(Scan, PrefersACauseToAnEarlierHint) {
  const auto found = scan(
      "No module named 'triton', going on\nBus error\nRuntimeError: HIP error: invalid device function\n");
  EXPECT_EQ(found.clues.front().rule, "DCU702");
  EXPECT_EQ(scan("No module named 'triton'\n").clues.front().rule, "DCU717");
}

TEST(Scan, ReadsTheToolsInChinese) {
  struct Said {
    const char *text, *rule, *name;
  };
  for (const auto& said : {
           Said{"b.cpp:2:10: 致命错误：cuda_runtime.h：没有那个文件或目录\n编译中断。\n", "DCU708",
                "cuda_runtime.h"},
           Said{"b.cpp:2:10: 致命错误: cuda.h: 没有那个文件或目录\n", "DCU708", "cuda.h"},
           Said{"/usr/bin/ld: 找不到 -lc10_hip: 没有那个文件或目录\ncollect2: 错误：ld 返回 1\n", "DCU712",
                "-lc10_hip"},
           Said{"b.cpp:(.text+0x5)：对‘hipLaunchKernel’未定义的引用\n", "DCU712", "hipLaunchKernel"},
           Said{"b.cpp:3:1: 错误：‘foo’在此作用域中尚未声明\nninja: build stopped: subcommand failed.\n",
                "DCU707", ""},
           Said{"ImportError: libgalaxyhip.so.5: 无法打开共享对象文件: 没有那个文件或目录\n", "DCU201",
                "libgalaxyhip.so.5"},
           Said{"run.sh: 行 3:  4121 段错误               （核心已转储） python train.py\n", "DCU720", ""},
           Said{"bash: hipcc: 未找到命令\n", "DCU711", "hipcc"},
       }) {
    const auto found = scan(said.text);
    ASSERT_FALSE(found.clues.empty()) << said.text;
    EXPECT_EQ(found.clues.front().rule, said.rule) << said.text;
    EXPECT_EQ(found.clues.front().name, said.name) << said.text;
    EXPECT_EQ(found.clues.front().line, 1U) << said.text;
  }
  // The evidence is what was said.
  EXPECT_EQ(scan("b.cpp:2:10: 致命错误：cuda.h：没有那个文件或目录\n").clues.front().says,
            "b.cpp:2:10: 致命错误：cuda.h：没有那个文件或目录");
  EXPECT_THAT(scan("错误：导入失败\n完成\n").clues, IsEmpty());
  EXPECT_EQ(scan("错误：导入失败\n完成\n").last_error, "错误：导入失败");
}

TEST(Scan, DoesNotTakeAWarningForWhatEndedTheProgram) {
  const std::string warning =
      "UserWarning: Failed to load image Python extension: libtorch_hip.so: cannot open shared "
      "object file: No such file or directory\n";
  const std::string traceback = "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n";
  const auto other = scan(warning + traceback + "KeyError: 'weights'\n");
  EXPECT_THAT(other.clues, IsEmpty());
  ASSERT_EQ(other.passed_over.size(), 1U);
  EXPECT_EQ(other.passed_over.front().name, "libtorch_hip.so");
  EXPECT_EQ(other.last_error, "KeyError: 'weights'");
  EXPECT_EQ(other.last_line, 4U);
  // Such ends may well come of it; an end before it does not; what was raised is no warning.
  for (const auto& text : {warning + traceback + "NameError: name 'image' is not defined\n",
                           warning + traceback + "RuntimeError: image operators are not available\n", warning,
                           traceback + "KeyError: 'weights'\n" + warning,
                           "ImportError: libtorch_hip.so: cannot open shared object file: No such file or "
                           "directory\n" +
                               traceback + "KeyError: 'weights'\n"}) {
    const auto found = scan(text);
    ASSERT_FALSE(found.clues.empty()) << text;
    EXPECT_EQ(found.clues.front().name, "libtorch_hip.so") << text;
    EXPECT_THAT(found.passed_over, IsEmpty()) << text;
  }
}

TEST(Scan, TakesRocminfosFailureForAMissingDevice) {
  const auto found =
      scan("hsa api call failure at: /src/rocminfo/rocminfo.cc:1220\n"
           "Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate\n");
  ASSERT_FALSE(found.clues.empty());
  EXPECT_EQ(found.clues.front().rule, "DCU704");
}

TEST(Scan, JoinsANameThatIsBrokenTwice) {
  const auto found =
      scan("ImportError: /home/u/.cache/torch_extensions/py310_cpu/fused_op/fused_op.so: undefined\n"
           "symbol: _ZN5torch3jit17parseSchemaOrNameERKNSt7__cxx1112basic_stringIcSt11char_tr\n"
           "aitsIcESaIcEEE\n");
  ASSERT_FALSE(found.clues.empty());
  EXPECT_EQ(found.clues.front().name,
            "_ZN5torch3jit17parseSchemaOrNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
}

TEST(Scan, MakesOneOfRepeatedRanks) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += "[rank" + std::to_string(i) + "]: ImportError: /p/k.so: undefined symbol: launch\r\n";
  }
  const auto found = scan(text + text);
  ASSERT_EQ(found.clues.size(), 1U);
  EXPECT_EQ(found.clues.front().ranks.size(), 8U);
  EXPECT_EQ(found.clues.front().line, 1U);
  EXPECT_EQ(found.ranks, 8U);
  EXPECT_EQ(found.lines, 16U);
}

TEST(Scan, JoinsWhatATerminalBroke) {
  const std::string line =
      "ImportError: /home/somebody/a/long/path/affine.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
      "_ZN2at4_ops9_pad_enum4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEElNS5_8optionalIdEE";
  for (std::size_t width = 60; width <= 132; ++width) {
    std::string wrapped;
    for (std::size_t at = 0; at < line.size(); at += width) {
      wrapped += line.substr(at, width) + "\n";
    }
    const auto found = scan("Traceback (most recent call last):\n" + wrapped);
    ASSERT_FALSE(found.clues.empty()) << width;
    EXPECT_EQ(found.clues.front().file, "/home/somebody/a/long/path/affine.cpython-311-x86_64-linux-gnu.so")
        << width;
    EXPECT_THAT(found.clues.front().name,
                testing::StartsWith("_ZN2at4_ops9_pad_enum4callERKNS_6TensorEN3c10"))
        << width;
  }
}

TEST(Scan, JoinsWhatAMailBrokeAtBlanks) {
  const auto found = scan("ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32'\n"
                          "  not found (required by /p/k.so)\n");
  ASSERT_FALSE(found.clues.empty());
  EXPECT_EQ(found.clues.front().rule, "DCU220");
  EXPECT_EQ(found.clues.front().file, "/p/k.so");
}

TEST(Scan, ReadsJsonLogsAndProgressBars) {
  const auto json =
      scan(R"({"log":"Traceback\nImportError: /p/k.so: undefined symbol: launch\n","stream":"stderr"})");
  ASSERT_EQ(json.clues.size(), 1U);
  EXPECT_EQ(json.clues.front().name, "launch");
  const auto bar = scan("10%\r20%\rRuntimeError: No HIP GPUs are available\r30%");
  ASSERT_EQ(bar.clues.size(), 1U);
  EXPECT_EQ(bar.clues.front().rule, "DCU704");
}

TEST(Scan, TakesTheFileThatTorchNamesALineLater) {
  const auto found =
      scan("OSError: libc10_hip.so: cannot open shared object file: No such file or directory\n"
           "OSError: Could not load this library: /p/k.so\n");
  EXPECT_EQ(found.clues.front().name, "libc10_hip.so");
  EXPECT_EQ(found.clues.front().file, "/p/k.so");
}

TEST(ReadMessage, KeepsBothEndsOfALongTextAndItsLineNumbers) {
  std::string text = "12: RuntimeError: HIP error: invalid device function\n";
  for (int i = 2; i < 50000; ++i) {
    text += "step " + std::to_string(i) + "\n";
  }
  text += "ninja: build stopped: subcommand failed.\n"; // line 50000
  const auto kept = message(text, 4096);
  EXPECT_TRUE(kept.cut);
  EXPECT_EQ(kept.bytes, text.size());
  EXPECT_EQ(kept.text.size(), 4096U);
  const auto found = scan_message(kept);
  ASSERT_EQ(found.clues.size(), 2U);
  EXPECT_EQ(found.clues[0].line, 1U);
  EXPECT_EQ(found.clues[1].line, 50000U);
  EXPECT_FALSE(message(text).cut);
}

TEST(ReadMessage, TellsTextFromJunkAndReadsUtf16) {
  std::string junk;
  for (int i = 0; i < 4096; ++i) {
    junk += static_cast<char>(i * 37 % 256);
  }
  EXPECT_TRUE(message(junk).binary);
  EXPECT_FALSE(message("\x1b[31mError\x1b[0m\r\n").binary);
  std::string utf16 = "\xFF\xFE";
  for (const char character : std::string("RuntimeError: No HIP GPUs are available\r\n")) {
    utf16 += character;
    utf16 += '\0';
  }
  const auto kept = message(utf16);
  EXPECT_FALSE(kept.binary);
  EXPECT_EQ(scan_message(kept).clues.front().rule, "DCU704");
}

class Messages : public Clinic {
 protected:
  MessageReport read(const std::string& text, const std::filesystem::path& file = {}) {
    MessageQuestion question;
    question.message = message(text);
    question.origin = "-";
    question.file = file;
    return examine_message(question, facts(), machine());
  }
};

TEST_F(Messages, ConfirmWhatIsSoOfTheFileHere) {
  const auto file = build("und.so", "void launch(void); void g(void) { launch(); }");
  const auto report = read("ImportError: " + file.string() + ": undefined symbol: launch\n");
  EXPECT_TRUE(report.file_is_here);
  EXPECT_EQ(report.claim_holds, true);
  ASSERT_TRUE(report.diagnosis.has_value());
  EXPECT_EQ(errors_of(*report.diagnosis), std::vector<std::string>{"DCU218"});
  EXPECT_EQ(report.headline,
            "und.so does not load: a source of its own is missing from it, as the message says.");
  EXPECT_EQ(report.findings.front().severity, finding::Severity::note)
      << "the file's own finding stands for it";
}

TEST_F(Messages, ContradictWhatIsNotSoOfTheFileHere) {
  const auto file = build("fine.so", "int f(void) { return 1; }");
  const auto report = read("ImportError: " + file.string() + ": undefined symbol: launch\n");
  EXPECT_EQ(report.claim_holds, false);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().rule, "DCU790");
  EXPECT_THAT(report.headline, HasSubstr("not so here"));
}

TEST_F(Messages, ContradictAnotherSymbolOfABrokenFile) {
  const auto file = build("other.so", "void launch(void); void g(void) { launch(); }");
  const auto report = read("ImportError: " + file.string() + ": undefined symbol: quite_another\n");
  EXPECT_EQ(report.claim_holds, false);
  EXPECT_EQ(errors_of(*report.diagnosis), std::vector<std::string>{"DCU218"});
}

TEST_F(Messages, TakeTheFileThatIsGiven) {
  const auto file = build(
      "affine.so",
      "int f(void) { return 1; }\nint PyModule_Create2(void); int g(void) { return PyModule_Create2(); }");
  const auto report =
      read("ImportError: dynamic module does not define module export function (PyInit_affine)\n", file);
  EXPECT_TRUE(report.file_is_here);
  EXPECT_EQ(report.claim_holds, true);
  EXPECT_EQ(errors_of(*report.diagnosis), std::vector<std::string>{"DCU230"});
}

TEST_F(Messages, SayThatTheyAreAllThatThereIs) {
  const auto report = read("ImportError: /nowhere/k.so: undefined symbol: _ZN3c103fooEv\n");
  EXPECT_FALSE(report.file_is_here);
  EXPECT_EQ(report.claim_holds, std::nullopt);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().rule, "DCU210");
  EXPECT_EQ(report.findings.front().severity, finding::Severity::error);
  EXPECT_THAT(report.findings.front().evidence.back().text, HasSubstr("from the message alone"));
  EXPECT_THAT(report.headline, HasSubstr("the message says"));
}

TEST_F(Messages, SayWhatTheTorchHereHas) {
  if (!has_torch()) {
    GTEST_SKIP() << "no torch here";
  }
  const auto report =
      read("ImportError: /nowhere/k.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs\n");
  std::string told;
  for (const auto& row : report.findings.front().evidence) {
    told += row.label + ": " + row.text + "\n";
  }
  EXPECT_THAT(told, HasSubstr("_GLIBCXX_USE_CXX11_ABI=0"));
  EXPECT_THAT(told, HasSubstr("here: torch"));
}

TEST_F(Messages, SayWhichCompilerALibstdcxxIsOf) {
  const auto report = read("ImportError: /opt/miniconda3/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not "
                           "found (required by /nowhere/k.so)\n");
  std::string told;
  for (const auto& row : report.findings.front().evidence) {
    told += row.text + "\n";
  }
  EXPECT_THAT(told, HasSubstr("GCC 13.2"));
  EXPECT_THAT(report.findings.front().fix, HasSubstr("conda install"));
}

TEST_F(Messages, HaveAFindingOfEveryKindWithoutAFile) {
  for (const char* line :
       {"OSError: libc10.so: cannot open shared object file: No such file or directory",
        "OSError: libc10_hip.so: cannot open shared object file: No such file or directory",
        "OSError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "OSError: libpython3.8.so.1.0: cannot open shared object file: No such file or directory",
        "OSError: libamdhip64.so.5: cannot open shared object file: No such file or directory",
        "OSError: /nowhere/k.so: invalid ELF header",
        "OSError: /nowhere/k.so: cannot open shared object file: No such file or directory",
        "OSError: /n/torch_extensions/k/k.so: cannot open shared object file: No such file or directory",
        "ImportError: dynamic module does not define module export function (PyInit_k)",
        "invalid device function",
        "hipErrorInvalidKernelFile",
        "No HIP GPUs are available",
        "Memory access fault by GPU node-1",
        "HIP out of memory",
        "a.cpp:1:1: error: x",
        "a.cpp:1:1: fatal error: x.h: No such file or directory",
        "error: invalid target ID 'gfx936'",
        "cannot find ROCm device library",
        "/bin/sh: hipcc: not found",
        "undefined reference to 'f'",
        "LLVM ERROR: out of memory",
        "file_baton.py\", line 1, in wait",
        "numpy.dtype size changed",
        "No such operator a::b",
        "No module named 'k'",
        "Option 'x' registered more than once",
        "k.whl is not a supported wheel on this platform",
        "Bus error",
        "No space left on device",
        "Error building extension 'x'",
        "/nowhere/k.so: undefined symbol: rocblas_sgemm",
        "x.so: undefined symbol: THPVariableClass"}) {
    const auto report = read(line);
    ASSERT_EQ(report.findings.size(), 1U) << line;
    EXPECT_NE(report.findings.front().rule, "DCU791") << line;
    EXPECT_FALSE(report.findings.front().fix.empty()) << line;
    EXPECT_FALSE(report.findings.front().chinese.fix.empty()) << line;
    EXPECT_THAT(report.findings.front().cause, Not(HasSubstr("{"))) << line;
    EXPECT_EQ(to_json(report)["clues"].size(), 1U);
  }
}

TEST_F(Messages, SayPlainlyWhenNothingIsKnown) {
  const auto report = read("all is well\nValueError: too many dogs\nbye\n");
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().rule, "DCU791");
  EXPECT_EQ(report.findings.front().severity, finding::Severity::error);
  EXPECT_THAT(report.findings.front().cause, HasSubstr("ValueError: too many dogs"));
  EXPECT_THAT(read("").findings.front().cause, HasSubstr("the text is empty"));
  EXPECT_THAT(read(std::string(3000, '\x01')).findings.front().cause, HasSubstr("it is no text"));
}

} // namespace
} // namespace dcuop::doctor
