// SPDX-License-Identifier: MIT
// A byte-code interpreter, twice: with a switch and with computed goto.
#include <stdint.h>

enum op { PUSH, ADD, SUB, MUL, DUP, SWAP, JUMP_IF, HALT };

int64_t run_switch(const uint8_t *code) {
  int64_t stack[64] = {0};
  int top = 0;
  for (int at = 0;;) {
    switch ((enum op)code[at++]) {
      case PUSH: stack[top++ & 63] = code[at++]; break;
      case ADD: top--; stack[(top - 1) & 63] += stack[top & 63]; break;
      case SUB: top--; stack[(top - 1) & 63] -= stack[top & 63]; break;
      case MUL: top--; stack[(top - 1) & 63] *= stack[top & 63]; break;
      case DUP: stack[top & 63] = stack[(top - 1) & 63]; top++; break;
      case SWAP: {
        int64_t kept = stack[(top - 1) & 63];
        stack[(top - 1) & 63] = stack[(top - 2) & 63];
        stack[(top - 2) & 63] = kept;
        break;
      }
      case JUMP_IF:
        top--;
        at = stack[top & 63] ? code[at] : at + 1;
        break;
      case HALT: return stack[(top - 1) & 63];
    }
  }
}

int64_t run_goto(const uint8_t *code) {
  static const void *const targets[] = {&&push, &&add, &&twice, &&halt};
  int64_t value = 0, other = 0;
  goto *targets[*code++ & 3];
push:
  other = value;
  value = *code++;
  goto *targets[*code++ & 3];
add:
  value += other;
  goto *targets[*code++ & 3];
twice:
  value *= 2;
  goto *targets[*code++ & 3];
halt:
  return value;
}

const char *name_of(enum op op) {
  switch (op) {
    case PUSH: return "push";
    case ADD: return "add";
    case SUB: return "sub";
    case MUL: return "mul";
    case DUP: return "dup";
    case SWAP: return "swap";
    case JUMP_IF: return "jump-if";
    case HALT: return "halt";
  }
  return "?";
}

int main(int argc, char **argv) {
  const uint8_t program[] = {PUSH, 10, DUP, PUSH, 1, SUB, DUP, JUMP_IF, 2, HALT};
  const uint8_t other[] = {0, 21, 2, 3};
  return (int)(run_switch(program) + run_goto(other)) + name_of((enum op)argc)[0];
}
