#include "dcuop/elf/loader.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include <elf.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

#include "image_reader.hpp"
#include "ld_cache.hpp"
#include "search_path.hpp"

namespace dcuop::elf {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
constexpr std::size_t cache_limit = std::size_t{64} << 20;
constexpr std::size_t loaded_limit = 8192; // what damaged files can chain up to, far above any process

/// Where the search for a name ended.
struct Found {
  std::filesystem::path path;   ///< empty: nowhere
  std::filesystem::path origin; ///< the directory that it was found in, links in it not followed
  FoundBy by = FoundBy::not_found;
  std::vector<std::string> rejected;
  std::string problem;
};

struct Edge {
  std::string name;
  std::size_t to = none;
  std::vector<std::string> rejected; ///< of a name that was not found
};

/// A file in the process: glibc's link_map.
struct Node {
  Image image;
  std::optional<FileIdentity> identity;
  std::size_t loader = none; ///< the file that brought it in
  Found found;
  std::vector<Edge> edges;
};

class Loader {
 public:
  Loader(const Image& image, const LoaderContext& context)
      : context_(context), machine_(image.identity.machine), search_(context.root, machine_),
        cache_(read_file_prefix(inside(context.root, "/etc/ld.so.cache"), cache_limit).value_or(""), machine_,
               search_.hwcaps()) {
    for (const auto& directory : context.library_path) {
      library_path_.push_back(search_.rooted(directory));
    }
    load_what_is_there();
    expand_from(0);
    first_new_ = nodes_.size();
    Node& node = nodes_.emplace_back();
    node.image = shallow(image);
    node.identity = identity_of(image.path);
    node.loader = main_program();
    expand_from(first_new_);
  }

  [[nodiscard]] Closure closure() const;

 private:
  static Image shallow(const Image& image);
  void load_what_is_there();
  void expand_from(std::size_t first);
  std::size_t load(const std::string& name, std::size_t wanted_by, Edge& edge);
  std::size_t add(const std::string& name, std::size_t wanted_by, Found found);
  [[nodiscard]] std::size_t loaded_as(const std::string& name) const;
  [[nodiscard]] std::size_t main_program() const;

  Found search(const std::string& name, std::size_t wanted_by);
  bool search_rpaths(const std::string& name, std::size_t wanted_by, Found& found);
  bool search_cache(const std::string& name, bool no_default_directories, Found& found);
  bool search_directories(const std::vector<std::filesystem::path>& directories, const std::string& name,
                          FoundBy by, Found& found);
  bool accept(const std::filesystem::path& candidate, FoundBy by, Found& found) const;
  [[nodiscard]] std::filesystem::path origin_of(std::size_t node) const;

