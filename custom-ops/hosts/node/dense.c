/* Products of matrices as a function of typed arrays. */
#include "functions.h"

/* Matrices as a number of floats; 0 when it cannot be one. */
static uint64_t volume(call* c, int64_t count, int64_t rows, int64_t columns, const char* name) {
  const uint64_t each = c->failed ? 0 : area(c, rows, columns, name);
  return c->failed || each > INT64_MAX ? 0 : area(c, count, (int64_t)each, name);
}

/* matMul(a, b, bias | null, out, batch, batchA, batchB, m, n, k, transposeA, transposeB, relu) */
napi_value mat_mul(napi_env env, napi_callback_info info) {
  const double most = 9007199254740991.0;
  call c;
  te_matmul job;
  array bias = {NULL, 0, 0, false};
  begin(&c, env, info);
  memset(&job, 0, sizeof job);
  job.batch = whole(&c, 4, "batch", 0, most);
  job.batch_a = whole(&c, 5, "batchA", 0, most);
  job.batch_b = whole(&c, 6, "batchB", 0, most);
  job.m = whole(&c, 7, "m", 0, most);
  job.n = whole(&c, 8, "n", 0, most);
  job.k = whole(&c, 9, "k", 0, most);
  job.transpose_a = (int32_t)whole(&c, 10, "transposeA", 0, 1);
  job.transpose_b = (int32_t)whole(&c, 11, "transposeB", 0, 1);
  job.relu = (int32_t)whole(&c, 12, "relu", 0, 1);
  const array a = floats(&c, 0, "a", volume(&c, job.batch_a, job.m, job.k, "a"));
  const array b = floats(&c, 1, "b", volume(&c, job.batch_b, job.k, job.n, "b"));
  if (!c.failed && !absent(&c, 2)) bias = floats(&c, 2, "bias", (uint64_t)job.n);
  const array out = floats(&c, 3, "out", volume(&c, job.batch, job.m, job.n, "out"));
  must_differ(&c, out, a, "out");
  must_differ(&c, out, b, "out");
  must_differ(&c, out, bias, "out");
  job.a = (const float*)a.data;
  job.b = (const float*)b.data;
  job.bias = (const float*)bias.data;
  job.out = (float*)out.data;
  instance* owner = NULL;
  void* scratch = workspace_of(&c, c.failed ? 0 : te_matrix_product_scratch(&job) | 64, &owner);
  if (!c.failed) fail_status(&c, te_matrix_product(&job, scratch));
  trim_workspace(owner);
  finish(&c);
  return NULL;
}
