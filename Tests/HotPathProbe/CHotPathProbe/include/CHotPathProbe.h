#pragma once

/// Number of allocations of the process so far, those of all its libraries included; -1 under a sanitizer,
/// which has an allocator of its own.
long long allocation_count(void);
