// Reads packs as a program does that was written from packer.h, and then as one does that was written carelessly.
//
//   reading DIRECTORY   with what run.py puts there
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static const char *place;
static char *key;
static size_t key_size;

static uint64_t opened(const char *name) {
  uint64_t pack = 0;
  STATUS(packer_open(in(place, name), (const uint8_t *)key, key_size, &pack), PackerStatusDone);
  CHECK(pack != 0);
  return pack;
}

// MARK: What it reads

struct Listing {
  uint64_t pack, server, files, directories, bytes;
  char last[1024];
};

static int32_t compare(void *context, const char *path, PackerKind kind, uint64_t size) {
  struct Listing *listing = (struct Listing *)context;
  char source[2048];
  size_t source_size;
  char *expected;
  uint8_t *got;
  uint64_t count = 1, found_size = 1, response = 0, length = 0;
  int32_t status = 0;
  PackerKind found_kind = 7;
  uint8_t digest[32] = {0};
  CHECK(strcmp(listing->last, path) < 0);
  snprintf(listing->last, sizeof listing->last, "%s", path);
  snprintf(source, sizeof source, "%s/game/%s", place, path);
  STATUS(packer_find(listing->pack, path, &found_kind, &found_size, digest), PackerStatusDone);
  CHECK(found_kind == kind && found_size == size);
  if (kind == PackerKindDirectory) {
    struct stat info;
    listing->directories++;
    CHECK(stat(source, &info) == 0 && S_ISDIR(info.st_mode) && size == 0);
    STATUS(packer_read(listing->pack, path, 0, digest, 1, &count), PackerStatusMissing);
    return 0;
  }
  listing->files++;
  listing->bytes += size;
  expected = content(source, &source_size);
  CHECK(source_size == size);
  got = (uint8_t *)malloc(size + 1);
  // More room than there is content.
  STATUS(packer_read(listing->pack, path, 0, got, size + 1, &count), PackerStatusDone);
  CHECK(count == size && memcmp(got, expected, size) == 0);
  // A part, and the end.
  STATUS(packer_read(listing->pack, path, size / 3, got, size / 3, &count), PackerStatusDone);
  CHECK(count == size / 3 && memcmp(got, expected + size / 3, size / 3) == 0);
  STATUS(packer_read(listing->pack, path, size, NULL, 0, &count), PackerStatusDone);
  CHECK(count == 0);
  STATUS(packer_read(listing->pack, path, size, got, 1, &count), PackerStatusDone);
  CHECK(count == 0);
  // The same over HTTP, in odd pieces.
  snprintf(source, sizeof source, "/%s", path);
  STATUS(packer_server_respond(listing->server, "GET", source, NULL, &response), PackerStatusDone);
  STATUS(packer_response_head(response, &status, &length), PackerStatusDone);
  CHECK(status == 200 && length == size);
  memset(got, 0, size);
  uint64_t filled = 0;
  do {
    STATUS(packer_response_read(response, got + filled, size - filled < 7777 ? size - filled + 1 : 7777, &count), PackerStatusDone);
    filled += count;
  } while (count > 0 && filled <= size);
  CHECK(filled == size && memcmp(got, expected, size) == 0);
  STATUS(packer_close(response), PackerStatusDone);
  free(got);
  free(expected);
  return 0;
}

static struct Listing walked;

static int walk(const char *path, const struct stat *info, int kind, struct FTW *position) {
  (void)path, (void)position;
  if (kind == FTW_F) {
    walked.files++;
    walked.bytes += (uint64_t)info->st_size;
  }
  return 0;
}

static int same(const char *path, const struct stat *info, int kind, struct FTW *position) {
  char source[2048];
  size_t size, other;
  (void)position;
  if (kind != FTW_F) return 0;
  snprintf(source, sizeof source, "%s/game%s", place, path + strlen(place) + strlen("/unpacked"));
  char *got = content(path, &size), *expected = content(source, &other);
  CHECK(size == other && (uint64_t)info->st_size == size && memcmp(got, expected, size) == 0);
  free(got);
  free(expected);
  walked.directories++;
  return 0;
}

