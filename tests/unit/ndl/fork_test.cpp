// SPDX-License-Identifier: Apache-2.0
//
// In a forked child every member answers -EACCES and touches no descriptor;
// the parent goes on, and the child may attach anew.
#include <sys/wait.h>
#include <unistd.h>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

struct ForkTest : NdlTest {
  // Runs f in a child; its result is the number of failed expectations.
  template <typename F>
  static int in_child(F&& f) {
    const pid_t pid = fork();
    if (pid == 0) _exit(f());
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(ForkTest, TheChildIsRefusedEverywhere) {
  const uint64_t dev = open_device();
  const uint64_t mem = alloc(dev);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  const int wrong = in_child([&] {
    const int opens = port.opens;
    const size_t calls = port.calls.size(), closed = port.closed.size();
    uint32_t value = 0;
    uint64_t handle = 0;
    int32_t wait = -1, index = 0;
    void* va = nullptr;
    char buffer[16] = {};
    nrtp_uuid uuid{};
    nrtp_ndl_bdf bdf{};
    nrtp_ndl_version version{};
    nrtp_ndl_nq_config config{};
    config.size = sizeof config;
    const nrtp_ndl_queue queue{};
    const nrtp_copy_op op = {0, 16, buffer};
    const nrtp_copy_batch batch = {mem, 0, &op, 1, 0};
    const uint64_t bitmap[8] = {};
    const int results[] = {
        ops->probe->probe(ctx),
        ops->probe->get_version(ctx, &version),
        ops->probe->get_compatible_version(ctx, &value, &value),
        ops->probe->feature_supported(ctx, 0, &value),
        ops->probe->register_soft_incompat(ctx, nullptr),
        ops->probe->product_name(ctx, buffer, sizeof buffer),
        ops->device->available(ctx, &index, 1),
        ops->device->open(ctx, 0, &handle, nullptr),
        ops->device->close(ctx, dev),
        ops->device->board_info(ctx, &value, &value),
        ops->device->bdf(ctx, 0, &bdf),
        ops->reg->read(ctx, dev, &handle, 1, &value),
        ops->reg->write(ctx, dev, &handle, 1, &value),
        ops->mem->alloc(ctx, dev, 4096, 0, 0, 0, 0, 0, 9, &handle),
        ops->mem->free(ctx, mem),
        ops->mem->map(ctx, mem, &va),
        ops->mem->unmap(ctx, mem),
        ops->mem->get_pa(ctx, mem, &handle),
        ops->copy->in(ctx, mem, 0, buffer, 16),
        ops->copy->out(ctx, mem, 0, buffer, 16),
        ops->copy->copy_async(ctx, mem, mem, 0, 0, 16, 0, &wait),
        ops->copy->copy_wait(ctx, mem, 1),
        ops->dma->queue_init(ctx, dev, &queue),
        ops->dma->queue_start(ctx, dev, 0, 0, 1, 1),
        ops->sync->sem_inc(ctx, dev, 0, 0, 1),
        ops->sync->event_get(ctx, dev, 0, 0, &value),
        ops->nq->init(ctx, dev, &config, &handle),
        ops->nq->destroy(ctx, 1),
        ops->life->reset(ctx, dev, 1, &value),
        ops->life->ready(ctx, dev, 1, &value),
        ops->share->reader_enter(ctx, dev, 0, &uuid),
        ops->share->range_mark(ctx, 1, 0, 1, &value, &handle),
        ops->pod->info(ctx, &value, &value),
        ops->misc->printk(ctx, "x", 2, 0),
        ops->misc->metrics(ctx, dev, 0),
        ops->device->nc_map(ctx, 1, &value, &value),
        ops->mem->alloc_contig(ctx, dev, 4096, 0, 0, &handle),
        ops->mem->mc_info(ctx, dev, 0, &handle, &handle, &handle),
        ops->mem->dmabuf_fd(ctx, 0, 4096, &index),
        ops->mem->va_placement(ctx, buffer, &index, &index),
        ops->copy->zc_in(ctx, mem, 0, buffer, 16, -1, 0),
        ops->copy->zc_out(ctx, mem, 0, buffer, 16, -1),
        ops->copy->batch(ctx, dev, &batch, 1, 0, -1),
        ops->copy->copy(ctx, mem, mem, 0, 0, 16),
        ops->copy->set(ctx, mem, 0, 1, 16),
        ops->copy->program_engine(ctx, dev, 0, 0, buffer, 0, 16),
        ops->dma->queue_init_batch(ctx, dev, &queue, 1),
        ops->dma->desc_write(ctx, mem, buffer, 0, 1, 0),
        ops->dma->h2t_alloc(ctx, dev, 0, 1, 1, &value, &value, &value),
        ops->dma->h2t_free(ctx, dev, 0, 1),
        ops->life->scrub_start(ctx, dev, 0, 0, 0, 0),
        ops->life->scrub_wait(ctx, dev, 0, 0),
        ops->share->range_unmark(ctx, bitmap),
        ops->pod->election_state(ctx, &value),
        ops->pod->mapping_info(ctx, &index),
        ops->pod->status(ctx, nullptr, &value, nullptr, nullptr, nullptr, nullptr, nullptr),
        ops->pod->ctrl(ctx, 0, 0, 1, &value),
    };
    int bad = 0;
    for (const int result : results) bad += result != -EACCES;
    ops->device->close_all(ctx);
    ops->misc->sleep_us(ctx, 10);
    bad += ops->caps(ctx) != 0;
    ops->detach(ctx);
    bad += port.closed.size() != closed || !port.unmaps.empty() || !port.sleeps.empty();
    bad += port.opens != opens || port.calls.size() != calls;
    return bad;
  });
  EXPECT_EQ(wrong, 0);
  // The parent is unaffected.
  EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 0, 0, 1), 0);
  EXPECT_EQ(ops->mem->free(ctx, mem), 0);
}

TEST_F(ForkTest, TheChildMayAttachAnew) {
  open_device();
  const int wrong = in_child([&] {
    void* fresh = nullptr;
    int bad = ops->attach(&host.table, port.table(), &port, &fresh) != 0;
    bad += ops->probe->probe(fresh) != 0;
    uint64_t dev = 0;
    bad += ops->device->open(fresh, 0, &dev, nullptr) != 0;
    bad += ops->sync->sem_inc(fresh, dev, 0, 0, 1) != 0;
    bad += ops->sync->sem_inc(ctx, dev, 0, 0, 1) != -EACCES;
    return bad;
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(ForkTest, AGrandchildIsAChildToo) {
  const uint64_t dev = open_device();
  const int wrong = in_child(
      [&] { return in_child([&] { return ops->sync->sem_inc(ctx, dev, 0, 0, 1) != -EACCES; }); });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace opennrt::ndl_test
