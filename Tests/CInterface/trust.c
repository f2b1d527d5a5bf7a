// Preloaded, it has libcurl trust the authority that PACKER_TEST_AUTHORITY names, and reach its host where PACKER_TEST_SERVER says ("HOST:443:ADDRESS:PORT").
// On Linux, apps trust the authorities of the system only. A proxy would not do: URLSession there takes the proxy's response for that of the server.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

// CURLOPT_CAINFO, CURLOPT_CONNECT_TO.
enum { authority = 10065, connect_to = 10243 };

void *curl_easy_init(void);

void *curl_easy_init(void) {
  // A library that was opened for itself alone has it from there.
  void *curl = dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD);
  void *(*make)(void) = (void *(*)(void))dlsym(curl, "curl_easy_init");
  int (*set)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(curl, "curl_easy_setopt");
  void *(*append)(void *, const char *) = (void *(*)(void *, const char *))dlsym(curl, "curl_slist_append");
  void *handle = make();
  if (handle == NULL) return NULL;
  set(handle, authority, getenv("PACKER_TEST_AUTHORITY"));
  set(handle, connect_to, append(NULL, getenv("PACKER_TEST_SERVER")));
  return handle;
}
