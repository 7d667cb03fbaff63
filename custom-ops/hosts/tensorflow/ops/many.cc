/* TensorFlow kernels that look up or step many tables in one call. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <utility>
#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../huge_pages.h"
#include "../shapes.h"
#include "../spans.h"
#include "../tables/table_locks.h"
#include "../table_step.h"
#include "ops.h"

namespace te {
namespace {

/* modes [count, 3]: table, combiner and what ids out of range are, of each lookup; max_norms [count]. */
class Modes {
 public:
  Modes(Call* call, int of_modes, int of_norms, int count) : call_(call) {
    TF_Tensor* modes = call->input(of_modes, "modes", 1);
    TF_Tensor* norms = call->input(of_norms, "max_norms", 1);
    if (call->failed()) return;
    if (tf.TF_Dim(modes, 0) != 3 * count || tf.TF_Dim(norms, 0) != count) {
      call->fail(TF_INVALID_ARGUMENT, "modes: expected three numbers and a norm for each of %d uses, received others",
                 count);
      return;
    }
    modes_ = static_cast<const int32_t*>(Call::data(modes));
    norms_ = Call::floats(norms);
  }

  int32_t table(int use) const { return modes_[3 * use]; }

  /* The call has failed where something is wrong. */
  Attributes of(int use) const {
    Attributes attributes;
    attributes.combiner = modes_[3 * use + 1];
    attributes.out_of_range = modes_[3 * use + 2];
    attributes.max_norm = norms_[use];
    const bool known = attributes.combiner >= TE_SUM && attributes.combiner <= TE_SQRTN &&
                       attributes.out_of_range >= TE_ERROR && attributes.out_of_range <= TE_ZERO &&
                       attributes.max_norm >= 0 && isfinite(attributes.max_norm);
    if (!known) call_->fail(TF_INVALID_ARGUMENT, "modes: expected known ones, received another for use %d", use);
    return attributes;
  }

  bool alike(int a, int b) const {
    return modes_[3 * a + 1] == modes_[3 * b + 1] && modes_[3 * a + 2] == modes_[3 * b + 2] && norms_[a] == norms_[b];
  }

 private:
  Call* call_;
  const int32_t* modes_ = nullptr;
  const float* norms_ = nullptr;
};

/* tables: N, values: N, row_splits: N, weights: N, modes, max_norms -> pooled: N. */
void compute_bags(void*, TF_OpKernelContext* context) {
  Call call(context);
  const int count = (tf.TF_NumInputs(context) - 2) / 4;
  const Modes modes(&call, 4 * count, 4 * count + 1, count);
  if (call.failed()) return;
  std::vector<te_lookup> lookups(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    te_lookup& each = lookups[static_cast<size_t>(i)];
    const Attributes attributes = modes.of(i);
    each.table = call.rows(i);
    each.bags = call.bags(count + i, 2 * count + i, 3 * count + i, attributes);
    const int64_t dims[] = {each.bags.batch, each.table.dim};
    TF_Tensor* pooled = call.output(i, TF_FLOAT, dims, 2, "table", "pooled rows");
    if (call.failed()) return;
    each.pooled = Call::floats(pooled);
  }
  std::vector<const void*> tables;
  for (const te_lookup& each : lookups) tables.push_back(each.table.data);
  {
    const TableLock lock(std::move(tables), TableUse::kRead);
    te_embedding_bags(lookups.data(), count);
  }
  for (const te_lookup& each : lookups) {
    call.check(each.status, each.bags, each.table.rows);
    looked_up(each.table, each.bags);
  }
}

/* The uses of one table as one batch. */
class United {
 public:
  void add(const te_bags& bags, const float* gradient, int64_t dim) {
    if (!uses_.empty()) starts_.push_back(static_cast<int32_t>(batch_));
    uses_.push_back({bags, gradient});
    batch_ += bags.batch;
    nnz_ += bags.nnz;
    dim_ = dim;
  }

  int64_t uses() const { return static_cast<int64_t>(uses_.size()); }
  int64_t batch() const { return batch_; }
  int64_t nnz() const { return nnz_; }

  /* Whether another table has the same uses; gradients are each table's own. */
  bool same_ids(const United& other) const {
    if (uses_.size() != other.uses_.size()) return false;
    for (size_t i = 0; i < uses_.size(); ++i) {
      const te_bags &a = uses_[i].bags, &b = other.uses_[i].bags;
      if (a.values != b.values || a.row_splits != b.row_splits || a.weights != b.weights || a.nnz != b.nnz ||
          a.batch != b.batch || a.combiner != b.combiner || a.out_of_range != b.out_of_range ||
          a.max_norm != b.max_norm) {
        return false;
      }
    }
    return true;
  }

