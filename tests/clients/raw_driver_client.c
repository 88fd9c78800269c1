// SPDX-License-Identifier: Apache-2.0
//
// A program that talks to the driver directly: open, ioctl, mmap on /dev/neuron<N>
// and the files in /sys, nothing else. Structures and request codes are its own,
// written from the description of the interface. It prints what it was answered,
// one line per step, without anything that differs between two runs, and checks
// the answers that the driver's description promises (trn1.32xlarge, 16 devices).
// Exit code: promises that were not kept, at most 100.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int broken;

static void say(const char* format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  putchar('\n');
  fflush(stdout);
}

static void promise(int kept, const char* text) {
  if (kept) return;
  ++broken;
  say("BROKEN: %s", text);
}

// --- the interface -------------------------------------------------------------

struct device_info {
  uint32_t architecture, revision, connected_count, connected[8];
  uint64_t bar_address[2], bar_size[2];
};
struct basic_info {
  uint32_t architecture, revision;
};
struct version_window {
  uint32_t max, min;
};
struct driver_info {
  uint32_t architecture, revision, version, size;
  uint64_t features;
};
struct bus_address {
  uint32_t index, domain, bus;
  uint8_t slot, function;
};
struct bar_access {
  uint32_t bar;
  uint64_t* address;
  uint32_t* data;
  uint32_t count;
};
struct allocation {
  uint64_t size, align;
  uint32_t host, channel, region, core, type;
  uint64_t* handle;
  uint32_t pad;
};
struct handle {
  uint64_t handle;
};
struct physical {
  uint64_t handle;
  uint64_t* address;
};
struct information {
  uint64_t handle;
  uint64_t *cookie, *address;
};
struct buffer_copy {
  uint64_t handle;
  void* buffer;
  uint64_t size, offset;
  uint32_t to_device;
};
struct copy {
  uint64_t from, to, size, from_offset, to_offset;
};
struct async_copy {
  uint64_t from, to, size, from_offset, to_offset, prefetch;
  uint32_t wait_before, wait;
};
struct async_wait {
  uint64_t from, to;
  uint32_t wait;
};
struct fill {
  uint64_t handle, offset;
  uint32_t value;
  uint64_t size;
};
struct semaphore {
  uint32_t core, index, value;
};
struct queue {
  uint32_t engine, queue, sends, receives;
  uint64_t send_ring, receive_ring, completion_ring;
  uint32_t port;
};
struct queue_start {
  uint32_t engine, queue, sends, receives;
};
struct ring_state {
  uint32_t hardware, software;
  uint64_t base;
  uint32_t length, head, tail;
  uint64_t completion_base;
  uint32_t completion_head;
};
struct queue_state {
  uint32_t engine, queue;
  struct ring_state *send, *receive;
};
struct engine_state {
  uint32_t engine, state;
};
struct descriptor {
  uint32_t length, meta;
  uint64_t address;
};
struct descriptor_copy {
  uint64_t ring;
  const struct descriptor* descriptors;
  uint32_t count;
  uint64_t offset;
  uint32_t kind;
};
struct notification_queue {
  uint32_t device, device_type, type, engine, size, host, channel, region;
  uint64_t cookie, handle;
};
struct data_store {
  int32_t pid;
  uint64_t cookie;
  uint32_t size;
};
struct core_marks {
  uint32_t count, first, last, largest;
  uint64_t bitmap[8];
};
struct reset {
  uint32_t cores, request;
};
struct reset_ready {
  uint32_t request;
  int32_t result;
};

