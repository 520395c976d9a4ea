// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "run.hpp"

extern char** environ;

namespace facts {
namespace {

using Clock = std::chrono::steady_clock;

// Reads until the end of the file, or until the time has come, which is answered by false.
bool read_all(int file, Clock::time_point end, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted{.fd = file, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Ending run_child(const char* argument, int limit_seconds) {
  Ending ending;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    ending.status = 127;
    return ending;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string program = "facts";
  std::string copy = argument;
  char* const arguments[] = {program.data(), copy.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure == 0) {
    const auto end = Clock::now() + std::chrono::seconds(limit_seconds);
    ending.hung = !read_all(ends[0], end, ending.output);
    if (ending.hung) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ending.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  } else {
    ending.status = 127;
  }
  close(ends[0]);
  return ending;
}

}  // namespace facts
