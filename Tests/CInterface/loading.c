// Both libraries in one process, opened as a plugin is, and closed while a thread that called them is still there.
//
//   loading LIBRARY LIBRARY
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int32_t (*Find)(uint64_t, const char *, int32_t *, uint64_t *, uint8_t *);
typedef const char *(*Text)(void);

static char **libraries;

static void *call(void *argument) {
  intptr_t result = 0;
  (void)argument;
  void *handles[2];
  for (int number = 0; number < 2; number++) {
    handles[number] = dlopen(libraries[number], RTLD_NOW | RTLD_LOCAL);
    if (handles[number] == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return (void *)1;
    }
    Find find;
    Text message;
    *(void **)&find = dlsym(handles[number], "packer_find");
    *(void **)&message = dlsym(handles[number], "packer_error_message");
    if (find(7, "x", NULL, NULL, NULL) != 64 || strstr(message(), "handle") == NULL) result = 2;
  }
  dlclose(handles[0]);
  dlclose(handles[1]);
  // What the thread has of the libraries is freed when it ends.
  return (void *)result;
}

int main(int count, char **arguments) {
  pthread_t thread;
  void *result;
  if (count != 3) return 64;
  libraries = arguments + 1;
  for (int number = 0; number < 3; number++) {
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, &result);
    if (result != NULL) return (int)(intptr_t)result;
  }
  return 0;
}
