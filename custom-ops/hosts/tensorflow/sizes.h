/* Sizes of results: TensorFlow ends the process where the product of a shape runs over. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_

#include <stdint.h>

#include <string>

namespace te {

/* Whether numbers of 4 bytes in this shape can be addressed. */
bool addressable(const int64_t* dims, int rank);

/* Words of the error: the argument whose size is at fault, and what is made of it. */
std::string too_large(const char* argument, const char* what, const int64_t* dims, int rank);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_ */
