// SPDX-License-Identifier: MIT
// Structures, lists, function pointers, variable arguments and recursion.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *left, *right;
  long key;
  union {
    double real;
    unsigned char bytes[8];
  } payload;
  unsigned colour : 1, depth : 7;
};

typedef int (*order)(long, long);

static int ascending(long a, long b) { return (a > b) - (a < b); }
static int descending(long a, long b) { return -ascending(a, b); }

static struct node *insert(struct node *tree, long key, order compare) {
  if (!tree) {
    struct node *fresh = calloc(1, sizeof *fresh);
    if (!fresh) abort();
    fresh->key = key;
    fresh->payload.real = key * 0.5;
    return fresh;
  }
  int side = compare(key, tree->key);
  if (side < 0) {
    tree->left = insert(tree->left, key, compare);
  } else if (side > 0) {
    tree->right = insert(tree->right, key, compare);
  }
  tree->depth++;
  return tree;
}

static double total(const struct node *tree) {
  if (!tree) return 0;
  return total(tree->left) + tree->payload.real + total(tree->right);
}

static void release(struct node *tree) {
  if (!tree) return;
  release(tree->left);
  release(tree->right);
  free(tree);
}

static long sum_of(int count, ...) {
  va_list list;
  long sum = 0;
  va_start(list, count);
  while (count--) sum += va_arg(list, long);
  va_end(list);
  return sum;
}

int main(int argc, char **argv) {
  order orders[] = {ascending, descending};
  struct node *tree = NULL;
  for (int i = 1; i < argc; i++) {
    tree = insert(tree, strtol(argv[i], NULL, 10) + strlen(argv[i]), orders[i & 1]);
  }
  printf("%f %ld\n", total(tree), sum_of(3, 1L, 2L, (long)argc));
  release(tree);
  return 0;
}
