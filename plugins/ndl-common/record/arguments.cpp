// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/arguments.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace opennrt::trace {
namespace {

using ndl::Extent;
using ndl::Field;
using ndl::FieldDir;
using ndl::FieldKind;
using ndl::RequestShape;
using ndl::Spot;

constexpr uint64_t kChunkBytes = 256u << 10;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

uint64_t number_at(const uint8_t* at, unsigned bytes, bool is_signed) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);  // little endian
  if (is_signed && bytes < 8 && value >> (8 * bytes - 1)) value |= ~uint64_t{0} << (8 * bytes);
  return value;
}

uint64_t number_of(const uint8_t* base, const Spot& spot) {
  return number_at(base + spot.offset, spot.element_bytes, spot.is_signed);
}

// What the field leads to; UINT64_MAX: more than there can be.
uint64_t extent_of(const Extent& extent, const uint8_t* base) {
  if (extent.count.bytes == 0) return extent.base;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(number_of(base, extent.count), uint64_t{extent.unit}, &bytes) ||
      __builtin_add_overflow(bytes, uint64_t{extent.base}, &bytes))
    return UINT64_MAX;
  return bytes;
}

enum class Way { kIn, kOut };

bool goes(FieldDir dir, Way way) {
  return dir == FieldDir::kInOut || dir == (way == Way::kIn ? FieldDir::kIn : FieldDir::kOut);
}

Value number_value(uint64_t number, bool is_signed) {
  return is_signed ? Value::of_signed(static_cast<int64_t>(number)) : Value::of(number);
}

Value numbers_value(const uint8_t* at, uint64_t count, unsigned element, bool is_signed) {
  std::vector<Value> items;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    items.push_back(number_value(number_at(at + i * element, element, is_signed), is_signed));
  return Value::list(std::move(items));
}

// One argument, read or written.
class Argument {
 public:
  Argument(const UserMemory& memory, uint64_t address) : memory_(memory), address_(address) {}

  bool open(uint64_t bytes) {
    copy_.resize(bytes);
    return bytes == 0 || (address_ != 0 && memory_.read(address_, copy_.data(), bytes));
  }
  const uint8_t* base() const { return copy_.data(); }

  void encode(std::span<const Field> fields, const uint8_t* base, uint64_t address, Way way,
              bool follow, Fields* out) const {
    for (const Field& field : fields) {
      Value value;
      if (encode(field, base, address, way, follow, &value))
        out->emplace_back(field.name, std::move(value));
    }
  }

  int decode(std::span<const Field> fields, const uint8_t* base, uint64_t address,
             const Fields& values, std::string* error) const {
    for (const auto& [name, value] : values) {
      const auto at = std::find_if(fields.begin(), fields.end(),
                                   [&, key = &name](const Field& f) { return *key == f.name; });
      if (at == fields.end()) return refuse(error, name, "is no field of this request");
      if (const int bad = decode(*at, base, address, value, error)) return bad;
    }
    return 0;
  }

 private:
  FieldDir dir_of(const Field& field) const {
    if (field.dir != FieldDir::kSwitched) return field.dir;
    return number_of(copy_.data(), field.direction) != 0 ? FieldDir::kIn : FieldDir::kOut;
  }

