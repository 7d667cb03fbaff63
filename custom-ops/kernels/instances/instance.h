/* All kernel bodies once, for the instruction set that this file is compiled for. TE_INSTANCE names the result. */
#include "bag_forward.h"
#include "bag_weights_grad.h"
#include "step/class_rows.h"
#include "step/product.h"
#include "row_update.h"
#include "codecs/any_rows.h"
#include "ranking/row_products.h"

#if defined(__wasm__)
int64_t te_look_up_wasm(const te_lookup_job* job, int64_t first, int64_t end) { return look_up(job, first, end); }
void te_weights_gradient_wasm(const te_lookup_job* job, int64_t first, int64_t end) {
  weights_gradient(job, first, end);
}
void te_gradient_rows_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* to) {
  gradient_rows(job, first, end, begin, to);
}
double te_gradient_squares_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  return gradient_squares(job, first, end, begin, scratch);
}
void te_update_rows_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  update_rows(job, first, end, begin, scratch);
}
void te_step_untouched_wasm(const te_update* job, int64_t first, int64_t end, float* w, const float* zeros) {
  step_untouched(job, first, end, w, zeros);
}
void te_product_wasm(const te_product* p) { product(p); }
void te_widen_rows_wasm(const te_rows* table, int64_t first, int64_t end, float* to) {
  widen_rows(table, first, end, to);
}
void te_row_dots_wasm(const te_rows* table, const float* query, int64_t first, int64_t end, float* to) {
  row_dots(table, query, first, end, to);
}
int te_row_bounds_wasm(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to) {
  return row_bounds(table, query, first, end, to);
}
int64_t te_next_above_wasm(const float* products, const float* limits, int64_t from, int64_t count) {
  return next_above(products, limits, from, count);
}
#else
const te_kernels TE_INSTANCE = {TE_INSTANCE_NAME, look_up,        weights_gradient, gradient_rows, gradient_squares,
                                update_rows,      step_untouched, product,          class_rows,    widen_rows,
                                row_dots,         row_bounds,     next_above};
#endif
