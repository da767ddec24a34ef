/* SPDX-License-Identifier: MIT */
#include "decoder.h"

static unsigned warnings;

void warn(const char *format, ...)
{
    va_list arguments;

    if (warnings++ > 0)
        return; /* one is enough: damage rarely comes alone */
    va_start(arguments, format);
    print_message("warning: ", format, arguments);
    va_end(arguments);
}

unsigned warning_count(void)
{
    return warnings;
}
