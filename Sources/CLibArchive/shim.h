#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

// The AE_IF… constants are casts inside macros, which Swift cannot import.
enum {
  packer_AE_IFREG = AE_IFREG,
  packer_AE_IFDIR = AE_IFDIR,
  packer_AE_IFLNK = AE_IFLNK,
};
