// libarchive's functions under their own names, out of a library that is loaded when one of them is first called. CLibArchive declares
// them; one that this project calls and loader.c does not list fails to link.

// Why the library cannot be used, or NULL after it has been loaded.
const char *packer_libarchive_failure(void);
