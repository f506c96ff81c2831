/* joint.h - launches of several queues made as one (device.h, pl_device_share).
 *
 * A queue that shares keeps its launches and small copies in a list, with copies of the arguments. A thread that
 * has to wait for the device submits its list. One of the waiting threads, the leader, waits briefly for the queues
 * that took part in the last round, and makes a round of all that have come. It walks the lists side by side,
 * combines launches of the same kernel at their heads into one launch, and copies all small results back at once.
 * Each list keeps its order, and lists share no data, so a queue's bits do not depend on which queues join a round.
 *
 * Threads: a list belongs to its queue's thread; the leader reads it while that thread waits. A NULL list means
 * that the queue does not share: nothing is kept, and nothing is done. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_JOINT_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_JOINT_H

#include "engine/backends/device/bytes_kernels.h"
#include "engine/backends/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_joint pl_joint;

/* NULL: out of memory. */
pl_joint *pl_joint_create(pl_device_queue *queue);
void pl_joint_destroy(pl_joint *j);
void pl_joint_launch(pl_joint *j, const pl_device_kernel *kernel, const void *arguments,
                     int64_t threads);
/* False: the copy is too large for a list; all kept work has been done, and the caller makes the copy. */
bool pl_joint_put(pl_joint *j, void *to, const void *from, size_t bytes);
bool pl_joint_get(pl_joint *j, void *to, const void *from, size_t bytes);
/* When it returns, all kept work has been done, or there is a fault. */
void pl_joint_flush(pl_joint *j);

/* The queue turns to other work: no round waits for it until it has taken part in one again. */
void pl_joint_leave(pl_joint *j);

/* Time that a round waits for a queue, in ms after the queue took part in one or was created. Default 0.5. */
void pl_joint_set_patience(double ms);

/* ---- the memory layer's part: one round at a time, on one thread ---- */

typedef struct pl_round_memory {
    char *up, *up_there;     /* data to the device: on the host; on the device */
    char *down, *down_there; /* data back */
    void *stream;            /* of the memory layer */
} pl_round_memory;

typedef struct pl_round_member {
    pl_device_queue *queue;
    int64_t launches;
} pl_round_member;

/* Zero-initialise before; destroy also accepts one whose create failed. */
bool pl_round_memory_create(pl_round_memory *m, size_t up, size_t down);
void pl_round_memory_destroy(pl_round_memory *m);
/* Ordered after all other launches of the members; the `up` bytes are then on the device. */
void pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t up);
void pl_round_one(pl_round_memory *m, const pl_device_kernel *kernel, const void *arguments,
                  int64_t threads);
void pl_round_many(pl_round_memory *m, const pl_device_kernel *kernel, const pl_device_item *items,
                   int32_t count, int64_t most);
/* Waits; the `down` bytes have then arrived, unless there is a fault. */
void pl_round_end(pl_round_memory *m, const pl_round_member *members, int32_t count, size_t down);

#ifdef __cplusplus
}
#endif

#endif
