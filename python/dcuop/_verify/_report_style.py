"""The style of the HTML report: light, dark and printed, narrow and wide."""

# Contrast of text is at least 4.5 to 1 and of lines 3 to 1 on their ground (WCAG 2.1, 1.4.3 and 1.4.11). The two series are
# blue and vermilion of Okabe and Ito (https://jfly.uni-koeln.de/color/), which stay apart for the colour-blind.
STYLE = """
:root { color-scheme: light dark; --ground: #fff; --raised: #f5f6f8; --text: #1c1f24; --faint: #5b636e; --rule: #d5d9df;
  --good: #12703a; --bad: #b3261e; --open: #855300; --good-ground: #e3f4e9; --bad-ground: #fcebea; --open-ground: #fdf2dc;
  --a: #0067a5; --b: #c14a00; --link: #0067a5; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --raised: #1e2228; --text: #e6e9ed; --faint: #a0a9b4; --rule: #3a414b; --good: #6fd39a;
    --bad: #ff9a91; --open: #f0bb5c; --good-ground: #15301f; --bad-ground: #3b1a18; --open-ground: #35280f; --a: #6cb8f0;
    --b: #f2a15c; --link: #8cc6f2; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 66rem; padding: 1.5rem 1.25rem 3rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC",
  "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; }
code, td.num, td.value, .command { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .9em; }
.faint { color: var(--faint); }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: .6rem; font-size: .9rem; font-weight: 600;
  border: 1px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.badge.good { background: var(--good-ground); } .badge.bad { background: var(--bad-ground); }
.badge.open { background: var(--open-ground); }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; vertical-align: top; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: .25rem; }
thead th { font-weight: 600; color: var(--faint); vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
.num { text-align: right; white-space: nowrap; } th.num { white-space: normal; min-width: 4rem; vertical-align: bottom; }
td.wrap { overflow-wrap: anywhere; min-width: 9rem; }
table.summary { width: 100%; } table.summary p { margin: 0; overflow-wrap: anywhere; }
table.facts td { overflow-wrap: anywhere; }
.case { border: 1px solid var(--rule); border-left: 4px solid var(--bad); border-radius: .3rem; background: var(--raised);
  padding: .6rem .9rem .7rem; margin: .8rem 0; }
.case h3 { margin: 0 0 .3rem; } .case .scroll { margin: .5rem 0; }
.command { display: block; margin-top: .5rem; padding: .45rem .6rem; background: var(--ground); border: 1px solid var(--rule);
  border-radius: .25rem; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }
.note { border-left: 4px solid var(--open); background: var(--open-ground); padding: .5rem .8rem; border-radius: .3rem; }
details { margin: .4rem 0; } summary { cursor: pointer; padding: .15rem 0; overflow-wrap: anywhere; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; } .beside > * { flex: 1 1 24rem; min-width: 0; }
figure { margin: .75rem 0; max-width: 40rem; }
figcaption { font-size: .92rem; font-weight: 600; margin-bottom: .25rem; overflow-wrap: anywhere; }
.plot { display: block; width: 100%; min-width: 27rem; height: auto; }
.plot text { fill: var(--text); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC",
  sans-serif; }
.plot .tick { fill: var(--faint); } .plot .axis { stroke: var(--faint); } .plot .grid { stroke: var(--rule); }
.plot .bar.a, .plot .mark.a { fill: var(--a); } .plot .bar.b, .plot .mark.b { fill: var(--b); }
.plot .bar.b { fill-opacity: .55; stroke: var(--b); }
.plot .line { fill: none; stroke-width: 2; } .plot .line.a { stroke: var(--a); }
.plot .line.b { stroke: var(--b); stroke-dasharray: 6 4; }
.plot .band.a { fill: var(--a); opacity: .18; } .plot .band.b { fill: var(--b); opacity: .18; }
@media (max-width: 40rem) { body { padding: 1rem .8rem 2rem; } .summary tr, .summary th, .summary td { display: block; }
  .summary th { border: 0; padding-bottom: 0; } }
@media print {
  :root { color-scheme: light; --ground: #fff; --raised: #fff; --text: #000; --faint: #444; --rule: #bbb; --good: #12703a;
    --bad: #b3261e; --open: #855300; --good-ground: #fff; --bad-ground: #fff; --open-ground: #fff; --a: #0067a5; --b: #c14a00; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .case, figure, tr { break-inside: avoid; } h2, h3, figcaption, thead { break-after: avoid; }
  .scroll { overflow: visible; } .plot { min-width: 0; }
  :not(.screen) > details:not([open])::details-content { content-visibility: visible; display: block; height: auto; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
