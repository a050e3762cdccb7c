// Not through ProcessRunner: its supervisor's task is to end what dcuop started when dcuop ends.

#include "detached.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>

namespace dcuop::cli {

namespace {

constexpr int low_priority = 10;

/// Other threads may have held locks of malloc when this was forked: system calls alone from here on.
[[noreturn]] void become(char* const* arguments) {
  // Not a session leader, so that it never gets a controlling terminal; its parent is gone at once.
  if (setsid() < 0) {
    _exit(1);
  }
  const pid_t child = fork();
  if (child != 0) {
    _exit(child < 0 ? 1 : 0);
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
      dup2(null, STDERR_FILENO) < 0 || chdir("/") != 0) {
    _exit(1);
  }
  // Whatever the caller's parent left open; a pipe among it would never end for its reader.
  const long limit = std::min(sysconf(_SC_OPEN_MAX), 1024L);
  for (int descriptor = STDERR_FILENO + 1; descriptor < limit; ++descriptor) {
    (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  (void)setpriority(PRIO_PROCESS, 0, low_priority);
  execv("/proc/self/exe", arguments);
  _exit(1);
}

} // namespace

bool start_self_detached(const std::vector<std::string>& arguments) noexcept {
  try {
    std::vector<std::string> words = {"dcuop"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    std::transform(words.begin(), words.end(), std::back_inserter(pointers),
                   [](std::string& word) { return word.data(); });
    pointers.push_back(nullptr);
    const pid_t middle = fork();
    if (middle == 0) {
      become(pointers.data());
    }
    int status = 0;
    while (middle > 0 && waitpid(middle, &status, 0) < 0) {
      if (errno != EINTR) {
        return false;
      }
    }
    return middle > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  } catch (const std::exception&) {
    return false;
  }
}

} // namespace dcuop::cli
