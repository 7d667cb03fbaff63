/* Graphs that a step was captured as: what the Node host asks of the TensorFlow host. */
#ifndef TFJS_EMBEDDINGS_GRAPHS_H_
#define TFJS_EMBEDDINGS_GRAPHS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes a graph that the op EmbeddingStep runs under the number returned. definition: a GraphDef. feeds, fetches and
 * targets: names of nodes, each ended by a line feed; fetches may end in `:<output>`. Returns 0 after an error, which
 * `problem` then tells.
 */
int32_t te_graph_build(const void* definition, size_t bytes, const char* feeds, const char* fetches,
                       const char* targets, char* problem, size_t room);
/*
 * The first of the outputs `places`, lines of text, whose shape the shapes of the placeholders do not tell, as its
 * numbers decide it; -1: all are told. Returns -2 after an error, which `problem` then tells.
 */
int32_t te_graph_unsized(const void* definition, size_t bytes, const char* places, char* problem, size_t room);
/* Frees a graph; one that runs just now ends first. */
void te_graph_release(int32_t number);
/* Graphs that are there. */
int32_t te_graph_count(void);

#ifdef __cplusplus
}
#endif

#endif /* TFJS_EMBEDDINGS_GRAPHS_H_ */
