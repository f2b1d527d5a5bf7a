// Swift cannot look up bytes in a vector by the bytes of another one, which these searches consist of.
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// What a search needs, as bytes. First the masks, 16 bytes each, with a bit for each group: for each of four bytes in a row, and for the groups 0 to 7
// and then 8 to 15, the masks by the lowest four bits of the byte, and those by its bits 3 to 6. Then one bit for each hash of four bytes that are
// searched for.
enum { packer_anchor_masks = 256, packer_anchor_table = packer_anchor_masks + (1 << 13) };

// A hash of 16 bits of four bytes, the first of which is the lowest.
static inline uint32_t packer_anchor_hash(uint32_t four) { return four * 0x9E3779B1u >> 16; }

static inline int packer_is_anchor(const uint8_t *table, const uint8_t *bytes) {
  uint32_t hash = packer_anchor_hash(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
  return table[packer_anchor_masks + (hash >> 3)] >> (hash & 7) & 1;
}

// These searches return the first place from `index` on, and before `end`, whose four bytes may be searched for; or `end`. The three bytes after `end`
// must exist.
static inline size_t packer_find_scalar(const uint8_t *table, const uint8_t *bytes, size_t index, size_t end) {
  while (index < end && !packer_is_anchor(table, bytes + index)) index++;
  return index;
}

#if defined(__x86_64__)

// Which groups have a byte at its place among the four.
typedef struct {
  __m256i low, high;
} packer_groups;

__attribute__((target("avx2"), always_inline)) static inline packer_groups packer_look(const __m256i *mask, const uint8_t *bytes) {
  const __m256i value = _mm256_loadu_si256((const __m256i *)bytes);
  const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(value, 3), _mm256_set1_epi8(15));
  // Bytes from 0x80 on give 0.
  return (packer_groups){
      _mm256_and_si256(_mm256_shuffle_epi8(mask[0], value), _mm256_shuffle_epi8(mask[1], upper)),
      _mm256_and_si256(_mm256_shuffle_epi8(mask[2], value), _mm256_shuffle_epi8(mask[3], upper))};
}

__attribute__((target("avx2"))) static inline size_t packer_find_avx2(const uint8_t *table, const uint8_t *bytes, size_t index, size_t end) {
  __m256i mask[16];
  if (end - index < 32) return packer_find_scalar(table, bytes, index, end);
  for (int i = 0; i < 16; i++) mask[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * i)));
  for (;;) {
    const packer_groups a = packer_look(mask, bytes + index), b = packer_look(mask + 4, bytes + index + 1),
                        c = packer_look(mask + 8, bytes + index + 2);
    __m256i low = _mm256_and_si256(_mm256_and_si256(a.low, b.low), c.low);
    __m256i high = _mm256_and_si256(_mm256_and_si256(a.high, b.high), c.high);
    __m256i either = _mm256_or_si256(low, high);
    // Most blocks are passed over after three bytes.
    if (__builtin_expect(!_mm256_testz_si256(either, either), 0)) {
      const packer_groups d = packer_look(mask + 12, bytes + index + 3);
      either = _mm256_or_si256(_mm256_and_si256(low, d.low), _mm256_and_si256(high, d.high));
      uint32_t places = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(either, _mm256_setzero_si256()));
      for (; places != 0; places &= places - 1) {
        size_t place = index + (size_t)__builtin_ctz(places);
        if (packer_is_anchor(table, bytes + place)) return place;
      }
    }
    index += 32;
    if (index == end) return end;
    // The last block overlaps the one before it.
    if (end - index < 32) index = end - 32;
  }
}

__attribute__((target("ssse3"))) static inline size_t packer_find_ssse3(
    const uint8_t *table, const uint8_t *bytes, size_t index, size_t end) {
  const __m128i low = _mm_set1_epi8(15), none = _mm_setzero_si128(), *mask = (const __m128i *)table;
  if (end - index < 16) return packer_find_scalar(table, bytes, index, end);
  for (;;) {
    __m128i first = _mm_set1_epi8(-1), second = first;
    for (int byte = 0; byte < 4; byte++) {
      const __m128i value = _mm_loadu_si128((const __m128i *)(bytes + index + byte));
      const __m128i high = _mm_and_si128(_mm_srli_epi16(value, 3), low), *part = mask + 4 * byte;
      first = _mm_and_si128(
          first, _mm_and_si128(_mm_shuffle_epi8(_mm_loadu_si128(part), value), _mm_shuffle_epi8(_mm_loadu_si128(part + 1), high)));
      second = _mm_and_si128(
          second, _mm_and_si128(_mm_shuffle_epi8(_mm_loadu_si128(part + 2), value), _mm_shuffle_epi8(_mm_loadu_si128(part + 3), high)));
    }
    uint32_t places = 0xFFFF & ~(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(first, second), none));
    for (; places != 0; places &= places - 1) {
      size_t place = index + (size_t)__builtin_ctz(places);
      if (packer_is_anchor(table, bytes + place)) return place;
    }
    index += 16;
    if (index == end) return end;
    if (end - index < 16) index = end - 16;
  }
}

#elif defined(__aarch64__)

