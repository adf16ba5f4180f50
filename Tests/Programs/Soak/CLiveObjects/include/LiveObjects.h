#ifndef CLIVEOBJECTS_H
#define CLIVEOBJECTS_H

// How many objects of GStreamer (elements, pads, pools …) there are. Once, before anything
// else of GStreamer:
void soak_count_objects(void);

long soak_live_objects(void);

// Blocks until every connection of DTLS is freed. A timer of its handshake holds it for some seconds after the end.
void soak_wait_for_handshakes(void);

// One that nobody will let go of.
void soak_lose_object(void);

// 64 kB, used, that nobody will free: a compiler leaves out what it sees to be of no use.
void soak_lose_memory(void);

// Gives back what the heap keeps for later.
void soak_trim_heap(void);

// Bytes that were allocated and not freed, in all arenas.
long soak_heap_in_use(void);

#endif
