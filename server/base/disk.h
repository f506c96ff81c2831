/* disk.h - free space on the file system of the state directory.
 *
 * STATE/reserve is a file of allocated blocks that is never read. When the disk is full, parts of it are released, so
 * that the database, a start and DELETE have room to work; it is allocated again when there is space. A thread checks
 * the disk every second. While the disk counts as full, nothing new is stored, running sessions pause and the daemon is
 * not ready.
 *
 * A disk that fails in another way (EIO, EROFS) is treated as full, with that reason.
 *
 * The disk becomes full when less than a quarter of the reserve's size is free, when no file can be created, or when a
 * write failed for lack of space. It is no longer full when the free space and the reserve's blocks together reach the
 * reserve's full size, and the last failed write is long enough ago. That time doubles with each failure, so that a
 * session that can never be stored is not tried for ever. A broken disk must also accept a write of a file,
 * STATE/probe.
 */
#ifndef PLIANT_SERVER_BASE_DISK_H
#define PLIANT_SERVER_BASE_DISK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_disk pl_disk;

typedef struct pl_disk_state {
    int error;                      /* errno of a broken disk */
    bool full, broken;              /* nothing is stored; broken: for a reason other than space */
    int64_t free_bytes, size_bytes; /* of the file system, for this user */
    int64_t reserve_bytes;          /* that the reserve holds */
    char reason[160];               /* why nothing is stored; "" while the disk is writable */
} pl_disk_state;

/* Checks at once, and releases a part of the reserve if the disk is full. `reserve`: bytes, 0: none; at most an eighth
 * of the file system is used. NULL: out of memory. */
pl_disk *pl_disk_create(int state_fd, int64_t reserve);
/* Check every second from now on. `changed` is called on the checking thread: at once, when the disk becomes full or is
 * no longer full, and every second while it is full. False with a line in the log. */
bool pl_disk_watch(pl_disk *disk, void (*changed)(void *context, bool full), void *context);
void pl_disk_stop(pl_disk *disk); /* no more calls */
void pl_disk_destroy(pl_disk *disk);

/* These may be called from any thread; NULL stands for a disk with space. */
bool pl_disk_full(const pl_disk *disk);
/* A consistent `full` and `reason`. May wait for the reserve to be allocated; pl_disk_full does not. */
pl_disk_state pl_disk_look(pl_disk *disk);
/* ENOSPC or the error of a broken disk; 0 if the disk is writable. */
int pl_disk_error(pl_disk *disk);
/* Write and remove a small file: 0, or errno of the failed call. Waits for the disk. */
int pl_disk_probe(pl_disk *disk);
/* True if an errno means that nothing can be stored: no room, or an unwritable disk. */
bool pl_disk_is_error(int error);
/* Report a write that failed with such an error (0: unknown); the disk then counts as full. */
void pl_disk_note(pl_disk *disk, int error);

/* Release an eighth of the reserve of this state directory, at least 256 KiB; false if it is empty. */
bool pl_reserve_release(int state_fd);

#endif
