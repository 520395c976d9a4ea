// SPDX-License-Identifier: BSL-1.0
//
// culvert in a plugin that is loaded and unloaded while threads go on.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "dlopen/work.hpp"

namespace {

class Plugin {
 public:
  Plugin() : handle_(dlopen(CULVERT_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() { EXPECT_EQ(dlclose(handle_), 0); }

  int call(const char* name) const {
    const auto function = reinterpret_cast<int (*)()>(dlsym(handle_, name));
    return function == nullptr ? -1 : function();
  }

 private:
  void* handle_;
};

int own_failures = 0;

TEST(Dlopen, PluginWorksOnceAndAgain) {
  for (int round = 0; round < 3; ++round) {
    const Plugin plugin;
    EXPECT_EQ(plugin.call("plugin_work"), 0);
    EXPECT_EQ(joined_streams(), 0);
  }
}

// A thread that used the plugin ends after the plugin was closed.
TEST(Dlopen, ThreadEndsAfterThePlugin) {
  std::thread thread([] {
    {
      const Plugin plugin;
      EXPECT_EQ(plugin.call("plugin_work"), 0);
    }
    EXPECT_EQ(joined_streams(), 0);
  });
  thread.join();
}

TEST(Dlopen, EachHasItsOwnHandler) {
  culvert::set_failure_handler([](const culvert::Failure&) noexcept { ++own_failures; });
  {
    const Plugin plugin;
    EXPECT_EQ(plugin.call("plugin_failures"), 1);
  }
  EXPECT_EQ(own_failures, 0);
  culvert::set_failure_handler(nullptr);
}

// The plugin's mark of a forked child goes with it.
TEST(Dlopen, ForkAfterClose) {
  {
    const Plugin plugin;
    EXPECT_EQ(plugin.call("plugin_work"), 0);
  }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