  // Whether any member of the structs goes that way.
  bool any_goes(std::span<const Field> fields, Way way) const {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& f) {
      return goes(dir_of(f), way) || any_goes(f.inner, way);
    });
  }

  bool encode(const Field& field, const uint8_t* base, uint64_t address, Way way, bool follow,
              Value* out) const {
    const FieldDir dir = dir_of(field);
    const uint8_t* at = base + field.spot.offset;
    switch (field.kind) {
      case FieldKind::kNumber:
        if (!goes(dir, way)) return false;
        *out = field.spot.bytes == field.spot.element_bytes
                   ? number_value(number_of(base, field.spot), field.spot.is_signed)
                   : numbers_value(at, field.spot.bytes / field.spot.element_bytes,
                                   field.spot.element_bytes, field.spot.is_signed);
        return true;
      case FieldKind::kBytes:
        if (!goes(dir, way)) return false;
        *out = Value::of_bytes(at, field.spot.bytes, kMostKept);
        return true;
      case FieldKind::kAddress:
        if (way == Way::kOut) return false;
        *out = Value::address(number_of(base, field.spot) != 0);
        return true;
      case FieldKind::kRecords: {
        if (!any_goes(field.inner, way) || (field.spot.bytes == 0 && !follow)) return false;
        uint64_t bytes = extent_of(field.extent, base);
        if (field.spot.bytes != 0) bytes = std::min<uint64_t>(bytes, field.spot.bytes);
        *out = structs(field, address + field.spot.offset, bytes, way, follow);
        return true;
      }
      case FieldKind::kBuffer:
      case FieldKind::kNumbers:
      case FieldKind::kStructs:
        break;
    }
    // Pointers: what they lead to, or that there is none.
    const uint64_t target = number_of(base, field.spot);
    const bool content =
        field.kind == FieldKind::kStructs ? any_goes(field.inner, way) : goes(dir, way);
    if (target == 0 && way == Way::kIn) {
      *out = Value::address(false);
      return true;
    }
    if (!content || target == 0) return false;
    if (!follow) return false;
    const uint64_t bytes = extent_of(field.extent, base);
    const uint64_t kept = way == Way::kIn ? 0 : kMostKept;
    if (field.kind == FieldKind::kBuffer)
      *out = bytes_at(target, bytes, kept);
    else if (field.kind == FieldKind::kStructs)
      *out = structs(field, target, bytes, way, follow);
    else
      *out = numbers(field, target, bytes, kept);
    return true;
  }

  Value bytes_at(uint64_t address, uint64_t bytes, uint64_t kept) const {
    if (bytes <= kShortBytes) {
      char whole[kShortBytes];
      if (!memory_.read(address, whole, bytes)) return Value::unreadable(bytes);
      return Value::of_bytes(whole, bytes, kept);
    }
    const auto chunk = std::make_unique<char[]>(std::min(bytes, kChunkBytes));
    Value value;
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t n = std::min(kChunkBytes, bytes - done);
      if (!memory_.read(address + done, chunk.get(), n)) return Value::unreadable(bytes);
      if (done == 0) value = Value::of_bytes(chunk.get(), n, 0);  // its head
      value.crc = crc32(chunk.get(), n, done == 0 ? 0 : value.crc);
      if (kept != 0 && done == 0) value.text.clear();
      if (kept > done) value.text.append(chunk.get(), std::min(n, kept - done));
      done += n;
    }
    value.length = bytes;
    value.keep = kept == 0      ? Value::Keep::kDigest
                 : kept < bytes ? Value::Keep::kCut
                                : Value::Keep::kWhole;
    return value;
  }

  Value numbers(const Field& field, uint64_t address, uint64_t bytes, uint64_t kept) const {
    const uint64_t count = bytes / field.element_bytes;
    if (count > kMostItems) return bytes_at(address, bytes, kept);
    std::vector<uint8_t> data(bytes);
    if (!memory_.read(address, data.data(), bytes)) return Value::unreadable(bytes);
    if (field.extent.unit == 0 && count == 1)
      return Value::of(number_at(data.data(), field.element_bytes, false));
    return numbers_value(data.data(), count, field.element_bytes, false);
  }

  Value structs(const Field& field, uint64_t address, uint64_t bytes, Way way, bool follow) const {
    const uint64_t count = bytes / field.element_bytes;
    if (count > kMostItems) return bytes_at(address, bytes, way == Way::kIn ? 0 : kMostKept);
    std::vector<uint8_t> data(count * field.element_bytes);
    if (!memory_.read(address, data.data(), data.size())) return Value::unreadable(bytes);
    std::vector<Value> items;
    for (uint64_t i = 0; i < count; ++i) {
      Fields inner;
      encode(field.inner, data.data() + i * field.element_bytes, address + i * field.element_bytes,
             way, follow, &inner);
      items.push_back(Value::record(std::move(inner)));
    }
    return Value::list(std::move(items));
  }

  // --- the other way

  static int refuse(std::string* error, const std::string& name, const std::string& what) {
    *error = name + " " + what;
    return -EINVAL;
  }

  int write_number(uint64_t address, uint64_t number, unsigned bytes) const {
    return memory_.write(address, &number, bytes) ? 0 : -EFAULT;
  }

  int write_bytes(const Field& field, uint64_t address, uint64_t room, const Value& value,
                  std::string* error) const {
    if (value.keep == Value::Keep::kUnreadable) return 0;
    if (value.keep != Value::Keep::kWhole)
      return refuse(error, field.name,
                    "was recorded in part: " + std::to_string(value.text.size()) + " of " +
                        std::to_string(value.length) + " bytes");
    if (value.text.size() > room)
      return refuse(error, field.name,
                    "holds " + std::to_string(value.text.size()) + " bytes, there is room for " +
                        std::to_string(room));
    return memory_.write(address, value.text.data(), value.text.size()) ? 0 : -EFAULT;
  }

  int write_numbers(const Field& field, uint64_t address, uint64_t room, unsigned element,
                    const Value& value, std::string* error) const {
    if (value.kind == Value::Kind::kBytes) return write_bytes(field, address, room, value, error);
    if (value.kind == Value::Kind::kNumber && room >= element)
      return write_number(address, value.number, element);
    if (value.kind != Value::Kind::kList || value.items.size() > room / element)
      return refuse(error, field.name, "does not fit the argument");
    for (const Value& item : value.items) {
      if (item.kind != Value::Kind::kNumber) return refuse(error, field.name, "holds no numbers");
      if (const int bad = write_number(address, item.number, element)) return bad;
      address += element;
    }
    return 0;
  }

  int write_structs(const Field& field, uint64_t address, uint64_t room, const Value& value,
                    std::string* error) const {
    // As bytes only where the driver fills the structs themselves.
    if (value.kind == Value::Kind::kBytes &&
        std::any_of(field.inner.begin(), field.inner.end(),
                    [](const Field& f) { return goes(f.dir, Way::kOut); }))
      return write_bytes(field, address, room, value, error);
    if (value.kind != Value::Kind::kList || value.items.size() > room / field.element_bytes)
      return refuse(error, field.name, "does not fit the argument");
    std::vector<uint8_t> copy(field.element_bytes);
    for (const Value& item : value.items) {
      if (item.kind != Value::Kind::kRecord) return refuse(error, field.name, "holds no records");
      if (!memory_.read(address, copy.data(), copy.size())) return -EFAULT;
      if (const int bad = decode(field.inner, copy.data(), address, item.fields, error)) return bad;
      address += field.element_bytes;
    }
    return 0;
  }

  int decode(const Field& field, const uint8_t* base, uint64_t address, const Value& value,
             std::string* error) const {
    const uint64_t place = address + field.spot.offset;
    if (!ndl::leads_elsewhere(field.kind)) {
      // Structs that hold out pointers may themselves only be read.
      if (field.kind != FieldKind::kRecords && !goes(dir_of(field), Way::kOut))
        return refuse(error, field.name, "is nothing that the driver fills");
      switch (field.kind) {
        case FieldKind::kNumber:
          return write_numbers(field, place, field.spot.bytes, field.spot.element_bytes, value,
                               error);
        case FieldKind::kBytes:
          if (value.kind != Value::Kind::kBytes) return refuse(error, field.name, "is no bytes");
          return write_bytes(field, place, field.spot.bytes, value, error);
        case FieldKind::kRecords: {
          const uint64_t bytes = extent_of(field.extent, base);
          return write_structs(
              field, place,
              field.spot.bytes != 0 ? std::min<uint64_t>(bytes, field.spot.bytes) : bytes, value,
              error);
        }
        default:
          return refuse(error, field.name, "is nothing that the driver fills");
      }
    }
    const uint64_t target = number_of(base, field.spot);
    if (target == 0) return refuse(error, field.name, "leads nowhere now");
    const uint64_t room = extent_of(field.extent, base);
    if (field.kind == FieldKind::kStructs) return write_structs(field, target, room, value, error);
    if (!goes(dir_of(field), Way::kOut))
      return refuse(error, field.name, "is nothing that the driver fills");
    if (field.kind == FieldKind::kNumbers)
      return write_numbers(field, target, room, field.element_bytes, value, error);
    if (value.kind != Value::Kind::kBytes) return refuse(error, field.name, "is no bytes");
    return write_bytes(field, target, room, value, error);
  }

  const UserMemory& memory_;
  const uint64_t address_;
  std::vector<uint8_t> copy_;
};

}  // namespace

