#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dcuop/probe/python.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_executable;
using ::testing::Not;
using testing::printed;
using ::testing::SizeIs;
using testing::write;

class PythonTest : public testing::MachineTest {
 protected:
  /// A file that begins as a program does; it is never run.
  fs::path add_program(const fs::path& relative) {
    fs::path path = directory.path() / relative;
    write(path, "\x7f"
                "ELF interpreter " +
                    relative.string());
    make_executable(path);
    return path;
  }
  fs::path add_script(const fs::path& relative, const std::string& text) {
    fs::path path = directory.path() / relative;
    write(path, text);
    make_executable(path);
    return path;
  }

  json facts() {
    return {{"executable", (directory.path() / "sys/python3").string()},
            {"version", "3.11.2"},
            {"implementation", "cpython"},
            {"ext_suffix", ".cpython-311-x86_64-linux-gnu.so"},
            {"soabi", "cpython-311-x86_64-linux-gnu"},
            {"include", "/usr/include/python3.11"},
            {"search_path", {(directory.path() / "lib").string(), site().string(), "/does/not/exist"}},
            {"prefix", "/usr"},
            {"base_prefix", "/usr"},
            {"sites", {site().string()}},
            {"path_files", {(site() / "a.pth").string()}},
            {"modules", json::array()}};
  }
  fs::path site() { return directory.path() / "site"; }

  void SetUp() override {
    MachineTest::SetUp();
    fs::create_directories(directory.path() / "lib");
    write(site() / "a.pth", "/somewhere\n");
    runner.reply = [this](const Command&) {
      return printed("noise of a sitecustomize\n\n" + facts().dump() + "\n");
    };
  }

  Error error_of(const std::string& wanted) {
    try {
      ADD_FAILURE() << "found " << find_python(machine(), wanted).executable;
    } catch (const Error& error) {
      return error;
    }
    return {ExitCode::ok, ""};
  }
  std::size_t asked() const { return runner.commands.size(); }
};

TEST_F(PythonTest, EachOriginYieldsToTheOneBefore) {
  const fs::path on_path = add_program("bin/python3");
  environment.set("PATH", (directory.path() / "bin").string());
  EXPECT_EQ(find_python(machine(), "").executable, on_path);
  EXPECT_EQ(find_python(machine(), "").origin, "python3 on PATH");

  const fs::path conda = add_program("conda/bin/python3");
  environment.set("CONDA_PREFIX", (directory.path() / "conda").string());
  EXPECT_EQ(find_python(machine(), "").executable, conda);
  EXPECT_EQ(find_python(machine(), "").origin, "CONDA_PREFIX");

  environment.set("VIRTUAL_ENV", (directory.path() / "venv").string());
  EXPECT_EQ(find_python(machine(), "").origin, "CONDA_PREFIX") << "a venv without its interpreter is none";
  const fs::path venv = add_program("venv/bin/python3");
  EXPECT_EQ(find_python(machine(), "").executable, venv);
  EXPECT_EQ(find_python(machine(), "").origin, "VIRTUAL_ENV");

  const fs::path variable = add_program("variable/python");
  environment.set("DCUOP_PYTHON", variable.string());
  EXPECT_EQ(find_python(machine(), "").executable, variable);
  EXPECT_EQ(find_python(machine(), "").origin, "DCUOP_PYTHON");

  const fs::path option = add_program("bin/python3.9");
  EXPECT_EQ(find_python(machine(), "python3.9").executable, option) << "a name is looked up on PATH";
  EXPECT_EQ(find_python(machine(), "../bin/python3.9").executable, option) << "from the working directory";
  EXPECT_EQ(find_python(machine(), "python3.9").origin, "--python");
}

TEST_F(PythonTest, ReadsTheAnswer) {
  const fs::path program = add_program("bin/python3");
  const Python python = find_python(machine(), program.string());
  EXPECT_EQ(python.version, "3.11.2");
  EXPECT_EQ(python.implementation, "cpython");
  EXPECT_EQ(python.ext_suffix, ".cpython-311-x86_64-linux-gnu.so");
  EXPECT_EQ(python.soabi, "cpython-311-x86_64-linux-gnu");
  EXPECT_EQ(python.include_dir, "/usr/include/python3.11");
  EXPECT_THAT(python.search_path, ElementsAre(directory.path() / "lib", site())) << "only what is there";
  EXPECT_EQ(python.prefix, "/usr");
  ASSERT_THAT(runner.commands, SizeIs(1));
  EXPECT_EQ(runner.commands[0].argv[0], program.string());
  EXPECT_EQ(runner.commands[0].limit, std::chrono::seconds(20));
}

