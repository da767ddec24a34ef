/* SPDX-License-Identifier: MIT */
/* Finds shortest paths by E. W. Dijkstra's algorithm of 1959. A graph is either a list of arcs, in
 * the .gr format of the 9th DIMACS Implementation Challenge ("p sp NODES ARCS", "a FROM TO LENGTH",
 * "c" for comments), or an adjacency matrix ("m NODES", then NODES x NODES lengths, "-" where there
 * is no arc). Arc lists are searched with a binary heap, matrices by scanning all nodes for the
 * nearest, as suits dense graphs. Questions come from a .p2p file ("q FROM TO"), and each is answered
 * with the distance and the path; without questions every node is taken as a source in turn and its
 * distances are summed up. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 256,
    MOST_NODES = 1 << 22,
    MOST_MATRIX_NODES = 4096,
    MOST_ARCS = 1 << 24,
    MOST_LENGTH = 1000000000,
    STATUS_BAD_DATA = 3,
};

#define UNREACHED UINT64_MAX
#define NO_ARC UINT32_MAX

typedef struct {
    uint32_t to;
    uint32_t length;
} Arc;

typedef struct {
    uint32_t nodes;
    uint32_t arcs;
    uint32_t *first;  /* arcs first[n] .. first[n + 1] - 1 leave node n */
    Arc *arc;
    uint32_t *matrix; /* or NULL */
} Graph;

typedef struct {
    uint64_t *distance;
    uint32_t *before; /* the node before this one on its shortest path */
    uint32_t *heap;   /* nodes, nearest first */
    uint32_t *place;  /* where a node stands in the heap, plus one */
    uint32_t heap_count;
} Search;

static int complain(const char *name, unsigned long line, const char *what)
{
    fprintf(stderr, "dijkstra: %s:%lu: %s\n", name, line, what);
    return STATUS_BAD_DATA;
}

static int is_nearer(const Search *search, uint32_t a, uint32_t b)
{
    uint64_t left = search->distance[a], right = search->distance[b];
    return left != right ? left < right : a < b;
}

static void put_in_heap(Search *search, uint32_t slot, uint32_t node)
{
    search->heap[slot] = node;
    search->place[node] = slot + 1;
}

