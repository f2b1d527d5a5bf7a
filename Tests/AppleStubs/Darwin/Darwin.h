// The parts of Apple's C library that this project calls, for the check against the oldest systems. Types, annotations and values as in the published
// sources: github.com/apple-oss-distributions/xnu (bsd/sys), /Libc (include) and /libpthread (include/pthread). Everything here without an attribute
// exists since macOS 10.10 and iOS 8 or longer.
#ifndef PACKER_STUB_DARWIN_H
#define PACKER_STUB_DARWIN_H

#include <stddef.h>
#include <stdint.h>

// sys/types.h
typedef int32_t dev_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint64_t ino_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint32_t id_t;
typedef int32_t pid_t;
typedef int64_t off_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef unsigned int fsblkcnt_t;
typedef unsigned int fsfilcnt_t;
typedef long ssize_t;
typedef uint32_t useconds_t;
typedef int32_t suseconds_t;
typedef char *caddr_t;
typedef uint32_t fixpt_t;
typedef int32_t segsz_t;
typedef unsigned char u_char;
typedef unsigned int u_int;
typedef int errno_t;
typedef size_t rsize_t;
typedef uint32_t sigset_t;

// sys/errno.h. `errno` is in the overlay.
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define E2BIG 7
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define EBUSY 16
#define EXDEV 18
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define ETXTBSY 26
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ENETRESET 52
#define ECONNABORTED 53
#define ECONNRESET 54
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ENOLCK 77
#define ELOOP 62
#define ENAMETOOLONG 63
#define EHOSTDOWN 64
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69
#define ENOSYS 78
#define ECANCELED 89
#define EOPNOTSUPP 102
int *__error(void);

// time.h, sys/time.h
typedef long time_t;
typedef unsigned long clock_t;
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
struct timeval {
  time_t tv_sec;
  suseconds_t tv_usec;
};
struct itimerval {
  struct timeval it_interval;
  struct timeval it_value;
};
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  char *tm_zone;
};
time_t time(time_t *);

// sys/resource.h
#define RLIMIT_CORE 4
typedef uint64_t rlim_t;
struct rlimit {
  rlim_t rlim_cur;
  rlim_t rlim_max;
};
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);

// sys/stat.h. The S_ constants are in the overlay.
struct stat {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct timespec st_atimespec;
  struct timespec st_mtimespec;
  struct timespec st_ctimespec;
  struct timespec st_birthtimespec;
  off_t st_size;
  blkcnt_t st_blocks;
  blksize_t st_blksize;
  uint32_t st_flags;
  uint32_t st_gen;
  int32_t st_lspare;
  int64_t st_qspare[2];
};
int fstat(int, struct stat *);
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstatat(int, const char *, struct stat *, int);
int fchmod(int, mode_t);
int fchown(int, uid_t, gid_t);
int chmod(const char *, mode_t);
int mkdir(const char *, mode_t);
int mkdirat(int, const char *, mode_t);
mode_t umask(mode_t);

// sys/statvfs.h
struct statvfs {
  unsigned long f_bsize;
  unsigned long f_frsize;
  fsblkcnt_t f_blocks;
  fsblkcnt_t f_bfree;
  fsblkcnt_t f_bavail;
  fsfilcnt_t f_files;
  fsfilcnt_t f_ffree;
  fsfilcnt_t f_favail;
  unsigned long f_fsid;
  unsigned long f_flag;
  unsigned long f_namemax;
};
int fstatvfs(int, struct statvfs *);

// sys/fcntl.h. The functions with variable arguments are in the overlay.
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_APPEND 0x00000008
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x0020
#define AT_SYMLINK_FOLLOW 0x0040
#define AT_REMOVEDIR 0x0080
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_PREALLOCATE 42
#define F_GETPATH 50
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define FD_CLOEXEC 1
#define F_ALLOCATECONTIG 0x00000002
#define F_ALLOCATEALL 0x00000004
#define F_PEOFPOSMODE 3
#define MAXPATHLEN 1024
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
struct flock {
  off_t l_start;
  off_t l_len;
  pid_t l_pid;
  short l_type;
  short l_whence;
};
typedef struct fstore {
  unsigned int fst_flags;
  int fst_posmode;
  off_t fst_offset;
  off_t fst_length;
  off_t fst_bytesalloc;
} fstore_t;
int flock(int, int);

