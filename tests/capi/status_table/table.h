// SPDX-License-Identifier: Apache-2.0
//
// The table function x status, made by calling. A scene is a piece of the test
// that runs in a process of its own (every one begins with a library that was
// never initialised) and reports rows: which function was called how, what came
// back and what the specification says must come back. A probe is a call of one
// function that succeeds when the runtime is initialised; all of them are also
// made in the other states and from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "support/fault_port/fault_port.h"

namespace opennrt::status_table {

// What came back from functions without a status.
inline constexpr int kDone = -1;     // a void function returned
inline constexpr int kAnswer = -2;   // a value that says something
inline constexpr int kNeutral = -3;  // NULL, 0 or "unknown"
inline constexpr int kHang = -4;     // did not return

std::string outcome_name(int outcome);  // "NRT_INVALID", "done", ...

// Which states a function works in.
enum class Guard { kFull, kFullVoid, kAsync, kProbe, kNone, kStartOnly, kEngine, kInit, kClose };
const char* guard_name(Guard guard);  // as the description of the ABI has it

// Rows of one scene, on their way to the parent.
class Report {
 public:
  explicit Report(int pipe) : pipe_(pipe) {}
  // The function was called under the condition `how`; one of `want` is right.
  void call(const char* function, std::initializer_list<int> want, const std::string& how, int got);
  void call(const char* function, std::span<const int> want, const std::string& how, int got);
  // Parameter number `parameter`, counted from 0, was NULL.
  void null(const char* function, int parameter, std::initializer_list<int> want, int got);
  // Something the scene needs to go on; ends the scene.
  void need(bool good, const char* what);
  // Names the call that is about to be made, for a scene that crashes or hangs.
  void about(const char* function, const char* how);

 private:
  void row(const char* function, const char* parameter, std::span<const int> want,
           const std::string& how, int got);
  int pipe_;
};

// What the probes work with: made once, shared by threads, except that each
// thread has tensors and sets of its own. All NULL in START.
struct Objects {
  nrt_model_t* model = nullptr;
  nrt_tensor_t *a = nullptr, *b = nullptr, *sum = nullptr;  // device tensors of logical core 0
  nrt_tensor_set_t *in = nullptr, *out = nullptr;
  std::size_t bytes = 0;  // of each tensor
  int thread = 0;

  void make(Report& report, nrt_model_t* loaded);  // tensors and sets
  void drop();
};

struct Probe {
  const char* function;
  Guard guard;
  int (*call)(Objects&);
  std::vector<int> success{0};
  // What calls from several threads may find besides success: one of them has
  // what there is only one of.
  std::vector<int> crowded{};
  // Without objects (before nrt_init), where the guard lets it through.
  std::vector<int> without_objects{};
  // In a forked child, besides success, where nothing of the device is used.
  std::vector<int> in_child{};
};

struct Scene {
  const char* name;
  void (*run)(Report&);
};

// By group of functions; each in its own file.
#define OPENNRT_STATUS_GROUPS(G) \
  G(lifecycle)                   \
  G(models)                      \
  G(tensors)                     \
  G(devices)                     \
  G(execution)                   \
  G(async)                       \
  G(collectives)                 \
  G(sendrecv)                    \
  G(profile)                     \
  G(inspect)                     \
  G(sys_trace)                   \
  G(debug_stream)                \
  G(nec)
#define OPENNRT_DECLARE_GROUP(name)       \
  std::span<const Probe> name##_probes(); \
  std::span<const Scene> name##_scenes();
OPENNRT_STATUS_GROUPS(OPENNRT_DECLARE_GROUP)
#undef OPENNRT_DECLARE_GROUP

std::vector<Probe> all_probes();
std::span<const Scene> state_scenes();  // every probe in every state, and from 8 threads

// Conditions every function is called under, as rows name them.
inline constexpr const char* kStates[] = {"START", "INIT", "CHILD", "CLOSED", "from 8 threads"};

// What the description of the ABI promises, function by function, beyond what
// follows from the guard; and what cannot be shown here, with the reason.
struct Documented {
  const char* function;
  std::vector<int> statuses;
};
struct Unreached {
  const char* function;
  int status;
  const char* reason;
};
std::span<const Documented> documented();
std::span<const Unreached> unreached();
// Statuses that no function reaches; the function of these entries is empty.
std::span<const Unreached> unreached_statuses();

// --- for scenes ---

std::vector<char> file_bytes(const std::string& path);
std::string neff_path(const char* name);  // an assembled model: "vecadd"
nrt_model_t* load_vecadd(Report& report, int core = 0);
void start(Report& report);  // nrt_init, which must succeed
const test::FaultPort& faults();
// The call from 8 threads at once, several times each; f(thread) makes it.
void from_threads(Report& report, const char* function, const std::vector<int>& want,
                  const std::function<int(int)>& f);
// Every allocation of this thread fails until the object dies.
class NoMemory {
 public:
  NoMemory();
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  static bool possible();  // not with a sanitizer, which has the allocator
};
// The result of a call under memory shortage.
#define OPENNRT_WITHOUT_MEMORY(expression) \
  [&] {                                    \
    const NoMemory nothing;                \
    return expression;                     \
  }()

}  // namespace opennrt::status_table
