#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift does not see constants that are made by a macro with an argument.
static const uint64_t packer_server_options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;

// Swift cannot call functions with a variable number of arguments.
static inline EVP_PKEY *packer_new_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }
