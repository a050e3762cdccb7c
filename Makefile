# make demo and make test do all of their set-up themselves; both may be run again at any time.
# Every path is relative and quoted, so that a checkout may lie in a directory with a space.

PYTHON       ?= /usr/bin/python3
CLANG_FORMAT ?= clang-format-15
CLANG_TIDY   ?= clang-tidy-15
JOBS         ?= $(shell nproc)
SECONDS      ?= 60

cxx_files  = git ls-files -z -- 'include/*.hpp' 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' \
                                'ops/*.cpp' 'ops/*.cu' 'ops/*.h' 'ops/*.hip' 'templates/*.cpp' ':!tests/corpus'
# Only what the development build compiles: its compile_commands.json is what clang-tidy reads.
tidy_files = git ls-files -z -- 'src/*.cpp'
say        = @printf '\n== %s\n'

.DELETE_ON_ERROR:
.PHONY: help build demo test test-torch2 gpu-test full kill-test doctor-truth bench fuzz rule-pages unit asan suites lint lint-format lint-tidy format clean

help:
	@echo 'make build    build/release/dcuop (script/setup build installs what it needs)'
	@echo 'make demo     set-up, build, and a real operator from source to its error message'
	@echo 'make test     set-up and all tests: format, unit tests, suites'
	@echo 'make test-torch2  what concerns torch, against the newest torch of the package index (6 GB in build/)'
	@echo 'make gpu-test  the operators on the device that torch sees; writes docs/results/gpu.md'
	@echo 'make full     what is too long for make test; writes docs/results/<date>.md'
	@echo 'make doctor-truth  the doctor against what really happens; writes docs/doctor-truth.md'
	@echo 'make rule-pages  docs/rules, from the table of rules'
	@echo 'make bench    how long a hit takes'
	@echo 'make fuzz     libFuzzer on every reader of bytes, SECONDS=60 each'
	@echo 'make asan     unit tests under AddressSanitizer and UBSan (build/asan)'
	@echo 'make lint     format and clang-tidy;   make format   clang-format, in place'
	@echo 'make clean    removes build/'

build:
	@cmake --preset release --log-level=WARNING >/dev/null || { echo 'What is missing is installed by: script/setup build' >&2; exit 1; }
	@cmake --build build/release --parallel '$(JOBS)'

demo:
	$(say) 'set-up'
	@script/setup build run
	$(say) 'build/release/dcuop'
	@$(MAKE) --no-print-directory build
	@PYTHON='$(PYTHON)' script/demo

test:
	$(say) 'set-up'
	@script/setup build run test
	@$(MAKE) --no-print-directory lint-format
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory suites
	$(say) 'all tests passed'

unit:
	$(say) 'unit tests (build/release)'
	@cmake --preset release -DBUILD_TESTING=ON --log-level=WARNING >/dev/null
	@cmake --build build/release --parallel '$(JOBS)'
	@ctest --test-dir build/release --parallel '$(JOBS)' --output-on-failure --progress

asan:
	$(say) 'unit tests under AddressSanitizer and UBSan (build/asan)'
	@cmake --preset asan --log-level=WARNING >/dev/null
	@cmake --build build/asan --parallel '$(JOBS)'
	@ctest --test-dir build/asan --parallel '$(JOBS)' --output-on-failure --progress

# One worker more than processors: tests wait for locks, heartbeats and killed processes a fifth of their time.
suites: build
	@cmake --build build/release --parallel '$(JOBS)' --target dcuop_static
	$(say) 'suites: build/release/dcuop with real compilers'
	@DCUOP_TEST_PYTHON='$(PYTHON)' '$(PYTHON)' -m pytest -q -n "$$(($(JOBS) + 1))" --dist loadgroup tests/suites

lint: lint-format lint-tidy

lint-format:
	$(say) 'format'
	@$(cxx_files) | xargs -0 '$(CLANG_FORMAT)' --dry-run -Werror

lint-tidy:
	$(say) 'tidy'
	@cmake --preset dev --log-level=WARNING >/dev/null
	@$(tidy_files) | xargs -0 script/tidy '$(CLANG_TIDY)' build/dev '$(JOBS)'

format:
	@$(cxx_files) | xargs -0 '$(CLANG_FORMAT)' -i

rule-pages: build
	@build/release/dcuop rule | sed -n 's/^\(DCU[89][0-9]*\) .*/\1/p' | while read -r rule; do build/release/dcuop rule "$$rule" --markdown > docs/rules/"$$rule".md; done

test-torch2:
	$(say) 'set-up'
	@script/setup build run test venv
	@$(MAKE) --no-print-directory build
	$(say) 'suites that concern torch, against torch 2'
	@PYTHON='$(PYTHON)' JOBS='$(JOBS)' script/torch2

gpu-test: build
	$(say) 'the operators on a device'
	@PYTHON='$(PYTHON)' script/gpu_test

kill-test: build
	$(say) 'a thousand builds killed'
	@'$(PYTHON)' tests/kill/kill_harness.py --dcuop build/release/dcuop --kills 1000

doctor-truth: build
	$(say) 'the doctor against what really happens'
	@DCUOP_TEST_PYTHON='$(PYTHON)' '$(PYTHON)' tests/truth/harness.py --jobs '$(JOBS)' --report docs/doctor-truth.md

bench: build
	@'$(PYTHON)' bench/warm_build.py

fuzz:
	@cmake --preset fuzz --log-level=WARNING >/dev/null
	@cmake --build build/fuzz --parallel '$(JOBS)' --target fuzzers
	@script/fuzz '$(SECONDS)'

full:
	$(say) 'set-up'
	@script/setup build run test venv
	@PYTHON='$(PYTHON)' JOBS='$(JOBS)' script/full

clean:
	rm -rf build