static void sift_up(Search *search, uint32_t slot)
{
    uint32_t node = search->heap[slot];
    while (slot > 0 && is_nearer(search, node, search->heap[(slot - 1) / 2])) {
        put_in_heap(search, slot, search->heap[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    put_in_heap(search, slot, node);
}

static void sift_down(Search *search, uint32_t slot)
{
    uint32_t node = search->heap[slot];
    for (uint32_t child; (child = 2 * slot + 1) < search->heap_count; slot = child) {
        if (child + 1 < search->heap_count && is_nearer(search, search->heap[child + 1], search->heap[child]))
            child++;
        if (!is_nearer(search, search->heap[child], node))
            break;
        put_in_heap(search, slot, search->heap[child]);
    }
    put_in_heap(search, slot, node);
}

static uint32_t take_nearest(Search *search)
{
    uint32_t nearest = search->heap[0];
    search->place[nearest] = 0;
    if (--search->heap_count > 0) {
        search->heap[0] = search->heap[search->heap_count];
        sift_down(search, 0);
    }
    return nearest;
}

/* Shortens the path to `to` if the one through `from` is shorter. */
static int relax(Search *search, uint32_t from, uint32_t to, uint32_t length)
{
    uint64_t distance = search->distance[from] + length;
    if (distance >= search->distance[to])
        return 0;
    search->distance[to] = distance;
    search->before[to] = from;
    return 1;
}

static void start_search(Search *search, uint32_t nodes, uint32_t source)
{
    for (uint32_t node = 0; node < nodes; node++) {
        search->distance[node] = UNREACHED;
        search->place[node] = 0;
    }
    search->distance[source] = 0;
    search->before[source] = source;
}

static void search_list(const Graph *graph, Search *search, uint32_t source, uint32_t target)
{
    search->heap_count = 1;
    put_in_heap(search, 0, source);
    while (search->heap_count > 0) {
        uint32_t node = take_nearest(search);
        if (node == target)
            return;
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            const Arc *arc = &graph->arc[i];
            if (!relax(search, node, arc->to, arc->length))
                continue;
            if (search->place[arc->to] == 0)
                put_in_heap(search, search->heap_count++, arc->to);
            sift_up(search, search->place[arc->to] - 1);
        }
    }
}

/* A node whose `place` is set has its final distance. */
static void search_matrix(const Graph *graph, Search *search, uint32_t source, uint32_t target)
{
    for (uint32_t nearest = source; nearest != UINT32_MAX && nearest != target;) {
        const uint32_t *row = graph->matrix + (size_t)nearest * graph->nodes;
        uint64_t least = UNREACHED;
        uint32_t from = nearest;
        search->place[from] = 1;
        nearest = UINT32_MAX;
        for (uint32_t node = 0; node < graph->nodes; node++) {
            if (search->place[node])
                continue;
            if (row[node] != NO_ARC)
                relax(search, from, node, row[node]);
            if (search->distance[node] < least) {
                least = search->distance[node];
                nearest = node;
            }
        }
    }
}

/* Finds the distances from `source`, of all nodes or until `target` has its own. */
static void find_paths(const Graph *graph, Search *search, uint32_t source, uint32_t target)
{
    start_search(search, graph->nodes, source);
    if (graph->matrix != NULL)
        search_matrix(graph, search, source, target);
    else
        search_list(graph, search, source, target);
}

static void print_path(Search *search, uint32_t source, uint32_t target)
{
    uint32_t count = 0;
    for (uint32_t node = target; node != source; node = search->before[node])
        search->heap[count++] = node;
    printf("%lu", (unsigned long)source + 1);
    while (count > 0)
        printf(" %lu", (unsigned long)search->heap[--count] + 1);
    putchar('\n');
}

static void answer(const Graph *graph, Search *search, uint32_t source, uint32_t target)
{
    find_paths(graph, search, source, target);
    if (search->distance[target] == UNREACHED) {
        printf("%lu to %lu: no path\n", (unsigned long)source + 1, (unsigned long)target + 1);
        return;
    }
    printf("%lu to %lu: %llu by ", (unsigned long)source + 1, (unsigned long)target + 1,
           (unsigned long long)search->distance[target]);
    print_path(search, source, target);
}

static void summarise(const Graph *graph, Search *search, uint32_t source)
{
    unsigned long reached = 0;
    uint64_t sum = 0, farthest = 0;

    find_paths(graph, search, source, UINT32_MAX);
    for (uint32_t node = 0; node < graph->nodes; node++)
        if (search->distance[node] != UNREACHED) {
            reached++;
            sum += search->distance[node];
            if (search->distance[node] > farthest)
                farthest = search->distance[node];
        }
    printf("%lu reaches %lu, farthest %llu, sum %llu\n", (unsigned long)source + 1, reached,
           (unsigned long long)farthest, (unsigned long long)sum);
}

/* Reads a number of at most `most`; moves *text past it. Returns -1 where there is none. */
static int read_number(const char **text, uint32_t most, uint32_t *number)
{
    char *end;
    while (**text == ' ' || **text == '\t')
        ++*text;
    if (**text < '0' || **text > '9')
        return -1;
    errno = 0;
    unsigned long value = strtoul(*text, &end, 10);
    if (errno != 0 || value > most)
        return -1;
    *number = (uint32_t)value;
    *text = end;
    return 0;
}

/* Reads a node, which files number from 1. */
static int read_node(const char **text, uint32_t nodes, uint32_t *node)
{
    if (read_number(text, nodes, node) != 0 || *node == 0)
        return -1;
    --*node;
    return 0;
}

static int is_line_end(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        fputs("dijkstra: out of memory\n", stderr);
    return memory;
}

/* Sorts arcs by the node they leave, in the order in which they were read. */
static int store_arcs(Graph *graph, const uint32_t *from, const Arc *arcs)
{
    graph->first = allocate((size_t)graph->nodes + 2, sizeof *graph->first);
    graph->arc = allocate(graph->arcs, sizeof *graph->arc);
    if (graph->first == NULL || graph->arc == NULL)
        return 1;
    for (uint32_t i = 0; i < graph->arcs; i++)
        graph->first[from[i] + 2]++;
    for (uint32_t node = 2; node <= graph->nodes; node++)
        graph->first[node] += graph->first[node - 1];
    for (uint32_t i = 0; i < graph->arcs; i++)
        graph->arc[graph->first[from[i] + 1]++] = arcs[i];
    return 0;
}

static int parse_arc(const char *text, const Graph *graph, uint32_t *from, Arc *arc)
{
    if (read_node(&text, graph->nodes, from) != 0 || read_node(&text, graph->nodes, &arc->to) != 0)
        return -1;
    return read_number(&text, MOST_LENGTH, &arc->length) == 0 && is_line_end(text) ? 0 : -1;
}

static int read_arcs(FILE *file, const char *name, unsigned long line, Graph *graph)
{
    uint32_t *from = allocate(graph->arcs, sizeof *from);
    Arc *arcs = allocate(graph->arcs, sizeof *arcs);
    char text[LINE_BYTES];
    uint32_t count = 0;
    int status = from == NULL || arcs == NULL;

    while (status == 0 && fgets(text, sizeof text, file) != NULL) {
        line++;
        if (text[0] == 'c' || is_line_end(text))
            continue;
        if (text[0] != 'a' || count == graph->arcs || parse_arc(text + 1, graph, &from[count], &arcs[count]) != 0)
            status = complain(name, line, "not one of the arcs promised");
        count++;
    }
    if (status == 0 && count < graph->arcs)
        status = complain(name, line, "fewer arcs than promised");
    if (status == 0)
        status = store_arcs(graph, from, arcs);
    free(from);
    free(arcs);
    return status;
}

static int read_matrix(FILE *file, const char *name, unsigned long line, Graph *graph)
{
    size_t cells = (size_t)graph->nodes * graph->nodes;
    char word[16];

    graph->matrix = allocate(cells, sizeof *graph->matrix);
    if (graph->matrix == NULL)
        return 1;
    for (size_t i = 0; i < cells; i++) {
        const char *text = word;
        if (fscanf(file, "%15s", word) != 1)
            return complain(name, line, "the matrix is not complete");
        if (strcmp(word, "-") == 0)
            graph->matrix[i] = NO_ARC;
        else if (read_number(&text, MOST_LENGTH, &graph->matrix[i]) != 0 || *text != '\0')
            return complain(name, line, "the matrix holds what is no length");
    }
    return fscanf(file, "%15s", word) == 1 ? complain(name, line, "the matrix has too many lengths") : 0;
}

static int read_graph(const char *name, Graph *graph)
{
    FILE *file = fopen(name, "r");
    char text[LINE_BYTES] = "c";
    unsigned long line = 0;
    int status;

    if (file == NULL) {
        fprintf(stderr, "dijkstra: %s: %s\n", name, strerror(errno));
        return 1;
    }
    while ((text[0] == 'c' || is_line_end(text)) && fgets(text, sizeof text, file) != NULL)
        line++;
    const char *at = text + (strncmp(text, "p sp ", 5) == 0 ? 5 : 2);
    if (strncmp(text, "p sp ", 5) == 0 && read_number(&at, MOST_NODES, &graph->nodes) == 0 &&
        read_number(&at, MOST_ARCS, &graph->arcs) == 0 && is_line_end(at))
        status = read_arcs(file, name, line, graph);
    else if (strncmp(text, "m ", 2) == 0 && read_number(&at, MOST_MATRIX_NODES, &graph->nodes) == 0 && is_line_end(at))
        status = read_matrix(file, name, line, graph);
    else
        status = complain(name, line, "neither \"p sp NODES ARCS\" nor \"m NODES\"");
    fclose(file);
    return status;
}

static int answer_all(const char *name, const Graph *graph, Search *search)
{
    FILE *file = fopen(name, "r");
    char text[LINE_BYTES];
    unsigned long line = 0;
    uint32_t source, target;
    int status = 0;

    if (file == NULL) {
        fprintf(stderr, "dijkstra: %s: %s\n", name, strerror(errno));
        return 1;
    }
    while (status == 0 && fgets(text, sizeof text, file) != NULL) {
        const char *at = text + 1;
        line++;
        if (text[0] == 'c' || text[0] == 'p' || is_line_end(text))
            continue;
        if (text[0] != 'q' || read_node(&at, graph->nodes, &source) != 0 ||
            read_node(&at, graph->nodes, &target) != 0 || !is_line_end(at))
            status = complain(name, line, "not a question about two nodes");
        else
            answer(graph, search, source, target);
    }
    fclose(file);
    return status;
}

static int make_search(Search *search, uint32_t nodes)
{
    search->distance = allocate(nodes, sizeof *search->distance);
    search->before = allocate(nodes, sizeof *search->before);
    search->heap = allocate(nodes, sizeof *search->heap);
    search->place = allocate(nodes, sizeof *search->place);
    return search->distance == NULL || search->before == NULL || search->heap == NULL || search->place == NULL;
}

static void release(Graph *graph, Search *search)
{
    free(graph->first);
    free(graph->arc);
    free(graph->matrix);
    free(search->distance);
    free(search->before);
    free(search->heap);
    free(search->place);
}

int main(int argc, char **argv)
{
    Graph graph = {0, 0, NULL, NULL, NULL};
    Search search = {NULL, NULL, NULL, NULL, 0};

    if (argc < 2 || argc > 3) {
        fputs("usage: dijkstra GRAPH [QUESTIONS]\n", stderr);
        return 2;
    }
    int status = read_graph(argv[1], &graph);
    if (status == 0)
        status = make_search(&search, graph.nodes);
    if (status == 0 && argc == 3)
        status = answer_all(argv[2], &graph, &search);
    for (uint32_t source = 0; status == 0 && argc == 2 && source < graph.nodes; source++)
        summarise(&graph, &search, source);
    release(&graph, &search);
    return fflush(stdout) != 0 ? 1 : status;
}