bool UserMemory::read(uint64_t address, void* out, uint64_t bytes) const {
  if (bytes == 0) return true;
  if (bytes > SSIZE_MAX) return false;
  if (!mapped(address, bytes)) {
    const iovec local{out, bytes}, remote{pointer(address), bytes};
    const ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (n >= 0 || (errno != ENOSYS && errno != EPERM)) return n == static_cast<ssize_t>(bytes);
  }
  std::memcpy(out, pointer(address), bytes);
  return true;
}

bool UserMemory::write(uint64_t address, const void* data, uint64_t bytes) const {
  if (bytes == 0) return true;
  if (bytes > SSIZE_MAX) return false;
  if (!mapped(address, bytes)) {
    const iovec local{const_cast<void*>(data), bytes}, remote{pointer(address), bytes};
    const ssize_t n = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
    if (n >= 0 || (errno != ENOSYS && errno != EPERM)) return n == static_cast<ssize_t>(bytes);
  }
  std::memcpy(pointer(address), data, bytes);
  return true;
}

Fields inputs(const RequestShape& shape, uint64_t arg, const UserMemory& memory) {
  Argument argument(memory, arg);
  Fields out;
  if (argument.open(shape.arg_bytes()))
    argument.encode(shape.fields, argument.base(), arg, Way::kIn, true, &out);
  else
    out.emplace_back("arg", Value::unreadable(shape.arg_bytes()));
  return out;
}

