/* batch_slurm.h - Slurm's commands, as a file of batch_system.h would have them. */
#ifndef PLIANT_SERVER_BATCH_BATCH_SLURM_H
#define PLIANT_SERVER_BATCH_BATCH_SLURM_H

extern const char pl_batch_slurm[];

#endif
