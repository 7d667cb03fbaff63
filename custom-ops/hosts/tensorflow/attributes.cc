#include "attributes.h"

#include <math.h>
#include <stdio.h>

#include <string>

namespace te {
namespace {

class Construction {
 public:
  explicit Construction(TF_OpKernelConstruction* context) : context_(context), status_(tf.TF_NewStatus()) {}
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;
  ~Construction() { tf.TF_DeleteStatus(status_); }

  bool failed() const { return tf.TF_GetCode(status_) != TF_OK; }

  std::string text(const char* name) {
    int32_t list_size = 0;
    int32_t length = 0;
    tf.TF_OpKernelConstruction_GetAttrSize(context_, name, &list_size, &length, status_);
    if (failed() || length <= 0) return std::string();
    std::string value(static_cast<size_t>(length), '\0'); /* TensorFlow does not end the text */
    tf.TF_OpKernelConstruction_GetAttrString(context_, name, &value[0], value.size(), status_);
    return value;
  }

  int32_t one_of(const char* name, const char* const* names, int32_t count) {
    const std::string value = text(name);
    std::string expected;
    for (int32_t i = 0; i < count; ++i) {
      if (value == names[i]) return i;
      expected += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    if (!failed()) {
      const std::string message = std::string(name) + ": expected one of " + expected + ", received '" + value + "'";
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, message.c_str());
    }
    return 0;
  }

  void bag(Attributes* attributes) {
    static const char* const kCombiners[] = {"sum", "mean", "sqrtn"};
    static const char* const kOutOfRange[] = {"error", "zero"};
    attributes->combiner = one_of("combiner", kCombiners, 3);
    if (!failed()) attributes->out_of_range = one_of("out_of_range", kOutOfRange, 2);
    if (!failed()) {
      tf.TF_OpKernelConstruction_GetAttrFloat(context_, "max_norm", &attributes->max_norm, status_);
    }
    if (!failed() && !(attributes->max_norm >= 0 && isfinite(attributes->max_norm))) {
      char message[96];
      snprintf(message, sizeof(message), "max_norm: expected a finite number >= 0 (0: off), received %g",
               static_cast<double>(attributes->max_norm));
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, message);
    }
  }

  void rows(Attributes* attributes) {
    if (failed()) return;
    tf.TF_OpKernelConstruction_GetAttrInt64(context_, "rows", &attributes->rows, status_);
    if (!failed() && attributes->rows < 0) {
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, "rows: expected a number >= 0, received a negative one");
    }
  }

  int32_t flag(const char* name) {
    int64_t value = 0;
    if (!failed()) tf.TF_OpKernelConstruction_GetAttrInt64(context_, name, &value, status_);
    return value != 0;
  }

  void packed(Attributes* attributes) {
    static const char* const kStorages[] = {"float16", "int8"};
    if (failed()) return;
    attributes->codec = TE_FLOAT16 + one_of("storage", kStorages, 2);
    if (!failed()) tf.TF_OpKernelConstruction_GetAttrInt64(context_, "dim", &attributes->dim, status_);
    if (!failed() && attributes->dim < 1) {
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, "dim: expected a number of columns >= 1, received a smaller one");
    }
  }

  /* The kernel's state, or nullptr after telling TensorFlow what is wrong. */
  void* finish(const Attributes& attributes) {
    if (!failed()) return new Attributes(attributes);
    tf.TF_OpKernelConstruction_Failure(context_, status_);
    return nullptr;
  }

 private:
  TF_OpKernelConstruction* context_;
  TF_Status* status_;
};

}  // namespace

void* create_bag(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.bag(&attributes);
  return construction.finish(attributes);
}

void* create_bag_grad(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.bag(&attributes);
  construction.rows(&attributes);
  return construction.finish(attributes);
}

void* create_packed(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.bag(&attributes);
  construction.packed(&attributes);
  return construction.finish(attributes);
}

void* create_packed_rows(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.packed(&attributes);
  return construction.finish(attributes);
}

void* create_rows(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.rows(&attributes);
  return construction.finish(attributes);
}

void* create_product(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  attributes.transpose_a = construction.flag("transpose_a");
  attributes.transpose_b = construction.flag("transpose_b");
  return construction.finish(attributes);
}

void* create_plain(TF_OpKernelConstruction*) { return new Attributes(); }

void delete_kernel(void* kernel) { delete static_cast<Attributes*>(kernel); }

}  // namespace te
