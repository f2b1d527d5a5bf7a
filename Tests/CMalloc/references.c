// Counts the references that Swift code takes to objects, by the place in the code: work that is the same on every machine. Without optimisation, code takes
// one for each value of a list that it visits.
#define _GNU_SOURCE
#include "shim.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if __has_attribute(preserve_most)
// Compilers may take for granted that these functions keep most registers.
#define KEEPS_REGISTERS __attribute__((preserve_most))
#else
#define KEEPS_REGISTERS
#endif

typedef void *(*take_function)(void *);

static atomic_bool is_counting;
static _Atomic(take_function) retain, retain_bridged;

static struct {
  _Atomic(void *) address;
  atomic_long taken;
} places[packer_places];

static void count(void *address) {
  unsigned place = (unsigned)(((uintptr_t)address * 0x9E3779B97F4A7C15u) >> 48);
  for (int tries = 0; tries < packer_places; tries++, place++) {
    place %= packer_places;
    void *known = NULL;
    // Another thread may take the place for another address, or for this one.
    if (atomic_compare_exchange_strong(&places[place].address, &known, address) || known == address) {
      atomic_fetch_add_explicit(&places[place].taken, 1, memory_order_relaxed);
      return;
    }
  }
}

__attribute__((unused)) static void *counted(void *object, void *address, _Atomic(take_function) *place, const char *name) {
  take_function take = atomic_load_explicit(place, memory_order_relaxed);
  if (!take) {
    take = (take_function)dlsym(RTLD_NEXT, name);
    atomic_store(place, take);
  }
  if (atomic_load_explicit(&is_counting, memory_order_relaxed)) count(address);
  return take(object);
}

#if !defined(__has_feature) || !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
// In place of those of the runtime, which they call.
KEEPS_REGISTERS void *swift_retain(void *object) {
  return counted(object, __builtin_return_address(0), &retain, "swift_retain");
}

KEEPS_REGISTERS void *swift_bridgeObjectRetain(void *object) {
  return counted(object, __builtin_return_address(0), &retain_bridged, "swift_bridgeObjectRetain");
}
#endif

void packer_start_counting_references(void) {
  for (int place = 0; place < packer_places; place++) atomic_store(&places[place].taken, 0);
  atomic_store(&is_counting, 1);
}

void packer_end_counting_references(void) { atomic_store(&is_counting, 0); }

long packer_references(int place) { return atomic_load(&places[place].taken); }

unsigned long packer_address(int place) {
  Dl_info info;
  void *address = atomic_load(&places[place].address);
  return dladdr(address, &info) ? (unsigned long)((char *)address - (char *)info.dli_fbase) : 0;
}
#endif
