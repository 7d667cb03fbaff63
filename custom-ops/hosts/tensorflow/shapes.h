/* Shape functions of the TensorFlow ops: ranks, sizes that must agree, and the shapes of results. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SHAPES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SHAPES_H_

#include "api.h"

namespace te {

constexpr char kPooledRows[] = "pooled rows";
/* What EmbeddingServerInfo tells in numbers. */
constexpr int64_t kServerNumbers = 7;

void bag_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void bag_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void bag_weights_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
/* For ops without outputs. */
void nothing_shape(TF_ShapeInferenceContext*, TF_Status*);
/* One vector of a length that the ids decide. */
void touched_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void present_ids_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void single_splits_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void row_penalty_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void row_penalty_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void row_dots_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void scaled_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void categorical_loss_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void categorical_loss_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
/* Nothing is known of the outputs: the graph decides. */
void step_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void copy_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void cross_entropy_shape(TF_ShapeInferenceContext* context, TF_Status* status);
/* Attributes are not seen here, so the number of columns is not known. */
void packed_bag_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void packed_row_penalty_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void packed_bag_weights_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void snapshot_shape(TF_ShapeInferenceContext* context, TF_Status* status);
/* Rows of a table, of unknown number; those of changed rows come after their ids. */
void some_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void changed_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void checksum_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void filled_shape(TF_ShapeInferenceContext* context, TF_Status* status);
void server_info_shape(TF_ShapeInferenceContext* context, TF_Status* status);
/* As many as the first input, a vector. */
void like_ids_shape(TF_ShapeInferenceContext* context, TF_Status* status);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SHAPES_H_ */
