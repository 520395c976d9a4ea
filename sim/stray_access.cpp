// SPDX-License-Identifier: BSL-1.0
#include "sim/stray_access.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <string>

#include "sim/process.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

constexpr unsigned seconds_for_a_line = 10;

struct sigaction before {};

// What the fault did, where the processor tells.
const char* kind_of(const void* context) {
#if defined(__x86_64__)
  const auto* const state = static_cast<const ucontext_t*>(context);
  constexpr greg_t is_write = 2;  // of a page fault's error code
  return (state->uc_mcontext.gregs[REG_ERR] & is_write) != 0 ? "wrote" : "read";
#else
  static_cast<void>(context);
  return "touched";
#endif
}

// The block that holds the address, or the last that did.
void tell(const Process& process, std::uintptr_t address, const char* kind) {
  const BlockPtr live = process.memory.find(address);
  const Block* const block = live ? live.get() : process.freed.find(address);
  if (block == nullptr) {
    report("host code %s device memory at 0x%llx, where no allocation is", kind,
           static_cast<unsigned long long>(address));
  } else {
    const std::string freed = live ? "" : std::string(", freed by ") + block->freed_by;
    report(
        "host code %s device memory at 0x%llx: byte %zu of an allocation of %zu bytes on device "
        "%d%s",
        kind, static_cast<unsigned long long>(address), address - block->address, block->size,
        block->device, freed.c_str());
  }
  // To name the line takes more than a handler may do, so an end is set to it.
  const unsigned others = alarm(seconds_for_a_line);
  if (block != nullptr) report("  the allocation was made at %s", describe(block->made).c_str());
  report("  the access is at %s", describe(CallSite::interrupted()).c_str());
  alarm(others);
}

// A fault that is none of ours.
void pass_on(int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    // The instruction runs again when the handler returns, and then it ends the process.
    sigaction(SIGSEGV, &before, nullptr);
  }
}

void on_fault(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!Process::exists() || !Process::instance().memory.contains(address)) {
    pass_on(number, info, context);
    return;
  }
  Process& process = Process::instance();
  sigaction(SIGSEGV, &before, nullptr);
  const char* const kind = kind_of(context);
  const std::unique_lock lock(process.mutex, std::try_to_lock);
  if (lock.owns_lock()) {
    tell(process, address, kind);
  } else {
    report("host code %s device memory at 0x%llx", kind, static_cast<unsigned long long>(address));
  }
}

}  // namespace

void watch_for_stray_accesses() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
  });
}

}  // namespace culvert::sim::detail