static int32_t follow(void *context, uint64_t done, uint64_t total) {
  uint64_t *last = (uint64_t *)context;
  sigset_t signals;
  CHECK(done >= *last && done <= total);
  *last = done;
  // A thread that calls back blocks no more signals than the caller's, or a runtime that stops its threads by a signal could not stop it.
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &signals) == 0 && !sigismember(&signals, SIGUSR1));
  return 0;
}

static void reads_everything(void) {
  struct Listing listing = {0, 0, 0, 0, 0, ""};
  uint64_t entries = 0, size = 0, last = 0;
  listing.pack = opened("game.pack");
  STATUS(packer_server_new(listing.pack, &listing.server), PackerStatusDone);
  STATUS(packer_server_set(listing.server, "index", ""), PackerStatusDone);
  STATUS(packer_list(listing.pack, compare, &listing), PackerStatusDone);
  nftw(in(place, "game"), walk, 8, FTW_PHYS);
  CHECK(listing.files == walked.files && listing.bytes == walked.bytes && walked.files > 50);
  STATUS(packer_info(listing.pack, &entries, &size), PackerStatusDone);
  CHECK(entries == listing.files + listing.directories && size == walked.bytes && listing.directories == 1);
  STATUS(packer_info(listing.pack, NULL, NULL), PackerStatusDone);
  STATUS(packer_verify(listing.pack, follow, &last), PackerStatusDone);
  CHECK(last == size);
  STATUS(packer_verify(listing.pack, NULL, NULL), PackerStatusDone);
  last = 0;
  STATUS(packer_unpack(listing.pack, in(place, "unpacked"), follow, &last), PackerStatusDone);
  CHECK(last == size);
  nftw(in(place, "unpacked"), same, 8, FTW_PHYS);
  CHECK(walked.directories == walked.files);
  STATUS(packer_unpack(listing.pack, in(place, "unpacked"), NULL, NULL), PackerStatusCannotWrite);
  CHECK(strcmp(packer_error_code(), "output-exists") == 0);
  // The server keeps its pack.
  STATUS(packer_close(listing.pack), PackerStatusDone);
  STATUS(packer_server_respond(listing.server, "HEAD", "/index.html", NULL, &listing.pack), PackerStatusDone);
  STATUS(packer_close(listing.pack), PackerStatusDone);
  STATUS(packer_close(listing.server), PackerStatusDone);
  printf("%llu files, %llu bytes: equal by list, find, read, respond and unpack\n", (unsigned long long)listing.files, (unsigned long long)listing.bytes);
}

