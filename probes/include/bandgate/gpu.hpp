// SPDX-License-Identifier: Apache-2.0
/// The one table of names that differ between the compilers of a kernel: CUDA's and HIP's; where no
/// GPU compiler is at hand the same source becomes plain C++ that a test's context runs block by
/// block and thread by thread on the CPU, so that every kernel's indexing is tested on any machine.
/// Kernels written against it keep to what all have: no barrier, no shared memory, no warp call. So
/// none depends on how many threads a warp has, 32 of NVIDIA's or 64 of AMD's.
#pragma once

#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

#include <bandgate/backend.hpp>

namespace bandgate {

/// How a buffer is read once, as a type, since a kernel's numbers are compiled into it. Each thread
/// issues `Loads` loads of 16 bytes before it uses the first. `BlocksAProcessor` 0: each block
/// streams one tile and ends; else so many blocks a processor, which stride over all tiles.
template <unsigned Threads, unsigned Loads, unsigned BlocksAProcessor = 0>
struct read_shape {
  static constexpr unsigned threads = Threads;
  static constexpr unsigned loads = Loads;
  static constexpr unsigned blocks_a_processor = BlocksAProcessor;
};

/// Those that are ranked on a device, the first of which warms it up.
template <class... Shapes>
struct read_shape_list {};

}  // namespace bandgate

#if defined(__CUDACC__) || defined(__HIP__)

#define BANDGATE_KERNEL __global__
#define BANDGATE_DEVICE __device__
#define BANDGATE_BOTH __host__ __device__
#define BANDGATE_BOUNDS(threads) __launch_bounds__(threads)
#define BANDGATE_UNROLL _Pragma("unroll")
#define BANDGATE_NO_UNROLL _Pragma("unroll 1")

#if defined(__HIP__)

namespace bandgate {

/// What suits CDNA. Its read needs more bytes on their way than NVIDIA's: sixteen loads a thread
/// and about 128 blocks a compute unit took an MI300X from 157 to 4073 GB/s (published, not
/// measured here).
struct gpu_traits {
  using read_shapes =
      read_shape_list<read_shape<256, 16, 128>, read_shape<256, 16>, read_shape<512, 8>>;
  static constexpr unsigned copied_vectors = 4;  ///< of 16 bytes, a thread
  static constexpr unsigned written_vectors = 4;
  static constexpr unsigned triad_vectors = 2;
  static constexpr unsigned window_loads = 8;  ///< before the first is used
  static constexpr unsigned window_copies = 4;
  static constexpr unsigned widest_load = 16;  ///< bytes
};

/// The widest accesses that make up a T: 16 bytes at most.
template <class T>
struct gpu_pieces {
  static constexpr unsigned bytes = sizeof(T) < 16 ? sizeof(T) : 16;
  static constexpr unsigned count = sizeof(T) / bytes;
  typedef unsigned long long two_words __attribute__((ext_vector_type(2)));
  using type = std::conditional_t<
      bytes == 1, unsigned char,
      std::conditional_t<
          bytes == 2, unsigned short,
          std::conditional_t<bytes == 4, unsigned,
                             std::conditional_t<bytes == 8, unsigned long long, two_words>>>>;
};

/// A load of what nothing will read again, so the caches need not keep it.
template <class T>
BANDGATE_DEVICE inline T load_once(T const* from) {
  using piece = typename gpu_pieces<T>::type;
  piece raw[gpu_pieces<T>::count];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < gpu_pieces<T>::count; ++k)
    raw[k] = __builtin_nontemporal_load(reinterpret_cast<piece const*>(from) + k);
  T value;
  std::memcpy(&value, raw, sizeof value);
  return value;
}

/// A store of what nothing will read soon, so that it leaves the caches at once.
template <class T>
BANDGATE_DEVICE inline void store_once(T* to, T const& value) {
  using piece = typename gpu_pieces<T>::type;
  piece raw[gpu_pieces<T>::count];
  std::memcpy(raw, &value, sizeof value);
  BANDGATE_UNROLL
  for (unsigned k = 0; k < gpu_pieces<T>::count; ++k)
    __builtin_nontemporal_store(raw[k], reinterpret_cast<piece*>(to) + k);
}
/// HIP's own vectors go from registers: copied as bytes they would go through scratch memory.
template <class Element, unsigned N>
BANDGATE_DEVICE inline void store_once(HIP_vector_type<Element, N>* to,
                                       HIP_vector_type<Element, N> const& value) {
  __builtin_nontemporal_store(value.data, &to->data);
}

/// Load and store of a stream that is read and written at once.
template <class T>
BANDGATE_DEVICE inline T load_stream(T const* from) {
  return load_once(from);
}
template <class T>
BANDGATE_DEVICE inline void store_stream(T* to, T const& value) {
  store_once(to, value);
}

