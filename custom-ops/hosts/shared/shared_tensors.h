/* What the Node host knows of shared tensors of TensorFlow; tensorflow/ops/shared_tensors.cc keeps them. */
#ifndef TFJS_EMBEDDINGS_SHARED_TENSORS_H_
#define TFJS_EMBEDDINGS_SHARED_TENSORS_H_

#include <stdint.h>

/* Rows of 4-byte words in a shared tensor: `rows` of `columns` each, the first at `at`, `stride` words from one to the
   next. */
typedef struct te_shared_rows {
  uint64_t at, stride, columns, rows;
} te_shared_rows;

typedef enum { TE_SHARED_OK, TE_SHARED_UNKNOWN, TE_SHARED_OUTSIDE, TE_SHARED_OVERLAPS } te_shared_status;

#ifdef __cplusplus
extern "C" {
#endif

/* A key that no tensor is shared under. */
int32_t te_shared_new_key(void);
void te_shared_release(int32_t key);
/* Copies rows of a shared tensor to `target`, which has room for rows x columns words and may not lie in the tensor. */
te_shared_status te_shared_read(int32_t key, const te_shared_rows* rows, void* target);
/* The other way: from `source`, which may not lie in the tensor either. The tensor must have no other holders. */
te_shared_status te_shared_write(int32_t key, const te_shared_rows* rows, const void* source);
/* Differs between copies of this library in a process, each of which has shared tensors of its own. */
const void* te_shared_registry(void);

#ifdef __cplusplus
}
#endif

#endif /* TFJS_EMBEDDINGS_SHARED_TENSORS_H_ */