static void serves(void) {
  uint64_t pack = opened("game.pack"), server, response, count, length = 7;
  int32_t status = 0;
  char *fields = NULL;
  uint8_t bytes[64];
  STATUS(packer_server_new(pack, &server), PackerStatusDone);
  STATUS(packer_server_set(server, "isolated", "true"), PackerStatusDone);
  STATUS(packer_server_set(server, "isolated", "yes"), PackerStatusUsage);
  STATUS(packer_server_set(server, "isolate", "true"), PackerStatusUsage);
  STATUS(packer_server_set(server, "digest-limit", "-1"), PackerStatusUsage);
  STATUS(packer_server_set(server, "resource-policy", "all"), PackerStatusUsage);
  STATUS(packer_server_set(server, "allowed-origins", "https://example.com app://x"), PackerStatusDone);
  STATUS(packer_server_set(server, "allowed-origins", "https://example.com/path"), PackerStatusUsage);
  STATUS(packer_server_set(server, "cache-control", "no-store\r\nX-Bad: 1"), PackerStatusUsage);
  STATUS(packer_server_set(server, "content-security-policy", "default-src 'self'\x7f"), PackerStatusUsage);
  STATUS(packer_server_mount(server, pack, "again"), PackerStatusDone);
  STATUS(packer_server_mount(server, pack, "../up"), PackerStatusUsage);
  STATUS(packer_server_mount(server, pack, ""), PackerStatusUsage);
  STATUS(packer_server_mount(server, server, "again"), PackerStatusUsage);
  STATUS(packer_server_respond(server, "GET", "/again/index.html?x=1", "range: bytes=1-3\r\n\r\nno colon\nX:\n: y\n", &response), PackerStatusDone);
  STATUS(packer_response_head(response, &status, &length), PackerStatusDone);
  CHECK(status == 206 && length == 3);
  STATUS(packer_response_head(response, NULL, NULL), PackerStatusDone);
  STATUS(packer_response_copy_fields(response, &fields), PackerStatusDone);
  HAS(fields, "Content-Range: bytes 1-3/");
  HAS(fields, "Cross-Origin-Opener-Policy: same-origin\r\n");
  packer_free(fields);
  // A size beyond everything: it fills what there is.
  STATUS(packer_response_read(response, bytes, UINT64_MAX, &count), PackerStatusDone);
  CHECK(count == 3);
  STATUS(packer_response_read(response, bytes, 1, &count), PackerStatusDone);
  CHECK(count == 0);
  STATUS(packer_response_read(response, bytes, 0, &count), PackerStatusUsage);
  STATUS(packer_response_read(response, NULL, 1, &count), PackerStatusUsage);
  STATUS(packer_response_read(response, bytes, 1, NULL), PackerStatusUsage);
  STATUS(packer_close(response), PackerStatusDone);
  const char *odd[][3] = {
      {"GET", "/none", "404"}, {"POST", "/index.html", "405"}, {"", "/", "405"}, {"GET", "", "400"}, {"GET", "index.html", "400"},
      {"GET", "/%2e%2e/x", "400"}, {"GET", "/%zz", "400"}, {"GET\r\n", "/", "405"},
  };
  for (size_t number = 0; number < sizeof odd / sizeof *odd; number++) {
    STATUS(packer_server_respond(server, odd[number][0], odd[number][1], NULL, &response), PackerStatusDone);
    STATUS(packer_response_head(response, &status, NULL), PackerStatusDone);
    CHECK(status == atoi(odd[number][2]));
    STATUS(packer_close(response), PackerStatusDone);
  }
  STATUS(packer_server_respond(server, "GET", "/\xff", NULL, &response), PackerStatusUsage);
  STATUS(packer_server_respond(server, "GET", "/", "X: \xff", &response), PackerStatusUsage);
  STATUS(packer_server_respond(server, NULL, "/", NULL, &response), PackerStatusUsage);
  STATUS(packer_server_respond(server, "GET", NULL, NULL, &response), PackerStatusUsage);
  STATUS(packer_server_respond(server, "GET", "/", NULL, NULL), PackerStatusUsage);
  STATUS(packer_close(server), PackerStatusDone);
  STATUS(packer_close(pack), PackerStatusDone);
}

// MARK: What is wrong with packs and keys

static int64_t give(void *context, const char *ids, const uint8_t *pack_id, uint8_t *room) {
  CHECK(strlen(ids) == 16 && pack_id != NULL);
  if (context == NULL) return 0;
  memcpy(room, key, key_size);
  return (int64_t)key_size;
}

static int64_t give_too_much(void *context, const char *ids, const uint8_t *pack_id, uint8_t *room) {
  (void)ids, (void)pack_id, (void)room;
  return *(int64_t *)context;
}

struct Faults {
  uint64_t pack;
  int good, damaged;
};

static int32_t read_whole(void *context, const char *path, PackerKind kind, uint64_t size) {
  struct Faults *faults = (struct Faults *)context;
  uint64_t count;
  uint8_t *bytes = (uint8_t *)malloc(size + 1);
  if (kind == PackerKindFile) {
    PackerStatus status = packer_read(faults->pack, path, 0, bytes, size + 1, &count);
    CHECK(status == PackerStatusDone || status == PackerStatusDamaged);
    if (status == PackerStatusDone) faults->good++;
    else faults->damaged++;
  }
  free(bytes);
  return 0;
}