static inline size_t packer_find_neon(const uint8_t *table, const uint8_t *bytes, size_t index, size_t end) {
  const uint8x16_t low = vdupq_n_u8(15);
  uint8x16_t mask[16];
  if (end - index < 16) return packer_find_scalar(table, bytes, index, end);
  for (int i = 0; i < 16; i++) mask[i] = vld1q_u8(table + 16 * i);
  for (;;) {
    uint8x16_t first = vdupq_n_u8(0xFF), second = first;
    // Bytes from 0x80 on give 0, because their upper bits are more than 15.
    for (int byte = 0; byte < 4; byte++) {
      const uint8x16_t value = vld1q_u8(bytes + index + byte), down = vandq_u8(value, low), high = vshrq_n_u8(value, 3);
      first = vandq_u8(first, vandq_u8(vqtbl1q_u8(mask[4 * byte], down), vqtbl1q_u8(mask[4 * byte + 1], high)));
      second = vandq_u8(second, vandq_u8(vqtbl1q_u8(mask[4 * byte + 2], down), vqtbl1q_u8(mask[4 * byte + 3], high)));
    }
    const uint8x16_t either = vorrq_u8(first, second), set = vtstq_u8(either, either);
    // Four bits for each byte.
    uint64_t places = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(set), 4)), 0);
    while (places != 0) {
      const int bit = __builtin_ctzll(places) & ~3;
      if (packer_is_anchor(table, bytes + index + bit / 4)) return index + (size_t)(bit / 4);
      places &= ~((uint64_t)15 << bit);
    }
    index += 16;
    if (index == end) return end;
    if (end - index < 16) index = end - 16;
  }
}

#endif

// The least number of bytes from 0x09 to 0x7F in a row that are a text. Of eight bytes at every eighth place, some are all in it.
enum { packer_text_run = 16 };

// Whether eight bytes that are a part of a text are a part of one that is long enough. The bytes from 0 to `end` exist.
static inline int packer_is_text(const uint8_t *bytes, size_t index, size_t end) {
  size_t first = index, last = index + 8;
  while (last < end && last - first < packer_text_run && (uint8_t)(bytes[last] - 9) < 0x77) last++;
  while (first > 0 && last - first < packer_text_run && (uint8_t)(bytes[first - 1] - 9) < 0x77) first--;
  return last - first >= packer_text_run;
}

// These searches return a place in the first text from `index` on and before `end`, or `end`. This one returns `limit` if it finds none before it.
static inline size_t packer_find_text_scalar(const uint8_t *bytes, size_t index, size_t limit, size_t end) {
  const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
  for (; limit - index >= 8; index += 8) {
    uint64_t eight;
    __builtin_memcpy(&eight, bytes + index, 8);
    if (((((eight | tops) - 9 * ones) & ~eight) & tops) == tops && packer_is_text(bytes, index, end)) return index;
  }
  return limit;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static inline size_t packer_find_text_avx2(const uint8_t *bytes, size_t index, size_t end) {
  const __m256i least = _mm256_set1_epi8(8), all = _mm256_set1_epi8(-1);
  for (; end - index >= 64; index += 64) {
    const __m256i low = _mm256_cmpgt_epi8(_mm256_loadu_si256((const __m256i *)(bytes + index)), least);
    const __m256i high = _mm256_cmpgt_epi8(_mm256_loadu_si256((const __m256i *)(bytes + index + 32)), least);
    const __m256i first = _mm256_cmpeq_epi64(low, all), second = _mm256_cmpeq_epi64(high, all), either = _mm256_or_si256(first, second);
    if (__builtin_expect(_mm256_testz_si256(either, either), 1)) continue;
    unsigned places = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(first)) | (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(second)) << 4;
    for (; places != 0; places &= places - 1) {
      size_t place = index + 8 * (size_t)__builtin_ctz(places);
      if (packer_is_text(bytes, place, end)) return place;
    }
  }
  return packer_find_text_scalar(bytes, index, end, end);
}

#elif defined(__aarch64__)

static inline size_t packer_find_text_neon(const uint8_t *bytes, size_t index, size_t end) {
  const int8x16_t least = vdupq_n_s8(8);
  const uint64x2_t all = vdupq_n_u64(~(uint64_t)0);
  for (; end - index >= 64; index += 64) {
    uint64x2_t either = vdupq_n_u64(0);
    for (int part = 0; part < 64; part += 16) {
      const uint8x16_t text = vcgtq_s8(vreinterpretq_s8_u8(vld1q_u8(bytes + index + part)), least);
      either = vorrq_u64(either, vceqq_u64(vreinterpretq_u64_u8(text), all));
    }
    if (__builtin_expect((vgetq_lane_u64(either, 0) | vgetq_lane_u64(either, 1)) == 0, 1)) continue;
    const size_t place = packer_find_text_scalar(bytes, index, index + 64, end);
    if (place < index + 64) return place;
  }
  return packer_find_text_scalar(bytes, index, end, end);
}

#endif

// The width in bytes of the widest search that this processor has.
static inline size_t packer_find_width(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? 32 : __builtin_cpu_supports("ssse3") ? 16 : 1;
#elif defined(__aarch64__)
  return 16;
#else
  return 1;
#endif
}

// The search of a width that the processor has.
static inline size_t packer_find(const uint8_t *table, size_t width, const uint8_t *bytes, size_t index, size_t end) {
#if defined(__x86_64__)
  if (width == 32) return packer_find_avx2(table, bytes, index, end);
  if (width == 16) return packer_find_ssse3(table, bytes, index, end);
#elif defined(__aarch64__)
  if (width == 16) return packer_find_neon(table, bytes, index, end);
#endif
  return packer_find_scalar(table, bytes, index, end);
}

static inline size_t packer_find_text(size_t width, const uint8_t *bytes, size_t index, size_t end) {
#if defined(__x86_64__)
  if (width == 32) return packer_find_text_avx2(bytes, index, end);
#elif defined(__aarch64__)
  if (width == 16) return packer_find_text_neon(bytes, index, end);
#else
  (void)width;
#endif
  return packer_find_text_scalar(bytes, index, end, end);
}
