/* SPDX-License-Identifier: Apache-2.0
 *
 * What aurora adds to a program's image, and which instructions its engines
 * take. Records are 64 bytes, all numbers little-endian. */
#include <stdio.h>

#include "aurora.h"

enum { kRecord = 64, kWords = 0x10 };

/* Published opcodes that aurora has; layouts as on cayman. */
enum {
  OP_TENSOR_TENSOR = 0x41,
  OP_COPY = 0x46,
  OP_MEMSET = 0x49,
  OP_EVENT_SEMAPHORE = 0xA0,
  OP_HALT = 0xA1,
  OP_DRAIN = 0xA2,
  OP_NOP = 0xA4,
  OP_WRITE = 0xA5,
  OP_NOTIFY = 0xA6,
  OP_COMPARE_BRANCH = 0xA9,
  OP_LOAD = 0xAA,
  OP_STORE = 0xAB,
  OP_RANGE_CLEAR = 0xB0,
  OP_ORDERING = 0xB1,
  OP_RANGE_SELECT = 0xBC /* not in sunda's table */
};

static void put32(uint8_t* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = (uint8_t)(value >> 8 * i);
}
static uint32_t get32(const uint8_t* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The next record of a step, zero but for its head; NULL: no room. */
static uint8_t* append(nrtp_ibuf* out, uint8_t opcode) {
  if (out->cap < out->len || out->cap - out->len < kRecord) return NULL;
  uint8_t* record = out->p + out->len;
  memset(record, 0, kRecord);
  record[0] = opcode;
  record[1] = kWords;
  out->len += kRecord;
  return record;
}

/* One 4-byte write. */
static int append_write(nrtp_ibuf* out, uint64_t address, uint32_t value) {
  uint8_t* record = append(out, OP_WRITE);
  if (record == NULL) return NRTP_RESOURCE;
  record[12] = 4;
  put32(record + 16, (uint32_t)address);
  put32(record + 20, (uint32_t)(address >> 32));
  put32(record + 32, value);
  return NRTP_OK;
}

static int append_range_clear(nrtp_ibuf* out, uint32_t first, uint32_t last) {
  if (first > last || last >= AURORA_SEMAPHORES) return NRTP_INVALID;
  uint8_t* record = append(out, OP_RANGE_CLEAR);
  if (record == NULL) return NRTP_RESOURCE;
  record[12] = 1;
  record[13] = (uint8_t)first;
  record[14] = (uint8_t)last;
  return NRTP_OK;
}

static int step(uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env == NULL || out == NULL || out->p == NULL || out->len % kRecord != 0 ||
      env->engine >= AURORA_ENGINES || !aurora_has_core(env->product, env->core) ||
      (env->form != NRTP_FORM_2_27 && env->form != NRTP_FORM_2_30))
    return NRTP_INVALID;
  const uint64_t nx = aurora_address.nx_device(env->product, env->core, env->engine);
  switch (which) {
    case NRTP_STEP_NX_SETUP: /* hardware queues whose descriptors the engine generates */
      return append_write(out, nx + AURORA_NX_QUEUES, env->hw_dge_queues[env->engine]);
    case NRTP_STEP_NX_CLEAR:
      return append_write(out, nx + AURORA_NX_QUEUES, 0);
    case NRTP_STEP_SEM_RESET:
      return append_range_clear(out, env->sem_first, env->sem_last);
    case NRTP_STEP_ROUND_MODE:
    case NRTP_STEP_LIBRARY_LOAD:
    case NRTP_STEP_LIBRARY_CLEAR:
    case NRTP_STEP_BOUND_CHECK:
    case NRTP_STEP_MODEL_CONFIG:
      return NRTP_OK; /* aurora needs none */
    default:
      return NRTP_INVALID;
  }
}

/* --- validation */

#define ANY 0xFu
#define ENGINE(e) (1u << NRTP_ENGINE_##e)

static const struct {
  uint8_t opcode;
  uint32_t engines;
} kInstructions[] = {
    {OP_TENSOR_TENSOR, ENGINE(POOL) | ENGINE(DVE)},
    {OP_COPY, ENGINE(POOL) | ENGINE(DVE)},
    {OP_MEMSET, ENGINE(POOL) | ENGINE(DVE)},
    {OP_RANGE_SELECT, ENGINE(DVE)},
    {AURORA_OP_AXPY, ENGINE(DVE)},
    {OP_EVENT_SEMAPHORE, ANY},
    {OP_HALT, ANY},
    {OP_DRAIN, ANY},
    {OP_NOP, ANY},
    {OP_WRITE, ANY},
    {OP_NOTIFY, ANY},
    {OP_COMPARE_BRANCH, ANY},
    {OP_LOAD, ANY},
    {OP_STORE, ANY},
    {OP_RANGE_CLEAR, ANY},
    {OP_ORDERING, ANY},
};

static int refuse(nrtp_diag* out, uint32_t slot, uint8_t opcode, const char* reason) {
  if (out != NULL) {
    out->slot = slot;
    out->opcode = opcode;
    snprintf(out->msg, sizeof out->msg, "%s", reason);
  }
  return NRTP_INVALID;
}

/* NULL, or what is wrong with a wait or an update. Modes 1 to 5 and 3 to 10 mean
 * semaphores, the others events. */
static const char* check_condition(uint8_t mode, uint8_t index, int is_update) {
  if (mode == 0 || mode == 0xFE) return NULL;
  const unsigned action = mode & 0xFu;
  const int event = is_update ? action < 3 : action > 5;
  if (event ? index < AURORA_EVENTS : index < AURORA_SEMAPHORES) return NULL;
  return event ? "a core has 128 events" : "a core has 192 semaphores";
}

static int check_record(uint32_t engine, const uint8_t* in, uint32_t slot, nrtp_diag* out) {
  const char* reason = "no instruction of aurora";
  for (size_t i = 0; i < sizeof kInstructions / sizeof kInstructions[0]; ++i) {
    if (kInstructions[i].opcode != in[0]) continue;
    reason = (kInstructions[i].engines >> engine & 1) ? NULL : "not on this engine";
  }
  if (reason == NULL && in[1] != kWords) reason = "the length byte is not 0x10";
  if (reason == NULL) reason = check_condition(in[4], in[5], 0);
  if (reason == NULL) reason = check_condition(in[6], in[7], 1);
  if (reason == NULL && in[0] == OP_EVENT_SEMAPHORE) {
    reason = check_condition(in[32], in[33], 0);
    if (reason == NULL) reason = check_condition(in[34], in[35], 1);
  }
  if (reason == NULL && in[0] == OP_RANGE_CLEAR && (in[13] > in[14] || in[14] >= AURORA_SEMAPHORES))
    reason = "a core has 192 semaphores";
  if (reason == NULL && in[0] == AURORA_OP_AXPY) {
    aurora_axpy unused;
    reason = aurora_read_axpy(in, &unused);
  }
  return reason == NULL ? NRTP_OK : refuse(out, slot, in[0], reason);
}

static int validate_inst(uint32_t engine, const uint8_t in[64], nrtp_diag* out) {
  if (engine >= AURORA_ENGINES || in == NULL) return NRTP_INVALID;
  return check_record(engine, in, 0, out);
}

static int validate_image(uint32_t engine, const uint8_t* image, uint64_t bytes, nrtp_diag* out) {
  if (engine >= AURORA_ENGINES || (image == NULL && bytes != 0) || bytes % kRecord != 0)
    return NRTP_INVALID;
  for (uint64_t at = 0; at < bytes; at += kRecord) {
    const uint8_t* record = image + at;
    const uint32_t slot = (uint32_t)(at / kRecord);
    const int status = check_record(engine, record, slot, out);
    if (status != NRTP_OK) return status;
    /* Relative branches stay in the image. */
    if (record[0] != OP_COMPARE_BRANCH || record[14] != 3) continue;
    const int64_t target = (int64_t)at + (int32_t)get32(record + 48);
    if (target < 0 || target >= (int64_t)bytes || target % kRecord != 0)
      return refuse(out, slot, record[0], "branches out of the image");
  }
  return NRTP_OK;
}

const nrtp_arch_ib aurora_ib = {
    .size = sizeof(nrtp_arch_ib),
    .form_default = NRTP_FORM_2_27,
    .form_mask = NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30,
    .nx_start_ctrl = AURORA_NX_START_CTRL,
    .nx_start_addr_lo = AURORA_NX_START_LO,
    .nx_start_addr_hi = AURORA_NX_START_HI,
    .block_align = {0x8000, 0x8000, 0x8000, 0x8000},
    .step = step,
    .validate_inst = validate_inst,
    .validate_image = validate_image,
    .isa = NRTP_ISA_CAYMAN,
};
