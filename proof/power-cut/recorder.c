/* Stands between a program and its C library (LD_PRELOAD), and writes down in order what the program does to the files of one
 * folder: each write with its bytes, each truncation, sync, removal and renaming. It can also be a bad disk.
 *
 *   POWER_CUT_FOLDER      the folder
 *   POWER_CUT_LOG         the file that is written, outside of the folder
 *   POWER_CUT_CAPACITY    how many bytes the files of the folder may have together: more is ENOSPC
 *   POWER_CUT_FAIL_SYNC   the sync of this number (1, 2, ...) of a file does nothing and answers EIO
 *   POWER_CUT_FAIL_WRITE  the write of this number does half of its work; what is left of it answers EIO
 *
 * In C, because the project's Rust is without `unsafe`, and this cannot be done without. Linux only. Shared memory (`-shm`) is
 * left out: no database is the better or worse for it after a power cut.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* what is written down stands in the order in which it was done */
static pthread_once_t begun = PTHREAD_ONCE_INIT;
static char folder[4096];
static size_t folder_length;
static int record = -1;
static int64_t capacity = -1;
static long fail_sync, fail_write, syncs, writes;
static int broken_write = -1; /* the file whose write is halfway through */

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static void begin(void) {
    const char *place = getenv("POWER_CUT_FOLDER"), *path = getenv("POWER_CUT_LOG");
    if (!place || !path || strlen(place) >= sizeof folder) return;
    strcpy(folder, place);
    folder_length = strlen(folder);
    capacity = number("POWER_CUT_CAPACITY", -1);
    fail_sync = number("POWER_CUT_FAIL_SYNC", 0);
    fail_write = number("POWER_CUT_FAIL_WRITE", 0);
    record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The name of a path in the folder ("" for the folder), or NULL for what is elsewhere. */
static const char *inside(const char *path) {
    pthread_once(&begun, begin);
    size_t length = strlen(path);
    if (record < 0 || strncmp(path, folder, folder_length) != 0) return NULL;
    if (path[folder_length] == 0) return "";
    if (path[folder_length] != '/') return NULL;
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return NULL;
    return path + folder_length + 1;
}

static const char *inside_fd(int fd, char *buffer, size_t size) {
    char link[64];
    pthread_once(&begun, begin);
    if (record < 0) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, size - 1);
    if (length <= 0) return NULL;
    buffer[length] = 0;
    return inside(buffer);
}

static void put(const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t done = syscall(SYS_write, record, rest, count);
        if (done <= 0) abort(); /* a record with a hole would prove nothing */
        rest += done;
        count -= (size_t)done;
    }
}

/* One entry: kind, length of the name, where, how many bytes; the name; the bytes. */
static void note(char kind, const char *name, uint64_t at, const void *bytes, uint64_t count) {
    uint64_t head[4] = {(uint64_t)(unsigned char)kind, strlen(name), at, bytes ? count : 0};
    put(head, sizeof head);
    put(name, strlen(name));
    if (bytes) put(bytes, count);
}

/* What the files of the folder have together. */
static int64_t used(void) {
    int64_t sum = 0;
    DIR *listed = opendir(folder);
    if (!listed) return 0;
    for (struct dirent *entry; (entry = readdir(listed));) {
        struct stat found;
        if (fstatat(dirfd(listed), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode)) sum += found.st_size;
    }
    closedir(listed);
    return sum;
}

/* How much of a write has room; of shared memory too, which takes room although it is not recorded. */
static size_t room(int fd, uint64_t at, size_t count) {
    struct stat found;
    if (capacity < 0 || fstat(fd, &found) != 0) return count;
    int64_t growth = (int64_t)(at + count) - found.st_size;
    if (growth <= 0) return count;
    int64_t over = used() + growth - capacity;
    if (over <= 0) return count;
    if (over > growth) over = growth; /* what was there before has its room */
    return (uint64_t)over >= count ? 0 : count - (size_t)over;
}

static int is_in_folder(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, folder, folder_length) == 0;
}

static ssize_t do_write(int fd, const void *bytes, size_t count, uint64_t at, int placed) {
    char path[4096];
    const char *name = inside_fd(fd, path, sizeof path);
    pthread_mutex_lock(&turn);
    size_t allowed = count;
    if (record >= 0 && capacity >= 0 && is_in_folder(fd)) {
        if (!placed) at = (uint64_t)lseek(fd, 0, SEEK_CUR);
        allowed = room(fd, at, count);
    }
    ssize_t done = -1;
    if (name && fail_write > 0 && broken_write == fd) {
        broken_write = -1;
        errno = EIO;
    } else if (allowed == 0 && count > 0) {
        errno = ENOSPC;
    } else {
        if (name && fail_write > 0 && ++writes == fail_write && allowed > 1) {
            allowed /= 2;
            broken_write = fd;
        }
        if (name && !placed) at = (uint64_t)lseek(fd, 0, SEEK_CUR);
        done = placed ? syscall(SYS_pwrite64, fd, bytes, allowed, at) : syscall(SYS_write, fd, bytes, allowed);
        int error = errno;
        if (name && done > 0) note('W', name, at, bytes, (uint64_t)done);
        if (fd == 1 && record >= 0 && done > 0) note('A', "", 0, bytes, (uint64_t)done);
        errno = error;
    }
    pthread_mutex_unlock(&turn);
    return done;
}

static int do_sync(int fd, long call) {
    char path[4096];
    const char *name = inside_fd(fd, path, sizeof path);
    if (!name) return (int)syscall(call, fd);
    pthread_mutex_lock(&turn);
    int done, error;
    if (*name && ++syncs == fail_sync) {
        note('F', name, 0, NULL, 0);
        done = -1;
        error = EIO;
    } else {
        done = (int)syscall(call, fd);
        error = errno;
        note(done == 0 ? 'S' : 'F', name, 0, NULL, 0);
    }
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}

static int do_truncate(int fd, off_t size) {
    char path[4096];
    const char *name = inside_fd(fd, path, sizeof path);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_ftruncate, fd, size);
    int error = errno;
    if (name && done == 0) note('T', name, (uint64_t)size, NULL, 0);
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}

static int do_remove(int at, const char *path, int flags) {
    const char *name = inside(path);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_unlinkat, at, path, flags);
    int error = errno;
    if (name && done == 0) note('U', name, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}

static int do_rename(const char *from, const char *to) {
    const char *old = inside(from), *new = inside(to);
    pthread_mutex_lock(&turn);
    int done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    int error = errno;
    if (done == 0 && old && new) note('R', old, 0, new, strlen(new));
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count) { return do_write(fd, bytes, count, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return do_write(fd, bytes, count, (uint64_t)at, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return do_write(fd, bytes, count, (uint64_t)at, 1); }
int fsync(int fd) { return do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }
int ftruncate(int fd, off_t size) { return do_truncate(fd, size); }
int ftruncate64(int fd, off64_t size) { return do_truncate(fd, size); }
int unlink(const char *path) { return do_remove(AT_FDCWD, path, 0); }
int rename(const char *from, const char *to) { return do_rename(from, to); }

/* What would change a file and is not written down ends the program: a record with a hole would prove nothing. */
struct iovec;
static int unheard(int fd) {
    char path[4096];
    if (inside_fd(fd, path, sizeof path)) abort();
    return 0;
}
ssize_t writev(int fd, const struct iovec *parts, int count) { return unheard(fd), syscall(SYS_writev, fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return unheard(fd), syscall(SYS_pwritev, fd, parts, count, at, 0); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return unheard(fd), syscall(SYS_pwritev, fd, parts, count, at, 0); }
