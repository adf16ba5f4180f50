// Counts objects in GStreamer's tracer hooks, whose API requires GST_USE_UNSTABLE_API. The "leaks" tracer's list
// is not used: 1.22 releases objects that it does not own. Mini objects (buffers, caps …) are not counted: the
// tracers report more destroyed than created ones.
#define GST_USE_UNSTABLE_API
#include "LiveObjects.h"
#include <gst/gst.h>
#include <gst/gsttracer.h>
#include <malloc.h>
#include <string.h>

// The tracers do not report every creation, so the known objects are stored by address.
static GMutex lock;
static GCond is_gone;
// The objects, with the names of their types.
static GHashTable *known;

static void made(void *tracer, GstClockTime time, void *object) {
    g_mutex_lock(&lock);
    g_hash_table_insert(known, object, (void *)G_OBJECT_TYPE_NAME(object));
    g_mutex_unlock(&lock);
}

static void gone(void *tracer, GstClockTime time, void *object) {
    g_mutex_lock(&lock);
    g_hash_table_remove(known, object);
    g_cond_broadcast(&is_gone);
    g_mutex_unlock(&lock);
}

void soak_count_objects(void) {
    gst_init(NULL, NULL);
    known = g_hash_table_new(NULL, NULL);
    // The hooks hold a reference to an object but do not use it. The registry outlives them, and is no leak.
    GstTracer *holder = (GstTracer *)gst_registry_get();
    gst_tracing_register_hook(holder, "object-created", G_CALLBACK(made));
    gst_tracing_register_hook(holder, "object-destroyed", G_CALLBACK(gone));
}

long soak_live_objects(void) {
    g_mutex_lock(&lock);
    long count = g_hash_table_size(known);
    g_mutex_unlock(&lock);
    return count;
}

static gboolean has_type(void *object, void *type, void *name) { return !strcmp(type, name); }

static gboolean set(GstClock *clock, GstClockTime time, GstClockID id, void *flag) {
    g_mutex_lock(&lock);
    // Acquires the initial value: it lies on the stack of a thread that may have begun after this one.
    (void)g_atomic_int_get((gint *)flag);
    g_atomic_int_set((gint *)flag, TRUE);
    g_cond_broadcast(&is_gone);
    g_mutex_unlock(&lock);
    return TRUE;
}

void soak_wait_for_handshakes(void) {
    g_mutex_lock(&lock);
    while (g_hash_table_find(known, has_type, "GstDtlsConnection")) g_cond_wait(&is_gone, &lock);
    g_mutex_unlock(&lock);
    // The clock's thread may still be freeing the connection. It calls this timer only afterwards.
    GstClock *clock = gst_system_clock_obtain();
    GstClockID timer = gst_clock_new_single_shot_id(clock, gst_clock_get_time(clock));
    // Atomic for the thread sanitizer, which does not see GLib's mutexes.
    gint is_called;
    g_atomic_int_set(&is_called, FALSE);
    gst_clock_id_wait_async(timer, set, &is_called, NULL);
    g_mutex_lock(&lock);
    while (!g_atomic_int_get(&is_called)) g_cond_wait(&is_gone, &lock);
    g_mutex_unlock(&lock);
    gst_clock_id_unref(timer);
    gst_object_unref(clock);
}

void soak_lose_object(void) { gst_object_ref_sink(gst_bin_new(NULL)); }

void soak_trim_heap(void) { malloc_trim(0); }

long soak_heap_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
}

void soak_lose_memory(void) {
    volatile char *bytes = malloc(65536);
    for (int i = 0; i < 65536; i += 4096) bytes[i] = 1;
}