TEST_F(PythonTest, AnInterpreterThatAsksIsTakenAtItsWord) {
  PythonWish wish("/venv/bin/python3", "train.py");
  wish.answer = R"({"executable": "/venv/bin/python3", "version": "3.12.1", "implementation": "cpython",
    "ext_suffix": ".cpython-312-x86_64-linux-gnu.so", "soabi": "cpython-312-x86_64-linux-gnu",
    "include": "/usr/include/python3.12", "prefix": "/venv", "base_prefix": "/usr", "search_path": []})";
  const Python python = find_python(machine(), wish);
  EXPECT_EQ(python.executable, "/venv/bin/python3");
  EXPECT_EQ(python.origin, "train.py");
  EXPECT_EQ(python.version, "3.12.1");
  EXPECT_EQ(python.soabi, "cpython-312-x86_64-linux-gnu");
  EXPECT_THAT(runner.commands, SizeIs(0));
  for (const char* answer : {"{}", "[]", "no JSON", R"({"executable": 3})"}) {
    wish.answer = answer;
    EXPECT_THROW(static_cast<void>(find_python(machine(), wish)), Error) << answer;
  }
}

TEST_F(PythonTest, AsksOnceUntilSomethingThatMattersChanges) {
  const fs::path program = add_program("venv/bin/python3");
  const auto find = [&] { return find_python(machine(), program.string()); };
  find();
  find();
  EXPECT_EQ(asked(), 1U);

  write(directory.path() / "lib/module.py", "x = 1\n");
  find();
  EXPECT_EQ(asked(), 1U) << "a file beside the modules on sys.path";
  write(site() / "b.pth", "/elsewhere\n");
  find();
  EXPECT_EQ(asked(), 2U) << "a new .pth file";
  write(site() / "a.pth", "/somewhere/else\n");
  find();
  EXPECT_EQ(asked(), 3U) << "a .pth file's content";
  write(directory.path() / "venv/pyvenv.cfg", "home = /usr/bin\n");
  find();
  EXPECT_EQ(asked(), 4U) << "pyvenv.cfg appeared";
  write(directory.path() / "lib/sitecustomize.py", "import sys\n");
  find();
  EXPECT_EQ(asked(), 5U) << "sitecustomize appeared";
  write(program, "\x7f"
                 "ELF another");
  make_executable(program);
  find();
  EXPECT_EQ(asked(), 6U) << "the interpreter itself";
  environment.set("PYTHONPATH", "/a");
  find();
  EXPECT_EQ(asked(), 7U) << "PYTHONPATH";
  environment.set("UNRELATED", "1");
  find();
  EXPECT_EQ(asked(), 7U);
}

TEST_F(PythonTest, TheSameBytesElsewhereAreAnotherInterpreter) {
  const fs::path first = add_program("one/bin/python3");
  fs::create_directories(directory.path() / "two/bin");
  fs::copy_file(first, directory.path() / "two/bin/python3");
  const fs::path link = directory.path() / "link";
  fs::create_symlink(first, link);
  find_python(machine(), link.string());
  fs::remove(link);
  fs::create_symlink(directory.path() / "two/bin/python3", link);
  find_python(machine(), link.string());
  EXPECT_EQ(asked(), 2U);
}

TEST_F(PythonTest, ARelativePythonpathDependsOnTheWorkingDirectory) {
  const fs::path program = add_program("bin/python3");
  environment.set("PYTHONPATH", "/a:lib");
  find_python(machine(), program.string());
  work = directory.path();
  find_python(machine(), program.string());
  EXPECT_EQ(asked(), 2U);
}

TEST_F(PythonTest, AShimDependsOnPyenvsFiles) {
  const fs::path shim = add_script("pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n");
  write(directory.path() / "pyenv/version", "3.11.7\n");
  const auto find = [&] { return find_python(machine(), shim.string()); };
  EXPECT_EQ(find().executable, directory.path() / "sys/python3") << "resolved to sys.executable";
  find();
  EXPECT_EQ(asked(), 1U);
  write(directory.path() / "pyenv/version", "3.12.1\n");
  find();
  EXPECT_EQ(asked(), 2U) << "the global version";
  write(work / ".python-version", "3.10.13\n");
  find();
  EXPECT_EQ(asked(), 3U) << "a .python-version in the working directory";
  work /= "below";
  fs::create_directories(work);
  find();
  EXPECT_EQ(asked(), 4U);
  find();
  EXPECT_EQ(asked(), 4U);
  write(directory.path() / "work/.python-version", "3.9.18\n");
  find();
  EXPECT_EQ(asked(), 5U) << "a .python-version above the working directory";
  environment.set("PYENV_VERSION", "3.8.18");
  find();
  EXPECT_EQ(asked(), 6U);
}