static void tells_faults_apart(void) {
  uint64_t pack = 77;
  size_t other_size, raw_size;
  char *other = content(in(place, "other"), &other_size), *raw = content(in(place, "raw"), &raw_size);
  int64_t sizes[] = {-1, 129, INT64_MAX, INT64_MIN};
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)other, other_size, &pack), PackerStatusWrongKey);
  CHECK(strcmp(packer_error_code(), "wrong-key") == 0 && pack == 77);
  HAS(packer_error_subject(), "game.pack");
  HAS(packer_error_advice(), "key");
  HAS(packer_error_message(), "game.pack");
  STATUS(packer_open(in(place, "game.pack"), NULL, 0, &pack), PackerStatusNoKey);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)"abc", 3, &pack), PackerStatusNoKey);
  CHECK(strcmp(packer_error_code(), "malformed-key") == 0);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)key, UINT64_MAX, &pack), PackerStatusNoKey);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)key, 32, &pack), PackerStatusWrongKey);
  // The words of the key are nowhere in what is said.
  CHECK(strstr(packer_error_message(), "pkk1-") == NULL && strncmp(key, "pkk1-", 5) == 0);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)raw, raw_size, &pack), PackerStatusDone);
  STATUS(packer_close(pack), PackerStatusDone);
  STATUS(packer_open(in(place, "none.pack"), (const uint8_t *)key, key_size, &pack), PackerStatusMissing);
  HAS(packer_error_subject(), "none.pack");
  STATUS(packer_open(in(place, "game"), (const uint8_t *)key, key_size, &pack), PackerStatusCannotRead);
  STATUS(packer_open(in(place, "game/index.html"), (const uint8_t *)key, key_size, &pack), PackerStatusBadInput);
  STATUS(packer_open(in(place, "truncated.pack"), (const uint8_t *)key, key_size, &pack), PackerStatusTruncated);
  CHECK(strcmp(packer_error_code(), "truncated") == 0);
  STATUS(packer_open(in(place, "empty.pack"), (const uint8_t *)key, key_size, &pack), PackerStatusTruncated);
  STATUS(packer_open(in(place, "header.pack"), (const uint8_t *)key, key_size, &pack), PackerStatusDamaged);
  // Damage in the middle shows when it is read, and only there.
  pack = opened("damaged.pack");
  STATUS(packer_verify(pack, NULL, NULL), PackerStatusDamaged);
  HAS(packer_error_subject(), "damaged.pack");
  STATUS(packer_unpack(pack, in(place, "broken"), NULL, NULL), PackerStatusDamaged);
  CHECK(access(in(place, "broken"), F_OK) != 0);
  struct Faults faults = {pack, 0, 0};
  STATUS(packer_list(pack, read_whole, &faults), PackerStatusDone);
  CHECK(faults.good > 0 && faults.damaged > 0);
  STATUS(packer_close(pack), PackerStatusDone);
  // A key that a function gives.
  STATUS(packer_open_asking(in(place, "game.pack"), give, &pack, &pack), PackerStatusDone);
  STATUS(packer_close(pack), PackerStatusDone);
  STATUS(packer_open_asking(in(place, "game.pack"), give, NULL, &pack), PackerStatusNoKey);
  HAS(packer_error_subject(), "game.pack");
  STATUS(packer_open_asking(in(place, "none.pack"), give, NULL, &pack), PackerStatusMissing);
  for (int number = 0; number < 4; number++) STATUS(packer_open_asking(in(place, "game.pack"), give_too_much, &sizes[number], &pack), PackerStatusNoKey);
  free(other);
  free(raw);
  puts("wrong key, no key, truncated, damaged, missing and no pack are told apart");
}

// MARK: Carelessness

