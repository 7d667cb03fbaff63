#include "sizes.h"

#include <stdio.h>

#include "../shared/memory.h"

namespace te {

bool addressable(const int64_t* dims, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (!te_addressable(count, dims[i])) return false;
    count *= dims[i];
  }
  return true;
}

std::string too_large(const char* argument, const char* what, const int64_t* dims, int rank) {
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

}  // namespace te
