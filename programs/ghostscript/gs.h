/* SPDX-License-Identifier: MIT */
/* What the parts of the interpreter share: objects, the interpreter's stacks, the graphics state. */
#ifndef GS_H
#define GS_H

#include <stddef.h>
#include <stdint.h>

/* Errors carry the names of the PostScript Language Reference; the three last are not errors but
 * ways out of nested procedures. */
enum status {
    OK,
    E_CONFIGURATION,
    E_DICT_OVERFLOW,
    E_DICT_UNDERFLOW,
    E_EXEC_OVERFLOW,
    E_ACCESS,
    E_EXIT,
    E_FILE_ACCESS,
    E_FONT,
    E_RESTORE,
    E_IO,
    E_LIMIT,
    E_NO_POINT,
    E_RANGE,
    E_STACK_OVERFLOW,
    E_STACK_UNDERFLOW,
    E_SYNTAX,
    E_TYPE,
    E_UNDEFINED,
    E_FILE_NAME,
    E_RESULT,
    E_MARK,
    E_MEMORY,
    ERROR_COUNT,
    LEAVE_LOOP,
    LEAVE_STOPPED,
    LEAVE_ALL
};

enum type {
    T_NULL, T_INTEGER, T_REAL, T_BOOLEAN, T_NAME, T_STRING, T_ARRAY, T_DICT, T_OPERATOR, T_MARK,
    T_FILE, T_FONT, T_SAVE, T_DELETED
};

enum access { UNLIMITED, READ_ONLY, EXECUTE_ONLY, NO_ACCESS };

typedef struct name {
    struct name *next;
    uint32_t hash, length;
    char text[1];
} name;

typedef struct object {
    uint8_t type, executable, access, packed;
    uint32_t length;
    union {
        int32_t integer;
        float real;
        struct name *name;
        uint8_t *bytes;
        struct object *items;
        struct dict *dict;
        struct file *file;
    } u;
} object;

typedef struct {
    object key, value;
} dict_entry;

typedef struct dict {
    dict_entry *entries;
    uint32_t count, used, slots, maximum;
    uint8_t access;
} dict;

typedef struct file {
    uint8_t *data;
    size_t size, at;
    int open, output; /* output: 1 for stdout, 2 for stderr */
    int filter;       /* a decoder that has yet to run over the source */
    struct file *source;
} file;

typedef int operator_function(void);

typedef struct {
    const char *name;
    operator_function *run;
    const char *operands; /* kinds from the deepest to the top: see check_operands */
} operator_entry;

enum { STACK_LIMIT = 2000, DICT_LIMIT = 100, DEPTH_LIMIT = 1000, HANDLER_DEPTH = 20 };

typedef struct {
    object stack[STACK_LIMIT];
    int top; /* number of operands */
    dict *dicts[DICT_LIMIT];
    int dict_top;
    dict *system, *user, *errors, *error_state, *fonts;
    int depth, packing, save_level;
    file *input;     /* the file being executed */
    uint32_t random;
    int quiet;
    unsigned long operations;
} interpreter;

extern interpreter ps;

/* object.c */
void *vm_allocate(size_t size);
void vm_release_all(void);
name *intern(const char *text, size_t length);
object make_null(void);
object make_integer(int32_t value);
object make_real(double value);
object make_boolean(int value);
object make_name(const char *text, int executable);
object make_string(size_t length);
object make_text(const char *text);
object make_array(uint32_t length);
object make_dict(uint32_t maximum);
object make_file(uint8_t *data, size_t size);
object make_operator(int index);
int objects_equal(const object *a, const object *b);
int is_procedure(const object *o);
double number_of(const object *o);
object *dict_find(dict *d, const object *key);
int dict_put(dict *d, const object *key, const object *value);
void dict_put_name(dict *d, const char *key, object value);
object *dict_get_name(dict *d, const char *key);
void dict_remove(dict *d, const object *key);
void array_store(object *slot, object value);
object begin_save(void);
int end_save(int32_t level);

/* scan.c */
int scan_token(file *from, object *token); /* 1: a token, 0: the end, below 0: minus an error */
int file_byte(file *from);
void run_filter(file *f);
enum { FILTER_NONE, FILTER_HEX, FILTER_BASE85, FILTER_RUNS };
int parse_number(const char *text, size_t length, object *number);
int decode_base85(file *from, uint8_t **data, size_t *size);

