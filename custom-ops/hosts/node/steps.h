/* Steps of tables as JavaScript gives them. */
#ifndef TE_NODE_STEPS_H
#define TE_NODE_STEPS_H

#include "arguments.h"

/* A step of one table as JavaScript gives it. */
typedef struct step_arguments {
  te_step step;
  bag_arguments bags;
  array written[1 + TE_MOST_SLOTS]; /* table, slots */
  array gradient;
  int32_t optimizer;
} step_arguments;

/* table, codec, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, optimizer, slot0 to slot3, gradient,
   hyper, useStarts? */
void read_step(call* c, step_arguments* s);
/* What a step writes must be apart from what another one, or it itself, reads. */
void must_be_apart(call* c, const step_arguments* writer, const step_arguments* reader);
void slots_must_differ(call* c, const step_arguments* a, const step_arguments* b);
size_t step_workspace(const step_arguments* s);

#endif