enum {
  DEVICE_INFO = 0x80084E03,
  BAR_READ = 0x80084E0B,
  MEM_FREE = 0x80084E16,
  MEM_COPY = 0x80284E17,
  BUFFER_COPY = 0xC0284E18,
  MEM_GET_PA = 0x80084E19,
  MEM_GET_INFO = 0x80084E1A,
  MEMSET = 0x80204E1C,
  ENGINE_SET_STATE = 0x80084E1F,
  QUEUE_INIT = 0x80084E21,
  QUEUE_START = 0x80084E23,
  QUEUE_STATE = 0xC0084E25,
  COPY_DESCRIPTORS = 0x80284E26,
  SEMAPHORE_INCREMENT = 0x80084E29,
  SEMAPHORE_DECREMENT = 0x80084E2A,
  SEMAPHORE_READ = 0xC0084E2B,
  SEMAPHORE_WRITE = 0x80084E2C,
  EVENT_SET = 0x80084E2D,
  EVENT_GET = 0xC0084E2E,
  NOTIFICATIONS = 0x80084E35,
  STORE_ACQUIRE = 0x80084E47,
  STORE_RELEASE = 0x80084E48,
  MARK_CORES = 0xC0504E55,
  UNMARK_CORES = 0x40504E56,
  VERSION_WINDOW = 0x40084E5D,
  BASIC_INFO = 0x40084E64,
  MEM_ALLOC = 0x80384E66,
  RESET = 0x80084E67,
  RESET_READY = 0x80084E68,
  BUS_ADDRESS = 0x80084E6A,
  COPY_ASYNC = 0xC0384E6C,
  COPY_WAIT = 0x40184E6D,
  DRIVER_INFO = 0x80184E6E,
};

#define HOST_WINDOW 0x100000000000ull
#define HBM0 0x0ull
#define HBM1 0x1000000000ull
#define CARVE_OUT (16ull << 20)
#define CHANNEL_BYTES (16ull << 30)
#define SMALL_POOL (1ull << 30)

// 0 or -errno, positive results as they are.
static int request(int fd, unsigned code, void* argument) {
  const int result = ioctl(fd, (unsigned long)code, argument);
  return result == -1 ? -errno : result;
}

static int step(const char* name, int fd, unsigned code, void* argument) {
  const int result = request(fd, code, argument);
  say("%s = %d", name, result);
  return result;
}

static int open_node(const char* path, int flags) {
  const int fd = open(path, flags);
  say("open %s %d: %s", path, flags & O_ACCMODE, fd >= 0 ? "open" : strerror(errno));
  return fd;
}

static uint64_t allocate(int fd, uint64_t size, uint64_t align, int host, uint32_t channel) {
  uint64_t handle = 0;
  struct allocation form = {.size = size,
                            .align = align,
                            .host = (uint32_t)host,
                            .channel = channel,
                            .type = host ? 2 : 9,
                            .handle = &handle};
  const int result = request(fd, MEM_ALLOC, &form);
  uint64_t address = 0;
  struct physical where = {handle, &address};
  const int found = request(fd, MEM_GET_PA, &where);
  say("allocate %llu align %llu host %d channel %u = %d, handle %llu at %llx (%d)",
      (unsigned long long)size, (unsigned long long)align, host, channel, result,
      (unsigned long long)handle, (unsigned long long)address, found);
  return handle;
}

static uint64_t address_of(int fd, uint64_t handle) {
  uint64_t address = 0;
  struct physical where = {handle, &address};
  return request(fd, MEM_GET_PA, &where) == 0 ? address : 0;
}

static void* map(int fd, uint64_t handle, uint64_t bytes, int protection) {
  uint64_t cookie = 0, address = 0;
  struct information form = {handle, &cookie, &address};
  const int result = request(fd, MEM_GET_INFO, &form);
  promise(result != 0 || cookie == address, "the cookie of a chunk is its address");
  void* made =
      result == 0 ? mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)cookie) : MAP_FAILED;
  say("map handle %llu, %llu bytes: %s", (unsigned long long)handle, (unsigned long long)bytes,
      made != MAP_FAILED ? "mapped"
      : result != 0      ? "no such handle"
                         : strerror(errno));
  return made == MAP_FAILED ? NULL : made;
}

// Unrepeated bytes.
static void pattern(uint8_t* data, size_t bytes, unsigned seed) {
  uint32_t x = seed * 2654435761u + 1;
  for (size_t i = 0; i < bytes; ++i) {
    x = x * 1664525u + 1013904223u;
    data[i] = (uint8_t)(x >> 24);
  }
}

// --- what it does --------------------------------------------------------------

static void discover(void) {
  char text[64] = "";
  const int file = open("/sys/module/neuron/version", O_RDONLY);
  const ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
  if (file >= 0) close(file);
  say("version: %zd bytes, %s", n, text);
  promise(atoi(text) >= 2, "the driver's version is 2 or later");
  int count = 0;
  for (int i = 0; i < 64; ++i) {
    char path[32];
    snprintf(path, sizeof path, "/dev/neuron%d", i);
    if (access(path, F_OK) == 0) ++count;
  }
  say("devices: %d", count);
  promise(count == 16, "sixteen devices exist");
  const char* attributes[] = {"core_count",
                              "connected_devices",
                              "reset",
                              "info/architecture/arch_type",
                              "info/architecture/device_name",
                              "nothing"};
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    char path[128];
    snprintf(path, sizeof path, "/sys/class/neuron_device/neuron3/%s", attributes[i]);
    memset(text, 0, sizeof text);
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0) strcpy(text, strerror(errno));
    if (fd >= 0) close(fd);
    text[strcspn(text, "\n")] = '\0';
    say("%s: \"%s\"", attributes[i], text);
  }
  open_node("/dev/neuron16", O_RDWR);
}

static void lanes(int device, int misc) {
  struct basic_info basic = {0};
  step("basic info, misc lane", misc, BASIC_INFO, &basic);
  promise(basic.architecture == 2 && basic.revision == 240, "arch 2, revision 240");
  struct basic_info again = {0};
  step("basic info, device lane", device, BASIC_INFO, &again);
  struct version_window window = {0};
  step("version window", misc, VERSION_WINDOW, &window);
  promise(window.min == 5 && window.max == 7, "the window of arch 2 is 5..7");
  struct driver_info driver = {0};
  step("driver info", misc, DRIVER_INFO, &driver);
  say("features %llx", (unsigned long long)driver.features);
  promise(driver.features == 0x1FF && driver.architecture == 2, "nine features");
  struct device_info info;
  memset(&info, 0, sizeof info);
  step("device info", device, DEVICE_INFO, &info);
  say("neighbours %u: %u %u %u %u, bar 0 %llx + %llx", info.connected_count, info.connected[0],
      info.connected[1], info.connected[2], info.connected[3],
      (unsigned long long)info.bar_address[0], (unsigned long long)info.bar_size[0]);
  promise(info.connected_count == 4, "a device of a full board has four neighbours");
  promise(step("device info, misc lane", misc, DEVICE_INFO, &info) == -EINVAL,
          "the misc lane has no device requests");
  struct bus_address bus = {.index = 5};
  step("bus address", misc, BUS_ADDRESS, &bus);
  say("%x:%x:%x.%x", bus.domain, bus.bus, bus.slot, bus.function);
  bus.index = 16;
  promise(step("bus address of none", misc, BUS_ADDRESS, &bus) == -EINVAL, "device 16 is absent");
}

static void unknown(int device, int misc) {
  static const unsigned codes[] = {0x00004E00, 0x80084E63 + 100, 0x80084103, 0xC0004E17,
                                   0x80384E18, 0x5401,           0xFFFFFFFF};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) {
    uint64_t argument[16] = {0};
    const int one = request(device, codes[i], argument), two = request(misc, codes[i], argument);
    say("request %x = %d, %d", codes[i], one, two);
    promise(one == -EINVAL && two == -EINVAL, "an unknown request is an invalid argument");
  }
  // Bad pointers: refused, nothing done.
  void* volatile nowhere = (void*)16;
  const int first = request(device, DEVICE_INFO, nowhere),
            second = request(device, DEVICE_INFO, NULL);
  say("bad pointers = %d, %d", first, second);
  promise(first != 0 && second != 0, "a bad pointer is refused");
  struct allocation form = {.size = 4096, .type = 9, .handle = nowhere};
  promise(step("allocation to a bad pointer", device, MEM_ALLOC, &form) != 0,
          "a handle that cannot be given is not made");
  form.handle = NULL;
  step("allocation to no pointer", device, MEM_ALLOC, &form);
  struct buffer_copy copy = {.handle = 99, .buffer = nowhere, .size = 16};
  promise(step("copy of no handle", device, BUFFER_COPY, &copy) == -EINVAL,
          "handle 99 does not exist");
}

static void memory(int device) {
  const uint64_t first = allocate(device, 1 << 20, 0, 0, 0);
  promise(first == 1, "the first handle is 1");
  promise(address_of(device, first) == HBM0 + CARVE_OUT, "a large chunk lies behind the carve-out");
  const uint64_t small = allocate(device, 4096, 0, 0, 0);
  promise(address_of(device, small) == HBM0 + CHANNEL_BYTES - SMALL_POOL,
          "a small one in the small pool");
  const uint64_t other = allocate(device, 1 << 20, 1 << 21, 0, 1);
  promise(address_of(device, other) % (1 << 21) == 0 && address_of(device, other) >= HBM1,
          "alignment and channel are kept");
  const uint64_t host = allocate(device, 65536, 0, 1, 0);
  promise((address_of(device, host) & HOST_WINDOW) != 0, "host memory has the window bit");
  promise(allocate(device, 4096, 4096, 1, 0) == 0, "host memory takes no alignment");
  promise(allocate(device, 4096, 0, 0, 2) == 0, "there are two channels");
  promise(allocate(device, 0, 0, 0, 0) == 0, "nothing cannot be allocated");
  promise(allocate(device, 1ull << 63, 0, 0, 0) == 0, "neither can too much");

  // Both ways through buffers, and what a mapping sees.
  enum { kBytes = 1 << 20 };
  uint8_t* data = malloc(kBytes);
  uint8_t* back = malloc(kBytes);
  pattern(data, kBytes, 1);
  struct buffer_copy in = {.handle = first, .buffer = data, .size = kBytes, .to_device = 1};
  step("copy in", device, BUFFER_COPY, &in);
  struct buffer_copy out = {.handle = first, .buffer = back, .size = kBytes};
  step("copy out", device, BUFFER_COPY, &out);
  promise(memcmp(data, back, kBytes) == 0, "what was copied in comes out");
  out.offset = 1;
  promise(step("copy past the end", device, BUFFER_COPY, &out) == -EINVAL, "bounds are checked");
  void* volatile nowhere = (void*)16;
  struct buffer_copy bad = {.handle = first, .buffer = nowhere, .size = 64, .to_device = 1};
  promise(step("copy from a bad pointer", device, BUFFER_COPY, &bad) != 0,
          "a bad buffer is refused");
  uint8_t* seen = map(device, first, kBytes, PROT_READ | PROT_WRITE);
  promise(seen && memcmp(seen, data, kBytes) == 0, "a mapping shows the same bytes");
  if (seen) {
    pattern(seen + 4096, 4096, 2);
    out.offset = 4096;
    out.size = 4096;
    step("copy out what was stored", device, BUFFER_COPY, &out);
    promise(memcmp(back, seen + 4096, 4096) == 0, "a store through a mapping is in the chunk");
  }
  promise(map(device, first, 4096, PROT_READ) == NULL, "a chunk is mapped as a whole");

  struct copy across = {
      .from = first, .to = other, .size = 65536, .from_offset = 4096, .to_offset = 8192};
  step("copy between channels", device, MEM_COPY, &across);
  uint8_t* target = map(device, other, kBytes, PROT_READ);
  promise(target && seen && memcmp(target + 8192, seen + 4096, 65536) == 0,
          "a copy moves the bytes");
  struct fill fill = {.handle = other, .offset = 100, .value = 0x1A5, .size = 70000};
  step("fill", device, MEMSET, &fill);
  promise(target && target[100] == 0xA5 && target[70099] == 0xA5 && target[70100] != 0xA5,
          "a fill writes one byte value to its range");
  struct async_copy async = {.from = host, .to = other, .size = 4096, .wait_before = UINT32_MAX};
  uint8_t* page = map(device, host, 65536, PROT_READ | PROT_WRITE);
  if (page) pattern(page, 65536, 3);
  step("copy without waiting", device, COPY_ASYNC, &async);
  promise(async.wait == 1, "the first one gets slot 1");
  struct async_wait wait = {host, other, async.wait};
  step("wait for it", device, COPY_WAIT, &wait);
  promise(step("wait again", device, COPY_WAIT, &wait) == -EINVAL, "a slot is waited for once");
  promise(target && page && memcmp(target, page, 4096) == 0, "the copy is complete then");

  // A mapping outlives the handle.
  struct handle free_form = {first};
  step("free", device, MEM_FREE, &free_form);
  promise(step("free again", device, MEM_FREE, &free_form) == -EINVAL, "a handle is freed once");
  promise(seen && memcmp(seen, data, 4096) == 0, "a mapping keeps its bytes");
  promise(allocate(device, 8192, 0, 0, 0) == first, "a number is used again");
  if (seen) say("unmap = %d", munmap(seen, kBytes));
  if (target) say("unmap = %d", munmap(target, kBytes));
  if (page) say("unmap = %d", munmap(page, 65536));
  free(data);
  free(back);
}

// A queue moves 4096 bytes and then a marker, by descriptors in host memory.
static void queue(int device) {
  enum { kEngine = 3, kQueue = 2, kEntries = 64 };
  const uint64_t sends = allocate(device, kEntries * 16, 0, 1, 0);
  const uint64_t receives = allocate(device, kEntries * 16, 0, 1, 0);
  const uint64_t from = allocate(device, 8192, 0, 1, 0), to = allocate(device, 8192, 0, 0, 1);
  const uint64_t marks = allocate(device, 4096, 0, 1, 0);
  uint8_t* source = map(device, from, 8192, PROT_READ | PROT_WRITE);
  uint8_t* target = map(device, to, 8192, PROT_READ | PROT_WRITE);
  volatile uint32_t* mark = map(device, marks, 4096, PROT_READ | PROT_WRITE);
  if (!source || !target || !mark) return promise(0, "the memory of a queue can be mapped");
  pattern(source, 8192, 4);
  mark[0] = 0xABCDEF01;
  mark[1] = 0;
  struct engine_state normal = {kEngine, 2};
  step("engine normal", device, ENGINE_SET_STATE, &normal);
  struct queue form = {.engine = kEngine,
                       .queue = kQueue,
                       .sends = kEntries,
                       .receives = kEntries,
                       .send_ring = sends,
                       .receive_ring = receives};
  step("queue init", device, QUEUE_INIT, &form);
  form.queue = 16;
  promise(step("queue 16", device, QUEUE_INIT, &form) == -EINVAL, "an engine has 16 queues");
  const uint32_t control = 1u << 24 | 1u << 26 | 1u << 27, meta = 0x01080003;
  const struct descriptor send[] = {{control | 4096, meta, address_of(device, from) + 64},
                                    {control | 4, meta, address_of(device, marks)}};
  const struct descriptor receive[] = {{control | 4096, 0, address_of(device, to) + 128},
                                       {control | 4, 0, address_of(device, marks) + 4}};
  struct descriptor_copy write_send = {.ring = sends, .descriptors = send, .count = 2, .kind = 0};
  struct descriptor_copy write_receive = {
      .ring = receives, .descriptors = receive, .count = 2, .kind = 1};
  step("descriptors to send", device, COPY_DESCRIPTORS, &write_send);
  step("descriptors to receive", device, COPY_DESCRIPTORS, &write_receive);
  write_send.offset = kEntries * 4096;
  promise(step("descriptors past the end", device, COPY_DESCRIPTORS, &write_send) == -EINVAL,
          "a ring has an end");
  struct queue_start start = {kEngine, kQueue, 2, 2};
  step("start", device, QUEUE_START, &start);
  for (int i = 0; i < 50000 && mark[1] == 0; ++i) usleep(200);
  promise(mark[1] == 0xABCDEF01, "the marker arrives");
  promise(memcmp(source + 64, target + 128, 4096) == 0, "and the bytes before it");
  struct ring_state one, two;
  memset(&one, 0, sizeof one);
  memset(&two, 0, sizeof two);
  struct queue_state state = {kEngine, kQueue, &one, &two};
  step("queue state", device, QUEUE_STATE, &state);
  say("send ring: %u entries, tail %u; receive ring: %u entries, tail %u", one.length, one.tail,
      two.length, two.tail);
  promise(one.base == address_of(device, sends) && two.base == address_of(device, receives),
          "the rings are where they were put");
  start.sends = kEntries + 1;
  promise(step("start of too many", device, QUEUE_START, &start) == -EPERM,
          "a ring has so many entries");
  say("unmap = %d %d %d", munmap(source, 8192), munmap(target, 8192), munmap((void*)mark, 4096));
}