// dirent.h, sys/dirent.h
struct dirent {
  uint64_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen;
  uint16_t d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
typedef struct {
  int __dd_fd;
  long __dd_loc;
  long __dd_size;
  char *__dd_buf;
} DIR;
DIR *fdopendir(int);
struct dirent *readdir(DIR *);
int closedir(DIR *);

// unistd.h
#define F_OK 0
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
int access(const char *, int);
int close(int);
void _exit(int) __attribute__((noreturn));
int fsync(int);
int ftruncate(int, off_t);
pid_t getpid(void);
int gethostname(char *_Null_unspecified, size_t);
uid_t getuid(void);
uid_t geteuid(void);
int isatty(int);
int linkat(int, const char *, int, const char *, int);
int pause(void);
int pipe(int[2]);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int unlinkat(int, const char *, int);
int usleep(useconds_t);
long sysconf(int);

// stdio.h, sys/stdio.h
typedef struct __sFILE FILE;
#define RENAME_SWAP 0x00000002
#define RENAME_EXCL 0x00000004
int renameat(int, const char *, int, const char *);
int renameatx_np(int, const char *, int, const char *, unsigned int) __attribute__((availability(macos, introduced = 10.12)))
__attribute__((availability(ios, introduced = 10.0)));

// sys/clonefile.h
int fclonefileat(int, int, const char *, uint32_t) __attribute__((availability(macos, introduced = 10.12)))
__attribute__((availability(ios, introduced = 10.0)));

// stdlib.h
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
void exit(int) __attribute__((noreturn));
char *getenv(const char *);
int setenv(const char *, const char *, int);
int unsetenv(const char *);
char *realpath(const char *restrict, char *restrict);

// string.h, strings.h
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
errno_t memset_s(void *, rsize_t, int, rsize_t) __attribute__((availability(macos, introduced = 10.9)))
__attribute__((availability(ios, introduced = 7.0)));
char *strchr(const char *, int);
int strcmp(const char *, const char *);
char *strdup(const char *);
char *strerror(int);
int strerror_r(int, char *, size_t);
size_t strlen(const char *);
int strncasecmp(const char *, const char *, size_t);
int strncmp(const char *, const char *, size_t);
size_t strspn(const char *, const char *);

// sys/mman.h. `MAP_FAILED` is in the overlay.
#define PROT_NONE 0x00
#define PROT_READ 0x01
#define PROT_WRITE 0x02
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_ANON 0x1000
void *mmap(void *, size_t, int, int, int, off_t);
int munmap(void *, size_t);
int mlock(const void *, size_t);

// signal.h, sys/signal.h. `SIG_IGN` is in the overlay.
#define SIGHUP 1
#define SIGINT 2
#define SIGKILL 9
#define SIGPIPE 13
#define SIGTERM 15
#define SIGCHLD 20
#define SIGXFSZ 25
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
typedef void (*sig_t)(int);
union sigval {
  int sival_int;
  void *sival_ptr;
};
typedef struct __siginfo {
  int si_signo;
  int si_errno;
  int si_code;
  pid_t si_pid;
  uid_t si_uid;
  int si_status;
  void *si_addr;
  union sigval si_value;
  long si_band;
  unsigned long __pad[7];
} siginfo_t;
union __sigaction_u {
  void (*__sa_handler)(int);
  void (*__sa_sigaction)(int, siginfo_t *, void *);
};
struct sigaction {
  union __sigaction_u __sigaction_u;
  sigset_t sa_mask;
  int sa_flags;
};
int kill(pid_t, int);
int sigaction(int, const struct sigaction *restrict, struct sigaction *restrict);
int sigaddset(sigset_t *, int);
int sigismember(const sigset_t *, int);
int sigpending(sigset_t *);
int sigemptyset(sigset_t *);
int sigwait(const sigset_t *restrict, int *restrict);
void (*signal(int, void (*)(int)))(int);

// sys/wait.h
#define WNOHANG 0x00000001
#define WEXITED 0x00000004
#define WNOWAIT 0x00000020
typedef enum { P_ALL, P_PID, P_PGID } idtype_t;
int waitid(idtype_t, id_t, siginfo_t *, int);
pid_t waitpid(pid_t, int *, int);

// poll.h
#define POLLIN 0x0001
#define POLLOUT 0x0004
struct pollfd {
  int fd;
  short events;
  short revents;
};
typedef unsigned int nfds_t;
int poll(struct pollfd *, nfds_t, int);

// sys/ttycom.h. `ioctl` and `TIOCGWINSZ` are in the overlay.
struct winsize {
  unsigned short ws_row;
  unsigned short ws_col;
  unsigned short ws_xpixel;
  unsigned short ws_ypixel;
};

// locale.h, xlocale.h
#define LC_ALL 0
#define LC_CTYPE 2
#define LC_COLLATE_MASK (1 << 0)
#define LC_CTYPE_MASK (1 << 1)
typedef struct _xlocale *locale_t;
locale_t newlocale(int, const char *, locale_t);
locale_t uselocale(locale_t);
char *setlocale(int, const char *);

// crt_externs.h
char ***_NSGetEnviron(void);

// spawn.h, sys/spawn.h
#define POSIX_SPAWN_SETPGROUP 0x0002
#define POSIX_SPAWN_SETSIGDEF 0x0004
#define POSIX_SPAWN_SETSIGMASK 0x0008
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
int posix_spawnp(
  pid_t *restrict, const char *restrict, const posix_spawn_file_actions_t *, const posix_spawnattr_t *restrict, char *const[restrict],
  char *const[restrict]);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *, int, int);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict, int, const char *restrict, int, mode_t);
