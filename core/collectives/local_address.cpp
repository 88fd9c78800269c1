// SPDX-License-Identifier: Apache-2.0
#include "collectives/local_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>

namespace opennrt::collectives {

namespace {

const void* bytes_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) return &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  return &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
}

bool is_loopback(int family, const unsigned char* bytes) {
  if (family == AF_INET) return bytes[0] == 127;
  return std::memcmp(bytes, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

}  // namespace

Address classify_address(const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  int family = AF_INET;
  std::size_t length = sizeof(in_addr);
  if (inet_pton(AF_INET, text.c_str(), bytes) != 1) {
    family = AF_INET6;
    length = sizeof(in6_addr);
    if (inet_pton(AF_INET6, text.c_str(), bytes) != 1) return Address::kInvalid;
  }
  if (is_loopback(family, bytes)) return Address::kLocal;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Address::kRemote;
  bool local = false;
  for (const ifaddrs* i = list; i != nullptr && !local; i = i->ifa_next)
    local = i->ifa_addr != nullptr && i->ifa_addr->sa_family == family &&
            std::memcmp(bytes_of(*i->ifa_addr), bytes, length) == 0;
  freeifaddrs(list);
  return local ? Address::kLocal : Address::kRemote;
}

}  // namespace opennrt::collectives