static void synchronisation(int device) {
  struct semaphore s = {.core = 1, .index = 40, .value = 7};
  step("semaphore write", device, SEMAPHORE_WRITE, &s);
  s.value = 5;
  step("semaphore increment", device, SEMAPHORE_INCREMENT, &s);
  s.value = 2;
  step("semaphore decrement", device, SEMAPHORE_DECREMENT, &s);
  s.value = 0;
  step("semaphore read", device, SEMAPHORE_READ, &s);
  say("value %u", s.value);
  promise(s.value == 10, "7 + 5 - 2 is 10");
  struct semaphore wrong = {.core = 2, .index = 0};
  promise(step("semaphore of core 2", device, SEMAPHORE_READ, &wrong) == -E2BIG,
          "arch 2 has two cores");
  wrong = (struct semaphore){.core = 0, .index = 256};
  promise(step("semaphore 256", device, SEMAPHORE_READ, &wrong) == -EINVAL,
          "a core has 256 semaphores");
  struct semaphore event = {.core = 0, .index = 3, .value = 1};
  step("event set", device, EVENT_SET, &event);
  event.value = 9;
  step("event get", device, EVENT_GET, &event);
  promise(event.value == 1, "an event stays set");
}

static void notifications(int device) {
  struct notification_queue form = {
      .device = 0, .device_type = 0, .type = 1, .engine = 2, .size = 65536, .host = 1};
  step("notification queue", device, NOTIFICATIONS, &form);
  void* ring = mmap(NULL, 65536, PROT_READ, MAP_SHARED, device, (off_t)form.cookie);
  say("its ring: %s", ring == MAP_FAILED ? strerror(errno) : "mapped");
  promise(ring != MAP_FAILED && (form.cookie & HOST_WINDOW) != 0,
          "its ring is mapped by its cookie");
  if (ring != MAP_FAILED) munmap(ring, 65536);
  struct notification_queue again = form;
  again.size = 4096;
  step("the same, smaller", device, NOTIFICATIONS, &again);
  promise(again.cookie == form.cookie && again.handle == form.handle, "it keeps its memory");
  form.size = 3000;
  promise(step("of no power of two", device, NOTIFICATIONS, &form) == -EINVAL,
          "its size is a power of two");
  form.device_type = 2;
  promise(step("of an unknown kind", device, NOTIFICATIONS, &form) == -ENOSYS,
          "there are two kinds");
}

static void store(int device) {
  struct data_store form = {.pid = 0};
  step("data store", device, STORE_ACQUIRE, &form);
  promise(form.size == 262144, "a data store has 256 KiB");
  char* text =
      mmap(NULL, form.size, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)form.cookie);
  promise(text != MAP_FAILED, "it can be mapped");
  if (text != MAP_FAILED) {
    strcpy(text + 2000, "kept");
    struct data_store again = {.pid = getpid()};
    step("data store of this process", device, STORE_ACQUIRE, &again);
    promise(again.cookie == form.cookie, "it is the same");
    munmap(text, form.size);
  }
  struct data_store none = {.pid = 1};
  promise(step("data store of another", device, STORE_ACQUIRE, &none) == -ENOENT,
          "process 1 has none");
  step("data store given back", device, STORE_RELEASE, &form);
}

static void cores(int misc) {
  struct core_marks form = {.count = 4, .first = 0, .last = 31};
  step("mark 4 cores", misc, MARK_CORES, &form);
  say("bitmap %llx, largest %u", (unsigned long long)form.bitmap[0], form.largest);
  promise(form.bitmap[0] == 0xF, "the first four are free");
  struct core_marks all = {.count = 32, .first = 0, .last = 31};
  promise(step("mark 32 cores", misc, MARK_CORES, &all) == -EBUSY, "four of them are taken");
  say("largest %u", all.largest);
  step("unmark", misc, UNMARK_CORES, &form);
  promise(step("mark 32 cores", misc, MARK_CORES, &all) == 0, "then all are free");
  step("unmark", misc, UNMARK_CORES, &all);
}

