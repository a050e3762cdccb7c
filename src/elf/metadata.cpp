#include "metadata.hpp"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

namespace dcuop::elf {

namespace {

using nlohmann::json;

constexpr int depth_limit = 16;              // the reader recurses: MessagePack can nest once a byte
constexpr std::size_t kernel_limit = 262144; // an empty kernel map takes one byte of the note

template <typename T> T clamped(std::uint64_t value) {
  return static_cast<T>(std::min<std::uint64_t>(value, std::numeric_limits<T>::max()));
}

void set_number(KernelInfo& kernel, std::string_view key, std::uint64_t value) {
  const auto number = clamped<std::uint32_t>(value);
  if (key == ".vgpr_count") {
    kernel.vgprs = number;
  } else if (key == ".sgpr_count") {
    kernel.sgprs = number;
  } else if (key == ".agpr_count") {
    kernel.agprs = number;
  } else if (key == ".vgpr_spill_count") {
    kernel.vgpr_spills = number;
  } else if (key == ".sgpr_spill_count") {
    kernel.sgpr_spills = number;
  } else if (key == ".group_segment_fixed_size") {
    kernel.lds_bytes = value;
  } else if (key == ".private_segment_fixed_size") {
    kernel.scratch_bytes = value;
  } else if (key == ".kernarg_segment_size") {
    kernel.kernarg_bytes = value;
  } else if (key == ".wavefront_size") {
    kernel.wavefront = number;
  } else if (key == ".max_flat_workgroup_size") {
    kernel.max_workgroup = number;
  } else if (key == ".uniform_work_group_size") {
    kernel.uniform_workgroup = value != 0;
  } else if (key == ".workgroup_processor_mode") {
    kernel.wgp_mode = value != 0;
  } else if (key == ".max_num_work_groups_x") {
    kernel.max_workgroups[0] = number;
  } else if (key == ".max_num_work_groups_y") {
    kernel.max_workgroups[1] = number;
  } else if (key == ".max_num_work_groups_z") {
    kernel.max_workgroups[2] = number;
  }
}

void set_flag(KernelInfo& kernel, std::string_view key, bool value) {
  if (key == ".uses_dynamic_stack") {
    kernel.dynamic_stack = value;
  } else if (key == ".workgroup_processor_mode") {
    kernel.wgp_mode = value;
  }
}

void set_text(KernelInfo& kernel, std::string_view key, std::string& value) {
  if (key == ".name") {
    kernel.name = std::move(value);
  } else if (key == ".symbol") {
    kernel.symbol = std::move(value);
  }
}

/// Takes { "amdhsa.target": ..., "amdhsa.kernels": [ {...}, ... ] } as it is read and builds no tree: a torch
/// library's note describes tens of thousands of kernel arguments.
class MetadataReader final : public nlohmann::json_sax<json> {
 public:
  explicit MetadataReader(CodeObject& into) : into_(into) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (in_kernel()) {
      set_flag(into_.kernels.back(), kernel_key_, value);
    }
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return value < 0 || number_unsigned(static_cast<number_unsigned_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (in_kernel()) {
      set_number(into_.kernels.back(), kernel_key_, value);
    } else if (in_required_workgroup() && dimension_ < 3) {
      into_.kernels.back().required_workgroup[dimension_++] = clamped<std::uint32_t>(value);
    }
    return true;
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == 1 && top_key_ == "amdhsa.target") {
      into_.metadata_target = value;
    } else if (in_kernel()) {
      set_text(into_.kernels.back(), kernel_key_, value);
    }
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*elements*/) override {
    if (!descend()) {
      return false;
    }
    if (depth_ != kernel_depth || top_key_ != "amdhsa.kernels") {
      return true;
    }
    if (into_.kernels.size() >= kernel_limit) {
      problem_ = "more than " + std::to_string(kernel_limit) + " kernels";
      return false;
    }
    into_.kernels.emplace_back();
    kernel_key_.clear();
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 1) {
      top_key_ = value;
    } else if (depth_ == kernel_depth) {
      kernel_key_ = value;
    }
    return true;
  }
  bool end_object() override { return ascend(); }
  bool start_array(std::size_t /*elements*/) override {
    dimension_ = 0;
    return descend();
  }
  bool end_array() override { return ascend(); }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const json::exception& /*error*/) override {
    problem_ = "malformed MessagePack at byte " + std::to_string(position);
    return false;
  }

 private:
  static constexpr int kernel_depth = 3; // map, array, map

  [[nodiscard]] bool in_kernel() const {
    return depth_ == kernel_depth && top_key_ == "amdhsa.kernels" && !into_.kernels.empty();
  }
  /// In its array: one of .args is deeper by a map.
  [[nodiscard]] bool in_required_workgroup() const {
    return depth_ == kernel_depth + 1 && top_key_ == "amdhsa.kernels" && !into_.kernels.empty() &&
           kernel_key_ == ".reqd_workgroup_size";
  }
  bool descend() {
    if (++depth_ > depth_limit) {
      problem_ = "nested too deeply";
      return false;
    }
    return true;
  }
  bool ascend() {
    --depth_;
    return true;
  }

  CodeObject& into_;
  int depth_ = 0;
  std::size_t dimension_ = 0;
  std::string top_key_;
  std::string kernel_key_;
  std::string problem_;
};

} // namespace

std::string read_metadata(std::string_view note, CodeObject& into) {
  MetadataReader reader(into);
  // Not strict: the note's content may be padded.
  json::sax_parse(note.begin(), note.end(), &reader, json::input_format_t::msgpack, false);
  return reader.problem();
}

} // namespace dcuop::elf
