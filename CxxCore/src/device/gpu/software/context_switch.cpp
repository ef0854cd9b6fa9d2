// The instructions of a switch: callee-saved registers are pushed to the old stack and restored from the new one.
#include "device/gpu/software/context_switch.h"

#include <cstring>

#ifndef PAGODA_UCONTEXT
extern "C" void pagoda_switch_stack(void** save, void* to);

#ifdef __APPLE__
#define SYMBOL "_pagoda_switch_stack"
#define BEGIN ".text\n.globl " SYMBOL "\n.p2align 4\n" SYMBOL ":\n"
#define END ""
#else
#define SYMBOL "pagoda_switch_stack"
#define BEGIN ".text\n.globl " SYMBOL "\n.type " SYMBOL ", %function\n.p2align 4\n" SYMBOL ":\n"
#define END ".size " SYMBOL ", .-" SYMBOL "\n"
#endif

#ifdef __aarch64__
asm(BEGIN R"(
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8,  d9,  [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8,  d9,  [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)" END);
static constexpr size_t kFrameBytes = 160, kReturnAt = 88;
#else
asm(BEGIN R"(
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)" END);
static constexpr size_t kFrameBytes = 64, kReturnAt = 48;  // the slot after the return address keeps rsp aligned
#endif
#endif

namespace pagoda::device::gpu::software {

#ifdef PAGODA_UCONTEXT
void prepare_context(Context& context, char* low, char* high, void (*entry)()) noexcept {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = low;
  context.state.uc_stack.ss_size = static_cast<size_t>(high - low);
  makecontext(&context.state, entry, 0);
}
void switch_context(Context& from, Context& to) noexcept { swapcontext(&from.state, &to.state); }
#else
void prepare_context(Context& context, char*, char* high, void (*entry)()) noexcept {
  char* frame = high - kFrameBytes;
  std::memset(frame, 0, kFrameBytes);
  std::memcpy(frame + kReturnAt, &entry, sizeof entry);
  context.stack_pointer = frame;
}
void switch_context(Context& from, Context& to) noexcept { pagoda_switch_stack(&from.stack_pointer, to.stack_pointer); }
#endif

}  // namespace pagoda::device::gpu::software
