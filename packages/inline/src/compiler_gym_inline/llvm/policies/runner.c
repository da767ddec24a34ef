// Answers the questions on standard input with should_inline(), until end of file.
// Output of the function goes to standard error, so that it is not taken for an answer.

#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include "inline_call.h"

#ifdef INLINE_CALL_LIBRARY  // a shared object, regardless of its soname
#include <dlfcn.h>
#include <stdio.h>

static int (*rule)(const struct inline_call*);

static int load(void) {
  void* library = dlopen(INLINE_CALL_LIBRARY, RTLD_NOW);
  if (library) rule = (int (*)(const struct inline_call*))dlsym(library, "should_inline");
  if (!rule) fprintf(stderr, "%s\n", dlerror());
  return rule != 0;
}
#else
static int (*const rule)(const struct inline_call*) = should_inline;

static int load(void) { return 1; }
#endif

static int transfer(int file, char* data, size_t size, int writes) {
  while (size > 0) {
    const ssize_t done = writes ? write(file, data, size) : read(file, data, size);
    if (done <= 0) return 0;
    data += done;
    size -= (size_t)done;
  }
  return 1;
}

int main(void) {
  const int answers = dup(1);
  const struct itimerval limit = {{0, 0}, {INLINE_CALL_SECONDS, 0}}, none = {{0, 0}, {0, 0}};
  struct inline_call call;
  if (answers < 0 || dup2(2, 1) < 0 || !load()) return 70;
  while (transfer(0, (char*)&call, sizeof call, 0)) {
    setitimer(ITIMER_REAL, &limit, 0);  // its signal ends this process
    int64_t answer = rule(&call);
    setitimer(ITIMER_REAL, &none, 0);
    if (!transfer(answers, (char*)&answer, sizeof answer, 1)) return 71;
  }
  return 0;
}