struct Reentrant {
  uint64_t pack;
  int calls;
};

static int32_t visit_badly(void *context, const char *path, PackerKind kind, uint64_t size) {
  struct Reentrant *state = (struct Reentrant *)context;
  uint64_t count = 0, other = 0;
  uint8_t byte;
  (void)size;
  state->calls++;
  if (kind == PackerKindFile && state->calls < 4) STATUS(packer_read(state->pack, path, 0, &byte, 1, &count), PackerStatusDone);
  STATUS(packer_find(state->pack, "none", NULL, NULL, NULL), state->calls < 4 ? PackerStatusMissing : PackerStatusUsage);
  STATUS(packer_verify(state->pack, NULL, NULL), PackerStatusUsage);
  if (state->calls < 4) HAS(packer_error_message(), "callback");
  STATUS(packer_unpack(state->pack, in(place, "never"), NULL, NULL), PackerStatusUsage);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)key, key_size, &other), PackerStatusDone);
  STATUS(packer_close(other), PackerStatusDone);
  // It closes the pack that it is a list of.
  if (state->calls == 3) STATUS(packer_close(state->pack), PackerStatusDone);
  return state->calls < 5 ? 0 : -1;
}

static int32_t verify_badly(void *context, uint64_t done, uint64_t total) {
  struct Reentrant *state = (struct Reentrant *)context;
  (void)done, (void)total;
  if (state->calls++ == 0) {
    STATUS(packer_verify(state->pack, NULL, NULL), PackerStatusUsage);
    STATUS(packer_close(state->pack), PackerStatusDone);
  }
  return 0;
}

static int32_t stop_later(void *context, uint64_t done, uint64_t total) {
  int *calls = (int *)context;
  (void)total;
  (*calls)++;
  return done > 0;
}

static int32_t stop_at_once(void *context, uint64_t done, uint64_t total) {
  (void)context, (void)done, (void)total;
  return -1;
}

static int names;

static int count_name(const char *path, const struct stat *info, int kind, struct FTW *position) {
  (void)path, (void)info, (void)kind, (void)position;
  names++;
  return 0;
}