int posix_spawnattr_init(posix_spawnattr_t *);
int posix_spawnattr_destroy(posix_spawnattr_t *);
int posix_spawnattr_setflags(posix_spawnattr_t *, short);
int posix_spawnattr_setpgroup(posix_spawnattr_t *, pid_t);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *restrict, const sigset_t *restrict);
int posix_spawnattr_setsigmask(posix_spawnattr_t *restrict, const sigset_t *restrict);

// sys/sysctl.h, sys/proc.h, sys/ucred.h: a process as the kernel describes it
#define CTL_KERN 1
#define CTL_HW 6
#define KERN_PROC 14
#define KERN_PROC_PID 1
struct extern_proc {
  union {
    struct {
      struct proc *__p_forw;
      struct proc *__p_back;
    } p_st1;
    struct timeval __p_starttime;
  } p_un;
  int p_flag;
  char p_stat;
  pid_t p_pid;
};
struct kinfo_proc {
  struct extern_proc kp_proc;
};
int sysctl(int *, u_int, void *, size_t *, void *, size_t);
int sysctlbyname(const char *, void *, size_t *, void *, size_t);

// pthread/pthread.h, sys/_pthread/_pthread_types.h. The annotations are those that Swift sees.
#define PTHREAD_CREATE_DETACHED 2
struct _opaque_pthread_attr_t {
  long __sig;
  char __opaque[56];
};
struct _opaque_pthread_cond_t {
  long __sig;
  char __opaque[40];
};
struct _opaque_pthread_condattr_t {
  long __sig;
  char __opaque[8];
};
struct _opaque_pthread_mutex_t {
  long __sig;
  char __opaque[56];
};
struct _opaque_pthread_mutexattr_t {
  long __sig;
  char __opaque[8];
};
struct _opaque_pthread_t {
  long __sig;
  void *__cleanup_stack;
  char __opaque[8176];
};
struct _opaque_pthread_once_t {
  long __sig;
  char __opaque[8];
};
typedef struct _opaque_pthread_attr_t pthread_attr_t;

// sys/qos.h, pthread/qos.h
typedef enum qos_class : unsigned int {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00,
} qos_class_t;
int pthread_attr_set_qos_class_np(pthread_attr_t *_Nonnull, qos_class_t, int);
typedef unsigned long pthread_key_t;
typedef struct _opaque_pthread_once_t pthread_once_t;
typedef struct _opaque_pthread_cond_t pthread_cond_t;
typedef struct _opaque_pthread_condattr_t pthread_condattr_t;
typedef struct _opaque_pthread_mutex_t pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t pthread_mutexattr_t;
typedef struct _opaque_pthread_t *pthread_t;
int pthread_attr_destroy(pthread_attr_t *_Nonnull);
int pthread_attr_init(pthread_attr_t *_Nonnull);
int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, size_t);
int pthread_cond_broadcast(pthread_cond_t *_Nonnull);
int pthread_cond_destroy(pthread_cond_t *_Nonnull);
int pthread_cond_init(pthread_cond_t *_Nonnull restrict, const pthread_condattr_t *_Nullable restrict);
int pthread_cond_signal(pthread_cond_t *_Nonnull);
int pthread_cond_timedwait(pthread_cond_t *_Nonnull restrict, pthread_mutex_t *_Nonnull restrict, const struct timespec *_Nullable restrict);
int pthread_cond_wait(pthread_cond_t *_Nonnull restrict, pthread_mutex_t *_Nonnull restrict);
void *_Nullable pthread_getspecific(pthread_key_t);
int pthread_key_create(pthread_key_t *_Nonnull, void (*_Nullable)(void *_Nonnull));
int pthread_setspecific(pthread_key_t, const void *_Nullable);
int pthread_create(
  pthread_t _Nullable *_Nonnull restrict, const pthread_attr_t *_Nullable restrict, void *_Nullable (*_Nonnull)(void *_Nonnull),
  void *_Nullable restrict);
int pthread_mutex_destroy(pthread_mutex_t *_Nonnull);
int pthread_mutex_init(pthread_mutex_t *_Nonnull restrict, const pthread_mutexattr_t *_Nullable restrict);
int pthread_mutex_lock(pthread_mutex_t *_Nonnull);
int pthread_mutex_trylock(pthread_mutex_t *_Nonnull);
int pthread_mutex_unlock(pthread_mutex_t *_Nonnull);
int pthread_sigmask(int, const sigset_t *_Nullable, sigset_t *_Nullable);

#endif
