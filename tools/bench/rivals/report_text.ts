/** A report as Markdown: the machine, one table for each part, and what is missing. */
import { cpus, loadavg, totalmem } from 'node:os';
import type { BusyLine } from './bags/busy_bench.js';
import type { Line, Report } from './report.js';

function cell(ratio: number | string | undefined): string {
  if (typeof ratio !== 'number') return '-';
  return ratio >= 100 ? ratio.toFixed(0) : ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2);
}

/** Lines of equal width, as formatters of Markdown like them. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function linesText(lines: readonly Line[], base: string): string {
  const peers = [...new Set(lines.flatMap(({ ratios }) => [...ratios.keys()]))];
  // The limit stands first: it is not a rival.
  peers.sort((a, b) => Number(b === 'memory') - Number(a === 'memory'));
  const shown = peers.filter((peer) => lines.some(({ ratios }) => typeof ratios.get(peer) === 'number'));
  return table(
    ['case', 'threads', `${base} ms`, ...shown.map((peer) => `${peer} / ${base}`)],
    lines.map(({ name, threads, ms, ratios, differing }) => [
      name,
      `${threads}`,
      ms.toPrecision(3),
      ...shown.map((peer) => `${cell(ratios.get(peer))}${differing.has(peer) ? ' ≠' : ''}`),
    ]),
  );
}

export function busyText(lines: readonly BusyLine[]): string {
  return table(
    ['case', 'a process is busy', '1 thread ms', '2 threads ms', 'speed of 2 / 1'],
    lines.map(({ name, isBusy, msOfOne, msOfTwo, speed }) => [
      name,
      isBusy ? 'yes' : 'no',
      msOfOne.toPrecision(3),
      msOfTwo.toPrecision(3),
      speed.toFixed(2),
    ]),
  );
}

export function machineText(command: string, loadBefore: number): string {
  const processors = cpus();
  return [
    `- Command: \`${command}\``,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${processors.length} x ${processors[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, ${process.platform}`,
    `- Load average of the machine: ${loadBefore.toFixed(1)} before the run, ${loadavg()[0]!.toFixed(1)} at its end. On an idle machine the first is near 0.`,
    `- Node ${process.versions.node}`,
  ].join('\n');
}

export function peersText({ versions, missing, notes }: Report): string {
  const lines = [...versions].map(([name, version]) => `- ${name}: ${version}`);
  for (const [name, why] of missing) lines.push(`- ${name}: missing (${why})`);
  for (const note of notes) lines.push(`- ${note}`);
  return lines.join('\n');
}
