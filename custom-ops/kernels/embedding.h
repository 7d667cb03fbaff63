/*
 * The C core: embedding bags, their gradients, and exact row-sparse optimizer steps.
 *
 * Knows pointers and sizes; nothing of TensorFlow, Node or WebAssembly. It allocates nothing: callers pass a
 * workspace whose size te_*_workspace tells. Results do not depend on the number of threads.
 * Hosts: ../hosts. TypeScript twin of this contract: src/backends/kernel_set.ts and src/rules/hyper.ts.
 */
#ifndef TFJS_EMBEDDINGS_EMBEDDING_H_
#define TFJS_EMBEDDINGS_EMBEDDING_H_

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum te_combiner { TE_SUM = 0, TE_MEAN = 1, TE_SQRTN = 2 };
enum te_out_of_range { TE_ERROR = 0, TE_ZERO = 1 };
/*
 * The optimizers, in the order of src/rules/rules.ts. Calls X(optimizer, name in ops, slots, how many of the last ones
 * hold one number per row, steps rows without ids where hyper.lazy is 0) for each of them.
 */
#define TE_EACH_OPTIMIZER(X)                                          \
  X(TE_SGD, "Sgd", 0, 0, 0)                                           \
  X(TE_ADAGRAD, "Adagrad", 1, 0, 0)                                   \
  X(TE_ROW_WISE_ADAGRAD, "RowWiseAdagrad", 1, 1, 0)                   \
  X(TE_ADAGRAD_MOMENTUM, "AdagradMomentum", 2, 0, 1)                  \
  X(TE_ADAM, "Adam", 2, 0, 1)                                         \
  X(TE_FTRL, "Ftrl", 2, 0, 0)                                         \
  X(TE_RMSPROP, "Rmsprop", 1, 0, 1)                                   \
  X(TE_RMSPROP_MOMENTUM, "RmspropMomentum", 2, 0, 1)                  \
  X(TE_RMSPROP_CENTERED, "RmspropCentered", 2, 0, 1)                  \
  X(TE_RMSPROP_CENTERED_MOMENTUM, "RmspropCenteredMomentum", 3, 0, 1) \
  X(TE_MOMENTUM, "Momentum", 1, 0, 1)                                 \
  X(TE_AMSGRAD, "Amsgrad", 3, 0, 1)                                   \
  X(TE_ADAM_BY_ROW, "AdamByRow", 3, 1, 1)                             \
  X(TE_ADAM_W_BY_ROW, "AdamWByRow", 3, 1, 1)                          \
  X(TE_AMSGRAD_BY_ROW, "AmsgradByRow", 4, 1, 1)
#define TE_OPTIMIZER_NAME(optimizer, name, slots, per_row, idle) optimizer,
enum te_optimizer { TE_EACH_OPTIMIZER(TE_OPTIMIZER_NAME) TE_OPTIMIZERS };
/* What the list says of one; known when compiling where `optimizer` is. */
#ifdef __cplusplus
#define TE_CONSTANT constexpr
#else
#define TE_CONSTANT static inline
#endif
#define TE_SLOTS_CASE(optimizer, name, slots, per_row, idle) optimizer == which ? slots:
#define TE_PER_ROW_CASE(optimizer, name, slots, per_row, idle) optimizer == which ? per_row:
#define TE_IDLE_CASE(optimizer, name, slots, per_row, idle) optimizer == which ? idle:
TE_CONSTANT int te_slot_count(int which) { return TE_EACH_OPTIMIZER(TE_SLOTS_CASE) 0; }
TE_CONSTANT int te_row_slots(int which) { return TE_EACH_OPTIMIZER(TE_PER_ROW_CASE) 0; }
TE_CONSTANT int te_moves_idle_rows(int which) { return TE_EACH_OPTIMIZER(TE_IDLE_CASE) 0; }
#define TE_MOST_SLOTS 4
/* Numbers of a row in a slot. */
TE_CONSTANT int64_t te_slot_dim(int which, int slot, int64_t dim) {
  return slot < te_slot_count(which) - te_row_slots(which) ? dim : 1;
}
enum te_code {
  TE_OK = 0,
  TE_ID_OUT_OF_RANGE = 1, /* position, id */
  TE_BAD_SPLITS = 2,      /* position: the first split that is wrong */
  TE_BAD_ARGUMENT = 3,    /* a size, a pointer or an enum that cannot be */
  TE_BAD_WORKSPACE = 4    /* workspace smaller than te_*_workspace tells */
};

