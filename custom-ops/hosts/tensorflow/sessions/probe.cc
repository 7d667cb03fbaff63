#include "probe.h"

#include <string.h>

#include <chrono>
#include <mutex>
#include <vector>

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include "thread_pool.h"

namespace te {

#if defined(_WIN32)

/* TensorFlow's wheel has no server for Windows. */
struct Probe::Addresses {};
Probe::Probe(const std::string& host, int port) : name_(host + ":" + std::to_string(port)) {}
bool Probe::is_refused(const std::function<bool()>&) const { return false; }

#else

struct Probe::Addresses {
  struct Address {
    sockaddr_storage data;
    socklen_t bytes;
  };
  std::mutex mutex;
  std::vector<Address> all; /* empty until the name was looked up */
};

namespace {

/* How long a connection may take, and how often is looked whether an answer is still wanted. */
constexpr auto kLongest = std::chrono::milliseconds(200);
constexpr int kSliceMs = 5;

bool says_refused(int error) { return error == ECONNREFUSED || error == ECONNRESET; }
/* This machine has no way to such an address: others of the same name count. */
bool says_nowhere(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL || error == ENETUNREACH; }

/* A socket that is connecting; -1: there is none, and `error` says why. */
int connecting(const sockaddr* to, socklen_t bytes, int* error) {
  const int socket_of = socket(to->sa_family, SOCK_STREAM, 0);
  if (socket_of < 0) {
    *error = errno;
    return -1;
  }
  fcntl(socket_of, F_SETFD, FD_CLOEXEC);
  fcntl(socket_of, F_SETFL, fcntl(socket_of, F_GETFL) | O_NONBLOCK);
  *error = connect(socket_of, to, bytes) == 0 ? 0 : errno;
  if (*error == 0 || *error == EINPROGRESS) return socket_of;
  close(socket_of);
  return -1;
}

}  // namespace

Probe::Probe(const std::string& host, int port)
    : addresses_(std::make_shared<Addresses>()),
      name_((host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port)) {
  /* A name server may take its time: nobody waits for it. */
  const auto look_up = [addresses = addresses_, host, port](int flags) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
    std::lock_guard<std::mutex> lock(addresses->mutex);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
      Addresses::Address address = {};
      memcpy(&address.data, each->ai_addr, each->ai_addrlen);
      address.bytes = each->ai_addrlen;
      addresses->all.push_back(address);
    }
    freeaddrinfo(found);
    return true;
  };
  if (!look_up(AI_NUMERICHOST)) start_thread([look_up] { look_up(0); });
}

bool Probe::is_refused(const std::function<bool()>& enough) const {
  std::vector<Addresses::Address> all;
  {
    std::lock_guard<std::mutex> lock(addresses_->mutex);
    all = addresses_->all;
  }
  const auto end = std::chrono::steady_clock::now() + kLongest;
  std::vector<pollfd> open;
  size_t refused = 0;
  size_t expected = all.size();
  for (const Addresses::Address& each : all) {
    int error = 0;
    const int socket_of = connecting(reinterpret_cast<const sockaddr*>(&each.data), each.bytes, &error);
    if (socket_of >= 0) open.push_back({socket_of, POLLOUT, 0});
    if (says_refused(error)) refused += 1;
    if (says_nowhere(error)) expected -= 1;
  }
  bool answered = false; /* somebody listens */
  for (size_t left = open.size(); left > 0 && !answered && std::chrono::steady_clock::now() < end && !enough();) {
    if (poll(open.data(), open.size(), kSliceMs) <= 0) continue;
    for (pollfd& each : open) {
      if (each.fd < 0 || each.revents == 0) continue;
      int error = 0;
      socklen_t bytes = sizeof(error);
      getsockopt(each.fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
      close(each.fd);
      each.fd = -1; /* `poll` passes over it */
      left -= 1;
      if (says_refused(error)) refused += 1;
      if (says_nowhere(error)) expected -= 1;
      answered = answered || error == 0;
    }
  }
  for (const pollfd& each : open) {
    if (each.fd >= 0) close(each.fd);
  }
  return !answered && expected > 0 && refused == expected;
}

#endif

}  // namespace te
