// Fetches packs as a program does that was written from packer-library.h, and then as one does that was written carelessly.
//
//   library fetch DIRECTORY TRUSTED ADDRESS    makes both packs of served.py usable, and prints the bytes that arrived; may be killed
//   library attack DIRECTORY TRUSTED ADDRESS
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "packer-library.h"

static const char *place, *trusted, *address;
static char *key;
static size_t key_size;

static void sleep_ms(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

// MARK: What the app is told

struct Told {
  pthread_mutex_t lock;
  char text[1 << 18];
  size_t size;
  int count, inside, is_over, is_loud;
  uint64_t library;
  // What the function does when it gets an event with this text.
  const char *when;
  void (*then)(struct Told *told, const char *json);
};

static void tell(void *context, const char *json) {
  struct Told *told = (struct Told *)context;
  const char *when;
  pthread_mutex_lock(&told->lock);
  told->count++;
  CHECK(told->inside++ == 0);
  CHECK(!told->is_over);
  if (told->size + strlen(json) + 2 < sizeof told->text) told->size += (size_t)sprintf(told->text + told->size, "%s\n", json);
  when = told->when;
  if (when != NULL && strstr(json, when) != NULL) told->when = NULL;
  else when = NULL;
  pthread_mutex_unlock(&told->lock);
  if (told->is_loud && strstr(json, "\"received\"") != NULL) {
    puts(json);
    fflush(stdout);
  }
  if (when != NULL) told->then(told, json);
  pthread_mutex_lock(&told->lock);
  told->inside--;
  pthread_mutex_unlock(&told->lock);
}

static int was_told(struct Told *told, const char *part) {
  pthread_mutex_lock(&told->lock);
  int found = strstr(told->text, part) != NULL;
  pthread_mutex_unlock(&told->lock);
  return found;
}

static int waits_for(struct Told *told, const char *part) {
  for (int tries = 0; tries < 6000; tries++) {
    if (was_told(told, part)) return 1;
    sleep_ms(10);
  }
  return 0;
}

static struct Told *new_told(void) {
  struct Told *told = (struct Told *)calloc(1, sizeof *told);
  pthread_mutex_init(&told->lock, NULL);
  return told;
}

static int64_t give(void *context, const char *ids, const uint8_t *pack_id, uint8_t *room) {
  struct Told *told = (struct Told *)context;
  CHECK(strlen(ids) == 16 && pack_id != NULL);
  CHECK(told == NULL || !told->is_over);
  memcpy(room, key, key_size);
  return (int64_t)key_size;
}

static int64_t give_none(void *context, const char *ids, const uint8_t *pack_id, uint8_t *room) {
  (void)context, (void)ids, (void)pack_id, (void)room;
  return 0;
}

static const char *options(const char *directory, const char *more) {
  static char texts[4][4096];
  static int next;
  next = (next + 1) % 4;
  snprintf(texts[next], sizeof texts[next], "{\"directory\":\"%s/%s\",\"manifest\":\"%s\",\"trusting\":[\"%s\"]%s}", place, directory, address, trusted, more);
  return texts[next];
}

static uint64_t opened(const char *directory, const char *more, struct Told *told) {
  uint64_t library = 0;
  STATUS(packer_library_open(options(directory, more), give, told, told == NULL ? NULL : tell, told, &library), PackerStatusDone);
  CHECK(library != 0);
  if (told != NULL) told->library = library;
  return library;
}

// Closes a library. No function of the app is called any more.
static void closed(uint64_t library, struct Told *told) {
  STATUS(packer_close(library), PackerStatusDone);
  if (told == NULL) return;
  pthread_mutex_lock(&told->lock);
  told->is_over = 1;
  pthread_mutex_unlock(&told->lock);
}

// The status of a request that is waited for.
static PackerStatus ended(PackerStatus begun, const uint64_t *request) {
  CHECK(begun == PackerStatusDone);
  PackerStatus status = packer_wait(*request, 60000);
  CHECK(status != PackerStatusRunning);
  return status;
}

static void is_game(uint64_t library) {
  uint64_t pack = 0, count;
  size_t size;
  char *source = content(in(place, "game/assets/title.png"), &size), *path = NULL;
  uint8_t *bytes = (uint8_t *)malloc(size);
  STATUS(packer_library_pack(library, "game", &pack), PackerStatusDone);
  STATUS(packer_read(pack, "assets/title.png", 0, bytes, size, &count), PackerStatusDone);
  CHECK(count == size && memcmp(source, bytes, size) == 0);
  STATUS(packer_verify(pack, NULL, NULL), PackerStatusDone);
  STATUS(packer_library_copy_file(library, "game", "assets/title.png", &path), PackerStatusDone);
  char *copy = content(path, &size);
  CHECK(count == size && memcmp(source, copy, size) == 0);
  packer_free(path);
  STATUS(packer_close(pack), PackerStatusDone);
  free(copy);
  free(bytes);
  free(source);
}

// The process ends in the middle, without closing anything, or right after.
static int leave(int closes) {
  const char *const packs[] = {"game"};
  struct Told *told = new_told();
  uint64_t library = opened(closes ? "left-closed" : "left", "", told), request;
  STATUS(packer_library_ensure(library, packs, 1, &request), PackerStatusDone);
  CHECK(waits_for(told, "\"received\""));
  if (closes) closed(library, told);
  return failures > 0;
}

static int fetch(void) {
  const char *const packs[] = {"game", "words"};
  struct Told *told = new_told();
  uint64_t library, request;
  char *directory = NULL;
  told->is_loud = 1;
  library = opened("fetched", "", told);
  STATUS(ended(packer_library_ensure(library, packs, 2, &request), &request), PackerStatusDone);
  is_game(library);
  STATUS(packer_library_copy_directory(library, "words", &directory), PackerStatusDone);
  CHECK(access(in(directory, "hello.txt"), R_OK) == 0);
  packer_free(directory);
  // Each change is told, and not more.
  CHECK(told->count < 80);
  closed(library, told);
  printf("%d events\n", told->count);
  return failures > 0;
}

// MARK: Carelessness

static void refuses_options(void) {
  uint64_t library = 7;
  const char *texts[] = {
      "", "x", "[]", "{}", "null", "{\"trusting\":[]}", "{\"trusting\":7,\"directory\":\"x\"}", "{\"trusting\":[\"pkp1-\"],\"directory\":\"/tmp\",\"manifest\":\"https://x.example/m\",\"quota\":-1}",
      "{\"trusting\":[],\"directory\":\"/tmp/x\",\"group\":\"y\",\"manifest\":\"https://x.example/m\"}", "{\"trusting\":[],\"directory\":\"/tmp/x\"}",
      "{\"trusting\":[],\"directory\":\"/tmp/x\",\"manifest\":\"\"}",
  };
  for (size_t number = 0; number < sizeof texts / sizeof *texts; number++) STATUS(packer_library_open(texts[number], give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open("{\"trustin\":[],\"directory\":\"x\"}", give, NULL, NULL, NULL, &library), PackerStatusUsage);
  HAS(packer_error_advice(), "trusting");
  STATUS(packer_library_open("{\"trusting\":[\"pkp1-x\"],\"directory\":\"/tmp/x\",\"manifest\":\"https://x.example/m\"}", give, NULL, NULL, NULL, &library), PackerStatusNoKey);
  STATUS(packer_library_open(NULL, give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open("\xff", give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open(options("a", ""), NULL, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open(options("a", ""), give, NULL, NULL, NULL, NULL), PackerStatusUsage);
  STATUS(packer_library_open(options("a", ",\"groups\":\"testers\""), give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open(options("a", ",\"seenShare\":true"), give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open(options("a", ",\"consentAbove\":1"), give, NULL, NULL, NULL, &library), PackerStatusUsage);
  STATUS(packer_library_open(options("key", ""), give, NULL, NULL, NULL, &library), PackerStatusCannotWrite);
  STATUS(packer_library_open(options("a\\u0000b", ""), give, NULL, NULL, NULL, &library), PackerStatusUsage);
  CHECK(library == 7);
  STATUS(packer_library_open(options("a", ",\"refreshInterval\":9223372036854775807,\"quota\":0,\"lowestManifestVersion\":18446744073709551615,\"languages\":[\"\",\"x\"],\"fields\":{\"a b\\r\\n\":\"c\\r\\nd\"}"), give, NULL, NULL, NULL, &library), PackerStatusDone);
  closed(library, NULL);
  STATUS(packer_library_open(options("a", ",\"refreshInterval\":-9223372036854775808"), give, NULL, NULL, NULL, &library), PackerStatusDone);
  closed(library, NULL);
  puts("options");
}

static void survives_misuse(void) {
  struct Told *told = new_told();
  uint64_t library = opened("misused", "", told), other = 0, request = 0;
  char *text = NULL;
  const char *const none[] = {"none"}, *const hole[] = {"game", NULL}, *const bad[] = {"\xff"}, *const up[] = {"../x"}, *const game[] = {"game"};
  // The directory belongs to one library at a time.
  STATUS(packer_library_open(options("misused", ""), give, NULL, NULL, NULL, &other), PackerStatusFailed);
  CHECK(strcmp(packer_error_code(), "downloads-busy") == 0);
  STATUS(ended(packer_library_ensure(library, none, 1, &request), &request), PackerStatusMissing);
  CHECK(strcmp(packer_error_code(), "unknown-pack") == 0);
  // Its result stays.
  STATUS(packer_wait(request, 0), PackerStatusMissing);
  STATUS(packer_wait(request, INT64_MIN), PackerStatusMissing);
  STATUS(packer_wait(request, INT64_MAX), PackerStatusMissing);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_wait(request, 0), PackerStatusUsage);
  STATUS(ended(packer_library_ensure_tags(library, none, 1, 0.5, &request), &request), PackerStatusMissing);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(ended(packer_library_ensure(library, NULL, 0, &request), &request), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(ended(packer_library_play(library, "none", &request), &request), PackerStatusMissing);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_play(library, NULL, &request), PackerStatusUsage);
  STATUS(packer_library_play(library, "../x", &request), PackerStatusUsage);
  STATUS(packer_library_play(library, "game", NULL), PackerStatusUsage);
  STATUS(packer_library_ensure(library, NULL, 1, &request), PackerStatusUsage);
  STATUS(packer_library_ensure(library, hole, 2, &request), PackerStatusUsage);
  STATUS(packer_library_ensure(library, bad, 1, &request), PackerStatusUsage);
  STATUS(packer_library_ensure(library, game, UINT64_MAX, &request), PackerStatusUsage);
  STATUS(packer_library_ensure(library, game, 1, NULL), PackerStatusUsage);
  double priorities[] = {-1, 2, strtod("nan", NULL), 1e300};
  for (int number = 0; number < 4; number++) {
    STATUS(ended(packer_library_ensure_tags(library, game, 1, priorities[number], &request), &request), PackerStatusUsage);
    STATUS(packer_close(request), PackerStatusDone);
  }
  STATUS(ended(packer_library_ensure_tags(library, NULL, 0, 0.5, &request), &request), PackerStatusUsage);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_refresh(library, NULL), PackerStatusUsage);
  STATUS(packer_library_cancel(library, NULL), PackerStatusUsage);
  STATUS(packer_library_cancel(library, "none"), PackerStatusDone);
  STATUS(packer_library_remove(library, "../x"), PackerStatusUsage);
  STATUS(packer_library_cancel(library, "../../x"), PackerStatusUsage);
  STATUS(packer_library_copy_status(library, "", &text), PackerStatusUsage);
  STATUS(packer_library_ensure(library, up, 1, &request), PackerStatusUsage);
  STATUS(packer_library_remove(library, ""), PackerStatusUsage);
  STATUS(packer_library_confirm(library, "none"), PackerStatusDone);
  STATUS(packer_library_reject(library, "none", NULL), PackerStatusUsage);
  STATUS(packer_library_reject(library, "none", "why"), PackerStatusMissing);
  STATUS(packer_library_answer(library, 77, 1), PackerStatusUsage);
  STATUS(packer_library_copy_offers(library, NULL), PackerStatusUsage);
  STATUS(packer_library_copy_status(library, NULL, &text), PackerStatusUsage);
  STATUS(packer_library_copy_status(library, "nobody", &text), PackerStatusDone);
  CHECK(strcmp(text, "{\"status\":\"absent\"}") == 0);
  packer_free(text);
  STATUS(packer_library_copy_file(library, "game", "index.html", &text), PackerStatusMissing);
  CHECK(strcmp(packer_error_code(), "not-installed") == 0);
  STATUS(packer_library_copy_directory(library, "game", &text), PackerStatusMissing);
  STATUS(packer_library_pack(library, "game", &other), PackerStatusMissing);
  STATUS(packer_library_set_languages(library, NULL, 0), PackerStatusDone);
  STATUS(packer_library_set_languages(library, bad, 1), PackerStatusUsage);
  STATUS(packer_library_resume(library), PackerStatusDone);
  // Handles of another kind.
  STATUS(packer_info(library, NULL, NULL), PackerStatusUsage);
  STATUS(packer_wait(library, 0), PackerStatusUsage);
  STATUS(ended(packer_library_refresh(library, &request), &request), PackerStatusDone);
  STATUS(packer_library_resume(request), PackerStatusUsage);
  STATUS(packer_library_copy_tags(request, &text), PackerStatusUsage);
  closed(library, told);
  STATUS(packer_wait(request, 0), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_resume(library), PackerStatusUsage);
  STATUS(packer_close(library), PackerStatusUsage);
  // Closed is closed: another one may use the directory at once.
  for (int number = 0; number < 5; number++) closed(opened("misused", "", NULL), NULL);
  puts("misuse");
}

static void *wait_for_ever(void *argument) {
  static PackerStatus status;
  status = packer_wait(*(uint64_t *)argument, INT64_MAX);
  return &status;
}

static void close_while_it_runs(void) {
  struct Told *told = new_told();
  uint64_t library = opened("closing", "", told), request, second;
  const char *const game[] = {"game"}, *const play[] = {"play"};
  pthread_t thread;
  void *result;
  STATUS(packer_library_ensure(library, game, 1, &request), PackerStatusDone);
  STATUS(packer_library_ensure_tags(library, play, 1, 1, &second), PackerStatusDone);
  STATUS(packer_wait(request, 0), PackerStatusRunning);
  STATUS(packer_wait(request, 10), PackerStatusRunning);
  pthread_create(&thread, NULL, wait_for_ever, &request);
  CHECK(waits_for(told, "\"received\""));
  STATUS(packer_close(request), PackerStatusDone);
  pthread_join(thread, &result);
  CHECK(*(PackerStatus *)result == PackerStatusCancelled);
  // The library goes, too, in the middle of the download.
  pthread_create(&thread, NULL, wait_for_ever, &second);
  sleep_ms(20);
  closed(library, told);
  pthread_join(thread, &result);
  CHECK(*(PackerStatus *)result == PackerStatusCancelled);
  STATUS(packer_wait(second, -1), PackerStatusCancelled);
  STATUS(packer_close(second), PackerStatusDone);
  puts("closed while it runs");
}

static void call_back(struct Told *told, const char *json) {
  const char *const words[] = {"words"};
  uint64_t request = 0;
  char *text = NULL;
  (void)json;
  STATUS(packer_library_copy_offers(told->library, &text), PackerStatusUsage);
  HAS(packer_error_message(), "callback");
  STATUS(packer_library_resume(told->library), PackerStatusUsage);
  STATUS(packer_library_ensure(told->library, words, 1, &request), PackerStatusDone);
  STATUS(packer_wait(request, 1), PackerStatusUsage);
  STATUS(packer_wait(request, 0), PackerStatusRunning);
  STATUS(packer_close(request), PackerStatusDone);
}

static void close_library(struct Told *told, const char *json) {
  (void)json;
  STATUS(packer_close(told->library), PackerStatusDone);
}

static void tells(void) {
  struct Told *told = new_told(), *second = new_told();
  uint64_t request, library;
  char text[64];
  const char *const small[] = {"small"}, *const game[] = {"game"};
  library = opened("told", "", told);
  pthread_mutex_lock(&told->lock);
  told->when = "\"pack\":\"words\"";
  told->then = call_back;
  pthread_mutex_unlock(&told->lock);
  STATUS(ended(packer_library_ensure_tags(library, small, 1, 0.5, &request), &request), PackerStatusDone);
  snprintf(text, sizeof text, "\"event\":\"progress\",\"fraction\":1,\"request\":\"%llu\"", (unsigned long long)request);
  CHECK(was_told(told, text));
  CHECK(waits_for(told, "\"pack\":\"words\",\"state\":{\"status\":\"ready\",\"version\":1}"));
  CHECK(told->when == NULL);
  STATUS(packer_close(request), PackerStatusDone);
  closed(library, told);
  // A function of the app closes the library that called it.
  library = opened("told", "", second);
  pthread_mutex_lock(&second->lock);
  second->when = "\"received\"";
  second->then = close_library;
  pthread_mutex_unlock(&second->lock);
  STATUS(ended(packer_library_ensure(library, game, 1, &request), &request), PackerStatusCancelled);
  STATUS(packer_close(library), PackerStatusUsage);
  STATUS(packer_close(request), PackerStatusDone);
  puts("callbacks");
}

static uint64_t question(struct Told *told) {
  CHECK(waits_for(told, "\"event\":\"consent\""));
  pthread_mutex_lock(&told->lock);
  const char *found = strstr(told->text, "\"question\":");
  uint64_t number = found == NULL ? 0 : strtoull(found + strlen("\"question\":"), NULL, 10);
  told->size = 0;
  told->text[0] = 0;
  pthread_mutex_unlock(&told->lock);
  return number;
}

static void asks(void) {
  struct Told *told = new_told(), *again = new_told();
  uint64_t library = opened("asked", ",\"consentAbove\":1000", told), request, number;
  const char *const game[] = {"game"}, *const words[] = {"words"};
  char *text = NULL;
  // A small one is not asked about. Without a lead, it is played when it is here.
  STATUS(ended(packer_library_play(library, "words", &request), &request), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_ensure(library, game, 1, &request), PackerStatusDone);
  number = question(told);
  STATUS(packer_library_copy_status(library, "game", &text), PackerStatusDone);
  HAS(text, "\"reason\":\"consent\"");
  packer_free(text);
  STATUS(packer_library_answer(library, number, 0), PackerStatusDone);
  STATUS(packer_library_answer(library, number, 1), PackerStatusUsage);
  STATUS(ended(PackerStatusDone, &request), PackerStatusCancelled);
  HAS(packer_error_message(), "declined");
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_ensure(library, game, 1, &request), PackerStatusDone);
  question(told);
  // Nobody answers, and the library is closed: that is no answer.
  closed(library, told);
  STATUS(packer_wait(request, -1), PackerStatusCancelled);
  STATUS(packer_close(request), PackerStatusDone);
  library = opened("asked", ",\"consentAbove\":1000,\"groups\":[\"testers\"],\"seenShare\":0.0,\"seenRandomised\":10", again);
  STATUS(packer_library_ensure(library, game, 1, &request), PackerStatusDone);
  STATUS(packer_library_answer(library, question(again), 1), PackerStatusDone);
  STATUS(ended(PackerStatusDone, &request), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  is_game(library);

  // What is offered, and how it is called.
  STATUS(packer_library_copy_offers(library, &text), PackerStatusDone);
  HAS(text, "{\"isComplete\":true,\"packs\":[{");
  HAS(text, "\"id\":\"game\"");
  HAS(text, "\"state\":{\"status\":\"ready\",\"version\":1}");
  packer_free(text);
  STATUS(packer_library_copy_tags(library, &text), PackerStatusDone);
  HAS(text, "{\"delivery\":\"onDemand\",\"packs\":[\"game\"],\"tag\":\"play\"}");
  packer_free(text);
  STATUS(packer_library_copy_directory(library, "game", &text), PackerStatusUsage);
  uint64_t pack;
  STATUS(ended(packer_library_ensure(library, words, 1, &request), &request), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_pack(library, "words", &pack), PackerStatusUsage);
  HAS(packer_error_advice(), "packer_library_copy_directory");

  // What is open is not removed.
  STATUS(packer_library_pack(library, "game", &pack), PackerStatusDone);
  STATUS(packer_library_remove(library, "game"), PackerStatusFailed);
  CHECK(strcmp(packer_error_code(), "in-use") == 0);
  STATUS(packer_close(pack), PackerStatusDone);
  STATUS(packer_library_remove(library, "game"), PackerStatusDone);
  STATUS(packer_library_copy_status(library, "game", &text), PackerStatusDone);
  CHECK(strcmp(text, "{\"status\":\"absent\"}") == 0);
  packer_free(text);
  STATUS(packer_library_pack(library, "game", &pack), PackerStatusMissing);

  closed(library, again);
  puts("consent, offers, tags, and removing");
}

static void keys(void) {
  uint64_t library = 0, request = 0, pack = 0, count = 0;
  const char *const game[] = {"game"};
  uint8_t byte;
  STATUS(packer_library_open(options("keys", ""), give_none, NULL, NULL, NULL, &library), PackerStatusDone);
  STATUS(ended(packer_library_ensure(library, game, 1, &request), &request), PackerStatusNoKey);
  HAS(packer_error_advice(), "key");
  STATUS(packer_close(request), PackerStatusDone);
  closed(library, NULL);
  library = opened("keys", "", NULL);
  STATUS(ended(packer_library_ensure(library, game, 1, &request), &request), PackerStatusDone);
  STATUS(packer_close(request), PackerStatusDone);
  STATUS(packer_library_pack(library, "game", &pack), PackerStatusDone);
  closed(library, NULL);
  // It reads on after its library was closed.
  STATUS(packer_read(pack, "index.html", 0, &byte, 1, &count), PackerStatusDone);
  STATUS(packer_close(pack), PackerStatusDone);
  puts("keys");
}

int main(int count, char **arguments) {
  if (count != 5) return 64;
  place = arguments[2];
  trusted = arguments[3];
  address = arguments[4];
  key = content(in(place, "key"), &key_size);
  if (strcmp(arguments[1], "fetch") == 0) return fetch();
  if (strcmp(arguments[1], "leave") == 0) return leave(0);
  if (strcmp(arguments[1], "close") == 0) return leave(1);
  refuses_options();
  survives_misuse();
  close_while_it_runs();
  tells();
  asks();
  keys();
  if (failures > 0) fprintf(stderr, "%d are wrong\n", failures);
  return failures > 0;
}