  te_bags bags() {
    te_bags all = uses_.front().bags;
    if (uses_.size() == 1) return all;
    bool weighted = false;
    for (const Use& use : uses_) weighted = weighted || use.bags.weights != nullptr;
    splits_.push_back(0);
    for (const Use& use : uses_) {
      const int32_t before = splits_.back();
      values_.insert(values_.end(), use.bags.values, use.bags.values + use.bags.nnz);
      for (int64_t b = 1; b <= use.bags.batch; ++b) splits_.push_back(before + use.bags.row_splits[b]);
      if (weighted && use.bags.weights != nullptr) {
        weights_.insert(weights_.end(), use.bags.weights, use.bags.weights + use.bags.nnz);
      } else if (weighted) {
        weights_.insert(weights_.end(), static_cast<size_t>(use.bags.nnz), 1.0f);
      }
    }
    all.values = values_.data();
    all.row_splits = splits_.data();
    all.weights = weighted ? weights_.data() : nullptr;
    all.nnz = nnz_;
    all.batch = batch_;
    all.use_starts = starts_.data();
    all.more_uses = static_cast<int32_t>(starts_.size());
    return all;
  }

  const float* gradient() {
    if (uses_.size() == 1) return uses_.front().gradient;
    for (const Use& use : uses_) {
      gradient_.insert(gradient_.end(), use.gradient, use.gradient + use.bags.batch * dim_);
    }
    return gradient_.data();
  }

 private:
  struct Use {
    te_bags bags;
    const float* gradient;
  };
  std::vector<Use> uses_;
  std::vector<int32_t> values_;
  std::vector<int32_t> splits_;
  std::vector<int32_t> starts_;
  std::vector<float> weights_;
  std::vector<float> gradient_;
  int64_t batch_ = 0;
  int64_t nnz_ = 0;
  int64_t dim_ = 0;
};

/* The first table with several uses that has those of table i, or i. */
size_t of_same_ids(const std::vector<United>& united, size_t i) {
  size_t like = united[i].uses() == 1 ? i : 0;
  while (like < i && !united[like].same_ids(united[i])) ++like;
  return like;
}

/* Splits that start at 0, never fall and end at the number of values: uses are joined only then. */
bool whole_splits(const te_bags& bags) {
  if (bags.row_splits[0] != 0 || bags.row_splits[bags.batch] != bags.nnz) return false;
  for (int64_t b = 0; b < bags.batch; ++b) {
    if (bags.row_splits[b + 1] < bags.row_splits[b]) return false;
  }
  return true;
}

/* The position of the first id that names no row; -1: all do. One pass without branches where that is so. */
int64_t first_outside(const te_bags& bags, int64_t rows) {
  uint32_t highest = 0; /* ids below 0 are the highest */
  for (int64_t p = 0; p < bags.nnz; ++p) {
    const uint32_t id = static_cast<uint32_t>(bags.values[p]);
    highest = id > highest ? id : highest;
  }
  if (bags.nnz == 0 || (highest <= INT32_MAX && static_cast<int64_t>(highest) < rows)) return -1;
  int64_t first = 0;
  while (bags.values[first] >= 0 && bags.values[first] < rows) ++first;
  return first;
}

