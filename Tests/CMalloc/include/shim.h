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

#if defined(__linux__)
/// The number of places in the code for which references are counted.
enum { packer_places = 1 << 16 };

/// Counts all references to Swift objects that code of this program takes from now on. What the standard library does by itself is not
/// counted, and nothing is in a build with a sanitizer.
void packer_start_counting_references(void);
void packer_end_counting_references(void);
/// Returns their number at one of the places. A place is the same until the process ends.
long packer_references(int place);
/// Returns the address of a place in the file of the program.
unsigned long packer_address(int place);
#endif
