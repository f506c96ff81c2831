#include "server/run/progress.h"

enum { LEAST_CPU_MS = 20, IDLE_SHARE = 200 };

bool pl_progress_note(pl_progress *p, const pl_signs *now, int64_t now_ms)
{
    int64_t used = now->cpu_ms - p->signs.cpu_ms, elapsed = now_ms - p->moved_ms;
    bool moved = p->moved_ms == 0 || now->frame != p->signs.frame ||
                 now->beat_us != p->signs.beat_us ||
                 (used >= LEAST_CPU_MS && used >= elapsed / IDLE_SHARE);
    if (moved) {
        p->moved_ms = now_ms;
        p->signs = *now;
    }
    return moved;
}

const char *pl_progress_why(char state)
{
    return state == 'T' || state == 't' ? "stopped" : state == 'D' ? "disk" : "idle";
}
