/* Tables of packed rows among the inputs of an op. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_

#include "../../../kernels/embedding.h"
#include "../attributes.h"
#include "../call.h"

namespace te {

/* The words of a table, input 0: [rows, te_packed_words]. */
te_packed_table packed_table(Call& call, const Attributes& attributes);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_ */
