/* A status of TensorFlow that ends with its scope. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_STATUS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_STATUS_H_

#include "api.h"

namespace te {

class Status {
 public:
  Status() : status_(tf.TF_NewStatus()) {}
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() { tf.TF_DeleteStatus(status_); }
  TF_Status* get() const { return status_; }
  TF_Code code() const { return tf.TF_GetCode(status_); }
  bool ok() const { return code() == TF_OK; }
  const char* message() const { return tf.TF_Message(status_); }

 private:
  TF_Status* status_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_STATUS_H_ */
