// SPDX-License-Identifier: Apache-2.0
//
// Where samples come from: the files of the driver, and the data stores of the
// processes, read through the driver layer. A device is open during a sample only, so
// that it is not held; no software device is started or kept.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "book/driver.h"
#include "watch/sample.h"

namespace opennrt::tools {

class Source {
 public:
  explicit Source(Surroundings& here) : here_(here) {}
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  Sample take();

 private:
  void drop();  // what leads to a daemon that has ended
  // 0 or -errno. A failed one is in the sample.
  int connect(Sample* out);
  int read_device(const Device& device, Sample* out);
  int read_stores(std::uint32_t index, std::uint64_t dev, Sample* out);
  void read_one(std::uint32_t index, std::uint64_t dev, std::int32_t pid, Sample* out);
  void add_owners(Sample* out);
  void finish(Sample* out);

  Surroundings& here_;
  std::unique_ptr<emu::remote::Client> client_;
  std::unique_ptr<book::Driver> driver_;  // over the client, if there is one
  struct Known {
    std::uint64_t started = 0;
    std::uint32_t lnc = 0;
  };
  std::map<long, Known> known_;  // by pid
};

// Physical cores of a logical one in that process, as its models show; 0: they do not.
std::uint32_t lnc_of(const std::vector<DeviceStore>& stores);

}  // namespace opennrt::tools
