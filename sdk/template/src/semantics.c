/* SPDX-License-Identifier: Apache-2.0
 *
 * What AXPY computes. The software device does the rest of the record: the wait
 * before it, the update after it, the step to the next one. */
#include "aurora.h"

enum { kPiece = 256 }; /* elements at a time */

static uint32_t get32(const uint8_t* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Byte  12 lanes  13 zero  14 count (2)  16 x  20 y  24 out  28 scale, then zeros. */
const char* aurora_read_axpy(const uint8_t record[64], aurora_axpy* out) {
  const uint32_t scale = get32(record + 28);
  out->lanes = record[12];
  out->count = (uint32_t)record[14] | (uint32_t)record[15] << 8;
  out->x = get32(record + 16);
  out->y = get32(record + 20);
  out->out = get32(record + 24);
  memcpy(&out->scale, &scale, sizeof scale);
  if (out->lanes == 0 || out->lanes > AURORA_PARTITIONS) return "AXPY: lanes must be 1 to 64";
  if (out->count == 0) return "AXPY: count is 0";
  for (size_t i = 32; i < 64; ++i)
    if (record[i] != 0) return "AXPY: bytes 32 to 63 must be 0";
  if (record[13] != 0) return "AXPY: byte 13 must be 0";
  const uint32_t operands[3] = {out->x, out->y, out->out};
  for (size_t i = 0; i < 3; ++i) {
    const uint64_t inside = operands[i] % AURORA_SBUF_STRIDE;
    if (operands[i] % 4 != 0) return "AXPY: an address is not a multiple of 4";
    if (operands[i] / AURORA_SBUF_STRIDE + out->lanes > AURORA_PARTITIONS ||
        inside + 4ull * out->count > AURORA_SBUF_BYTES)
      return "AXPY: an operand leaves the SBUF";
  }
  return NULL;
}

static uint32_t claims(uint32_t engine, uint8_t opcode) {
  return engine == NRTP_ENGINE_DVE && opcode == AURORA_OP_AXPY;
}

static int run_piece(const nrtp_engine_view* view, const aurora_axpy* op, uint64_t lane,
                     uint32_t first, uint32_t n) {
  float x[kPiece], y[kPiece];
  const uint64_t at = lane * AURORA_SBUF_STRIDE + 4ull * first;
  int status = view->read_local(view->self, op->x + at, x, 4ull * n);
  if (status == NRTP_OK) status = view->read_local(view->self, op->y + at, y, 4ull * n);
  if (status != NRTP_OK) return status;
  for (uint32_t i = 0; i < n; ++i) y[i] = op->scale * x[i] + y[i];
  return view->write_local(view->self, op->out + at, y, 4ull * n);
}

static int execute(uint32_t engine, const uint8_t in[64], const nrtp_engine_view* view) {
  aurora_axpy op;
  const char* wrong = claims(engine, in[0]) ? aurora_read_axpy(in, &op) : "not AXPY on DVE";
  if (wrong != NULL) {
    view->explain(view->self, wrong);
    return NRTP_INVALID;
  }
  for (uint32_t lane = 0; lane < op.lanes; ++lane)
    for (uint32_t first = 0; first < op.count; first += kPiece) {
      const uint32_t left = op.count - first;
      const int status = run_piece(view, &op, lane, first, left < kPiece ? left : kPiece);
      if (status != NRTP_OK) {
        view->explain(view->self, "AXPY: an operand leaves the SBUF");
        return status;
      }
    }
  return NRTP_OK;
}

const nrtp_arch_semantics aurora_semantics = {
    .size = sizeof(nrtp_arch_semantics),
    .claims = claims,
    .execute = execute,
};