typedef struct te_status {
  int32_t code; /* te_code */
  int32_t id;
  int64_t position;
} te_status;

/* Bag b holds values[row_splits[b] .. row_splits[b + 1]). */
typedef struct te_bags {
  const int32_t* values;     /* [nnz] */
  const int32_t* row_splits; /* [batch + 1] */
  const float* weights;      /* [nnz], or NULL for all ones */
  int64_t nnz;
  int64_t batch;
  int32_t combiner;     /* te_combiner */
  int32_t out_of_range; /* te_out_of_range */
  float max_norm;       /* rows are scaled to this L2 norm at most; 0: off */
  /*
   * te_sparse_apply only: several uses of a table in one batch. Bags from use_starts[k] on belong to use k + 1; the
   * gradient of a row is summed within each use, then over the uses in their order. NULL and 0 for one use.
   */
  const int32_t* use_starts; /* [more_uses], ascending */
  int32_t more_uses;
} te_bags;

/*
 * How the numbers of a row are kept, in the order of CODECS in src/codecs/codecs.ts: in words of 32 bits, the first column
 * in the lowest bits, and bits behind the last one 0. TE_FLOAT32: a word each. TE_FLOAT16: two columns per word. TE_INT8:
 * four codes of 8 bits without sign per word, then two words, the float32 scale and offset of the row: a column is
 * scale * code + offset (the fused 8-bit rows of FBGEMM).
 */
enum te_codec { TE_FLOAT32 = 0, TE_FLOAT16 = 1, TE_INT8 = 2, TE_CODECS };
/* Words of a row. */
TE_CONSTANT int64_t te_row_words(int codec, int64_t dim) {
  return codec == TE_FLOAT32 ? dim : codec == TE_FLOAT16 ? dim / 2 + dim % 2 : dim / 4 + (dim % 4 != 0) + 2;
}
/* Whether steps write such rows. */
TE_CONSTANT int te_trains(int codec) { return codec != TE_INT8; }

/* A table, or some of its rows. */
typedef struct te_rows {
  void* data; /* [rows, te_row_words] */
  int64_t rows;
  int64_t dim;
  int32_t codec; /* te_codec */
} te_rows;

/* All float32, in the order of HYPER_FIELDS in src/rules/hyper.ts. */
typedef struct te_hyper {
  float learning_rate;
  float epsilon;
  float momentum;
  float use_nesterov;
  float exponent;
  float beta1;
  float beta2;
  float correction1;
  float correction2;
  float sum_inside_sqrt;
  float lazy;
  float learning_rate_power;
  float l1;
  float l2;
  float beta;
  float multiply_linear_by_learning_rate;
  float clip_gradient_min;
  float clip_gradient_max;
  float clip_norm;
  float clip_weight_min;
  float clip_weight_max;
  float weight_decay;
  float idle_decay; /* weight_decay of rows without ids, where those are stepped */
  float constraint;
  float constraint_min;
  float constraint_max;
  float constraint_rate;
  /* The key of stochastic rounding, 16 bits each; rows of TE_FLOAT16 alone use them. */
  float rounding_key0;
  float rounding_key1;
  float rounding_key2;
  float rounding_key3;
} te_hyper;
#define TE_HYPER_FIELDS 31

/* Whether weights have limits or a constraint; a limit that is infinite is none. */
static inline int te_limits_rows(const te_hyper* h) {
  return h->clip_weight_min >= -FLT_MAX || h->clip_weight_max <= FLT_MAX || h->constraint != 0.0f;
}

/* Whether a step writes rows without ids too. */
static inline int te_steps_all_rows(int optimizer, const te_hyper* h) {
  return h->lazy == 0.0f && (te_moves_idle_rows(optimizer) || te_limits_rows(h));
}

/* What a step would refuse of a table and a batch: sizes, row splits, ids where those out of range are an error. */
te_status te_check_batch(const te_rows* table, const te_bags* bags);

/* pooled [batch, dim] = combined rows of each bag. Empty bag: zeros. Needs no workspace. */
te_status te_embedding_bag(const te_rows* table, const te_bags* bags, float* pooled);