/* interpret.c */
int push(object o);
object pop(void);
object *peek(int depth);
int execute(object o);
int call_procedure(object procedure);
int run_file(object from);
int find_name(const object *key, object *value);
int check_operands(const char *kinds);
int signal_error(int error, object command);
void add_operators(const operator_entry *entries);
const operator_entry *operator_at(int index);
void report_error(void);
size_t format_object(const object *o, char *out, size_t size);
void start_interpreter(void);

/* numeric.c: the same results on every machine, which libm does not promise */
double sine(double degrees);
double cosine(double degrees);
double arc_tangent(double y, double x); /* degrees in [0, 360) */
double natural_log(double x);
double exponential(double x);
double power(double base, double exponent);

/* path.c */
enum { MOVE, LINE, CURVE, CLOSE };

typedef struct {
    double x, y;
} point;

typedef struct {
    uint8_t *codes;
    point *points; /* one for MOVE and LINE, three for CURVE, none for CLOSE */
    size_t codes_size, codes_room, points_size, points_room;
} path;

typedef struct {
    double width, miter, dashes[12], dash_offset;
    int cap, join, dash_count;
} pen;

typedef double matrix[6];

void path_clear(path *p);
void path_free(path *p);
void path_copy(path *to, const path *from);
void path_append(path *to, const path *from);
void path_move(path *p, point to);
void path_line(path *p, point to);
void path_curve(path *p, point a, point b, point to);
void path_close(path *p);
int path_current(const path *p, point *at);
void path_flatten(const path *p, double flatness, path *out);
void path_reverse(const path *p, path *out);
int path_bounds(const path *p, point *low, point *high);
void path_stroke(const path *p, const pen *style, const matrix m, double flatness, path *out);
void path_outline(const path *p, double width, const matrix m, double flatness, path *out);
point transform(const matrix m, double x, double y);
point transform_distance(const matrix m, double x, double y);
int invert(const matrix m, matrix out);
void multiply(const matrix a, const matrix b, matrix out);
void path_arc(path *p, const matrix m, point centre, double radius, double from, double to);

/* raster.c */
typedef struct clip {
    int users;
    int left, top, right, bottom; /* in pixels */
    uint8_t *mask;                /* one bit a sample of the whole page, or NULL for the rectangle */
} clip;

typedef struct {
    int width, height, samples; /* samples: per pixel and axis, for smooth edges */
    uint8_t *pixels;            /* red, green, blue */
} page;

extern page paper;
int page_start(int width, int height, int samples);
void page_erase(void);
void page_free(void);
clip *clip_whole(void);
clip *clip_keep(clip *c);
void clip_drop(clip *c);
clip *clip_path(const clip *c, const path *flat, int even_odd);
void fill_path(const path *flat, int even_odd, const clip *c, const uint8_t rgb[3]);
int clip_coverage(const clip *c, int x, int y); /* 0 to samples squared */
void blend_pixel(int x, int y, const uint8_t rgb[3], int part, int whole);
int path_contains(const path *flat, int even_odd, point at);

/* graphics.c */
enum { SPACE_GRAY, SPACE_RGB, SPACE_CMYK, SPACE_INDEXED };

typedef struct gstate {
    struct gstate *below;
    int by_save;
    matrix ctm;
    path path;
    clip *clip;
    int space;
    double components[4];
    object indexed; /* the colour space array when space is SPACE_INDEXED */
    uint8_t rgb[3];
    pen pen;
    double flatness;
    object font;
} gstate;

extern gstate *graphics;
extern matrix default_matrix;
void start_graphics(void);
void stop_graphics(void);
void graphics_save(int by_save);
int graphics_restore(void);
void graphics_restore_to_save(void);
void reset_clips(void);
void set_color(int space, const double *components);
void space_to_rgb(int space, const double *components, uint8_t rgb[3]);
int read_matrix(const object *o, matrix m);
int write_matrix(object *o, const matrix m);
double flatness_now(void);

/* device.c */
typedef struct {
    int kind; /* 4, 5 or 6: the digit of the raw PNM format; 1 to 3 for the plain ones */
    int resolution_x, resolution_y, width, height, samples;
    const char *output;
} device;

extern device target;
int device_write_page(void);
int device_size(int width, int height);

/* the operators of each part */
extern const operator_entry stack_operators[], arithmetic_operators[], compound_operators[],
    control_operators[], conversion_operators[], file_operators[], graphics_operators[],
    path_operators[], paint_operators[], image_operators[], font_operators[];
void start_fonts(void);

#endif
