#include "ccob.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include <nettle/md5.h>
#include <zlib.h>
#include <zstd.h>

namespace dcuop::elf {

namespace {

constexpr std::size_t block_size = std::size_t{256} << 10;
constexpr int method_zlib = 0;
constexpr int method_zstd = 1;

template <typename T> T field(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Packing packing_of(int method) {
  switch (method) {
  case method_zlib:
    return Packing::ccob_zlib;
  case method_zstd:
    return Packing::ccob_zstd;
  default:
    return Packing::unknown;
  }
}

std::uint64_t header_size_of(int version) {
  switch (version) {
  case 1:
    return 20;
  case 2:
    return 24;
  case 3:
    return 32;
  default:
    return 0;
  }
}

/// Collects output up to a size; more than that is a fault of the file.
class Output {
 public:
  explicit Output(std::uint64_t size) : size_(size) {}

  [[nodiscard]] char* block() { return block_.data(); }
  bool take(std::size_t length) {
    if (length > size_ - unpacked_.bytes.size()) {
      unpacked_.problem =
          "damaged: it unpacks to more than the " + std::to_string(size_) + " bytes that its header gives";
      return false;
    }
    unpacked_.bytes.append(block_.data(), length);
    return true;
  }
  void fail(const std::string& why) { unpacked_.problem = "damaged: " + why; }
  Unpacked finish() {
    if (unpacked_.problem.empty() && unpacked_.bytes.size() != size_) {
      unpacked_.problem = "damaged: it unpacks to " + std::to_string(unpacked_.bytes.size()) +
                          " bytes, not to " + std::to_string(size_);
    }
    return std::move(unpacked_);
  }

 private:
  std::uint64_t size_;
  std::string block_ = std::string(block_size, '\0');
  Unpacked unpacked_;
};

Unpacked unpack_zlib(std::string_view payload, std::uint64_t size) {
  Output output(size);
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) {
    output.fail("zlib cannot be started");
    return output.finish();
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &inflateEnd);
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !payload.empty()) {
      const std::size_t length = std::min<std::size_t>(payload.size(), std::size_t{1} << 30);
      // next_in is not const-correct without ZLIB_CONST; inflate does not write to it.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
      stream.avail_in = static_cast<uInt>(length);
      payload.remove_prefix(length);
    }
    stream.next_out = reinterpret_cast<Bytef*>(output.block());
    stream.avail_out = static_cast<uInt>(block_size);
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) {
      output.fail(stream.msg != nullptr ? std::string("zlib: ") + stream.msg : "zlib: the data ends early");
      break;
    }
    if (!output.take(block_size - stream.avail_out)) {
      break;
    }
  }
  return output.finish();
}

Unpacked unpack_zstd(std::string_view payload, std::uint64_t size) {
  Output output(size);
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             &ZSTD_freeDStream);
  if (stream == nullptr) {
    output.fail("zstd cannot be started");
    return output.finish();
  }
  ZSTD_inBuffer input{payload.data(), payload.size(), 0};
  std::size_t state = 1;
  while (state != 0) {
    ZSTD_outBuffer block{output.block(), block_size, 0};
    const std::size_t before = input.pos;
    state = ZSTD_decompressStream(stream.get(), &block, &input);
    if (ZSTD_isError(state) != 0) {
      output.fail(std::string("zstd: ") + ZSTD_getErrorName(state));
      break;
    }
    if (!output.take(block.pos)) {
      break;
    }
    if (state != 0 && block.pos == 0 && input.pos == before) {
      output.fail("zstd: the data ends early");
      break;
    }
  }
  return output.finish();
}

} // namespace

CcobHeader read_ccob_header(std::string_view bytes) {
  CcobHeader header;
  if (bytes.size() < 8) {
    header.problem = "cut off in its CCOB header";
    return header;
  }
  header.version = field<std::uint16_t>(bytes, 4);
  header.header_size = header_size_of(header.version);
  if (header.header_size == 0) {
    header.problem = "CCOB version " + std::to_string(header.version) + " is unknown (1 to 3 are read)";
    return header;
  }
  if (bytes.size() < header.header_size) {
    header.problem = "cut off in its CCOB header";
    return header;
  }
  const int method = field<std::uint16_t>(bytes, 6);
  header.packing = packing_of(method);
  switch (header.version) {
  case 1:
    header.unpacked_size = field<std::uint32_t>(bytes, 8);
    header.hash = field<std::uint64_t>(bytes, 12);
    break;
  case 2:
    header.total_size = field<std::uint32_t>(bytes, 8);
    header.unpacked_size = field<std::uint32_t>(bytes, 12);
    header.hash = field<std::uint64_t>(bytes, 16);
    break;
  default:
    header.total_size = field<std::uint64_t>(bytes, 8);
    header.unpacked_size = field<std::uint64_t>(bytes, 16);
    header.hash = field<std::uint64_t>(bytes, 24);
    break;
  }
  if (header.packing == Packing::unknown) {
    header.problem = "CCOB compression method " + std::to_string(method) + " is unknown (0 zlib, 1 zstd)";
  } else if (header.total_size && *header.total_size < header.header_size) {
    header.problem = "damaged: a CCOB shorter than its own header";
  }
  return header;
}

Unpacked unpack_ccob(const CcobHeader& header, std::string_view payload) {
  return header.packing == Packing::ccob_zlib ? unpack_zlib(payload, header.unpacked_size)
                                              : unpack_zstd(payload, header.unpacked_size);
}

std::string hash_problem(const CcobHeader& header, std::string_view unpacked) {
  if (header.hash == 0) {
    return {};
  }
  md5_ctx context;
  md5_init(&context);
  md5_update(&context, unpacked.size(), reinterpret_cast<const std::uint8_t*>(unpacked.data()));
  std::array<std::uint8_t, MD5_DIGEST_SIZE> digest{};
  md5_digest(&context, digest.size(), digest.data());
  std::uint64_t low = 0; // as llvm::MD5::MD5Result::low(): the first eight bytes, little-endian
  std::memcpy(&low, digest.data(), sizeof(low));
  return low == header.hash ? "" : "damaged: what it unpacks to has another MD5 than its header gives";
}

} // namespace dcuop::elf