/*
 * Gradient with respect to the table. gradient [batch, dim].
 * te_embedding_bag_grad_group groups the ids and tells how many rows are touched; te_embedding_bag_grad_rows then
 * writes unique_ids [unique] ascending and row_gradients [unique, dim] from the same, untouched workspace.
 * table->data is read only when max_norm > 0 and may be NULL otherwise. Of rows of TE_FLOAT32 alone.
 */
size_t te_embedding_bag_grad_workspace(int64_t nnz, int64_t batch, int64_t rows, int64_t dim);
te_status te_embedding_bag_grad_group(const te_rows* table, const te_bags* bags, void* workspace,
                                      size_t workspace_bytes, int64_t* unique);
te_status te_embedding_bag_grad_rows(const te_rows* table, const te_bags* bags, const float* gradient, void* workspace,
                                     size_t workspace_bytes, int32_t* unique_ids, float* row_gradients);

/* weights_gradient [nnz]; bags->weights must be set. Needs no workspace. */
te_status te_embedding_bag_weights_grad(const te_rows* table, const te_bags* bags, const float* gradient,
                                        float* weights_gradient);

/*
 * One exact step in place: each touched row is updated once, with the sum over its occurrences.
 * slots: te_slot_count(optimizer), each [rows, dim], but the last te_row_slots(optimizer), which are [rows].
 * Order: sum, clip by norm, clip by value, weight decay, optimizer, clip weight, constraint.
 * Rows of TE_FLOAT16 are widened, stepped as float32 and rounded stochastically. A random word for each column, of the key
 * in `hyper`, the row and the column alone, decides whether it goes up or down; the expectation is the float32 value.
 * Finite numbers beyond 65504 stay 65504.
 */
size_t te_sparse_apply_workspace(int32_t optimizer, int64_t nnz, int64_t batch, int64_t rows, int64_t dim);
te_status te_sparse_apply(int32_t optimizer, const te_rows* table, float* const* slots, int32_t n_slots,
                          const te_bags* bags, const float* gradient, const te_hyper* hyper, void* workspace,
                          size_t workspace_bytes);

/* ---- many tables in one call ---- */

/* One lookup, and what came of it. */
typedef struct te_lookup {
  te_rows table;
  te_bags bags;
  float* pooled;
  te_status status;
} te_lookup;

/* One step of a table, with a workspace of its own, and what came of it. What comes after `status` is the core's own. */
typedef struct te_step {
  te_rows table;
  float* slots[TE_MOST_SLOTS];
  te_bags bags;
  const float* gradient;
  te_hyper hyper;
  void* workspace;
  size_t workspace_bytes;
  te_status status;
  float gradient_scale; /* from clip_norm */
  int32_t leads;        /* whether it is the first of the steps with its ids */
  struct te_step* same; /* another step with the same ids */
  struct te_step* next; /* a leader whose ids may lie in the same place */
} te_step;

/*
 * As te_embedding_bag and te_sparse_apply for each; the tables of steps must lie apart. Ids of several steps are
 * grouped once where they are the same: in the same memory, used in the same way, for tables of as many rows.
 */
void te_embedding_bags(te_lookup* lookups, int64_t count);
void te_sparse_apply_many(int32_t optimizer, te_step* steps, int64_t count);
/*
 * Shares `workspace` out among steps whose `workspace_bytes` are set, for te_sparse_apply_many. Returns how many bytes
 * that takes, SIZE_MAX for more than there can be; where `workspace` is NULL it places nothing.
 */
size_t te_place_workspaces(te_step* steps, int64_t count, void* workspace);

/* ---- halves that travel ---- */

/* The nearest halves of `count` floats, ties to even; 65520 and more become infinity. And back, exactly. */
void te_floats_to_halves(const float* floats, int64_t count, uint16_t* halves);
void te_halves_to_floats(const uint16_t* halves, int64_t count, float* floats);

/* ---- how a table begins ---- */

typedef enum { TE_FILL_CONSTANT, TE_FILL_UNIFORM, TE_FILL_NORMAL, TE_FILL_TRUNCATED_NORMAL, TE_FILLS } te_fill_kind;

#define TE_QUANTILE_TERMS 6
#define TE_QUANTILES (32 * 4 * TE_QUANTILE_TERMS)