Fields outputs(const RequestShape& shape, uint64_t arg, bool succeeded, const UserMemory& memory) {
  Argument argument(memory, arg);
  Fields out;
  if (argument.open(shape.arg_bytes()))
    argument.encode(shape.fields, argument.base(), arg, Way::kOut, succeeded, &out);
  return out;
}

int store(const RequestShape& shape, uint64_t arg, const Fields& outs, const UserMemory& memory,
          std::string* error) {
  if (outs.empty()) return 0;
  Argument argument(memory, arg);
  if (!argument.open(shape.arg_bytes())) return -EFAULT;
  return argument.decode(shape.fields, argument.base(), arg, outs, error);
}

std::vector<std::string> differences(const RequestShape* shape, const Fields& recorded,
                                     const Fields& now) {
  const auto free = [&](const std::string& name) {
    if (!shape) return false;
    for (const Field& field : shape->fields)
      if (name == field.name) return !field.compared;
    return false;
  };
  std::vector<std::string> out;
  for (const auto& [name, value] : recorded) {
    if (free(name)) continue;
    const Value* other = find(now, name);
    if (!other)
      out.push_back(name + ": recorded " + to_text(value) + ", now absent");
    else if (!value.same(*other))
      out.push_back(name + ": recorded " + to_text(value) + ", now " + to_text(*other));
  }
  for (const auto& [name, value] : now)
    if (!free(name) && !find(recorded, name))
      out.push_back(name + ": not recorded, now " + to_text(value));
  return out;
}

}  // namespace opennrt::trace
