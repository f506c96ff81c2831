/* joint.h - launches of several queues made as one (device.h, pl_device_share).
 *
 * A queue that shares keeps what is launched on it, and small copies, in a list with copies of the arguments. Who has
 * to wait for the device hands the list in; one of those who wait, the leader, waits a moment for those that
 * were there just before, and makes a round of all that have come: it goes through the lists side by side, makes the
 * launches of one kernel that stand at their heads one launch, and copies all small results back at once. Each list
 * keeps its order, and lists share nothing, so the bits are those of each alone whoever comes together.
 *
 * Threads: a list is its queue's thread's; the leader reads it while that thread waits. NULL in the place of a list
 * is a queue that does not share: nothing is kept, nothing done. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_JOINT_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_JOINT_H

#include "engine/backends/device/bytes_kernels.h"
#include "engine/backends/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_joint pl_joint;

/* NULL: no memory. */
pl_joint *pl_joint_create(pl_device_queue *queue);
void pl_joint_destroy(pl_joint *j);
void pl_joint_launch(pl_joint *j, const pl_device_kernel *kernel, const void *arguments,
                     int64_t threads);
/* False: too much for a list; what was kept is done, and the copy is the caller's to make. */
bool pl_joint_put(pl_joint *j, void *to, const void *from, size_t bytes);
bool pl_joint_get(pl_joint *j, void *to, const void *from, size_t bytes);
/* What was kept has been done then, or there is a fault. */
void pl_joint_flush(pl_joint *j);

/* Something else is done now: no round waits for this one until it has been in one again. */
void pl_joint_leave(pl_joint *j);

/* How long a round waits for a queue, ms after that was in one before or made. At first 0.5. */
void pl_joint_set_patience(double ms);

/* ---- the memory's part: one round at a time, by one thread ---- */

typedef struct pl_round_memory {
    char *up, *up_there;     /* what goes to the device: the host's, the device's */
    char *down, *down_there; /* what comes back */
    void *stream;            /* the memory's own */
} pl_round_memory;

typedef struct pl_round_member {
    pl_device_queue *queue;
    int64_t launches;
} pl_round_member;

/* Zeroed before; destroy takes one that failed. */
bool pl_round_memory_create(pl_round_memory *m, size_t up, size_t down);
void pl_round_memory_destroy(pl_round_memory *m);
/* After all that the members have launched otherwise; `up` bytes are on the device then. */
void pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t up);
void pl_round_one(pl_round_memory *m, const pl_device_kernel *kernel, const void *arguments,
                  int64_t threads);
void pl_round_many(pl_round_memory *m, const pl_device_kernel *kernel, const pl_device_item *items,
                   int32_t count, int64_t most);
/* Waits; `down` bytes have come back then, unless there is a fault. */
void pl_round_end(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t down);

#ifdef __cplusplus
}
#endif

#endif
