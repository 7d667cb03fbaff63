/** How a report looks, in light and in dark. */
export const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--surface:#fff;--ink:#15181d;--quiet:#59616e;--line:#d9dde4;--soft:#eceff3;
--tables:#2f6fd0;--slots:#8db7ee;--exchange:#d98e04;--host:#9aa3af;--bar:#2f6fd0;--mean:#15181d;--warn:#b3261e;--heat:#2f6fd0;
--phase0:#2f6fd0;--phase1:#d98e04;--phase2:#b8489b;--phase3:#158a73;--light:.79;--chroma:.105;--hatch:#15181d}
@media (prefers-color-scheme:dark){:root{--page:#14171c;--surface:#1c2027;--ink:#e8ebf0;--quiet:#a2abb8;--line:#343b46;
--soft:#272d36;--tables:#6ba3f2;--slots:#3b659f;--exchange:#e9ad3d;--host:#6d7683;--bar:#6ba3f2;--mean:#e8ebf0;--warn:#ff8a80;
--heat:#2f6fd0;--phase0:#6ba3f2;--phase1:#e9ad3d;--phase2:#dd82c4;--phase3:#4fbfa6;--light:.72;--chroma:.1}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 24px 56px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:19px;margin:0 0 4px}
h3{font-size:15px;margin:20px 0 4px}
p{margin:0 0 10px}
p,li{overflow-wrap:anywhere}
a{color:inherit}
.quiet{color:var(--quiet)}
.warn{color:var(--warn);font-weight:600}
section{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:20px 22px;margin-top:18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:18px 0 0;padding:0}
.tiles div{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tiles dt{color:var(--quiet);font-size:13px}
.tiles dd{margin:0;font-size:22px;font-weight:600;line-height:1.25}
.tiles small{display:block;font-size:12px;font-weight:400;color:var(--quiet)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:6px 0 14px;padding:0;font-size:13px;color:var(--quiet)}
.legend svg{vertical-align:-1px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(var(--card),1fr));gap:16px 14px;align-items:end;margin:0}
.cards figure{margin:0;min-width:0}
.cards svg{display:block;overflow:visible;max-width:100%;height:auto}
.cards figcaption{margin-top:5px;font-size:12px;line-height:1.35;color:var(--quiet)}
.cards figcaption span{display:block;overflow-wrap:anywhere}
.cards figcaption .name{color:var(--ink);font-weight:600}
.piece{fill:oklch(var(--light) var(--chroma) var(--h));stroke:var(--surface);stroke-width:1}
.piece-label{fill:#10141a;font-size:10px;text-anchor:middle;dominant-baseline:central;pointer-events:none}
.hatch{fill:url(#hatch);pointer-events:none}
.hatch-line{stroke:var(--hatch);stroke-width:1.2;opacity:.55}
.hosted{fill:var(--host)}
.tables{fill:var(--tables)}.slots{fill:var(--slots)}.exchange{fill:var(--exchange)}
.bar{fill:var(--bar)}.second{fill:var(--slots)}.track{fill:var(--soft)}
.mark{stroke:var(--mean);stroke-width:2}
.limit{stroke:var(--warn);stroke-width:2}
.phase0{fill:var(--phase0)}.phase1{fill:var(--phase1)}.phase2{fill:var(--phase2)}.phase3{fill:var(--phase3)}
.scroll{overflow:auto;max-height:560px}
.scroll:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;min-width:min(100%,520px)}
caption{text-align:left;color:var(--quiet);padding-bottom:6px}
th,td{padding:4px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
.left{text-align:left}
thead th{position:sticky;top:0;background:var(--surface);font-weight:600;border-bottom:1px solid var(--quiet)}
tbody th{font-weight:600}
.long{white-space:normal;overflow-wrap:anywhere;min-width:180px}
td svg{display:block}
.heat td{min-width:62px;text-align:center;
background:color-mix(in oklab,var(--heat) calc(var(--share)*75%),var(--surface))}
.heat thead th:not(.left){text-align:center}
.heat td.none{background:none;color:var(--quiet)}
.cell{fill:color-mix(in oklab,var(--heat) calc(var(--share)*100%),var(--soft))}
.axis{fill:var(--quiet);font-size:11px}
details{margin-top:14px}
summary{cursor:pointer;font-weight:600}
ul.plain{margin:4px 0 10px;padding-left:20px}
@media (max-width:640px){main{padding:16px 10px 32px}section{padding:14px 12px;border-radius:8px}h1{font-size:22px}h2{font-size:17px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tiles div{padding:9px 11px}.tiles dd{font-size:18px}
.bars{width:110px}caption{max-width:calc(100vw - 48px)}
th,td{padding:4px 7px}tbody th{position:sticky;left:0;background:var(--surface);z-index:1}.long{min-width:140px}}
@media print{body{background:#fff}section{break-inside:avoid}}
`;
