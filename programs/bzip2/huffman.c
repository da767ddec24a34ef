/* SPDX-License-Identifier: MIT */
/* Code lengths from frequencies, canonical codes from lengths, and the decoder's tables. */
#include <string.h>

#include "bzip2.h"

typedef struct {
    uint32_t weight[2 * MAX_SYMBOLS];
    int16_t parent[2 * MAX_SYMBOLS];
    uint8_t height[2 * MAX_SYMBOLS];
    int16_t heap[MAX_SYMBOLS];
    int count;
} Tree;

/* Lighter first; of two equally heavy trees the flatter one, which keeps codes short. */
static int comes_before(const Tree *tree, int a, int b)
{
    if (tree->weight[a] != tree->weight[b])
        return tree->weight[a] < tree->weight[b];
    if (tree->height[a] != tree->height[b])
        return tree->height[a] < tree->height[b];
    return a < b;
}

static void heap_push(Tree *tree, int node)
{
    int at = tree->count++;
    while (at > 0) {
        int above = (at - 1) / 2;
        if (!comes_before(tree, node, tree->heap[above]))
            break;
        tree->heap[at] = tree->heap[above];
        at = above;
    }
    tree->heap[at] = (int16_t)node;
}

static int heap_pop(Tree *tree)
{
    int top = tree->heap[0];
    int node = tree->heap[--tree->count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= tree->count)
            break;
        if (child + 1 < tree->count &&
            comes_before(tree, tree->heap[child + 1], tree->heap[child]))
            child++;
        if (!comes_before(tree, tree->heap[child], node))
            break;
        tree->heap[at] = tree->heap[child];
        at = child;
    }
    tree->heap[at] = (int16_t)node;
    return top;
}

static int build_tree(Tree *tree, int symbols)
{
    int next = symbols;
    int longest = 0;

    tree->count = 0;
    for (int s = 0; s < symbols; s++) {
        tree->height[s] = 0;
        heap_push(tree, s);
    }
    while (tree->count > 1) {
        int a = heap_pop(tree);
        int b = heap_pop(tree);
        tree->weight[next] = tree->weight[a] + tree->weight[b];
        tree->height[next] =
            (uint8_t)((tree->height[a] > tree->height[b] ? tree->height[a] : tree->height[b]) + 1);
        tree->parent[a] = tree->parent[b] = (int16_t)next;
        heap_push(tree, next++);
    }
    tree->parent[next - 1] = -1;
    for (int s = 0; s < symbols; s++) {
        int depth = 0;
        for (int node = s; tree->parent[node] >= 0; node = tree->parent[node])
            depth++;
        if (depth > longest)
            longest = depth;
    }
    return longest;
}

void huffman_lengths(const uint32_t *frequency, int symbols, int limit, uint8_t *length)
{
    Tree tree;

    for (int s = 0; s < symbols; s++)
        tree.weight[s] = frequency[s] == 0 ? 1 : frequency[s];
    /* Halving the weights flattens the tree until it fits. */
    while (build_tree(&tree, symbols) > limit)
        for (int s = 0; s < symbols; s++)
            tree.weight[s] = tree.weight[s] / 2 + 1;
    for (int s = 0; s < symbols; s++) {
        int depth = 0;
        for (int node = s; tree.parent[node] >= 0; node = tree.parent[node])
            depth++;
        length[s] = (uint8_t)depth;
    }
}

void huffman_codes(const uint8_t *length, int symbols, uint32_t *code)
{
    uint32_t next = 0;
    for (int bits = 1; bits <= MAX_CODE_LENGTH; bits++) {
        for (int s = 0; s < symbols; s++)
            if (length[s] == bits)
                code[s] = next++;
        next <<= 1;
    }
}

/* Refuses over-subscribed lengths, whose codes would not be prefix free. Incomplete sets pass, as
   the format allows them; reading an unused code is an error then. */
int huffman_decode_table(const uint8_t *length, int symbols, DecodeTable *table)
{
    int32_t count[MAX_CODE_LENGTH + 2] = {0};
    int32_t code = 0;
    int position = 0;

    memset(table, 0, sizeof *table);
    table->shortest = MAX_CODE_LENGTH;
    for (int s = 0; s < symbols; s++) {
        count[length[s]]++;
        if (length[s] > table->longest)
            table->longest = length[s];
        if (length[s] < table->shortest)
            table->shortest = length[s];
    }
    for (int bits = 1; bits <= table->longest; bits++) {
        for (int s = 0; s < symbols; s++)
            if (length[s] == bits)
                table->symbol[position++] = (uint16_t)s;
        table->base[bits] = position - count[bits] - code;
        code += count[bits];
        table->limit[bits] = code - 1;
        if (code > (int32_t)1 << bits)
            return -1;
        code <<= 1;
    }
    return 0;
}