/* tables: N, slots: N each, gradients, values, row_splits, weights: U each, hypers: N, modes, max_norms. */
template <int kOptimizer>
void compute_sparse_apply_many(void*, TF_OpKernelContext* context) {
  constexpr int kSlots = te_slot_count(kOptimizer);
  Call call(context);
  TF_Tensor* norms = call.input(tf.TF_NumInputs(context) - 1, "max_norms", 1);
  if (call.failed()) return;
  const int inputs = tf.TF_NumInputs(context);
  const int64_t told = tf.TF_Dim(norms, 0);
  const int64_t rest = inputs - 2 - 4 * told;
  if (told < 1 || told > inputs || rest < 2 + kSlots || rest % (2 + kSlots) != 0) {
    return call.fail(TF_INVALID_ARGUMENT, "max_norms: expected one for each use, received %lld",
                     static_cast<long long>(told));
  }
  const int uses = static_cast<int>(told);
  const int count = static_cast<int>(rest / (2 + kSlots));
  const int after = count * (1 + kSlots);
  const Modes modes(&call, inputs - 2, inputs - 1, uses);
  if (call.failed()) return;
  std::vector<te_step> steps(static_cast<size_t>(count));
  std::vector<United> united(static_cast<size_t>(count));
  std::vector<Span> written;
  std::vector<Span> read;
  for (int i = 0; i < count; ++i) {
    te_step& each = steps[static_cast<size_t>(i)];
    each = te_step();
    each.table = call.rows(i);
    if (call.failed()) return;
    written.push_back(span_of_rows(each.table));
    for (int s = 0; s < kSlots; ++s) {
      TF_Tensor* slot = slot_of(&call, count * (1 + s) + i, s, each.table, s >= kSlots - te_row_slots(kOptimizer));
      if (slot == nullptr) return;
      each.slots[s] = Call::floats(slot);
      written.push_back(span_of(slot));
    }
    TF_Tensor* numbers = call.input(after + 4 * uses + i, "hyper", 1);
    if (call.failed() || !read_hyper(&call, numbers, &each.hyper)) return;
  }
  std::vector<int> first(static_cast<size_t>(count), -1);
  for (int u = 0; u < uses; ++u) {
    const int32_t table = modes.table(u);
    if (table < 0 || table >= count) {
      return call.fail(TF_INVALID_ARGUMENT, "modes: expected tables in [0, %d), received %d", count, table);
    }
    const size_t at = static_cast<size_t>(table);
    if (first[at] < 0) first[at] = u;
    const Attributes attributes = modes.of(u);
    const te_bags bags = call.bags(after + uses + u, after + 2 * uses + u, after + 3 * uses + u, attributes);
    const float* gradient = call.gradient(after + u, bags.batch, steps[at].table.dim);
    if (call.failed()) return;
    if (!modes.alike(first[at], u)) {
      return call.fail(TF_INVALID_ARGUMENT, "modes: expected one for all uses of table %d, received several", table);
    }
    if (!whole_splits(bags)) {
      return call.fail(TF_INVALID_ARGUMENT,
                       "row_splits: expected splits that start at 0, never fall and end at %lld, received others",
                       static_cast<long long>(bags.nnz));
    }
    const std::vector<Span> spans = spans_of(bags, gradient, steps[at].table.dim);
    read.insert(read.end(), spans.begin(), spans.end());
    united[at].add(bags, gradient, steps[at].table.dim);
  }
  if (any_shared(written, read)) {
    return call.fail(TF_INVALID_ARGUMENT, "table and slots must not share memory with another input");
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    te_step& each = steps[i];
    if (united[i].uses() == 0) {
      return call.fail(TF_INVALID_ARGUMENT, "modes: expected a use of each table, received none of table %zu", i);
    }
    if (united[i].nnz() >= INT32_MAX || united[i].batch() >= INT32_MAX) {
      return call.fail(TF_INVALID_ARGUMENT, "values: expected fewer than 2147483647 numbers, received more");
    }
    const size_t like = of_same_ids(united, i);
    each.bags = like < i ? steps[like].bags : united[i].bags();
    each.gradient = united[i].gradient();
    each.workspace_bytes =
        te_sparse_apply_workspace(kOptimizer, each.bags.nnz, each.bags.batch, each.table.rows, each.table.dim);
    /* Every id is looked at before the first row is written. */
    if (each.bags.out_of_range == TE_ERROR) {
      const int64_t outside = first_outside(each.bags, each.table.rows);
      if (outside >= 0) {
        te_status stray = {};
        stray.code = TE_ID_OUT_OF_RANGE;
        stray.id = each.bags.values[outside];
        stray.position = outside;
        return call.check(stray, each.bags, each.table.rows);
      }
    }
  }
  const size_t bytes = te_place_workspaces(steps.data(), count, nullptr);
  if (bytes == SIZE_MAX) return call.no_memory(bytes);
  Workspace workspace(bytes);
  if (workspace.data() == nullptr) return call.no_memory(bytes);
  te_place_workspaces(steps.data(), count, workspace.data());
  std::vector<TableWrite> write;
  for (const te_step& each : steps) {
    write.push_back({{each.table.data}, each.bags.values, each.bags.nnz, 0, each.table.rows});
    write.back().arrays.insert(write.back().arrays.end(), each.slots, each.slots + kSlots);
    if (te_steps_all_rows(kOptimizer, &each.hyper)) write.back().rows = nullptr;
  }
  const TableWrites writes(write);
  te_sparse_apply_many(kOptimizer, steps.data(), count);
  for (const te_step& each : steps) call.check(each.status, each.bags, each.table.rows);
}

}  // namespace

/* Many tables in one op; bags and gradients of the uses of each, after those of the table before it. */
#define TE_SPARSE_APPLY_MANY(optimizer, name, slots, per_row, idle)                                            \
  Op{"EmbeddingSparseApplyMany" name,                                                                          \
     {"tables: N * float", TE_SLOT_INPUTS(slots, "N * float"), "gradients: U * float", "values: U * int32",    \
      "row_splits: U * int32", "weights: U * float", "hypers: N * float", "modes: int32", "max_norms: float"}, \
     {},                                                                                                       \
     {"N: int >= 1", "U: int >= 1"},                                                                           \
     nothing_shape,                                                                                            \
     create_plain,                                                                                             \
     compute_sparse_apply_many<optimizer>,                                                                     \
     true},
OpList many_ops() {
  static const Op ops[] = {
      TE_EACH_OPTIMIZER(TE_SPARSE_APPLY_MANY){"EmbeddingBags",
                                              {"tables: N * float", "values: N * int32", "row_splits: N * int32",
                                               "weights: N * float", "modes: int32", "max_norms: float"},
                                              {"pooled: N * float"},
                                              {"N: int >= 1"},
                                              step_shape,
                                              create_plain,
                                              compute_bags,
                                              false},
  };
  return list_of(ops);
}

}  // namespace te
