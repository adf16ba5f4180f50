// The memory bandwidth of the machine: no work that writes as many bytes can be faster.
#include "workloads.h"
#include <string.h>

int memory(char **words) {
    gsize bytes = g_ascii_strtoull(words[1], NULL, 10);
    guint64 count = g_ascii_strtoull(words[2], NULL, 10);
    gboolean copies = !strcmp(words[0], "copy");
    guint8 *from = g_malloc(bytes), *to = g_malloc(bytes);
    memset(from, 1, bytes);
    memset(to, 1, bytes);
    guint64 sum = 0;
    for (guint64 i = 0; i < count; i++) {
        if (copies)
            memcpy(to, from, bytes);
        else
            memset(to, (int)i, bytes);
        // Keeps the compiler from removing a round.
        sum += ((volatile guint8 *)to)[i % bytes];
    }
    g_free(from);
    g_free(to);
    return sum == G_MAXUINT64;
}
