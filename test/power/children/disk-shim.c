/*
 * Intercepts the disk operations of SQLite for one inbox, preloaded into a process (Linux):
 *
 * - logs every change of the file and of its -wal in order, with the beginning and the end of each sync;
 * - slows each sync down;
 * - fails one sync with EIO and then behaves as Linux does: every other descriptor of the file gets the error once too,
 *   and none gets it again. Writes that were not synced are lost on the disk, which the replay simulates, while readers
 *   of the file still see them.
 *
 * - fails one operation of the file or its -wal (open, read, write, truncate, sync, unlink) with an error, for tests that
 *   fail each in turn. The number of the operation and the error are read from the shared state, where a test writes them.
 *
 * SQLite maps only -shm into memory here, and creates it anew after a power failure.
 *
 * DISK_FILE      the path of the SQLite file, or its name alone for files of this name in any folder
 * DISK_LOG       the log; beside it a file with state that the processes share
 * DISK_SYNC_MS   added to each sync
 * DISK_READS     whether reads are operations that can fail: 0 or 1
 * DISK_EIO_AT    the sync that fails, from 1, counted over all processes; 0 for none
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NONE = 0, DATABASE = 1, WAL = 2, ACKS = 3, FILES = 4 };
enum { MAX_FD = 65536 };

/* As the replay reads it. */
struct record {
  uint8_t kind;
  uint8_t file;
  uint16_t unused;
  uint32_t length;
  uint64_t offset;
};

struct shared {
  uint64_t syncs;
  uint64_t begun;
  uint64_t errors[FILES];
  /* Operations so far, the one that fails (0 for none), and its errno. */
  uint64_t operations;
  uint64_t fail_at;
  uint64_t fail_errno;
};

static int log_fd = -1;
static struct shared *shared;
static struct shared own;
static const char *names[FILES];
static long sync_ms;
static uint64_t eio_at;
static int reads_fail;
static uint8_t file_of[MAX_FD];
static uint64_t seen[MAX_FD];

static int (*real_open)(const char *, int, ...);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_unlink)(const char *);

static char *joined(const char *first, const char *second) {
  char *text = malloc(strlen(first) + strlen(second) + 1);
  strcpy(text, first);
  return strcat(text, second);
}

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open");
  real_pread = dlsym(RTLD_NEXT, "pread");
  real_openat = dlsym(RTLD_NEXT, "openat");
  real_close = dlsym(RTLD_NEXT, "close");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  shared = &own;
  const char *file = getenv("DISK_FILE");
  const char *log = getenv("DISK_LOG");
  const char *ms = getenv("DISK_SYNC_MS");
  const char *at = getenv("DISK_EIO_AT");
  sync_ms = ms == NULL ? 0 : atol(ms);
  eio_at = at == NULL ? 0 : (uint64_t)atol(at);
  const char *reads = getenv("DISK_READS");
  reads_fail = reads != NULL && *reads == '1';
  if (file == NULL) return;
  names[DATABASE] = file;
  names[WAL] = joined(file, "-wal");
  names[ACKS] = joined(file, ".acks");
  if (log == NULL || *log == 0) return;
  log_fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  char *state = joined(log, ".state");
  int fd = real_open(state, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  free(state);
  if (fd < 0 || real_ftruncate(fd, sizeof(struct shared)) != 0) return;
  void *mapped = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shared = mapped;
}

static int kind_of_path(const char *path) {
  if (path == NULL || names[DATABASE] == NULL) return NONE;
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL && strchr(names[DATABASE], '/') == NULL ? slash + 1 : path;
  for (int file = DATABASE; file < FILES; file += 1)
    if (strcmp(name, names[file]) == 0) return file;
  return NONE;
}

static int kind_of(int fd) {
  return fd >= 0 && fd < MAX_FD ? file_of[fd] : NONE;
}

/* Whether this operation is the one that fails, which sets errno. */
static int fails(int file) {
  if (file != DATABASE && file != WAL) return 0;
  uint64_t number = __atomic_add_fetch(&shared->operations, 1, __ATOMIC_SEQ_CST);
  if (number != shared->fail_at) return 0;
  errno = (int)shared->fail_errno;
  return 1;
}

