#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <csetjmp>
#include <cstdarg>
#include <cstdlib>
#include <thread>
#include <functional>
struct Counted { static int alive; int v; explicit Counted(int v) : v(v) { ++alive; if (v % 7 == 6) { --alive; throw std::runtime_error("six of seven"); } } Counted(const Counted &o) : v(o.v) { ++alive; } ~Counted() { --alive; } };
int Counted::alive = 0;
[[gnu::noinline]] static long double weigh(const std::vector<Counted> &all, long double by) { long double s = 0; for (auto &c : all) s = s * by + c.v; return s; }
[[gnu::noinline]] static long double tried(int n, long double by) { std::vector<Counted> all; all.reserve(n); for (int i = 0; i < n; i++) { Counted a(i), b(i % 5); all.push_back(a); if (i > 9) throw n; all.push_back(b); } return weigh(all, by) - by * n; }
static std::jmp_buf back;
[[gnu::noinline]] static void deep(int n, int a, int b, int c, int d) { if (n == 0) std::longjmp(back, a + b + c + d); deep(n - 1, b, c, d, a + 1); }
[[gnu::noinline]] static int jumps(int a) { volatile int kept = a; int got = setjmp(back); if (got) return got + kept; deep(9, a, a + 1, a + 2, a + 3); return 0; }
[[gnu::noinline]] static int sum(int n, ...) { std::va_list l; va_start(l, n); int s = 0; while (n--) s += va_arg(l, int); va_end(l); return s; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double a; explicit Square(double a) : a(a) {} double area() const override { return a * a; } };
struct Bad : Shape { double area() const override { throw std::out_of_range("no area"); } };
int main() {
    for (int n = 0; n < 15; n++) {
        try { std::printf("%d %.6Lf\n", n, tried(n, 1.25L)); }
        catch (const std::runtime_error &e) { std::printf("%d %s alive %d\n", n, e.what(), Counted::alive); }
        catch (int i) { std::printf("%d thrown %d alive %d\n", n, i, Counted::alive); }
    }
    std::printf("%d %d\n", jumps(3), sum(5, 1, 2, 3, 4, 5));
    int v[] = {5, 3, 9, 1}; std::qsort(v, 4, sizeof *v, compare); std::printf("%d %d\n", v[0], v[3]);
    std::map<std::string, std::unique_ptr<Shape>> shapes; shapes["b"] = std::make_unique<Bad>(); shapes["a"] = std::make_unique<Square>(3);
    for (auto &[name, shape] : shapes) try { std::printf("%s %.1f\n", name.c_str(), shape->area()); } catch (const std::exception &e) { std::printf("%s %s\n", name.c_str(), e.what()); }
    int got = 0; std::thread t([&] { try { std::vector<int>().at(3); } catch (std::out_of_range &) { got = 1; } }); t.join();
    std::function<int(int)> fib = [&](int n) { if (n > 30) throw n; return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    std::printf("%d %d\n", got, fib(12));
    try { fib(40); } catch (int n) { std::printf("caught %d\n", n); }
}
