// The Glibc module leaves this one out.
#include <malloc.h>

// The system's header declares it only with _GNU_SOURCE.
void *memmem(const void *place, size_t place_size, const void *wanted, size_t wanted_size);
