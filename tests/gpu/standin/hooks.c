/* device.h's hooks for tests, for the stand-in: programs that inspect the emulated device inspect this one. */
#include "engine/backends/device/joint.h"
#include "tests/gpu/standin/standin.h"

static const pl_device_queue *failing;
static int64_t launches_left;
static bool held, fails_next;

/* Of an operation that is about to be given; with the lock. */
bool standin_launch_fails(const struct CUstream_st *s, int64_t launches)
{
    if (failing && *(struct CUstream_st *const *)failing == s) { /* its first member */
        launches_left -= launches;
        fails_next = fails_next || launches_left < 0;
    }
    bool fails = fails_next;
    if (fails)
        failing = NULL;
    fails_next = false;
    return fails;
}

/* By the linker, around what rounds begin with: those launch nothing on their members' streams. */
void __real_pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count,
                           size_t up);
void __wrap_pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count,
                           size_t up);
void __wrap_pl_round_begin(pl_round_memory *m, const pl_round_member *members, int32_t count,
                           size_t up)
{
    __real_pl_round_begin(m, members, count, up);
    pthread_mutex_lock(&standin_lock);
    for (int32_t i = 0; i < count; i++)
        if (members[i].queue == failing) {
            launches_left -= members[i].launches;
            fails_next = fails_next || launches_left < 0;
        }
    pthread_mutex_unlock(&standin_lock);
}

void pl_device_fail_after(pl_device_queue *q, int64_t launches)
{
    pthread_mutex_lock(&standin_lock);
    failing = q;
    launches_left = launches;
    pthread_mutex_unlock(&standin_lock);
}

/* It is never closed: with protection keys that costs nothing. */
void pl_device_leave_open(void) {}

void pl_device_refuse_recordings(void)
{
    standin_fail("cudaStreamBeginCapture", 1, cudaErrorStreamCaptureUnsupported);
}

void pl_device_hold_transfers(bool hold)
{
    pthread_mutex_lock(&standin_lock);
    held = hold;
    pthread_mutex_unlock(&standin_lock);
}

bool standin_holds_transfers(void)
{
    return held;
}

int pl_device_transfers_under_way(void)
{
    pthread_mutex_lock(&standin_lock);
    int64_t under_way = standin_transfers();
    pthread_mutex_unlock(&standin_lock);
    return (int)under_way;
}

size_t pl_device_handed_out(void)
{
    pthread_mutex_lock(&standin_lock);
    size_t most = standin_most_taken();
    pthread_mutex_unlock(&standin_lock);
    return most;
}
