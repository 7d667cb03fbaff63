/* Tensors that TensorFlow lends, read from JavaScript. Part of node.c. */
#ifndef TE_NODE_LOANS_H
#define TE_NODE_LOANS_H

#include "node_arguments.h"

/* loansBook(): tells loans of this library from those of another copy in the process; 0 without TensorFlow. */
static napi_value loans_book(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, (double)(uintptr_t)te_loans_book());
#else
  return new_number(env, 0);
#endif
}

/* loanNumber(): a number that no tensor is lent under. */
static napi_value loan_number(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, te_loan_number());
#else
  napi_throw_error(env, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "built without TensorFlow");
  return NULL;
#endif
}

/* readLoan(number, at, stride, rows, columns, target): copies rows of a tensor that TensorFlow lends. */
static napi_value read_loan(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t loan = whole(&c, 0, "number", 0, INT32_MAX);
  te_loan_rows place;
  place.at = (uint64_t)whole(&c, 1, "at", 0, 9007199254740991.0);
  place.stride = (uint64_t)whole(&c, 2, "stride", 0, 9007199254740991.0);
  const int64_t rows = whole(&c, 3, "rows", 0, 9007199254740991.0);
  const int64_t columns = whole(&c, 4, "columns", 0, 9007199254740991.0);
  place.rows = (uint64_t)rows;
  place.columns = (uint64_t)columns;
  const array target = floats(&c, 5, "target", c.failed ? 0 : area(&c, rows, columns, "rows"));
  if (c.failed) return NULL;
#if defined(TE_WITH_TENSORFLOW)
  switch (te_loan_read((int32_t)loan, &place, target.data)) {
    case TE_LOAN_OK:
      return NULL;
    case TE_LOAN_UNKNOWN:
      fail_range(&c, "number", "nothing is lent under it");
      return NULL;
    case TE_LOAN_SHARED:
      fail_range(&c, "target", "expected memory of its own, received memory of the tensor that is lent");
      return NULL;
    default:
      fail_range(&c, "at", "the rows lie outside the tensor that is lent");
  }
#else
  (void)loan;
  (void)place;
  (void)target;
  fail_type(&c, "number", "built without TensorFlow");
#endif
  return NULL;
}

/* endLoan(number): a number that nothing is lent under is no error, as a call may have failed before it was used. */
static napi_value end_loan(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t loan = whole(&c, 0, "number", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed) te_loan_end((int32_t)loan);
#else
  (void)loan;
#endif
  return NULL;
}

#endif
