// A path in another tree: what openat2(2) does with RESOLVE_IN_ROOT, for kernels and file names that do not
// exist.

#include <algorithm>
#include <deque>
#include <iterator>

#include "dcuop/support/files.hpp"

namespace dcuop {

namespace {

using Parts = std::deque<fs::path>;

void put_in_front(Parts& parts, const fs::path& path) {
  const fs::path relative = path.relative_path();
  parts.insert(parts.begin(), relative.begin(), relative.end());
}

} // namespace

bool is_named_below(const fs::path& path, const fs::path& root) {
  return std::mismatch(path.begin(), path.end(), root.begin(), root.end()).second == root.end();
}

fs::path inside(const fs::path& root, const fs::path& path) {
  if (root == "/") {
    return path;
  }
  constexpr int most_links = 40; // as the kernel: ELOOP
  Parts parts;
  put_in_front(parts, path);
  if (is_named_below(path, root)) {
    const fs::path above = root.relative_path();
    parts.erase(parts.begin(), parts.begin() + std::distance(above.begin(), above.end()));
  }
  fs::path place = root;
  int links = 0;
  while (!parts.empty()) {
    const fs::path part = parts.front();
    parts.pop_front();
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      place = place == root ? root : place.parent_path();
      continue;
    }
    std::error_code no_link;
    const fs::path target = fs::read_symlink(place / part, no_link);
    if (no_link) {
      place /= part;
    } else if (++links > most_links) {
      return root / "..." / part; // a loop leads nowhere
    } else {
      place = target.is_absolute() ? root : place;
      put_in_front(parts, target);
    }
  }
  return place;
}

fs::path followed_in(const fs::path& root, const fs::path& path) {
  return root != "/" && is_named_below(path, root) ? inside(root, path) : path;
}

} // namespace dcuop
