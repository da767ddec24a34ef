// LLVM's own rule for inlining at -Oz, written as a heuristic: inline what LLVM's cost model says
// costs less than a threshold. Each constant is a macro with LLVM's value, 0 where LLVM has no such
// term, so that a search can try others: search_constants.py in this folder does.

#include "inline_call.h"

#ifndef THRESHOLD  // what a call may cost; five are an instruction
#define THRESHOLD 5
#endif
#ifndef LAST_CALL  // taken off the cost of the only call of a local function, which then goes
#define LAST_CALL 15000
#endif
#ifndef CONSTANT  // taken off for each argument that is a constant
#define CONSTANT 0
#endif
#ifndef LOOP  // added for each loop of the callee
#define LOOP 0
#endif
#ifndef USER  // added for each further use of the callee
#define USER 0
#endif
#ifndef CALLER_BLOCK  // added for each block that the caller has
#define CALLER_BLOCK 0
#endif

int should_inline(const struct inline_call* call) {
  int64_t cost = call->cost_estimate;
  if (call->last_call_to_static_bonus) cost += 15000 - LAST_CALL;
  cost -= CONSTANT * call->constant_args;
  cost += LOOP * call->num_loops;
  cost += USER * (call->callee_users - 1);
  cost += CALLER_BLOCK * call->caller_basic_block_count;
  return cost < THRESHOLD;
}