/* As `Fill` of src/backends/fill.ts, with what is computed once: fillInputs there says what the numbers are. */
typedef struct te_fill {
  int32_t kind; /* te_fill_kind */
  uint32_t key[2];
  double numbers[3];       /* value | lowest, scale | mean, deviation, and of a truncated one its tail */
  const double* quantiles; /* [TE_QUANTILES], of normal ones */
} te_fill;

/* Row r of the part is row first_row + row_step * r of the table. */
typedef struct te_filled_part {
  int64_t first_row, row_step, rows, first_column, columns;
} te_filled_part;

/* target [rows, columns]. A tail is from 1 to 2^32 - 1. */
void te_fill_part(const te_fill* fill, const te_filled_part* part, float* target);

/* Rows that each begin by a key of their own, of a fill that is not constant: target [count, columns], keys [count, 2]. */
void te_fill_keyed_rows(const te_fill* fill, const int32_t* keys, int64_t count, int64_t columns, float* target);

/* Two sums over the bits, rows and columns of values [rows, columns]; those of parts add up, mod 2^32, to the table's. */
void te_checksum(const float* values, const te_filled_part* part, uint32_t* sums);

/* ---- dense variables ---- */

enum { TE_DENSE_SGD, TE_DENSE_MOMENTUM, TE_DENSE_ADAGRAD, TE_DENSE_ADAM };

/* One variable with its gradient; slots: momentum, or accumulator, or the two moments of Adam; or those of an update. */
typedef struct te_dense {
  float* values;
  float* slots[TE_MOST_SLOTS];
  const float* gradient;
  int64_t size;
} te_dense;

/* All float32, in the order of DENSE_HYPER_FIELDS in src/backends/dense_step.ts. */
typedef struct te_dense_hyper {
  float learning_rate;
  float momentum;
  float use_nesterov;
  float beta1;
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float epsilon;
} te_dense_hyper;
#define TE_DENSE_HYPER_FIELDS 8

/*
 * One step of a stock optimizer on `count` variables, in place. powers: two numbers that Adam alone has, the running
 * powers of its betas, which are stepped too.
 */
void te_dense_apply(int32_t optimizer, const te_dense* variables, int64_t count, float* const* powers,
                    const te_dense_hyper* hyper);

/*
 * Steps variables, in place, as te_sparse_apply steps rows without ids, but with their gradients. Of optimizers that step
 * such rows alone.
 */
void te_dense_update(int32_t optimizer, const te_dense* variables, int64_t count, const te_hyper* hyper);

/*
 * The ids of bags without those that stand for nothing: 0, or negative ones, as asked for. values [count] and splits
 * [batch + 1] take what is left; kept: how many ids that is.
 */
te_status te_present_ids(const int32_t* ids, int64_t count, const int32_t* row_splits, int64_t batch, int32_t skip_zero,
                         int32_t skip_negative, int32_t* values, int32_t* splits, int64_t* kept);

/*
 * What belongs to these ids: weights [count] -> present, as many as te_present_ids keeps; and back, with zeros for the
 * others. Both return how many that is; the second does nothing where `kept` is another number.
 */
int64_t te_present_weights(const int32_t* ids, int64_t count, int32_t skip_zero, int32_t skip_negative,
                           const float* weights, float* present);
int64_t te_spread_weights(const int32_t* ids, int64_t count, int32_t skip_zero, int32_t skip_negative,
                          const float* present, int64_t kept, float* weights);

/* The first that is NaN, by its place; -1: none. */
int64_t te_first_nan(const float* values, int64_t count);

/* Numbers as ids. The place of the first that is no whole number below 2^24 in magnitude; -1: none. */
int64_t te_whole_ids(const float* numbers, int64_t count, int32_t* ids);

/*
 * rows [count] of one table that holds the rows of all features, one after the other: id i is one of feature
 * i % features, in [0, sizes[feature]). TE_ID_OUT_OF_RANGE where one is not.
 */
te_status te_feature_rows(const int32_t* ids, int64_t count, const int32_t* sizes, int64_t features, int32_t* rows);

/*
 * sums [segments, dim]: of the terms [count, dim] of each id, in their order. Those of negative ids count for nothing, as
 * in TensorFlow's UnsortedSegmentSum; TE_ID_OUT_OF_RANGE for one from `segments` on.
 */