static int opened(int fd, const char *path) {
  if (fd < 0 || fd >= MAX_FD) return fd;
  file_of[fd] = (uint8_t)kind_of_path(path);
  seen[fd] = __atomic_load_n(&shared->errors[file_of[fd]], __ATOMIC_SEQ_CST);
  return fd;
}

/* One write to a file that is opened to append: records of several processes do not mix. */
static void note(char kind, int file, uint64_t offset, const void *data, size_t length) {
  if (log_fd < 0) return;
  struct record head = {(uint8_t)kind, (uint8_t)file, 0, (uint32_t)length, offset};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, length}};
  if (writev(log_fd, parts, length == 0 ? 1 : 2) < 0) abort();
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(rest, int) : 0;
  va_end(rest);
  if (fails(kind_of_path(path))) return -1;
  return opened(real_open(path, flags, mode), path);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(rest, int) : 0;
  va_end(rest);
  if (fails(kind_of_path(path))) return -1;
  return opened(real_open(path, flags | O_LARGEFILE, mode), path);
}

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(rest, int) : 0;
  va_end(rest);
  if (fails(kind_of_path(path))) return -1;
  return opened(real_openat(folder, path, flags, mode), path);
}

int close(int fd) {
  if (fd >= 0 && fd < MAX_FD) file_of[fd] = NONE;
  return real_close(fd);
}

ssize_t write(int fd, const void *data, size_t length) {
  int file = kind_of(fd);
  if (file == NONE) return real_write(fd, data, length);
  if (fails(file)) return -1;
  off_t offset = lseek(fd, 0, SEEK_CUR);
  ssize_t written = real_write(fd, data, length);
  if (written > 0) note(file == ACKS ? 'A' : 'W', file, (uint64_t)offset, data, (size_t)written);
  return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  int file = kind_of(fd);
  if (fails(file)) return -1;
  ssize_t written = real_pwrite(fd, data, length, offset);
  if (file != NONE && written > 0)
    note(file == ACKS ? 'A' : 'W', file, (uint64_t)offset, data, (size_t)written);
  return written;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) {
  return pwrite(fd, data, length, offset);
}

ssize_t pread(int fd, void *data, size_t length, off_t offset) {
  if (reads_fail && fails(kind_of(fd))) return -1;
  return real_pread(fd, data, length, offset);
}

ssize_t pread64(int fd, void *data, size_t length, off_t offset) {
  return pread(fd, data, length, offset);
}

int ftruncate(int fd, off_t length) {
  int file = kind_of(fd);
  if (fails(file)) return -1;
  int result = real_ftruncate(fd, length);
  if (file != NONE && result == 0) note('T', file, (uint64_t)length, NULL, 0);
  return result;
}

int ftruncate64(int fd, off_t length) {
  return ftruncate(fd, length);
}

int unlink(const char *path) {
  int file = kind_of_path(path);
  if (fails(file)) return -1;
  int result = real_unlink(path);
  if (file != NONE && result == 0) note('T', file, 0, NULL, 0);
  return result;
}

static int synced(int fd) {
  int file = kind_of(fd);
  if (file == NONE || file == ACKS) return real_fsync(fd);
  if (fails(file)) return -1;
  uint64_t number = __atomic_add_fetch(&shared->begun, 1, __ATOMIC_SEQ_CST);
  note('B', file, number, NULL, 0);
  struct timespec delay = {sync_ms / 1000, sync_ms % 1000 * 1000000};
  if (sync_ms > 0) nanosleep(&delay, NULL);
  if (__atomic_add_fetch(&shared->syncs, 1, __ATOMIC_SEQ_CST) == eio_at) {
    __atomic_add_fetch(&shared->errors[file], 1, __ATOMIC_SEQ_CST);
    note('E', file, number, NULL, 0);
  }
  uint64_t errors = __atomic_load_n(&shared->errors[file], __ATOMIC_SEQ_CST);
  if (seen[fd] != errors) {
    /* The pages are clean by now, and so on the disk as far as the kernel knows. */
    seen[fd] = errors;
    errno = EIO;
    return -1;
  }
  note('S', file, number, NULL, 0);
  return 0;
}

int fsync(int fd) {
  return synced(fd);
}

int fdatasync(int fd) {
  return synced(fd);
}
