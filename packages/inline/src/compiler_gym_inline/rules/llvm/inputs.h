// The inputs and limits of rules, for people, for the plug-in and for Python.
//
// A rule file has one line for each decision it takes, such as "inline = FORMULA". Empty lines and
// lines that begin with # are ignored. Decisions without a line stay as they are.
//
//   inline   whether a call is inlined at link time, if the formula is above 0. It is not asked
//            about calls that LLVM must inline or cannot inline, recursive calls, and callers of
//            more than 20,000 instructions. Inputs: INLINE_INPUTS and CALL_INPUTS.
//   order    a score for each call, computed when the inliner meets it. The call with the highest
//            score is considered first, in the whole program: LLVM's module inliner then replaces
//            the one that goes from callees to callers. Recursive calls and the calls of callers of
//            more than 20,000 instructions come last. Inputs: CALL_INPUTS.
//   frame    whether a function with calls has a frame pointer, if above 0. Inputs:
//            FUNCTION_INPUTS.
//   outline  whether equal pieces of a function's code may be moved to a function of their own, if
//            above 0. Inputs: FUNCTION_INPUTS.
//   choose   a score for each further way to generate a function's code. The function gets the one
//            with the highest score, if that is above 0. Inputs: FUNCTION_INPUTS and
//            SETTING_INPUTS.
//
// After the line "// encoding", a rule is C++: the function
//
//   extern "C" bool rewrite(llvm::MachineInstr&, compiler_gym::linker::Site&)
//
// looks at an instruction of a function that should be small and writes a shorter one, as
// native/linker/encodings/rules.h describes. It includes "encodings/rules.h" and
// "encodings/site.h", and is tried before the plug-in's own rules.
//
// A formula is written as in Python: numbers, inputs, + - * /, comparisons, and, or, not,
// min(a, b), max(a, b) and "a if c else b", which makes decision trees. It is computed with double
// precision. Comparisons, and, or and not give 1 or 0; a division by 0 gives 0. A file has at most
// 65,536 bytes, and a formula at most 1,000 operations and 100 levels.

#define INLINE_INPUTS(INPUT) INPUT(default, "1 if LLVM would inline the call, else 0")

#define CALL_INPUTS(INPUT)                                                                     \
  INPUT(cost, "LLVM's estimate of the growth; an instruction is 5")                            \
  INPUT(callee_instructions, "instructions of the called function")                            \
  INPUT(callee_blocks, "basic blocks of the called function")                                  \
  INPUT(callee_calls, "calls in the called function")                                          \
  INPUT(callee_uses, "uses of the called function in the program")                             \
  INPUT(callee_is_local, "1 if the called function can vanish after its last call, else 0")    \
  INPUT(caller_instructions, "instructions of the caller")                                     \
  INPUT(caller_blocks, "basic blocks of the caller")                                           \
  INPUT(arguments, "arguments of the call")                                                    \
  INPUT(constant_arguments, "constants among them")                                            \
  INPUT(is_result_used, "1 if the result of the call is used, else 0")

#define FUNCTION_INPUTS(INPUT)                                                                 \
  INPUT(default, "1 if there is a frame pointer (for outline: 1) without the rule, else 0")    \
  INPUT(instructions, "instructions of the function")                                          \
  INPUT(blocks, "basic blocks")                                                                \
  INPUT(calls, "calls")                                                                        \
  INPUT(constant_arguments, "constants among the arguments of its calls")                      \
  INPUT(stack_arguments, "arguments of its calls beyond the sixth")                            \
  INPUT(parameters, "parameters of the function")                                              \
  INPUT(variables, "variables on the stack")                                                   \
  INPUT(loads, "loads")                                                                        \
  INPUT(stores, "stores")                                                                      \
  INPUT(branches, "conditional branches and switches")                                         \
  INPUT(phis, "phi nodes")                                                                     \
  INPUT(returns, "returns")

#define SETTING_INPUTS(INPUT)                                                                  \
  INPUT(is_frame, "1 for the way that changes the frame pointer")                              \
  INPUT(is_simple, "1 for the basic register allocator")                                       \
  INPUT(is_unprepared, "1 for code without CodeGenPrepare")
