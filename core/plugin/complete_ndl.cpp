// SPDX-License-Identifier: Apache-2.0
//
// Optional members of a driver layer are wrapped once here, so that nothing on
// the way to the device tests for null.
#include <errno.h>

#include <cstring>
#include <memory>
#include <type_traits>

#include "base/keep.h"
#include "plugin/validate.h"

namespace opennrt::plugin {

namespace {

using AnyFunction = void (*)();

// Answers in place of an absent member.
template <typename F>
struct Stub;
template <typename R, typename... A>
struct Stub<R (*)(A...)> {
  static R call(A...) {
    if constexpr (!std::is_void_v<R>) return static_cast<R>(-EINVAL);
  }
};

struct Member {
  const char* name;
  std::size_t offset;
  bool mandatory;
  AnyFunction stub;
};

#define MEMBER(group, member, mandatory)                                               \
  Member {                                                                             \
    #group "." #member, offsetof(nrtp_ndl_##group, member), mandatory,                 \
        reinterpret_cast<AnyFunction>(&Stub<decltype(nrtp_ndl_##group::member)>::call) \
  }
#define MUST(group, member) MEMBER(group, member, true)
#define MAY(group, member) MEMBER(group, member, false)

// Copies the group as far as the plugin has it and fills the rest.
template <typename Group, std::size_t N>
Status complete(const Group* from, Group* to, const Member (&members)[N], const char* name,
                const std::string& file) {
  std::memset(to, 0, sizeof *to);
  std::uint32_t bytes = 0;
  if (from != nullptr) std::memcpy(&bytes, from, sizeof bytes);
  if (from != nullptr && bytes < 2 * sizeof(std::uint32_t))
    return Status::invalid("{}: group {} has {} bytes, need at least 8", file, name, bytes);
  if (from != nullptr) std::memcpy(to, from, std::min<std::size_t>(bytes, sizeof *to));
  to->size = sizeof *to;
  for (const Member& m : members) {
    char* const slot = reinterpret_cast<char*>(to) + m.offset;
    AnyFunction value = nullptr;
    // A pointer cut in half by the plugin's size counts as absent.
    if (m.offset + sizeof value <= bytes) std::memcpy(&value, slot, sizeof value);
    if (value == nullptr && m.mandatory)
      return Status::invalid("{}: mandatory member {} is missing", file, m.name);
    if (value == nullptr) value = m.stub;
    std::memcpy(slot, &value, sizeof value);
  }
  return {};
}

const Member kProbe[] = {MUST(probe, probe),
                         MUST(probe, get_version),
                         MUST(probe, get_compatible_version),
                         MUST(probe, feature_supported),
                         MUST(probe, register_soft_incompat),
                         MUST(probe, product_name)};
const Member kDevice[] = {MUST(device, available),     MUST(device, open),     MUST(device, close),
                          MUST(device, board_info),    MAY(device, bdf),       MAY(device, bdf_ext),
                          MAY(device, host_device_id), MAY(device, rid_map),   MAY(device, nc_map),
                          MAY(device, apps_info),      MUST(device, close_all)};
const Member kReg[] = {MUST(reg, read), MUST(reg, write), MAY(reg, hw_counters),
                       MAY(reg, map_region), MAY(reg, hbm_va)};
const Member kMem[] = {MUST(mem, alloc),    MAY(mem, alloc_contig), MUST(mem, free),
                       MUST(mem, get_pa),   MUST(mem, map),         MAY(mem, map_contig),
                       MUST(mem, unmap),    MAY(mem, mc_info),      MAY(mem, copy_buf),
                       MAY(mem, dmabuf_fd), MAY(mem, va_placement), MAY(mem, dump)};
const Member kCopy[] = {MUST(copy, in),           MUST(copy, out),       MAY(copy, zc_in),
                        MAY(copy, zc_out),        MAY(copy, batch),      MAY(copy, copy),
                        MUST(copy, copy_async),   MUST(copy, copy_wait), MAY(copy, set),
                        MAY(copy, program_engine)};
const Member kDma[] = {MAY(dma, eng_set_state),    MAY(dma, eng_get_state), MUST(dma, queue_init),
                       MAY(dma, queue_init_batch), MAY(dma, queue_release), MUST(dma, queue_start),
                       MAY(dma, queue_ack),        MAY(dma, queue_state),   MAY(dma, desc_write),
                       MAY(dma, desc_read),        MAY(dma, h2t_alloc),     MAY(dma, h2t_free),
                       MAY(dma, compl_queues)};
const Member kSync[] = {MUST(sync, sem_inc),   MUST(sync, sem_dec),   MUST(sync, sem_read),
                        MUST(sync, sem_write), MUST(sync, event_get), MUST(sync, event_set)};
const Member kNq[] = {MUST(nq, init), MAY(nq, handle), MAY(nq, bytes), MUST(nq, map),
                      MAY(nq, destroy)};
const Member kLife[] = {MUST(life, reset),        MUST(life, ready),      MAY(life, nc_state),
                        MAY(life, started_count), MAY(life, scrub_start), MAY(life, scrub_wait)};
const Member kShare[] = {MAY(share, nds_open),     MAY(share, nds_close),
                         MAY(share, reader_enter), MAY(share, reader_exit),
                         MAY(share, writer_enter), MAY(share, writer_downgrade),
                         MUST(share, range_mark),  MUST(share, range_unmark)};
const Member kPod[] = {MAY(pod, info), MAY(pod, election_state), MAY(pod, mapping_info),
                       MAY(pod, status), MAY(pod, ctrl)};
const Member kMisc[] = {MAY(misc, printk),      MAY(misc, dump_nc_pid),  MAY(misc, profile_set),
                        MAY(misc, profile_get), MAY(misc, profile_list), MAY(misc, throttling),
                        MAY(misc, metrics),     MUST(misc, now_us),      MUST(misc, sleep_us),
                        MAY(misc, control),     MAY(misc, memory_errors)};
#undef MAY
#undef MUST
#undef MEMBER

struct CompleteNdl {
  nrtp_ndl_ops ops{};
  nrtp_ndl_probe probe;
  nrtp_ndl_device device;
  nrtp_ndl_reg reg;
  nrtp_ndl_mem mem;
  nrtp_ndl_copy copy;
  nrtp_ndl_dma dma;
  nrtp_ndl_sync sync;
  nrtp_ndl_nq nq;
  nrtp_ndl_life life;
  nrtp_ndl_share share;
  nrtp_ndl_pod pod;
  nrtp_ndl_misc misc;
};

}  // namespace

Result<const nrtp_ndl_ops*> complete_ndl(const nrtp_ndl_ops& t, const std::string& file) {
  if (t.name == nullptr || t.attach == nullptr || t.detach == nullptr || t.caps == nullptr)
    return Status::invalid("{}: mandatory member {} is missing", file,
                           t.name == nullptr     ? "name"
                           : t.attach == nullptr ? "attach"
                           : t.detach == nullptr ? "detach"
                                                 : "caps");
  auto out = std::make_unique<CompleteNdl>();
  ONRT_TRY(complete(t.probe, &out->probe, kProbe, "probe", file));
  ONRT_TRY(complete(t.device, &out->device, kDevice, "device", file));
  ONRT_TRY(complete(t.reg, &out->reg, kReg, "reg", file));
  ONRT_TRY(complete(t.mem, &out->mem, kMem, "mem", file));
  ONRT_TRY(complete(t.copy, &out->copy, kCopy, "copy", file));
  ONRT_TRY(complete(t.dma, &out->dma, kDma, "dma", file));
  ONRT_TRY(complete(t.sync, &out->sync, kSync, "sync", file));
  ONRT_TRY(complete(t.nq, &out->nq, kNq, "nq", file));
  ONRT_TRY(complete(t.life, &out->life, kLife, "life", file));
  ONRT_TRY(complete(t.share, &out->share, kShare, "share", file));
  ONRT_TRY(complete(t.pod, &out->pod, kPod, "pod", file));
  ONRT_TRY(complete(t.misc, &out->misc, kMisc, "misc", file));
  out->ops = t;
  out->ops.head.size = sizeof out->ops;
  out->ops.probe = &out->probe;
  out->ops.device = &out->device;
  out->ops.reg = &out->reg;
  out->ops.mem = &out->mem;
  out->ops.copy = &out->copy;
  out->ops.dma = &out->dma;
  out->ops.sync = &out->sync;
  out->ops.nq = &out->nq;
  out->ops.life = &out->life;
  out->ops.share = &out->share;
  out->ops.pod = &out->pod;
  out->ops.misc = &out->misc;
  return &keep_until_exit(std::move(out))->ops;  // like the library
}

}  // namespace opennrt::plugin
