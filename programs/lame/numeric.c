/* SPDX-License-Identifier: MIT */
/* Elementary functions from sums and products alone, so that a stream does not depend on a libm. */
#include "lame.h"

#include <math.h>

static const double PI = 3.141592653589793, LN2 = 0.6931471805599453;

double math_sine(double x)
{
    double square, term, sum;
    x -= 2 * PI * floor(x / (2 * PI) + 0.5);
    if (x > PI / 2)
        x = PI - x;
    else if (x < -PI / 2)
        x = -PI - x;
    square = x * x;
    term = sum = x;
    for (int n = 2; n <= 24; n += 2) {
        term *= -square / (double)(n * (n + 1));
        sum += term;
    }
    return sum;
}

double math_arc_tangent(double x)
{
    double square, term, sum;
    if (x < 0)
        return -math_arc_tangent(-x);
    if (x > 1)
        return PI / 2 - math_arc_tangent(1 / x);
    for (int i = 0; i < 2; i++)
        x = x / (1 + sqrt(1 + x * x));
    square = x * x;
    term = sum = x;
    for (int n = 3; n <= 31; n += 2) {
        term *= -square;
        sum += term / (double)n;
    }
    return 4 * sum;
}

double math_log2(double x)
{
    int whole = 0;
    double ratio, square, term, sum;
    if (!(x > 1e-300))
        return -1000;
    while (x >= 1.5) {
        x *= 0.5;
        whole++;
    }
    while (x < 0.75) {
        x *= 2;
        whole--;
    }
    ratio = (x - 1) / (x + 1);
    square = ratio * ratio;
    term = sum = ratio;
    for (int n = 3; n <= 25; n += 2) {
        term *= square;
        sum += term / (double)n;
    }
    return 2 * sum / LN2 + whole;
}

double math_power2(double x)
{
    double whole = floor(x + 0.5), rest = (x - whole) * LN2, term = 1, sum = 1;
    if (whole < -1000)
        return 0;
    if (whole > 1000)
        whole = 1000;
    for (int n = 1; n <= 16; n++) {
        term *= rest / (double)n;
        sum += term;
    }
    for (; whole > 0; whole--)
        sum *= 2;
    for (; whole < 0; whole++)
        sum *= 0.5;
    return sum;
}
