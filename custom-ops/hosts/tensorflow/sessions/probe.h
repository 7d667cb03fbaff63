/* Whether anything listens at an address: a connection is opened and closed, and nothing is sent. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_PROBE_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_PROBE_H_

#include <functional>
#include <memory>
#include <string>

namespace te {

class Probe {
 public:
  Probe(const std::string& host, int port);

  /*
   * Whether every address of the host refuses connections. False where that cannot be told: an address that is silent,
   * a name that is not looked up yet. Takes at most 200 ms, less where `enough` says so.
   */
  bool is_refused(const std::function<bool()>& enough) const;
  /* host:port, for people. */
  const std::string& name() const { return name_; }

 private:
  struct Addresses;
  std::shared_ptr<Addresses> addresses_;
  std::string name_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_PROBE_H_ */
