/* SPDX-License-Identifier: MIT */
/* Routes IPv4 addresses by the longest matching prefix (RFC 4632) in a Patricia trie, after D. R.
 * Morrison's "Practical Algorithm To Retrieve Information Coded in Alphanumeric" (1968): a binary
 * trie without nodes that do not branch, each node knowing the first bit at which its children
 * differ. The input is a list of commands, one a line:
 *     + PREFIX/LENGTH HOP   add a route or change its next hop
 *     - PREFIX/LENGTH       remove a route
 *     = PREFIX/LENGTH       show that route
 *     ? ADDRESS             route an address
 *     !                     merge: drop each route that its covering route makes needless
 *     *                     list all routes in order, with how often each was taken
 *     %                     show figures of the trie
 * With -n N every address is routed N times. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_BITS = 32, LINE_BYTES = 128, HOP_BYTES = 16, STATUS_BAD_DATA = 3 };

#define NONE UINT32_MAX

typedef struct {
    uint32_t prefix; /* bits behind `length` are zero */
    uint8_t length;
    uint8_t is_route;
    char hop[HOP_BYTES];
    unsigned long taken;
    uint32_t child[2]; /* by the bit at place `length` */
} Node;

typedef struct {
    Node *nodes;
    uint32_t count; /* of nodes ever made */
    uint32_t room;
    uint32_t spare; /* a list of freed nodes, by child[0] */
    uint32_t root;
} Trie;

typedef struct {
    unsigned long nodes, routes, branches, depth_sum, deepest;
} Figures;

static uint32_t mask_of(int length)
{
    return length == 0 ? 0 : UINT32_MAX << (ADDRESS_BITS - length);
}

static int bit_at(uint32_t address, int place)
{
    return (int)(address >> (ADDRESS_BITS - 1 - place) & 1);
}

/* Returns how many leading bits two addresses share, at most `most`. */
static int shared_bits(uint32_t a, uint32_t b, int most)
{
    uint32_t different = a ^ b;
    int shared = 0;

    if (different == 0)
        return most;
    for (int step = 16; step > 0; step >>= 1)
        if (different >> (ADDRESS_BITS - step) == 0) {
            shared += step;
            different <<= step;
        }
    return shared < most ? shared : most;
}

static int matches(const Node *node, uint32_t address)
{
    return ((address ^ node->prefix) & mask_of(node->length)) == 0;
}

/* Returns a node without children, or NONE when memory is exhausted. May move the nodes. */
static uint32_t make_node(Trie *trie, uint32_t prefix, int length)
{
    uint32_t index = trie->spare;

    if (index != NONE) {
        trie->spare = trie->nodes[index].child[0];
    } else {
        if (trie->count == trie->room) {
            uint32_t room = trie->room == 0 ? 256 : 2 * trie->room;
            Node *moved = realloc(trie->nodes, room * sizeof *moved);
            if (moved == NULL)
                return NONE;
            trie->nodes = moved;
            trie->room = room;
        }
        index = trie->count++;
    }
    Node *node = &trie->nodes[index];
    memset(node, 0, sizeof *node);
    node->prefix = prefix;
    node->length = (uint8_t)length;
    node->child[0] = node->child[1] = NONE;
    return index;
}

static void free_node(Trie *trie, uint32_t index)
{
    trie->nodes[index].child[0] = trie->spare;
    trie->spare = index;
}

/* The place that holds a node's index: in its parent, or the root's own. */
static uint32_t *link_of(Trie *trie, uint32_t parent, uint32_t prefix)
{
    if (parent == NONE)
        return &trie->root;
    Node *node = &trie->nodes[parent];
    return &node->child[bit_at(prefix, node->length)];
}

/* Returns the node of a prefix, made if need be, or NONE when memory is exhausted. */
static uint32_t find_or_add(Trie *trie, uint32_t prefix, int length)
{
    uint32_t parent = NONE, at = trie->root;
    int shared = 0;

    while (at != NONE) {
        const Node *node = &trie->nodes[at];
        shared = shared_bits(prefix, node->prefix, length < node->length ? length : node->length);
        if (shared < node->length)
            break;
        if (node->length == length)
            return at;
        parent = at;
        at = node->child[bit_at(prefix, node->length)];
    }
    uint32_t added = make_node(trie, prefix, length);
    if (added == NONE)
        return NONE;
    if (at == NONE) {
        *link_of(trie, parent, prefix) = added;
        return added;
    }
    uint32_t below = trie->nodes[at].prefix;
    if (shared == length) {
        trie->nodes[added].child[bit_at(below, length)] = at;
        *link_of(trie, parent, prefix) = added;
        return added;
    }
    uint32_t fork = make_node(trie, prefix & mask_of(shared), shared);
    if (fork == NONE) {
        free_node(trie, added);
        return NONE;
    }
    trie->nodes[fork].child[bit_at(prefix, shared)] = added;
    trie->nodes[fork].child[bit_at(below, shared)] = at;
    *link_of(trie, parent, prefix) = fork;
    return added;
}

