/* Sizes of results: TensorFlow ends the process where the product of a shape runs over. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_

#include <stdint.h>
#include <stdio.h>

#include <string>

#include "memory.h"

namespace te {
namespace {

/* Whether numbers of 4 bytes in this shape can be addressed. */
inline bool addressable(const int64_t* dims, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (!te_addressable(count, dims[i])) return false;
    count *= dims[i];
  }
  return true;
}

/* Words of the error: the argument whose size is at fault, and what is made of it. */
inline std::string too_large(const char* argument, const char* what, const int64_t* dims, int rank) {
  std::string shape;
  double bytes = 4;
  for (int i = 0; i < rank; ++i) {
    shape += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
    bytes *= static_cast<double>(dims[i]);
  }
  char size[64];
  snprintf(size, sizeof(size), "(%.0f bytes)", bytes);
  return std::string(argument) + ": expected " + what + " that fit into memory, received " + what + " of shape [" +
         shape + "] " + size;
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SIZES_H_ */
