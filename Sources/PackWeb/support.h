#include <stddef.h>

// Overwrites memory with zeros, in a way the optimizer keeps.
void packer_wipe(void *bytes, size_t count);