/// A load from the cache that all processors share, past those of a processor's own: eight bytes at
/// a time, the most that such a load (relaxed, of the whole device) has.
template <class T>
BANDGATE_DEVICE inline T load_shared_cache(T const* from) {
  static_assert(sizeof(T) % sizeof(unsigned long long) == 0);
  constexpr unsigned words = sizeof(T) / sizeof(unsigned long long);
  auto const* const at = reinterpret_cast<unsigned long long const*>(from);
  unsigned long long raw[words];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < words; ++k)
    raw[k] = __hip_atomic_load(at + k, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  T value;
  std::memcpy(&value, raw, sizeof value);
  return value;
}

/// Stands between loads and the first use of one: all are issued before. To save registers the
/// compiler would else move some of them behind that use (clang 21 most of them, for gfx942).
BANDGATE_DEVICE inline void all_issued() {
  __builtin_amdgcn_sched_barrier(0);
}

}  // namespace bandgate

#else

namespace bandgate {

/// What suits NVIDIA's GPUs; measured on H200s, as the kernels that use it say.
struct gpu_traits {
  using read_shapes = read_shape_list<read_shape<512, 8>, read_shape<256, 8>, read_shape<512, 4>>;
  static constexpr unsigned copied_vectors = 1;  ///< of 16 bytes, a thread
  static constexpr unsigned written_vectors = 1;
  static constexpr unsigned triad_vectors = 1;
  static constexpr unsigned window_loads = 2;  ///< before the first is used
  static constexpr unsigned window_copies = 2;
  static constexpr unsigned widest_load = 32;  ///< bytes
};

/// A load of what nothing will read again, so the caches need not keep it.
template <class T>
BANDGATE_DEVICE inline T load_once(T const* from) {
  return __ldcs(from);
}

/// A store of what nothing will read soon, so that it leaves the caches at once.
template <class T>
BANDGATE_DEVICE inline void store_once(T* to, T const& value) {
  __stcs(to, value);
}

/// Load and store of a stream that is read and written at once.
template <class T>
BANDGATE_DEVICE inline T const& load_stream(T const* from) {
  return *from;  // not a copy, which nvcc would load again in parts
}
template <class T>
BANDGATE_DEVICE inline void store_stream(T* to, T const& value) {
  *to = value;
}

/// A load from the cache that all processors share, past those of a processor's own.
template <class T>
BANDGATE_DEVICE inline T load_shared_cache(T const* from) {
  return __ldcg(from);
}

/// Stands between loads and the first use of one: nvcc issues all before by itself.
BANDGATE_DEVICE inline void all_issued() {}

}  // namespace bandgate

#endif

namespace bandgate {

/// Enqueues `kernel(arguments…)`. Arguments are converted to the kernel's own parameter types.
template <class... Parameters, class... Arguments>
void launch(gpu_context& gpu, char const* what, launch_grid grid, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  std::tuple<std::remove_const_t<Parameters>...> values{
      static_cast<std::remove_const_t<Parameters>>(arguments)...};
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<void const*>(&value))...};
        gpu.launch(reinterpret_cast<void const*>(kernel), grid, pointers, what);
      },
      values);
}

}  // namespace bandgate

#else

#define BANDGATE_KERNEL
#define BANDGATE_DEVICE
#define BANDGATE_BOTH
#define BANDGATE_BOUNDS(threads)
#define BANDGATE_UNROLL
#define BANDGATE_NO_UNROLL

struct gpu_index {
  std::uint64_t x{};
};
inline thread_local gpu_index gridDim, blockDim, blockIdx, threadIdx;

struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
struct alignas(16) double2 {
  double x, y;
};
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  auto const before = *to;
  *to += value;
  return before;
}
inline unsigned long long atomicMin(unsigned long long* to, unsigned long long value) {
  auto const before = *to;
  if (value < before) *to = value;
  return before;
}

namespace bandgate {

/// Small, and of every kind that a GPU's are.
struct gpu_traits {
  using read_shapes = read_shape_list<read_shape<512, 8>, read_shape<256, 8>,
                                      read_shape<256, 16, 4>, read_shape<512, 4>>;
  static constexpr unsigned copied_vectors = 1;
  static constexpr unsigned written_vectors = 1;
  static constexpr unsigned triad_vectors = 1;
  static constexpr unsigned window_loads = 2;
  static constexpr unsigned window_copies = 2;
  static constexpr unsigned widest_load = 32;
};

template <class T>
T load_once(T const* from) {
  return *from;
}

template <class T>
void store_once(T* to, T const& value) {
  *to = value;
}

template <class T>
T load_stream(T const* from) {
  return *from;
}

template <class T>
void store_stream(T* to, T const& value) {
  *to = value;
}

template <class T>
T load_shared_cache(T const* from) {
  return *from;
}

inline void all_issued() {}

/// What an emulating context finds behind the `kernel` pointer of its launch(): one call runs one
/// thread, whose place the four variables above say.
using emulated_kernel = std::function<void()>;

template <class... Parameters, class... Arguments>
void launch(gpu_context& gpu, char const* what, launch_grid grid, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  emulated_kernel const body = [=] { kernel(static_cast<Parameters>(arguments)...); };
  gpu.launch(&body, grid, nullptr, what);
}

}  // namespace bandgate

#endif
