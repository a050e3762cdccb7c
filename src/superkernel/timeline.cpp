// The simulated run as SVG: a row for cores that do the same, time from left to right.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {

namespace {

using finding::LanguageOfText;

constexpr double width = 1000;
constexpr double label_width = 118;
constexpr double right_margin = 24;
constexpr double plot_width = width - label_width - right_margin;

// Blue and vermilion of Okabe and Ito (https://jfly.uni-koeln.de/color/), in turn; text at 4.5 to 1 on its ground.
constexpr std::string_view style = R"(
svg { color-scheme: light dark; --ground: #fff; --text: #1c1f24; --faint: #5b636e; --rule: #d5d9df; --a: #0067a5; --b: #c14a00;
  --bad: #b3261e; --on-bar: #fff; background: var(--ground); }
@media (prefers-color-scheme: dark) {
  svg { --ground: #14171b; --text: #e6e9ed; --faint: #a0a9b4; --rule: #3a414b; --a: #6cb8f0; --b: #f2a15c; --bad: #ff9a91;
    --on-bar: #14171b; }
}
text { fill: var(--text); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
.faint { fill: var(--faint); } .bad { fill: var(--bad); } .strong { font-weight: 600; } .small { font-size: 12px; }
.on { fill: var(--on-bar); font-size: 12px; } .halo { stroke: var(--ground); stroke-width: 5; paint-order: stroke; }
.a { fill: var(--a); } .b { fill: var(--b); } .part { opacity: .55; }
.stuck { fill: url(#hatch); stroke: var(--bad); } .hatch { stroke: var(--bad); stroke-width: 2; }
.ground { fill: var(--ground); } .lane { fill: var(--rule); opacity: .35; } .grid { stroke: var(--rule); }
.meet { stroke: var(--text); stroke-width: 1.5; } .inner { stroke-dasharray: 2 3; }
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

/// "12", "12.5".
std::string time_text(double value) {
  std::string text = number(value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

/// An estimate for the fonts of the style at 12 px: wide letters take two.
double text_width(std::string_view text) {
  double result = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x80 ? 7.2 : byte >= 0xc0 ? 12.5 : 0;
  }
  return result;
}

std::string shortened(const std::string& text, double most) {
  if (text_width(text) <= most) {
    return text;
  }
  std::size_t end = 0;
  double used = text_width("...");
  for (std::size_t at = 0; at < text.size() && used <= most; ++at) {
    const bool begins_letter = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    end = begins_letter ? at : end;
    used += text_width(std::string_view(text).substr(at, 1));
  }
  return text.substr(0, end) + "...";
}

/// Rows of one side: cores in a row that do the same at the same times.
struct Row {
  Side side = Side::aic;
  std::uint32_t first = 0, last = 0;
  std::vector<Span> spans;
  double top = 0, height = 0;
};

bool do_the_same(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Span& one, const Span& other) {
    return one.op == other.op && one.what == other.what && one.start == other.start && one.end == other.end;
  });
}

/// 1, 2 or 5 times a power of ten, so that there are some eight of it.
double tick_step(double span) {
  const double rough = std::max(span, 1e-6) / 8;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) {
      return factor * power;
    }
  }
  return 10 * power;
}

class Picture {
 public:
  Picture(const Scope& scope, const Plan& plan, const Simulation& simulation, LanguageOfText language)
      : scope_(scope), plan_(plan), simulation_(simulation), language_(language) {
    for (const Run& run : simulation.runs) {
      end_ = std::max(end_, run.end);
      aic_ = std::max(aic_, run.aic);
      aiv_ = std::max(aiv_, run.aiv);
    }
  }

  std::string draw() {
    make_rows();
    place_rows();
    draw_axis();
    for (const Row& row : rows_) {
      draw_row(row);
    }
    draw_sync_points();
    draw_heading();
    bottom_ += 38;
    draw_legend();
    return head() + body_ + "</svg>\n";
  }

 private:
  [[nodiscard]] std::string say(const std::string& en, const std::string& zh) const {
    return language_ == LanguageOfText::zh ? zh : en;
  }

  [[nodiscard]] double x(double time) const {
    return label_width + plot_width * (end_ > 0 ? time / end_ : 0);
  }

  void text(double left, double top, const std::string& css, const std::string& content,
            const std::string& more = {}) {
    body_ += "<text x=\"" + number(left) + "\" y=\"" + number(top) + "\"" +
             (css.empty() ? "" : " class=\"" + css + "\"") + more + ">" + escaped(content) + "</text>\n";
  }

  void line(double left, double top, double right, double bottom, const std::string& css) {
    body_ += "<line x1=\"" + number(left) + "\" y1=\"" + number(top) + "\" x2=\"" + number(right) +
             "\" y2=\"" + number(bottom) + "\" class=\"" + css + "\"/>\n";
  }

  void make_rows() {
    std::map<std::pair<Side, std::uint32_t>, std::vector<Span>> by_core;
    for (const Run& run : simulation_.runs) {
      for (const Span& span : run.spans) {
        by_core[{span.side, span.core}].push_back(span);
      }
    }
    for (const Side side : {Side::aic, Side::aiv}) {
      const std::uint32_t count = side == Side::aic ? aic_ : aiv_;
      for (std::uint32_t core = 0; core < count; ++core) {
        std::vector<Span>& spans = by_core[{side, core}];
        std::stable_sort(spans.begin(), spans.end(),
                         [](const Span& a, const Span& b) { return a.start < b.start; });
        if (!rows_.empty() && rows_.back().side == side && do_the_same(rows_.back().spans, spans)) {
          rows_.back().last = core;
        } else {
          rows_.push_back({side, core, core, spans, 0, 0});
        }
      }
    }
  }

  void place_rows() {
    double top = 62;
    Side side = rows_.empty() ? Side::aic : rows_.front().side;
    const double height = rows_.size() <= 18 ? 26 : rows_.size() <= 48 ? 14 : 7;
    for (Row& row : rows_) {
      if (row.side != side) {
        top += 12;
        side = row.side;
      }
      row.top = top;
      row.height = height;
      top += height + (height > 10 ? 3 : 1);
    }
    bottom_ = top + 4;
  }

  void draw_row(const Row& row) {
    const std::string cores = row.first == row.last
                                  ? std::to_string(row.first)
                                  : std::to_string(row.first) + "-" + std::to_string(row.last);
    const std::string name = to_string(row.side) + " " + cores;
    // Where rows are thin, one in four has its name.
    const std::size_t at = static_cast<std::size_t>(&row - rows_.data());
    const bool begins_side = at == 0 || rows_[at - 1].side != row.side;
    if (row.height > 10 || begins_side || at % 4 == 0) {
      text(label_width - 8, row.top + row.height / 2 + 4.5, "small", name, " text-anchor=\"end\"");
    }
    body_ += "<rect x=\"" + number(label_width) + "\" y=\"" + number(row.top) + "\" width=\"" +
             number(plot_width) + "\" height=\"" + number(row.height) + "\" class=\"lane\"/>\n";
    std::set<std::size_t> named; // in this row; where there are many, in all of them
    for (const Span& span : row.spans) {
      draw_span(row, span, name, row.height > 20 ? named : named_);
    }
  }

  void draw_span(const Row& row, const Span& span, const std::string& cores, std::set<std::size_t>& named) {
    const double left = x(span.start);
    const double right = std::max(x(span.end), left + 0.5);
    const Operator& op = scope_.operators[span.op];
    const bool is_stuck = span.what == Span::What::stuck;
    std::string css = span.op % 2 == 0 ? "a" : "b";
    css += span.what == Span::What::mid ? "" : " part";
    const std::string title =
        cores + (is_stuck ? say(" wait for ever: ", " 永远等待：") : say(": ", "：")) + op.name +
        (simulation_.has_all_times ? ", " + time_text(span.start) + " - " + time_text(span.end) + " us" : "");
    body_ += "<rect x=\"" + number(left) + "\" y=\"" + number(row.top) + "\" width=\"" +
             number(right - left) + "\" height=\"" + number(row.height) + "\" class=\"" +
             (is_stuck ? "stuck" : css) + "\"><title>" + escaped(title) + "</title></rect>\n";
    if (is_stuck && row.height > 10) {
      draw_blocked(row, left, right);
    }
    if (span.what == Span::What::mid && row.height > 10 && named.insert(span.op).second) {
      // A synchronisation may cut the work in pieces: the name has room until the last of them.
      double end = right;
      for (const Span& other : row.spans) {
        end = other.op == span.op && other.what == Span::What::mid ? std::max(end, x(other.end)) : end;
      }
      const double room = end - left - 10;
      const std::string full = std::to_string(span.op + 1) + " " + op.name;
      const std::string shown = text_width(full) <= room ? full
                                : room > 80              ? shortened(full, room)
                                                         : std::to_string(span.op + 1);
      if (room > 8) {
        text(left + 5, row.top + row.height / 2 + 4.5, "on", shown);
      }
    }
  }

  /// What the cores of a hatched bar wait at.
  void draw_blocked(const Row& row, double left, double right) {
    for (const Run& run : simulation_.runs) {
      for (const Blocked& one : run.blocked) {
        const std::vector<std::uint32_t>& cores = one.cores.cores;
        if (one.cores.side != row.side || std::count(cores.begin(), cores.end(), row.first) == 0) {
          continue;
        }
        const std::string& name = scope_.operators[one.op].name;
        const std::string full = one.at == "no core" ? say("no core is free", "没有空闲的核")
                                 : one.at == "barrier" ? say("barrier behind " + name, name + " 之后的同步")
                                                       : say(one.at + " of " + name, name + " 的 " + one.at);
        const double needed = text_width(full) + 12;
        const double room = right - left - 12;
        if (needed <= right - left) {
          text(left + 6, row.top + row.height / 2 + 4.5, "bad small halo", full);
        } else if (left - needed > label_width) {
          text(left - 6, row.top + row.height / 2 + 4.5, "on", full, " text-anchor=\"end\"");
        } else if (room > 60) {
          text(left + 6, row.top + row.height / 2 + 4.5, "bad small halo", shortened(full, room));
        }
        return;
      }
    }
  }

  /// The part of the plot that belongs to a side.
  [[nodiscard]] std::pair<double, double> extent(Side side) const {
    double top = bottom_;
    double bottom = 0;
    for (const Row& row : rows_) {
      if (row.side == side) {
        top = std::min(top, row.top);
        bottom = std::max(bottom, row.top + row.height);
      }
    }
    return {top, bottom};
  }

  /// Where they are close together, a line stands for several: else they hide the bars.
  void draw_sync_points() {
    constexpr double least_gap = 6;
    for (const Side side : {Side::aic, Side::aiv}) {
      const auto [top, bottom] = extent(side);
      for (const bool is_barrier : {true, false}) {
        std::set<double> places;
        for (const Run& run : simulation_.runs) {
          for (const SyncPoint& point : run.sync_points) {
            if (point.side == side && (point.what == SyncPoint::What::barrier) == is_barrier) {
              places.insert(x(point.time));
            }
          }
        }
        double last = -least_gap;
        for (const double place : places) {
          if (place - last >= least_gap) {
            line(place, top - 3, place, bottom + 3, is_barrier ? "meet" : "meet inner");
            last = place;
          }
        }
      }
    }
  }

  void draw_axis() {
    const double step = tick_step(end_);
    const int ticks = static_cast<int>(end_ / step + 1e-6);
    for (int tick = 0; tick <= ticks; ++tick) {
      const double time = tick * step;
      line(x(time), 56, x(time), bottom_, "grid");
      if (simulation_.has_all_times) {
        text(x(time), bottom_ + 15, "faint small", time_text(time), " text-anchor=\"middle\"");
      }
    }
    text(label_width - 20, bottom_ + 15, "faint small",
         simulation_.has_all_times ? "us" : say("no scale", "无刻度"), " text-anchor=\"end\"");
  }

  void draw_heading() {
    const std::size_t count = scope_.operators.size();
    const std::string counted = std::to_string(count);
    std::string kernels;
    for (const Segment& segment : plan_.judgement.segments) {
      kernels += (kernels.empty() ? "" : say(", then ", "，然后 ")) + launch_text(segment.launch);
    }
    // The heading is wider than what text_width() is of.
    const std::string name = shortened(scope_.name, (width - 24) * 0.6);
    text(12, 24, "strong",
         say(name + ": " + counted + (count == 1 ? " operator on " : " operators on "),
             name + "：" + counted + " 个算子，") +
             to_string(scope_.backend));
    text(12, 43, "faint small", shortened(kernels, width - 24));
  }

  [[nodiscard]] std::string label(std::size_t op) const {
    const Operator& one = scope_.operators[op];
    return shortened(std::to_string(op + 1) + " " + one.name, 420) + ", " + short_text(one);
  }

  [[nodiscard]] bool is_bad(std::size_t op) const {
    const Verdict& verdict = plan_.judgement.operators[op];
    return !verdict.faults.empty() || !verdict.is_reached;
  }

  /// All, or of many those with a fault and the first of the others.
  [[nodiscard]] std::vector<std::size_t> listed() const {
    constexpr std::size_t most = 40;
    std::vector<std::size_t> ops(scope_.operators.size());
    std::iota(ops.begin(), ops.end(), std::size_t{0});
    if (ops.size() > most) {
      std::stable_partition(ops.begin(), ops.end(), [&](std::size_t op) { return is_bad(op); });
      ops.resize(most);
      std::sort(ops.begin(), ops.end());
    }
    return ops;
  }

  void draw_legend() {
    const std::vector<std::size_t> ops = listed();
    double verdicts = 200;
    for (const std::size_t op : ops) {
      verdicts = std::max(verdicts, 34 + text_width(label(op)) + 20);
    }
    for (const std::size_t op : ops) {
      body_ += "<rect x=\"12\" y=\"" + number(bottom_ - 11) + "\" width=\"14\" height=\"14\" class=\"" +
               (op % 2 == 0 ? "a" : "b") + "\"/>\n";
      text(34, bottom_, "small", label(op));
      text(verdicts, bottom_, is_bad(op) ? "bad small" : "faint small",
           shortened(fault_text(scope_, plan_.judgement, op).in(language_), width - verdicts - 12));
      bottom_ += 20;
    }
    if (const std::size_t more = scope_.operators.size() - ops.size(); more > 0) {
      text(34, bottom_, "faint small",
           say("and " + std::to_string(more) + " more", "以及另外 " + std::to_string(more) + " 个"));
      bottom_ += 20;
    }
    bottom_ += 4;
    const std::string hatched = simulation_.runs.empty() || simulation_.runs.back().is_finished
                                    ? ""
                                    : say("hatched: waits for ever · ", "斜线：永远等待 · ");
    text(12, bottom_, "faint small",
         hatched + say("pale: before WaitPreTaskEnd, after SetNextTaskStart · line: all cores of a side meet "
                       "between "
                       "operators · dotted: inside of one",
                       "浅色：WaitPreTaskEnd 之前、SetNextTaskStart 之后 · 竖线：一侧的全部核在算子之间汇合 "
                       "· 虚线：在算子之内"));
    bottom_ += 18;
    text(12, bottom_, "faint small",
         say("simulated from the scope's description; nothing was run on a device",
             "由 scope 的描述模拟得出，没有在设备上运行"));
    bottom_ += 12;
  }

  [[nodiscard]] std::string head() const {
    const std::string title = say("Timeline of " + scope_.name, scope_.name + " 的时间线");
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
           number(bottom_) + "\" viewBox=\"0 0 " + number(width) + " " + number(bottom_) +
           "\" role=\"img\" aria-label=\"" + escaped(title) + "\">\n<title>" + escaped(title) +
           "</title>\n<style>" + std::string(style) +
           "</style>\n<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
           "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" "
           "class=\"hatch\"/></pattern>"
           "</defs>\n<rect width=\"100%\" height=\"100%\" class=\"ground\"/>\n";
  }

  const Scope& scope_;
  const Plan& plan_;
  const Simulation& simulation_;
  LanguageOfText language_;
  std::set<std::size_t> named_;
  std::uint32_t aic_ = 0, aiv_ = 0;
  double end_ = 0;
  double bottom_ = 0;
  std::vector<Row> rows_;
  std::string body_;
};

} // namespace

std::string timeline_svg(const Scope& scope, const Plan& plan, const Simulation& simulation,
                         LanguageOfText language) {
  return Picture(scope, plan, simulation, language).draw();
}

} // namespace dcuop::superkernel