te_status te_segment_sum(const float* terms, const int32_t* ids, int64_t count, int64_t segments, int64_t dim,
                         float* sums);

/* ---- penalties on touched rows ---- */

/* Writes the distinct ids in [0, rows), ascending, into touched [count]; returns how many there are. */
int64_t te_touched_rows(const int32_t* ids, int64_t count, int64_t rows, int32_t* touched);

/* penalty = l1 sum |w| + l2 sum w^2 over the rows of these distinct ids, which train. */
te_status te_row_penalty(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                         float* penalty);
/* Its gradient times `upstream`, one row per id: gradient [count, dim]. */
te_status te_row_penalty_grad(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                              float upstream, float* gradient);

/* The first of `rows` that is not in [0, of), by its place; -1: all are. */
int64_t te_stray_row(const int32_t* rows, int64_t count, int64_t of);
/* Rows of `width` words of 32 bits, which must be there: source [any, width] -> taken [count, width]. */
void te_take_rows(const void* source, int64_t width, const int32_t* rows, int64_t count, void* taken);

/* y = x / (1 - rate) where the element is kept, else 0. The same seed keeps the same elements. 0 <= rate < 1. */
void te_dropout(const float* x, int64_t size, float rate, const int32_t seed[2], float* y);

/*
 * losses [size]: binary cross-entropy of labels and predictions, element by element. limits: what probabilities are
 * clipped to, at least and at most; NULL: predictions are logits. The second: its gradient by predictions.
 */
void te_cross_entropy(const float* labels, const float* predictions, int64_t size, const float* limits, float* losses);
void te_cross_entropy_grad(const float* labels, const float* predictions, const float* upstream, int64_t size,
                           const float* limits, float* gradient);

/* dots [rows]: the products of the rows of a and b, both [rows, dim]. */
void te_row_dots(const float* a, const float* b, int64_t rows, int64_t dim, float* dots);
/* scaled [rows, dim]: each row of `matrix` times a factor of its own. */
void te_scaled_rows(const float* factors, const float* matrix, int64_t rows, int64_t dim, float* scaled);

/* What a cross-entropy compares. */
typedef struct te_classes {
  const float* labels;        /* [rows], the numbers of classes, or [rows, classes] */
  const float* probabilities; /* [rows, classes] */
  int64_t rows, classes;
  float least, most; /* what probabilities are clipped to, after they were divided by the sum of their row */
  int32_t is_sparse; /* whether labels are numbers of classes */
} te_classes;

/* losses [rows] */
void te_categorical_loss(const te_classes* of, float* losses);
/*
 * Its gradient by the probabilities, times upstream [rows]: gradient [rows, classes]; through_softmax: by what softmax
 * made the probabilities of.
 */
void te_categorical_loss_grad(const te_classes* of, const float* upstream, int32_t through_softmax, float* gradient);
/* The gradient of softmax, which gave y, times upstream; all [rows, classes]. */
void te_softmax_grad(const float* upstream, const float* y, int64_t rows, int64_t classes, float* gradient);

/* The gradient of relu(x), all of `size` numbers: upstream where x is above 0. Numbers that are none pass through. */
void te_relu_grad(const float* upstream, const float* x, int64_t size, float* gradient);

/* Features [batch, dim] each, the pairs of which are multiplied; with_self: each is paired with itself too. */
typedef struct te_pairs {
  const float* const* features;
  int64_t count, batch, dim;
  int32_t with_self;
} te_pairs;

/* Pairs of a sample. */
int64_t te_pair_count(const te_pairs* of);
/* Numbers of scratch for one of at most te_get_threads() workers. */
int64_t te_pair_scratch(const te_pairs* of);
/* dots [batch, te_pair_count]: feature 1 with 0, 2 with 0 and 1, and so on. */
void te_pair_dots(const te_pairs* of, float* scratch, int32_t workers, float* dots);
/* The gradient of each feature. */
void te_pair_dots_grad(const te_pairs* of, const float* upstream, float* scratch, int32_t workers,
                       float* const* gradients);

/* ---- products of small matrices ---- */

/* op(a) [m, k] and op(b) [k, n], where op transposes what is stored the other way round. */
typedef struct te_factors {
  const float* a;
  const float* b;
  int64_t m;
  int64_t k;
  int64_t n;
  int32_t transpose_a;
  int32_t transpose_b;
} te_factors;

