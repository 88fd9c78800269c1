// SPDX-License-Identifier: Apache-2.0
//
// The choice of steps and the end of a sequence.
#include "sequence.h"

namespace opennrt::sequences {

void Sequence::step() {
  const std::uint32_t pid = any_pid();
  const int fd = any_fd(pid);
  switch (below(34)) {
    case 0:
    case 1:
      return open();
    case 2:
      return close(pid, fd);
    case 3: {
      const int copy = machine_->duplicate(fd);
      ++requests_;
      say() << pid << " dup " << fd << " = " << copy;
      note();
      same("dup", model_.is_open(fd) ? 0 : -EBADF, copy < 0 ? copy : 0);
      if (copy < 0) return;
      model_.duplicated(fd, copy);
      fds_[copy] = any_pid();
      return;
    }
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      return allocate(pid, fd);
    case 10:
    case 11:
    case 12:
      return free(pid, fd);
    case 13:
    case 14:
      return query(pid, fd);
    case 15:
    case 16:
      return buffer(pid, fd);
    case 17:
    case 18:
      return copy(pid, fd);
    case 19:
      return fill(pid, fd);
    case 20:
    case 21:
      return map(pid, fd);
    case 22:
    case 23:
      return lock(pid, fd);
    case 24:
      return mark(pid, fd);
    case 25:
    case 26:
      return store(pid, fd);
    case 27:
      return state(pid, fd);
    case 28:
      return sync(pid, fd);
    case 29:
      return ring(pid, fd);
    case 30:
      return h2t(pid, fd);
    case 31:
      return notification(pid, fd);
    case 32:
      return list(pid, fd);
    default:
      return facts(pid, fd);
  }
}

// Everybody leaves; the books must add up.
void Sequence::finish() {
  if (const std::string wrong = emu::MachineBooks::check(*machine_); !wrong.empty()) differ(wrong);
  while (!fds_.empty()) close(fds_.begin()->second, fds_.begin()->first);
  for (const View& view : views_)
    same("munmap", 0, machine_->munmap(client(view.pid), view.address, view.bytes));
  if (const std::string wrong = emu::MachineBooks::check_idle(*machine_); !wrong.empty())
    differ(wrong);
}

}  // namespace opennrt::sequences