/* Returns the route of exactly this prefix, or NONE. Its parent's index goes to *parent. */
static uint32_t find_exact(const Trie *trie, uint32_t prefix, int length, uint32_t *parent)
{
    uint32_t at = trie->root;
    *parent = NONE;
    while (at != NONE && trie->nodes[at].length < length && matches(&trie->nodes[at], prefix)) {
        *parent = at;
        at = trie->nodes[at].child[bit_at(prefix, trie->nodes[at].length)];
    }
    if (at == NONE || trie->nodes[at].length != length || trie->nodes[at].prefix != prefix)
        return NONE;
    return trie->nodes[at].is_route ? at : NONE;
}

static uint32_t find_longest(const Trie *trie, uint32_t address)
{
    uint32_t best = NONE, at = trie->root;
    while (at != NONE && matches(&trie->nodes[at], address)) {
        const Node *node = &trie->nodes[at];
        if (node->is_route)
            best = at;
        at = node->length == ADDRESS_BITS ? NONE : node->child[bit_at(address, node->length)];
    }
    return best;
}

static int child_count(const Node *node)
{
    return (node->child[0] != NONE) + (node->child[1] != NONE);
}

/* Takes out a node that is neither a route nor a fork; *link comes to hold what was below it. */
static void prune(Trie *trie, uint32_t *link)
{
    uint32_t index = *link;
    const Node *node = &trie->nodes[index];
    if (node->is_route || child_count(node) == 2)
        return;
    *link = node->child[0] != NONE ? node->child[0] : node->child[1];
    free_node(trie, index);
}

static int remove_route(Trie *trie, uint32_t prefix, int length)
{
    uint32_t parent, grandparent = NONE;
    uint32_t index = find_exact(trie, prefix, length, &parent);

    if (index == NONE)
        return -1;
    trie->nodes[index].is_route = 0;
    trie->nodes[index].taken = 0;
    prune(trie, link_of(trie, parent, prefix));
    if (parent != NONE) {
        for (uint32_t at = trie->root; at != parent; at = trie->nodes[at].child[bit_at(prefix, trie->nodes[at].length)])
            grandparent = at;
        prune(trie, link_of(trie, grandparent, prefix));
    }
    return 0;
}

/* Drops routes below *link whose nearest covering route has the same next hop. */
static unsigned long merge(Trie *trie, uint32_t *link, const char *hop)
{
    unsigned long dropped = 0;

    if (*link == NONE)
        return 0;
    Node *node = &trie->nodes[*link];
    if (node->is_route && hop != NULL && strcmp(node->hop, hop) == 0) {
        node->is_route = 0;
        dropped++;
    }
    if (node->is_route)
        hop = node->hop;
    dropped += merge(trie, &node->child[0], hop);
    dropped += merge(trie, &node->child[1], hop);
    prune(trie, link);
    return dropped;
}

static void print_address(uint32_t address)
{
    printf("%u.%u.%u.%u", (unsigned)(address >> 24), (unsigned)(address >> 16 & 255),
           (unsigned)(address >> 8 & 255), (unsigned)(address & 255));
}

static void print_prefix(const Node *node)
{
    print_address(node->prefix);
    printf("/%d", node->length);
}

static void list_routes(const Trie *trie, uint32_t at)
{
    if (at == NONE)
        return;
    const Node *node = &trie->nodes[at];
    if (node->is_route) {
        print_prefix(node);
        printf(" via %s, taken %lu times\n", node->hop, node->taken);
    }
    list_routes(trie, node->child[0]);
    list_routes(trie, node->child[1]);
}

static void measure(const Trie *trie, uint32_t at, unsigned long depth, Figures *figures)
{
    if (at == NONE)
        return;
    const Node *node = &trie->nodes[at];
    figures->nodes++;
    figures->routes += node->is_route;
    figures->branches += child_count(node) == 2;
    figures->depth_sum += depth;
    if (depth > figures->deepest)
        figures->deepest = depth;
    measure(trie, node->child[0], depth + 1, figures);
    measure(trie, node->child[1], depth + 1, figures);
}

static void print_figures(const Trie *trie)
{
    Figures figures = {0, 0, 0, 0, 0};
    measure(trie, trie->root, 1, &figures);
    printf("%lu routes, %lu nodes, %lu branches, depth %lu in all, %lu at most\n", figures.routes, figures.nodes,
           figures.branches, figures.depth_sum, figures.deepest);
}

/* Reads a decimal number without sign or leading zeros; moves *text past it. */
static int parse_number(const char **text, unsigned most, unsigned *number)
{
    const char *start = *text;
    *number = 0;
    while (**text >= '0' && **text <= '9' && *text - start < 3) {
        *number = *number * 10 + (unsigned)(**text - '0');
        ++*text;
    }
    int leading_zero = *start == '0' && *text - start > 1;
    return *text == start || leading_zero || *number > most ? -1 : 0;
}

