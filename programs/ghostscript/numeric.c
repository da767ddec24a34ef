/* SPDX-License-Identifier: MIT */
/* Elementary functions by series of our own.  Only additions, products, quotients and square roots
 * are used, which IEEE 754 fixes to the last bit, so that pages never depend on a libm. */
#include "gs.h"

#include <math.h>

static const double HALF_PI = 1.5707963267948966, LN2 = 0.6931471805599453;

/* Sine and cosine for |x| <= pi/4. */
static double sine_series(double x)
{
    double square = x * x, term = x, sum = x;
    for (int n = 2; n <= 16; n += 2) {
        term *= -square / (double)(n * (n + 1));
        sum += term;
    }
    return sum;
}

static double cosine_series(double x)
{
    double square = x * x, term = 1.0, sum = 1.0;
    for (int n = 1; n <= 15; n += 2) {
        term *= -square / (double)(n * (n + 1));
        sum += term;
    }
    return sum;
}

double sine(double degrees)
{
    double turns = degrees / 360.0, rest, quadrant;
    if (!(turns < 1e9 && turns > -1e9))
        return 0.0;
    degrees -= 360.0 * floor(turns);
    quadrant = floor(degrees / 90.0 + 0.5);
    rest = (degrees - 90.0 * quadrant) / 90.0 * HALF_PI;
    switch ((int)quadrant & 3) {
    case 0:
        return sine_series(rest);
    case 1:
        return cosine_series(rest);
    case 2:
        return 0.0 - sine_series(rest);
    default:
        return 0.0 - cosine_series(rest);
    }
}

double cosine(double degrees)
{
    return sine(degrees + 90.0);
}

/* Arc tangent of 0 <= x <= 1 in radians: two halvings of the angle, then the series. */
static double tangent_series(double x)
{
    double square, term, sum;
    for (int i = 0; i < 2; i++)
        x = x / (1.0 + sqrt(1.0 + x * x));
    square = x * x;
    term = sum = x;
    for (int n = 3; n <= 35; n += 2) {
        term *= -square;
        sum += term / (double)n;
    }
    return sum * 4.0;
}

double arc_tangent(double y, double x)
{
    double up = fabs(y), right = fabs(x), angle;
    if (up <= right)
        angle = right > 0 ? tangent_series(up / right) / HALF_PI * 90.0 : 0.0;
    else
        angle = 90.0 - tangent_series(right / up) / HALF_PI * 90.0;
    if (x < 0)
        angle = 180.0 - angle;
    if (y < 0)
        angle = 360.0 - angle;
    return angle >= 360.0 ? angle - 360.0 : angle;
}

double natural_log(double x)
{
    int exponent = 0;
    double ratio, square, term, sum;
    while (x >= 1.5) {
        x *= 0.5;
        exponent++;
    }
    while (x < 0.75) {
        x *= 2.0;
        exponent--;
    }
    ratio = (x - 1.0) / (x + 1.0);
    square = ratio * ratio;
    term = sum = ratio;
    for (int n = 3; n <= 31; n += 2) {
        term *= square;
        sum += term / (double)n;
    }
    return 2.0 * sum + (double)exponent * LN2;
}

double exponential(double x)
{
    double whole = floor(x / LN2 + 0.5), rest = x - whole * LN2, term = 1.0, sum = 1.0;
    if (whole > 1000.0)
        return 1e300;
    if (whole < -1000.0)
        return 0.0;
    for (int n = 1; n <= 20; n++) {
        term *= rest / (double)n;
        sum += term;
    }
    for (; whole > 0; whole--)
        sum *= 2.0;
    for (; whole < 0; whole++)
        sum *= 0.5;
    return sum;
}

double power(double base, double exponent)
{
    double whole = floor(exponent), result = 1.0;
    if (base == 0.0)
        return exponent == 0.0 ? 1.0 : 0.0;
    if (whole == exponent && fabs(exponent) <= 1024.0) {
        int count = (int)fabs(exponent);
        double factor = base;
        for (; count; count >>= 1) {
            if (count & 1)
                result *= factor;
            factor *= factor;
        }
        return exponent < 0 ? 1.0 / result : result;
    }
    return exponential(exponent * natural_log(base));
}
