#include "../../../src/doctor/wheel_tags.hpp"

#include <gtest/gtest.h>

namespace dcuop::doctor {
namespace {

TEST(WantedByWheel, SaysPythonLibcAndMachine) {
  EXPECT_EQ(wanted_by_wheel("fused_ops-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"),
            "CPython 3.11; glibc 2.28 or newer, x86_64");
  EXPECT_EQ(wanted_by_wheel("torch-2.4.1+das.opt2.dtk2504-cp310-cp310-manylinux2014_aarch64.whl"),
            "CPython 3.10; glibc 2.17 or newer, aarch64");
  EXPECT_EQ(wanted_by_wheel("k-1.0-7-cp38-abi3-musllinux_1_2_x86_64.whl"),
            "CPython 3.8 or newer; musl 1.2 or newer, x86_64");
  EXPECT_EQ(wanted_by_wheel("k-1.0-py2.py3-none-any.whl"), "Python 2 or Python 3; any platform");
  EXPECT_EQ(wanted_by_wheel("k-1.0-cp39-cp39-manylinux1_x86_64.manylinux_2_5_x86_64.whl"),
            "CPython 3.9; glibc 2.5 or newer, x86_64 or glibc 2.5 or newer, x86_64");
  EXPECT_EQ(wanted_by_wheel("k-1.0-cp312-cp312-win_amd64.whl"), "CPython 3.12; win_amd64");
}

TEST(WantedByWheel, MakesNothingUp) {
  EXPECT_EQ(wanted_by_wheel(""), "");
  EXPECT_EQ(wanted_by_wheel("k.whl"), "");
  EXPECT_EQ(wanted_by_wheel("k-1.0.tar.gz"), "");
  EXPECT_EQ(wanted_by_wheel("a-b-c-d-e.whl"), "c; e");
  EXPECT_EQ(wanted_by_wheel("a-b-cp-d-manylinux_x_2_x86_64.whl"), "cp; manylinux_x_2_x86_64");
  EXPECT_EQ(wanted_by_wheel("----.whl"), "");
}

} // namespace
} // namespace dcuop::doctor