// A child has descriptors but no place at the device; its end changes nothing for
// its parent.
static void child(int device, int misc) {
  struct core_marks form = {.count = 2, .first = 0, .last = 31};
  step("mark 2 cores", misc, MARK_CORES, &form);
  const uint64_t kept = allocate(device, 4096, 0, 0, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    struct handle form_free = {kept};
    promise(step("child: free of its parent's", device, MEM_FREE, &form_free) == -EACCES,
            "a child is not attached");
    uint64_t handle = 0;
    struct allocation form_alloc = {.size = 4096, .type = 9, .handle = &handle};
    promise(step("child: allocate", device, MEM_ALLOC, &form_alloc) == -EACCES,
            "nor may it allocate");
    struct basic_info basic = {0};
    promise(step("child: basic info", misc, BASIC_INFO, &basic) == 0, "misc requests go on");
    const int own = open_node("/dev/neuron0", O_RDWR);
    handle = 0;
    promise(step("child: allocate, open itself", own, MEM_ALLOC, &form_alloc) == 0,
            "who opens the node is attached");
    struct core_marks marks = {.count = 2, .first = 0, .last = 31};
    step("child: mark 2 cores", misc, MARK_CORES, &marks);
    promise(marks.bitmap[0] == 0xC, "its parent's cores are taken");
    fflush(stdout);
    _exit(broken > 100 ? 100 : broken);
  }
  int status = -1;
  promise(pid > 0 && waitpid(pid, &status, 0) == pid, "a child can be waited for");
  say("child ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  broken += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  uint8_t byte = 1;
  struct buffer_copy in = {.handle = kept, .buffer = &byte, .size = 1, .to_device = 1};
  promise(step("parent: its memory is there", device, BUFFER_COPY, &in) == 0,
          "a child's end frees nothing of its parent's");
  struct core_marks again = {.count = 30, .first = 2, .last = 31};
  promise(step("parent: the child's cores are free", misc, MARK_CORES, &again) == 0,
          "the end of a process frees its cores");
  step("unmark", misc, UNMARK_CORES, &again);
  step("unmark", misc, UNMARK_CORES, &form);
}

static void end(int device, int misc) {
  struct reset form = {.cores = UINT32_MAX};
  step("reset", device, RESET, &form);
  promise(form.request == (uint32_t)getpid(), "a request is numbered like its process");
  struct reset_ready ready = {.request = form.request, .result = 9};
  step("ready", device, RESET_READY, &ready);
  promise(ready.result == 0, "and succeeds");
  struct reset_ready twice = {.request = form.request, .result = 9};
  step("ready twice", device, RESET_READY, &twice);
  promise(twice.result == 1, "its end is told once");
  struct semaphore s = {.core = 1, .index = 40};
  step("semaphore read", device, SEMAPHORE_READ, &s);
  promise(s.value == 0, "a reset clears semaphores");
  // A second descriptor, the first closed: still attached, once.
  const int second = open_node("/dev/neuron0", O_RDONLY);
  say("close = %d", close(device));
  const uint64_t handle = allocate(second, 4096, 0, 0, 0);
  promise(handle != 0, "an attached process allocates through any descriptor");
  say("close = %d, %d", close(second), close(misc));
  say("close again = %d", close(second) == 0 ? 0 : -errno);
  const int fresh = open_node("/dev/neuron0", O_RDWR);
  const uint64_t only = allocate(fresh, 1 << 20, 0, 0, 0);
  promise(address_of(fresh, only) == HBM0 + CARVE_OUT, "everything was freed by the last close");
  say("close = %d", close(fresh));
}

int main(void) {
  discover();
  const int device = open_node("/dev/neuron0", O_RDWR);
  const int misc = open_node("/dev/neuron0", O_WRONLY);
  if (device < 0 || misc < 0) return 100;
  lanes(device, misc);
  unknown(device, misc);
  memory(device);
  queue(device);
  synchronisation(device);
  notifications(device);
  store(device);
  cores(misc);
  child(device, misc);
  end(device, misc);
  say("%d promises broken", broken);
  return broken > 100 ? 100 : broken;
}