static void survives_misuse(void) {
  uint64_t pack = opened("game.pack"), server, response, count = 7, closed;
  uint8_t bytes[16];
  char *text = NULL;
  PackerKind kind;
  STATUS(packer_server_new(pack, &server), PackerStatusDone);
  STATUS(packer_server_respond(server, "GET", "/index.html", NULL, &response), PackerStatusDone);

  // Null pointers.
  STATUS(packer_open(NULL, (const uint8_t *)key, key_size, &pack), PackerStatusUsage);
  STATUS(packer_open(NULL, NULL, 0, &closed), PackerStatusUsage);
  STATUS(packer_open("x", NULL, 5, &closed), PackerStatusUsage);
  STATUS(packer_open(in(place, "game.pack"), (const uint8_t *)key, key_size, NULL), PackerStatusUsage);
  STATUS(packer_open_asking(in(place, "game.pack"), NULL, NULL, &closed), PackerStatusUsage);
  STATUS(packer_open_asking(NULL, give, NULL, &closed), PackerStatusUsage);
  STATUS(packer_open_asking(in(place, "game.pack"), give, NULL, NULL), PackerStatusUsage);
  STATUS(packer_list(pack, NULL, NULL), PackerStatusUsage);
  STATUS(packer_find(pack, NULL, &kind, &count, bytes), PackerStatusUsage);
  STATUS(packer_find(pack, "index.html", NULL, NULL, NULL), PackerStatusDone);
  STATUS(packer_read(pack, NULL, 0, bytes, 16, &count), PackerStatusUsage);
  STATUS(packer_read(pack, "index.html", 0, NULL, 16, &count), PackerStatusUsage);
  STATUS(packer_read(pack, "index.html", 0, bytes, 16, NULL), PackerStatusUsage);
  STATUS(packer_unpack(pack, NULL, NULL, NULL), PackerStatusUsage);
  STATUS(packer_server_new(pack, NULL), PackerStatusUsage);
  STATUS(packer_server_set(server, NULL, "x"), PackerStatusUsage);
  STATUS(packer_server_set(server, "index", NULL), PackerStatusUsage);
  STATUS(packer_server_mount(server, pack, NULL), PackerStatusUsage);
  STATUS(packer_response_copy_fields(response, NULL), PackerStatusUsage);
  packer_free(NULL);

  // Sizes and places beyond everything.
  CHECK(count == 7);
  STATUS(packer_read(pack, "index.html", UINT64_MAX, bytes, 16, &count), PackerStatusUsage);
  CHECK(strcmp(packer_error_code(), "range-not-satisfiable") == 0);
  STATUS(packer_read(pack, "index.html", UINT64_MAX, bytes, UINT64_MAX, &count), PackerStatusUsage);
  STATUS(packer_read(pack, "index.html", 580, bytes, UINT64_MAX, &count), PackerStatusDone);
  CHECK(count == 8);
  STATUS(packer_read(pack, "index.html", 0, NULL, 0, &count), PackerStatusDone);
  CHECK(count == 0);

  // Paths that are none.
  const char *paths[] = {"", "/", "/index.html", "index.html/", "assets/", "js//main.js", "../index.html", "INDEX.HTML", "assets"};
  for (size_t number = 0; number < sizeof paths / sizeof *paths; number++) {
    STATUS(packer_find(pack, paths[number], NULL, NULL, NULL), PackerStatusMissing);
    STATUS(packer_read(pack, paths[number], 0, bytes, 1, &count), PackerStatusMissing);
  }
  char *large = (char *)malloc(1 << 22);
  memset(large, 'a', (1 << 22) - 1);
  large[(1 << 22) - 1] = 0;
  STATUS(packer_find(pack, large, NULL, NULL, NULL), PackerStatusMissing);
  STATUS(packer_open(large, (const uint8_t *)key, key_size, &closed), PackerStatusCannotRead);
  STATUS(packer_server_respond(server, "GET", large, large, &closed), PackerStatusDone);
  STATUS(packer_close(closed), PackerStatusDone);
  free(large);
  STATUS(packer_find(pack, "\xc3\x28", NULL, NULL, NULL), PackerStatusUsage);
  HAS(packer_error_message(), "UTF-8");
  STATUS(packer_open("\xff", (const uint8_t *)key, key_size, &closed), PackerStatusUsage);
  STATUS(packer_unpack(pack, "", NULL, NULL), PackerStatusUsage);

  // Handles of something else, of nothing, and closed.
  uint64_t wrong[] = {0, 1, UINT64_MAX, 1ull << 32, server, response, pack + 1, pack + (1ull << 32), pack ^ (1ull << 63)};
  for (size_t number = 0; number < sizeof wrong / sizeof *wrong; number++) {
    if (wrong[number] == pack) continue;
    STATUS(packer_info(wrong[number], &count, NULL), PackerStatusUsage);
    STATUS(packer_list(wrong[number], visit_badly, NULL), PackerStatusUsage);
    STATUS(packer_find(wrong[number], "index.html", NULL, NULL, NULL), PackerStatusUsage);
    STATUS(packer_read(wrong[number], "index.html", 0, bytes, 1, &count), PackerStatusUsage);
    STATUS(packer_verify(wrong[number], NULL, NULL), PackerStatusUsage);
    STATUS(packer_unpack(wrong[number], in(place, "never"), NULL, NULL), PackerStatusUsage);
    STATUS(packer_server_new(wrong[number], &closed), PackerStatusUsage);
  }
  STATUS(packer_server_set(pack, "index", "x"), PackerStatusUsage);
  STATUS(packer_server_respond(response, "GET", "/", NULL, &closed), PackerStatusUsage);
  STATUS(packer_response_head(server, NULL, NULL), PackerStatusUsage);
  STATUS(packer_response_read(pack, bytes, 1, &count), PackerStatusUsage);
  STATUS(packer_response_copy_fields(pack, &text), PackerStatusUsage);
  CHECK(text == NULL);
  STATUS(packer_close(0), PackerStatusUsage);
  STATUS(packer_close(UINT64_MAX), PackerStatusUsage);
  closed = pack;
  STATUS(packer_close(closed), PackerStatusDone);
  STATUS(packer_close(closed), PackerStatusUsage);
  STATUS(packer_info(closed, NULL, NULL), PackerStatusUsage);
  // Its place is used again, but under another number.
  pack = opened("game.pack");
  CHECK(pack != closed);
  STATUS(packer_info(closed, NULL, NULL), PackerStatusUsage);
  STATUS(packer_close(server), PackerStatusDone);
  STATUS(packer_response_read(response, bytes, 16, &count), PackerStatusDone);
  CHECK(count == 16);
  STATUS(packer_close(response), PackerStatusDone);

  // Functions that call back.
  struct Reentrant state = {pack, 0};
  STATUS(packer_list(pack, visit_badly, &state), PackerStatusCancelled);
  CHECK(state.calls == 5);
  state.pack = opened("game.pack");
  state.calls = 0;
  STATUS(packer_verify(state.pack, verify_badly, &state), PackerStatusDone);
  CHECK(state.calls > 1);
  STATUS(packer_close(state.pack), PackerStatusUsage);

  // Cancelled, at once and in the middle: nothing is left.
  pack = opened("game.pack");
  mkdir(in(place, "cancelled"), 0700);
  names = 0;
  STATUS(packer_verify(pack, stop_at_once, NULL), PackerStatusCancelled);
  STATUS(packer_unpack(pack, in(place, "cancelled/tree"), stop_at_once, NULL), PackerStatusCancelled);
  int calls = 0;
  STATUS(packer_unpack(pack, in(place, "cancelled/tree"), stop_later, &calls), PackerStatusCancelled);
  CHECK(calls >= 2);
  calls = 0;
  STATUS(packer_verify(pack, stop_later, &calls), PackerStatusCancelled);
  nftw(in(place, "cancelled"), count_name, 8, FTW_PHYS);
  CHECK(names == 1);
  STATUS(packer_unpack(pack, in(place, "cancelled/tree"), NULL, NULL), PackerStatusDone);
  STATUS(packer_close(pack), PackerStatusDone);
  puts("misuse, callbacks that call back, and cancelling end in a status");
}

