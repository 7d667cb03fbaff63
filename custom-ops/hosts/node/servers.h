/* What the functions for servers share. */
#ifndef TE_NODE_SERVERS_H
#define TE_NODE_SERVERS_H

#include "../shared/servers.h"
#include "arguments.h"

#if defined(TE_WITH_TENSORFLOW)
/* An error of the argument `unknown` where its number stands for nothing, else of TensorFlow. */
void fail_problem(call* c, const te_problem* problem, const char* unknown);
#else
void fail_without_tensorflow(call* c, const char* argument);
#endif

#endif
