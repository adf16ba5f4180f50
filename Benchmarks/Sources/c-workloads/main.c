// The floor for MediaBridge: the same work in C, in the shortest way that GStreamer offers.
#include "workloads.h"
#include <string.h>

static const struct {
    const char *name;
    int words;
    int (*run)(char **words);
    const char *usage;
} workloads[] = {
    {"bridge", 2, bridge, "CAPTURE OUTPUT: passes each buffer by reference"},
    {"look", 2, look, "CAPTURE OUTPUT: the same, and reads one byte of each picture"},
    {"pull", 1, pull, "CAPTURE: pulls each sample in a loop, and lets it go"},
    {"filter", 3, filter, "grayscale|mirror|rotate CAPTURE OUTPUT: a bridge that changes the pixels"},
    {"convert", 2, convert, "FORMAT CAPTURE: converts each picture, as a renderer asks for it"},
    {"element", 1, element, "PIPELINE: runs a pipeline, in which cnegative is a filter"},
    {"push", 2, push, "wrapped|copied FRAMES: 1080p pictures of the program's own, to fakesink"},
    {"fanout", 2, fanout, "SINKS FRAMES: one capture to many sinks, each behind a queue"},
    {"captures", 2, captures, "COUNT FRAMES: many captures side by side, each to a callback"},
    {"latency", 3, latency, "SINKS FRAMES RATE: prints the times from push to callback, in nanoseconds"},
    {"memory", 3, memory, "set|copy BYTES COUNT: what the machine's memory does at best"},
};

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    // Failed work yields no figure.
    g_log_set_always_fatal(G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL);
    for (gsize i = 0; i < G_N_ELEMENTS(workloads); i++)
        if (argc == workloads[i].words + 2 && !strcmp(argv[1], workloads[i].name))
            return workloads[i].run(argv + 2);
    for (gsize i = 0; i < G_N_ELEMENTS(workloads); i++)
        g_printerr("c-workloads %s %s\n", workloads[i].name, workloads[i].usage);
    return 64;
}