// MARK: Threads

static void *asks_for_nothing(void *argument) {
  uint64_t pack = *(uint64_t *)argument, count = 0;
  uint8_t bytes[64];
  CHECK(packer_error_code() == NULL && packer_error_message() == NULL && packer_error_subject() == NULL && packer_error_advice() == NULL);
  STATUS(packer_read(pack, "other", 0, bytes, 1, &count), PackerStatusMissing);
  HAS(packer_error_message(), "other");
  STATUS(packer_read(pack, "index.html", 0, bytes, 64, &count), PackerStatusDone);
  CHECK(count == 64);
  return NULL;
}

static void *has_little_room(void *argument) {
  struct Faults faults = {opened("game.pack"), 0, 0};
  uint64_t server, response, count;
  uint8_t byte;
  (void)argument;
  STATUS(packer_list(faults.pack, read_whole, &faults), PackerStatusDone);
  CHECK(faults.good > 50 && faults.damaged == 0);
  STATUS(packer_server_new(faults.pack, &server), PackerStatusDone);
  STATUS(packer_server_respond(server, "GET", "/index.html", "Range: bytes=0-1,4-5", &response), PackerStatusDone);
  STATUS(packer_response_read(response, &byte, 1, &count), PackerStatusDone);
  STATUS(packer_verify(faults.pack, NULL, NULL), PackerStatusDone);
  STATUS(packer_close(response), PackerStatusDone);
  STATUS(packer_close(server), PackerStatusDone);
  STATUS(packer_close(faults.pack), PackerStatusDone);
  return NULL;
}

