// The Glibc module leaves this one out.
#include <malloc.h>
