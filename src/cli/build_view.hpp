#pragma once
// How a build is shown: one live line on a terminal, start lines and a heartbeat in a log, one line an op at the end.

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/build/build.hpp"
#include "dcuop/support/terminal.hpp"

namespace dcuop::cli {

class BuildView : public build::Observer {
 public:
  BuildView(Terminal& terminal, const Environment& environment,
            const std::filesystem::path& working_directory, std::size_t widest_name);
  ~BuildView() override;

  void will_build(const key::Request& request, const std::string& reason) override;
  void started(const key::Request& request, const std::string& step) override;
  void finished(const key::Request& request, const std::string& step,
                std::chrono::milliseconds wall) override;
  void waiting(const key::Request& request, const std::optional<store::Holder>& holder,
               std::chrono::milliseconds so_far) override;

  /// The line for an op that is done; on stdout.
  void show(const build::OpResult& result);

 private:
  void beat();
  [[nodiscard]] std::string column(const std::string& name) const;
  void show_failure(const build::OpResult& result, const store::Failure& failure);
  struct Running {
    std::string op, step;
    std::chrono::steady_clock::time_point since;
  };

  Terminal& terminal_;
  const Environment& environment_;
  std::string here_; ///< the working directory with a slash: places below it are shown relative
  std::size_t width_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::map<std::string, Running> running_;
  std::map<std::string, std::chrono::milliseconds> last_wait_line_;
  std::thread heartbeat_;
};

/// `use_lock` is that of the cache, own or shared, in which the entry lies; absent when that has none to be had.
[[nodiscard]] nlohmann::json to_json(const build::OpResult& result, const key::Request& request,
                                     const store::Store& store, const std::vector<store::Store>& shared);

} // namespace dcuop::cli
