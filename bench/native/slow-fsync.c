/* A disk that takes longer: preloaded into a process, it delays what waits for the disk by SLOW_FSYNC_MS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void delay(void) {
  const char *told = getenv("SLOW_FSYNC_MS");
  long ms = told == NULL ? 0 : strtol(told, NULL, 10);
  struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
  while (ms > 0 && nanosleep(&left, &left) != 0) {
  }
}

static int synced(const char *name, int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  delay();
  return next(fd);
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
