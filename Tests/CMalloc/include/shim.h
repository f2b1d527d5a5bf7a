#include <stddef.h>

#if defined(__linux__)
// The Glibc module leaves this one out.
#include <malloc.h>

// The system's header declares it only with _GNU_SOURCE.
void *memmem(const void *place, size_t place_size, const void *wanted, size_t wanted_size);
#endif

/// Counts all allocations of the process from now on.
void packer_start_counting(void);
/// Ends counting. Returns the most bytes that were allocated at one moment; -1 if this build has another allocator.
long packer_end_counting(void);