  const LoaderContext& context_;
  std::uint16_t machine_;
  SearchPaths search_;
  LdCache cache_;
  std::vector<std::filesystem::path> library_path_;
  std::deque<Node> nodes_;                             // references stay valid as it grows
  std::unordered_map<std::string, std::size_t> index_; ///< SONAMEs, paths, and names asked for
  std::size_t first_new_ = 0;
};

/// As the libraries of the closure are held: the symbols of an image are not needed here.
Image Loader::shallow(const Image& image) {
  Image copy;
  copy.path = image.path;
  copy.identity = image.identity;
  copy.needed = image.needed;
  copy.soname = image.soname;
  copy.rpath = image.rpath;
  copy.runpath = image.runpath;
  copy.flags_1 = image.flags_1;
  return copy;
}

void Loader::load_what_is_there() {
  for (const auto& path : context_.already_loaded) {
    add("", none, {.path = path, .origin = {}, .by = FoundBy::already_loaded, .rejected = {}, .problem = {}});
  }
  for (const auto& path : context_.preload) {
    Edge edge;
    load(path.string(), main_program(), edge);
  }
}

void Loader::expand_from(std::size_t first) {
  for (std::size_t i = first; i < nodes_.size() && nodes_.size() < loaded_limit; ++i) {
    for (const std::string& name : nodes_[i].image.needed) {
      Edge edge{.name = name, .to = none, .rejected = {}};
      edge.to = load(name, i, edge);
      nodes_[i].edges.push_back(std::move(edge));
    }
  }
}

std::size_t Loader::load(const std::string& name, std::size_t wanted_by, Edge& edge) {
  if (const std::size_t loaded = loaded_as(name); loaded != none) {
    return loaded;
  }
  Found found = search(name, wanted_by);
  if (found.by == FoundBy::not_found) {
    edge.rejected = std::move(found.rejected);
    return none;
  }
  return add(name, wanted_by, std::move(found));
}

std::size_t Loader::add(const std::string& name, std::size_t wanted_by, Found found) {
  const auto identity = identity_of(found.path);
  for (std::size_t i = 0; identity && i < nodes_.size(); ++i) {
    if (nodes_[i].identity && nodes_[i].identity->device == identity->device &&
        nodes_[i].identity->inode == identity->inode) {
      index_.emplace(name, i); // one file is loaded once, whatever its names
      return i;
    }
  }
  Node node;
  node.image.path = found.path;
  if (found.problem.empty()) {
    try {
      node.image = read_image(found.path, Depth::dynamic_table);
      if (node.image.truncated()) {
        found.problem = "truncated: loading it ends in SIGBUS";
      }
    } catch (const Error& error) {
      found.problem = error.what();
    }
  }
  node.identity = identity;
  node.loader = wanted_by;
  node.found = std::move(found);
  const std::size_t index = nodes_.size();
  for (const std::string& known_as : {name, node.image.soname, node.image.path.string()}) {
    index_.emplace(known_as, index);
  }
  nodes_.push_back(std::move(node));
  return index;
}

std::size_t Loader::loaded_as(const std::string& name) const {
  const auto found = name.empty() ? index_.end() : index_.find(name);
  return found == index_.end() ? none : found->second;
}

/// The executable, when it stands first among what is loaded.
std::size_t Loader::main_program() const {
  if (nodes_.empty() || context_.already_loaded.empty()) {
    return none;
  }
  const auto& segments = nodes_.front().image.segments;
  const bool executable = std::any_of(segments.begin(), segments.end(),
                                      [](const Segment& segment) { return segment.type == PT_INTERP; });
  return executable ? 0 : none;
}

/// _dl_map_object's order.
Found Loader::search(const std::string& name, std::size_t wanted_by) {
  Found found;
  if (name.find('/') != std::string::npos) {
    accept(search_.expand(name, origin_of(wanted_by)), FoundBy::path, found);
    return found;
  }
  const std::string runpath = wanted_by == none ? "" : nodes_[wanted_by].image.runpath;
  const bool no_default_directories =
      wanted_by != none && (nodes_[wanted_by].image.flags_1 & DF_1_NODEFLIB) != 0;
  if (runpath.empty() && search_rpaths(name, wanted_by, found)) {
    return found;
  }
  if (search_directories(library_path_, name, FoundBy::library_path, found) ||
      search_directories(search_.split(runpath, origin_of(wanted_by)), name, FoundBy::runpath, found) ||
      search_cache(name, no_default_directories, found) || no_default_directories) {
    return found;
  }
  search_directories(search_.default_directories(), name, FoundBy::default_directory, found);
  return found;
}

/// DT_RPATH of the wanting file, of the file that brought that one in and so on up, and of the executable. A
/// DT_RUNPATH makes its file's DT_RPATH void, but not those further up.
bool Loader::search_rpaths(const std::string& name, std::size_t wanted_by, Found& found) {
  const std::size_t main = main_program();
  bool main_done = false;
  const auto search_rpath_of = [&](std::size_t index) {
    const Image& image = nodes_[index].image;
    return image.runpath.empty() &&
           search_directories(search_.split(image.rpath, origin_of(index)), name, FoundBy::rpath, found);
  };
  for (std::size_t i = wanted_by; i != none; i = nodes_[i].loader) {
    if (search_rpath_of(i)) {
      return true;
    }
    main_done = main_done || i == main;
  }
  return main != none && !main_done && search_rpath_of(main);
}

bool Loader::search_cache(const std::string& name, bool no_default_directories, Found& found) {
  const std::filesystem::path cached = cache_.find(name);
  if (cached.empty()) {
    return false;
  }
  const std::filesystem::path candidate = search_.rooted(cached);
  if (no_default_directories) {
    for (const auto& directory : search_.default_directories()) {
      if (lies_below(candidate, directory)) {
        return false;
      }
    }
  }
  return accept(candidate, FoundBy::cache, found);
}

bool Loader::search_directories(const std::vector<std::filesystem::path>& directories,
                                const std::string& name, FoundBy by, Found& found) {
  for (const auto& directory : directories) {
    for (const auto& candidate : search_.candidates(directory.empty() ? "." : directory, name)) {
      if (accept(candidate, by, found)) {
        return true;
      }
    }
  }
  return false;
}

/// open_verify: a file of another class or machine is passed over, as is one that cannot be opened; any other
/// fault ends the search there.
bool Loader::accept(const std::filesystem::path& candidate, FoundBy by, Found& found) const {
  const std::filesystem::path file = search_.real(candidate);
  const Identity identity = identify(file);
  const auto reject = [&](const std::string& why) {
    found.rejected.push_back(candidate.string() + ": " + why);
    return false;
  };
  switch (identity.kind) {
  case FileKind::missing:
    return reject("no such file");
  case FileKind::unreadable:
    return reject("cannot be opened");
  case FileKind::directory:
    found.problem = "cannot read file data: Is a directory";
    break;
  case FileKind::empty:
  case FileKind::too_short:
    found.problem = "file too short";
    break;
  case FileKind::lfs_pointer:
  case FileKind::archive:
  case FileKind::not_elf:
    found.problem = "invalid ELF header";
    break;
  case FileKind::elf:
    if (identity.elf_class != 64) {
      return reject("wrong ELF class: ELFCLASS" + std::to_string(identity.elf_class));
    }
    if (identity.machine != machine_ || !identity.little_endian) {
      return reject("for another machine: " + machine_name(identity.machine));
    }
    break;
  }
  found.path = file;
  found.origin = candidate.parent_path();
  found.by = by;
  return true;
}

std::filesystem::path Loader::origin_of(std::size_t node) const {
  if (node == none) {
    return {};
  }
  std::error_code error;
  const Node& known = nodes_[node];
  const auto directory = known.found.origin.empty() ? known.image.path.parent_path() : known.found.origin;
  return std::filesystem::absolute(directory, error);
}

Closure Loader::closure() const {
  Closure closure;
  std::vector<std::size_t> queue = {first_new_};
  std::set<std::size_t> seen = {first_new_};
  std::set<std::string> missing;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const Node& node = nodes_[queue[next]];
    for (const Edge& edge : node.edges) {
      if (edge.to == none) {
        if (missing.insert(edge.name).second) {
          closure.libraries.push_back({.name = edge.name,
                                       .path = {},
                                       .found_by = FoundBy::not_found,
                                       .wanted_by = node.image.path,
                                       .rejected = edge.rejected,
                                       .problem = {}});
        }
      } else if (seen.insert(edge.to).second) {
        const Found& found = nodes_[edge.to].found;
        closure.libraries.push_back({.name = edge.name,
                                     .path = found.path,
                                     .found_by = edge.to < first_new_ ? FoundBy::already_loaded : found.by,
                                     .wanted_by = node.image.path,
                                     .rejected = found.rejected,
                                     .problem = found.problem});
        queue.push_back(edge.to);
      }
    }
  }
  return closure;
}

} // namespace

std::string to_string(FoundBy found_by) {
  switch (found_by) {
  case FoundBy::already_loaded:
    return "already loaded";
  case FoundBy::rpath:
    return "RPATH";
  case FoundBy::library_path:
    return "LD_LIBRARY_PATH";
  case FoundBy::runpath:
    return "RUNPATH";
  case FoundBy::cache:
    return "ld.so.cache";
  case FoundBy::default_directory:
    return "default directory";
  case FoundBy::path:
    return "path";
  case FoundBy::not_found:
    break;
  }
  return "not found";
}

bool Closure::complete() const {
  return std::all_of(libraries.begin(), libraries.end(), [](const Library& library) {
    return library.found_by != FoundBy::not_found && library.problem.empty();
  });
}

Closure resolve_closure(const Image& image, const LoaderContext& context) {
  return Loader(image, context).closure();
}

} // namespace dcuop::elf
