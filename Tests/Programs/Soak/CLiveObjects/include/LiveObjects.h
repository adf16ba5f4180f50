#ifndef CLIVEOBJECTS_H
#define CLIVEOBJECTS_H

// How many objects of GStreamer (elements, pads, pools …) there are. Once, before anything
// else of GStreamer:
void soak_count_objects(void);

long soak_live_objects(void);

// Blocks until there is no object of a type.
void soak_wait_for_end_of(const char *type);

// One that nobody will let go of.
void soak_lose_object(void);

// 64 kB, used, that nobody will free: a compiler leaves out what it sees to be of no use.
void soak_lose_memory(void);

// Gives back what the heap keeps for later.
void soak_trim_heap(void);

// Bytes that were allocated and not freed, in all arenas.
long soak_heap_in_use(void);

#endif
