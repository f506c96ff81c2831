/* batch_slurm.h - Slurm's commands in the file format of batch_system.h. */
#ifndef PLIANT_SERVER_BATCH_BATCH_SLURM_H
#define PLIANT_SERVER_BATCH_BATCH_SLURM_H

extern const char pl_batch_slurm[];

#endif
