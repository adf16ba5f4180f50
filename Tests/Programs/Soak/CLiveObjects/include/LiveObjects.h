#ifndef CLIVEOBJECTS_H
#define CLIVEOBJECTS_H

// Starts counting GStreamer objects (elements, pads, pools …). Call once, before anything else of GStreamer.
void soak_count_objects(void);

long soak_live_objects(void);

// Blocks until every DTLS connection is freed. A handshake timer holds a connection for some seconds after its end.
void soak_wait_for_handshakes(void);

// Leaks one object.
void soak_lose_object(void);

// Leaks 64 kB, and writes to them: the compiler would remove an unused allocation.
void soak_lose_memory(void);

// Returns the heap's free memory to the system.
void soak_trim_heap(void);

// The number of allocated bytes in all arenas.
long soak_heap_in_use(void);

#endif
