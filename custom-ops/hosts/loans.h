/* What the Node host knows of tensors that TensorFlow lends; tensorflow_loans.h keeps them. */
#ifndef TFJS_EMBEDDINGS_LOANS_H_
#define TFJS_EMBEDDINGS_LOANS_H_

#include <stdint.h>

/* Rows of 4-byte words in a loan: `rows` of `columns` each, the first at `at`, `stride` words from one to the next. */
typedef struct te_loan_rows {
  uint64_t at, stride, columns, rows;
} te_loan_rows;

typedef enum { TE_LOAN_OK, TE_LOAN_UNKNOWN, TE_LOAN_OUTSIDE, TE_LOAN_SHARED } te_loan_status;

#ifdef __cplusplus
extern "C" {
#endif

/* A number that no tensor is lent under. */
int32_t te_loan_number(void);
void te_loan_end(int32_t number);
/* Copies rows of a loan to `target`, which has room for rows x columns words and may not lie in the loan. */
te_loan_status te_loan_read(int32_t number, const te_loan_rows* rows, void* target);
/* Differs between copies of this library in a process, each of which has loans of its own. */
const void* te_loans_book(void);

#ifdef __cplusplus
}
#endif

#endif /* TFJS_EMBEDDINGS_LOANS_H_ */