/* Numbers of scratch that te_multiply needs. */
int64_t te_product_scratch(const te_factors* factors);
/* c [m, n] = op(a) op(b), or c plus that; one thread. Each number is a sum in the order of k. */
void te_multiply(const te_factors* factors, int32_t adds, float* scratch, float* c);

/* sum [size] = ((first + second) + third) + ... of two terms or more. */
void te_sum(const float* const* terms, int64_t count, int64_t size, float* sum);

/*
 * out [batch, m, n] = A B, for each item of the batch; A [m, k], or [k, m] where it is transposed, B [k, n] or [n, k].
 * A batch of one matrix serves all items. `bias` [n] or NULL is added to each row; then relu, where asked for.
 */
typedef struct te_matmul {
  const float* a;
  const float* b;
  const float* bias;
  float* out;
  int64_t batch;
  int64_t batch_a; /* 1 or batch, as batch_b */
  int64_t batch_b;
  int64_t m;
  int64_t n;
  int64_t k;
  int32_t transpose_a;
  int32_t transpose_b;
  int32_t relu;
} te_matmul;
/* Bytes of scratch; SIZE_MAX: cannot be. */
size_t te_matrix_product_scratch(const te_matmul* job);
te_status te_matrix_product(const te_matmul* job, float* scratch);

/* ---- ids for SparseCores ---- */

/* One feature of a stack. */
typedef struct te_csr_feature {
  const int32_t* values;     /* [nnz] */
  const int32_t* row_splits; /* [samples + 1] */
  const float* weights;      /* [nnz], or NULL for all ones */
  int32_t nnz;
  int32_t samples;       /* a multiple of the cores */
  int32_t combiner;      /* te_combiner */
  int32_t rows;          /* ids are below */
  int32_t column_offset; /* rows of the stack before the table, over all shards */
  int32_t rotation;      /* row r is on shard (r + rotation + column_offset) mod shards */
  int32_t sample_offset; /* samples of the stack before those of the feature: a multiple of the cores */
} te_csr_feature;

/* A batch for one stack on the cores of a chip. */
typedef struct te_csr {
  const te_csr_feature* features;
  int64_t nnz;      /* of all features */
  int64_t capacity; /* slots, a multiple of 8: ids beyond are dropped */
  int32_t n_features;
  int32_t is_weighted; /* some feature has weights */
  int32_t cores;
  int32_t shards;  /* a power of two */
  int32_t samples; /* of the stack */
} te_csr;

/* Slots hold sample, row of the shard and gain; buckets are padded with 2^31 - 1 to multiples of 8. */
typedef struct te_csr_out {
  int32_t* row_pointers; /* [cores, shards rounded up to 8] */
  int32_t* sample_ids;   /* [te_partition_csr_slots], as the next two */
  int32_t* token_ids;
  float* gains;
  int32_t* id_counts;        /* [cores, shards]: ids of each bucket, the dropped ones too */
  int32_t* unique_id_counts; /* [cores, shards] */
} te_csr_out;

/* Enough for the threads in force; where features is NULL, for any of so many ids. */
size_t te_partition_csr_workspace(const te_csr* csr);
/* Slots that are enough for any ids; of a request that te_partition_csr takes. */
int64_t te_partition_csr_slots(const te_csr* csr);
/* used: the slots in use. Positions in the status count the values, or the row splits, of all features. */
te_status te_partition_csr(const te_csr* csr, const te_csr_out* out, void* workspace, size_t workspace_bytes,
                           int64_t* used);

/* Threads used by the kernels of this process; 1 <= threads <= 64. Returns what is in force. */
int32_t te_set_threads(int32_t threads);
int32_t te_get_threads(void);
/* The same for calls from the calling thread alone; 0: what holds for the process. */
int32_t te_set_own_threads(int32_t threads);

#if defined(__wasm__)
/* Works as thread `number`, from 1 on, for calls of others over the same memory, and never returns. */
void te_help(int32_t number);
#endif

/* "avx512", "avx2", "sse2", "neon", "simd128" or "scalar": the variant chosen at run time. */
const char* te_instruction_set(void);

#ifdef __cplusplus
}
#endif

#endif /* TFJS_EMBEDDINGS_EMBEDDING_H_ */