static int parse_address(const char **text, uint32_t *address)
{
    unsigned part;
    *address = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0 && *(*text)++ != '.')
            return -1;
        if (parse_number(text, 255, &part) != 0)
            return -1;
        *address = *address << 8 | part;
    }
    return 0;
}

static int parse_prefix(const char **text, uint32_t *prefix, int *length)
{
    unsigned number;
    if (parse_address(text, prefix) != 0 || *(*text)++ != '/')
        return -1;
    if (parse_number(text, ADDRESS_BITS, &number) != 0)
        return -1;
    *length = (int)number;
    return (*prefix & ~mask_of(*length)) == 0 ? 0 : -1;
}

static int parse_hop(const char *text, char hop[HOP_BYTES])
{
    size_t length = strcspn(text + 1, " \t\r\n");
    if (*text != ' ' || length == 0 || length >= HOP_BYTES || text[1 + length + strspn(text + 1 + length, " \t\r\n")])
        return -1;
    memcpy(hop, text + 1, length);
    hop[length] = '\0';
    return 0;
}

static int is_line_end(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static int add_route(Trie *trie, const char *text)
{
    char hop[HOP_BYTES];
    uint32_t prefix;
    int length;

    if (parse_prefix(&text, &prefix, &length) != 0 || parse_hop(text, hop) != 0)
        return STATUS_BAD_DATA;
    uint32_t index = find_or_add(trie, prefix, length);
    if (index == NONE)
        return 1;
    trie->nodes[index].is_route = 1;
    memcpy(trie->nodes[index].hop, hop, sizeof hop);
    return 0;
}

static int change_route(Trie *trie, const char *text, int removing)
{
    const char *end = text;
    uint32_t prefix, parent, index;
    int length;

    if (parse_prefix(&end, &prefix, &length) != 0 || !is_line_end(end))
        return STATUS_BAD_DATA;
    index = find_exact(trie, prefix, length, &parent);
    printf("%.*s ", (int)(end - text), text);
    if (index == NONE)
        puts("is no route");
    else
        printf("%s via %s\n", removing ? "removed," : "goes", trie->nodes[index].hop);
    if (removing && index != NONE)
        remove_route(trie, prefix, length);
    return 0;
}

static int route_address(Trie *trie, const char *text, int passes)
{
    uint32_t address, found = NONE;

    if (parse_address(&text, &address) != 0 || !is_line_end(text))
        return STATUS_BAD_DATA;
    for (int pass = 0; pass < passes; pass++) {
        found = find_longest(trie, address);
        if (found != NONE)
            trie->nodes[found].taken++;
    }
    print_address(address);
    if (found == NONE) {
        puts(" has no route");
    } else {
        printf(" via %s by ", trie->nodes[found].hop);
        print_prefix(&trie->nodes[found]);
        putchar('\n');
    }
    return 0;
}

static int obey(Trie *trie, const char *line, int passes)
{
    const char *operand = line + 1 + strspn(line + (*line != '\0'), " \t");

    if (is_line_end(line) || *line == '#')
        return 0;
    switch (*line) {
    case '+': return add_route(trie, operand);
    case '-': return change_route(trie, operand, 1);
    case '=': return change_route(trie, operand, 0);
    case '?': return route_address(trie, operand, passes);
    case '!': printf("%lu routes were needless\n", merge(trie, &trie->root, NULL)); return 0;
    case '*': list_routes(trie, trie->root); return 0;
    case '%': print_figures(trie); return 0;
    default: return STATUS_BAD_DATA;
    }
}

static int obey_file(FILE *file, const char *name, int passes)
{
    Trie trie = {NULL, 0, 0, NONE, NONE};
    char line[LINE_BYTES];
    unsigned long number = 0;
    int status = 0;

    while (status == 0 && fgets(line, sizeof line, file) != NULL) {
        number++;
        status = obey(&trie, line, passes);
        if (status == STATUS_BAD_DATA)
            fprintf(stderr, "patricia: %s:%lu: not a command\n", name, number);
        else if (status != 0)
            fputs("patricia: out of memory\n", stderr);
    }
    free(trie.nodes);
    return status;
}

int main(int argc, char **argv)
{
    int passes = 1, at = 1;

    if (argc == 4 && strcmp(argv[1], "-n") == 0) {
        passes = atoi(argv[2]);
        at = 3;
    }
    if (at + 1 != argc || passes < 1) {
        fputs("usage: patricia [-n PASSES] COMMANDS\n", stderr);
        return 2;
    }
    FILE *file = fopen(argv[at], "r");
    if (file == NULL) {
        fprintf(stderr, "patricia: %s: %s\n", argv[at], strerror(errno));
        return 1;
    }
    int status = obey_file(file, argv[at], passes);
    fclose(file);
    return fflush(stdout) != 0 ? 1 : status;
}
