// Eight threads that call whatever they like: some on packs of their own, some on shared ones, some on handles that another thread closes meanwhile. The bytes
// that a call returns are those of the source.
//
//   threads DIRECTORY CALLS SEED   with what run.py puts there
#define _XOPEN_SOURCE 700
#include <pthread.h>

#include "check.h"

enum { thread_count = 8, file_count = 4, place_count = 6 };

static const char *place;
static char pack_path[1024];
static char *key;
static size_t key_size;
static const char *const paths[file_count] = {"index.html", "assets/sounds/won.wav", "assets/levels/01-pantry/floor.png", "js/main.js"};
static char *sources[file_count];
static size_t sizes[file_count];

// Handles that all threads use and close.
static uint64_t shared[place_count];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Caller {
  uint64_t random, pack;
  long calls, done, refused;
};

static uint64_t next(struct Caller *caller) {
  caller->random ^= caller->random << 13;
  caller->random ^= caller->random >> 7;
  caller->random ^= caller->random << 17;
  return caller->random;
}

static uint64_t take(size_t index) {
  pthread_mutex_lock(&lock);
  uint64_t handle = shared[index];
  pthread_mutex_unlock(&lock);
  return handle;
}

// Puts a handle in the place of another one, and closes that. The others may be in a call with it.
static void replace(struct Caller *caller, uint64_t handle) {
  size_t index = next(caller) % place_count;
  pthread_mutex_lock(&lock);
  uint64_t old = shared[index];
  shared[index] = handle;
  pthread_mutex_unlock(&lock);
  packer_close(old);
}

static int32_t visit(void *context, const char *path, PackerKind kind, uint64_t size) {
  int *left = (int *)context;
  (void)path, (void)kind, (void)size;
  return --*left <= 0;
}

static int64_t give(void *context, const char *ids, const uint8_t *pack_id, uint8_t *room) {
  (void)context, (void)ids, (void)pack_id;
  memcpy(room, key, key_size);
  return (int64_t)key_size;
}

// Calls a function. A handle that it makes goes to `made`.
static PackerStatus one(struct Caller *caller, uint64_t *made) {
  uint64_t handle = next(caller) % 2 ? caller->pack : take(next(caller) % place_count), count = 0, size = 0;
  size_t file = next(caller) % file_count;
  uint8_t bytes[4096];
  char target[128], *fields = NULL;
  PackerStatus status;
  switch (next(caller) % 64) {
    case 0:
      return packer_open(pack_path, (const uint8_t *)key, key_size, made);
    case 1:
      return packer_open_asking(pack_path, give, NULL, made);
    case 2:
      return packer_server_new(handle, made);
    case 3:
      return packer_close(take(next(caller) % place_count));
    case 4: {
      int left = (int)(next(caller) % 100);
      return packer_list(handle, visit, &left);
    }
    case 5:
      return packer_verify(next(caller) % 64 == 0 ? handle : 0, NULL, NULL);
    case 6:
      return packer_server_set(handle, "cache-control", "no-store");
    case 7:
      return packer_server_mount(handle, take(next(caller) % place_count), "again");
    case 8:
      snprintf(target, sizeof target, "/%s", paths[file]);
      return packer_server_respond(handle, "GET", target, "Range: bytes=0-99", made);
    case 9:
      status = packer_response_copy_fields(handle, &fields);
      packer_free(fields);
      return status;
    case 10:
      return packer_info(handle, &count, &size);
    case 11:
      return packer_find(handle, next(caller) % 2 ? paths[file] : "none", NULL, &size, bytes);
    default:
      break;
  }
  if (next(caller) % 4 == 0) return packer_response_read(handle, bytes, sizeof bytes, &count);
  uint64_t start = next(caller) % (sizes[file] + 10);
  status = packer_read(handle, paths[file], start, bytes, sizeof bytes, &count);
  if (status == PackerStatusDone) CHECK(memcmp(bytes, sources[file] + start, count) == 0);
  return status;
}

static void *call(void *argument) {
  struct Caller *caller = (struct Caller *)argument;
  CHECK(packer_open(pack_path, (const uint8_t *)key, key_size, &caller->pack) == PackerStatusDone);
  for (long number = 0; number < caller->calls; number++) {
    uint64_t made = 0;
    PackerStatus status = one(caller, &made);
    const char *code = packer_error_code();
    CHECK((code == NULL) == (status == PackerStatusDone));
    if (status == PackerStatusDone) {
      caller->done++;
    } else {
      caller->refused++;
      CHECK(status == PackerStatusUsage || status == PackerStatusMissing || status == PackerStatusCancelled);
      CHECK(strlen(packer_error_message()) > 0);
    }
    if (made != 0) replace(caller, made);
  }
  CHECK(packer_close(caller->pack) == PackerStatusDone);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[thread_count];
  struct Caller callers[thread_count];
  long done = 0, refused = 0;
  if (count != 4) return 64;
  place = arguments[1];
  snprintf(pack_path, sizeof pack_path, "%s/game.pack", place);
  key = content(in(place, "key"), &key_size);
  for (int file = 0; file < file_count; file++) {
    char path[256];
    snprintf(path, sizeof path, "game/%s", paths[file]);
    sources[file] = content(in(place, path), &sizes[file]);
  }
  for (int number = 0; number < thread_count; number++) {
    struct Caller caller = {strtoull(arguments[3], NULL, 10) * thread_count + (uint64_t)number + 1, 0, atol(arguments[2]) / thread_count, 0, 0};
    callers[number] = caller;
    pthread_create(&threads[number], NULL, call, &callers[number]);
  }
  for (int number = 0; number < thread_count; number++) {
    pthread_join(threads[number], NULL);
    done += callers[number].done;
    refused += callers[number].refused;
  }
  for (int index = 0; index < place_count; index++) packer_close(shared[index]);
  CHECK(done > refused / 2);
  for (int file = 0; file < file_count; file++) free(sources[file]);
  free(key);
  printf("%ld calls from %d threads, of which %ld were refused\n", done + refused, (int)thread_count, refused);
  return failures > 0;
}
