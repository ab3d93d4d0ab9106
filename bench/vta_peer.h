// What VTA's functional simulator takes from TVM, as little as it needs: checks, a registry, a flat memory off chip.
// With VTA_PEER_MAIN also the program: fsim IMAGE INSTRUCTIONS AFTER STAGE prints its counters as JSON.
#ifndef VTA_PEER_H_
#define VTA_PEER_H_
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct PeerFailure {
  std::ostringstream text;
  [[noreturn]] ~PeerFailure() { std::cerr << text.str() << std::endl; std::exit(1); }
};
#define LOG(level) PeerFailure().text
#define CHECK(value) if (!(value)) LOG(FATAL) << #value
#define CHECK_LT(a, b) CHECK((uint64_t)(a) < (uint64_t)(b)) << ": " << (a)
#define CHECK_LE(a, b) CHECK((uint64_t)(a) <= (uint64_t)(b)) << ": " << (a)
#define CHECK_EQ(a, b) CHECK((uint64_t)(a) == (uint64_t)(b)) << ": " << (a)

namespace tvm { namespace runtime {
struct TVMRetValue { std::string text; void operator=(const std::string& value) { text = value; } };
struct TVMArgs { int64_t operator[](int) const { return 0; } };
using Body = std::function<void(TVMArgs, TVMRetValue*)>;
inline std::map<std::string, Body>& Registered() { static std::map<std::string, Body> all; return all; }
struct Registry { std::string name; bool set_body(Body body) { Registered()[name] = body; return true; } };
}}  // namespace tvm::runtime
#define PEER_NAME_(number) peer_registered_##number
#define PEER_NAME(number) PEER_NAME_(number)
#define TVM_REGISTER_GLOBAL(name) static bool PEER_NAME(__COUNTER__) = tvm::runtime::Registry{name}

namespace vta { namespace vmem {
struct VirtualMemoryManager {
  std::vector<char> data;
  static VirtualMemoryManager* Global() { static VirtualMemoryManager all; return &all; }
  void* GetAddr(uint64_t address) { CHECK_LT(address, data.size()); return data.data() + address; }
  void* Alloc(size_t) { return nullptr; }
  void Free(void*) {}
  uint32_t GetPhyAddr(void* address) { return static_cast<char*>(address) - data.data(); }
};
}}  // namespace vta::vmem

#ifdef VTA_PEER_MAIN
#include <vta/driver.h>
#include <fstream>
#include <iterator>

static int stage;
extern "C" int peer_stage(unsigned*) noexcept { return stage; }
void* operator new[](size_t size) { return memset(malloc(size), 0xA5, size); }
void operator delete[](void* data) noexcept { free(data); }
void operator delete[](void* data, size_t) noexcept { free(data); }

int main(int, char** given) {
  auto read = [](const char* name) {
    std::ifstream file(name, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(file), {});
  };
  std::vector<char>& memory = vta::vmem::VirtualMemoryManager::Global()->data;
  memory = read(given[1]);
  std::vector<char> code = read(given[2]);
  size_t size = memory.size(), start = (size + 15) / 16 * 16;
  memory.resize(start);
  memory.insert(memory.end(), code.begin(), code.end());
  stage = atoi(given[4]);
  VTADeviceRun(VTADeviceAlloc(), start, code.size() / 16, 1u << 30);
  std::ofstream(given[3], std::ios::binary).write(memory.data(), size);
  tvm::runtime::TVMRetValue counters;
  tvm::runtime::Registered()["vta.simulator.profiler_status"]({}, &counters);
  std::cout << counters.text;
}
#endif  // VTA_PEER_MAIN
#endif  // VTA_PEER_H_
