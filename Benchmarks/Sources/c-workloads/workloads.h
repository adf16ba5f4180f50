// Declarations shared by the C workloads.
#pragma once
#include <gst/gst.h>
#include <gst/video/video.h>

#define PICTURE "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
#define PICTURE_SIZE (1920 * 1080 * 3 / 2)

// Parses a pipeline; exits on failure.
GstElement *parse(const char *format, ...) G_GNUC_PRINTF(1, 2);

// Sleeps until the pipeline has ended; true for EOS, false for an error.
gboolean ends_well(GstElement *pipeline);

// Waits for the end, sets the pipeline to NULL and releases it. Returns the exit status.
int finish(GstElement *pipeline);

// The step of a bridge for each buffer; returns a new reference.
typedef GstBuffer *(*Step)(GstBuffer *buffer, const GstVideoInfo *info, void *context);

// Runs capture ! appsink, the step on each buffer, and appsrc ! output. Without a step, buffers pass by
// reference.
int run_bridge(const char *capture, const char *output, Step step, void *context);

int bridge(char **words);
int look(char **words);
int pull(char **words);
int filter(char **words);
int convert(char **words);
int element(char **words);
int push(char **words);
int fanout(char **words);
int captures(char **words);
int latency(char **words);
int memory(char **words);