TEST_F(PythonTest, AnotherScriptIsAskedEachTime) {
  const fs::path script = add_script("bin/python3", "#!/bin/sh\nexec /opt/python \"$@\"\n");
  EXPECT_EQ(find_python(machine(), script.string()).executable, directory.path() / "sys/python3");
  find_python(machine(), script.string());
  EXPECT_EQ(asked(), 2U);
}

TEST_F(PythonTest, ErrorsNameTheInterpreterAndItsOrigin) {
  EXPECT_THAT(error_of("").what(), HasSubstr("no python3 on PATH"));
  EXPECT_EQ(error_of("").code, ExitCode::environment);
  EXPECT_THAT(error_of("/no/python").what(), HasSubstr("no Python at '/no/python' (from --python)"));

  environment.set("DCUOP_PYTHON", add_program("bin/python3").string());
  runner.reply = [](const Command&) {
    ProcessResult result = printed("", 1);
    result.diagnostics = "Traceback\nModuleNotFoundError: No module named 'encodings'\n";
    return result;
  };
  const Error broken = error_of("");
  EXPECT_EQ(broken.code, ExitCode::environment);
  EXPECT_THAT(broken.what(), HasSubstr("bin/python3 (from DCUOP_PYTHON) does not run (exit code 1)"));
  EXPECT_THAT(broken.what(), HasSubstr("No module named 'encodings'"));
  EXPECT_THAT(broken.hint, HasSubstr("--python"));

  runner.reply = [](const Command&) {
    ProcessResult result = printed("", 137);
    result.timed_out = true;
    return result;
  };
  EXPECT_THAT(error_of("").what(), HasSubstr("did not answer within 20 s; it printed nothing"));
}

TEST_F(PythonTest, AnAnswerThatIsNoneIsAnErrorAndNotRemembered) {
  const fs::path program = add_program("bin/python3");
  json without_suffix = facts();
  without_suffix["ext_suffix"] = "";
  for (const std::string& answer :
       {std::string(), std::string("hello\n"), std::string("[1]\n"), std::string("{}\n"),
        facts().dump().substr(0, 40), without_suffix.dump()}) {
    runner.reply = [&](const Command&) { return printed(answer); };
    EXPECT_EQ(error_of(program.string()).code, ExitCode::environment) << answer;
  }
  runner.reply = [&](const Command&) { return printed(facts().dump()); };
  EXPECT_EQ(find_python(machine(), program.string()).version, "3.11.2");
}

class RealPythonTest : public testing::MachineTest {};

TEST_F(RealPythonTest, TheSystemsPythonTellsItsFacts) {
  if (!identity_of("/usr/bin/python3.11")) {
    GTEST_SKIP() << "no /usr/bin/python3.11";
  }
  environment = Environment({{"PATH", "/usr/bin:/bin"}, {"HOME", directory.path().string()}});
  SystemProcessRunner processes;
  const Python first = find_python(machine(processes), "python3.11");
  EXPECT_EQ(processes.started(), 1U);
  const Python python = find_python(machine(processes), "python3.11");
  EXPECT_EQ(processes.started(), 1U) << "the second time nothing is started";
  EXPECT_EQ(first.search_path, python.search_path);

  EXPECT_EQ(python.executable, "/usr/bin/python3.11");
  EXPECT_THAT(python.version, HasSubstr("3.11."));
  EXPECT_EQ(python.implementation, "cpython");
  EXPECT_EQ(python.soabi, "cpython-311-x86_64-linux-gnu");
  EXPECT_EQ(python.ext_suffix, ".cpython-311-x86_64-linux-gnu.so");
  EXPECT_EQ(python.include_dir, "/usr/include/python3.11");
  EXPECT_THAT(python.search_path, Contains(fs::path("/usr/lib/python3/dist-packages")));
  EXPECT_THAT(python.search_path, Not(Contains(work)));
}

} // namespace
} // namespace dcuop::probe