static void *reads_until_closed(void *argument) {
  uint64_t pack = *(uint64_t *)argument, count;
  uint8_t *bytes = (uint8_t *)malloc(1 << 20);
  PackerStatus status;
  do status = packer_read(pack, "assets/title.png", 0, bytes, 1 << 20, &count);
  while (status == PackerStatusDone);
  CHECK(status == PackerStatusUsage);
  free(bytes);
  return NULL;
}

struct Share {
  uint64_t response, total;
};

static void *reads_a_share(void *argument) {
  struct Share *share = (struct Share *)argument;
  uint8_t bytes[3000];
  uint64_t count = 0;
  do {
    CHECK(packer_response_read(share->response, bytes, sizeof bytes, &count) == PackerStatusDone);
    share->total += count;
  } while (count > 0);
  return NULL;
}

static void threads_are_apart(void) {
  uint64_t pack = opened("game.pack"), server, response, length;
  pthread_t threads[8];
  struct Share shares[8];
  uint64_t total = 0;
  STATUS(packer_find(pack, "none", NULL, NULL, NULL), PackerStatusMissing);
  const char *code = packer_error_code(), *message = packer_error_message(), *subject = packer_error_subject();
  // Asking again returns the same text.
  CHECK(code == packer_error_code() && message == packer_error_message() && subject == packer_error_subject());
  pthread_create(&threads[0], NULL, asks_for_nothing, &pack);
  pthread_join(threads[0], NULL);
  CHECK(strcmp(code, "no-such-entry") == 0 && strstr(message, "none") != NULL);

  // On a thread with little room.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#ifndef SANITIZED
  pthread_attr_setstacksize(&attributes, 128 << 10);
#endif
  pthread_create(&threads[0], &attributes, has_little_room, NULL);
  pthread_join(threads[0], NULL);

  // One response, read by all.
  STATUS(packer_server_new(pack, &server), PackerStatusDone);
  STATUS(packer_server_respond(server, "GET", "/assets/music/evening.wav", NULL, &response), PackerStatusDone);
  STATUS(packer_response_head(response, NULL, &length), PackerStatusDone);
  for (int number = 0; number < 8; number++) {
    shares[number].response = response;
    shares[number].total = 0;
    pthread_create(&threads[number], NULL, reads_a_share, &shares[number]);
  }
  for (int number = 0; number < 8; number++) {
    pthread_join(threads[number], NULL);
    total += shares[number].total;
  }
  CHECK(total == length);
  STATUS(packer_close(response), PackerStatusDone);
  STATUS(packer_close(server), PackerStatusDone);

  // Closed while others read.
  for (int number = 0; number < 8; number++) pthread_create(&threads[number], NULL, reads_until_closed, &pack);
  struct timespec moment = {0, 50000000};
  nanosleep(&moment, NULL);
  STATUS(packer_close(pack), PackerStatusDone);
  for (int number = 0; number < 8; number++) pthread_join(threads[number], NULL);

  // In a child, where only this thread is left.
  pack = opened("game.pack");
  pid_t child = fork();
  if (child == 0) {
    struct Listing listing = {pack, 0, 0, 0, 0, ""};
    asks_for_nothing(&pack);
    packer_info(pack, &listing.files, NULL);
    _exit(failures == 0 && listing.files > 50 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  STATUS(packer_close(pack), PackerStatusDone);
  puts("threads have errors of their own, share responses, and read on while a pack is closed");
}

int main(int count, char **arguments) {
  if (count != 2) return 64;
  place = arguments[1];
  key = content(in(place, "key"), &key_size);
  CHECK(packer_version() >= 1);
  reads_everything();
  serves();
  tells_faults_apart();
  survives_misuse();
  threads_are_apart();
  free(key);
  if (failures > 0) fprintf(stderr, "%d are wrong\n", failures);
  return failures > 0;
}
