/** The matrix of bytes over links: numbers while they can be read, squares where there are many devices. */
import type { ReportData } from '../report_data.js';
import { bytesText, countText } from '../../base/units.js';
import { element, escaped, rectangle, textTable } from './html.js';

const MOST_NUMBERS = 16;
const MOST_SQUARES = 64;
const SQUARES = 640;

/** The weakest shade of what was sent at all. */
const FAINT = 0.12;

/**
 * The shade of a number among others, 0 to 1. Shades begin at the smallest number above 0, as links that carry much the
 * same would look the same otherwise; 0 has none.
 */
function shadesOf(all: readonly number[]): (value: number) => string {
  const sent = all.filter((value) => value > 0);
  const [least, most] = [Math.min(...sent), Math.max(...sent)];
  return (value) => {
    if (value === 0) return '0';
    const share = most === least ? 1 : (value - least) / (most - least);
    return (FAINT + (1 - FAINT) * share).toFixed(3);
  };
}

function numbers(bytes: readonly (readonly number[])[], ids: readonly (readonly number[])[]): string {
  const shade = shadesOf(bytes.flat());
  const head = ['from \\ to', ...bytes.map((_, to) => String(to))].map((text, column) =>
    element('th', { scope: 'col', class: column === 0 ? 'left' : undefined }, escaped(text)),
  );
  const lines = bytes.map((row, from) => {
    const cells = row.map((value, to) => {
      if (from === to) return element('td', { class: 'none' }, '·');
      const title = `${from} to ${to}: ${bytesText(value)}, ${countText(ids[from]![to]!)} ids`;
      const style = `--share:${shade(value)}`;
      return element('td', { style, title }, escaped(bytesText(value)));
    });
    return element('tr', {}, element('th', { scope: 'row', class: 'left' }, String(from)), ...cells);
  });
  const table = element(
    'table',
    { class: 'heat' },
    element('caption', {}, 'Bytes sent from the device of the row to the device of the column'),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...lines),
  );
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Bytes over links' }, table);
}

/** Sums of blocks of devices, so that at most MOST_SQUARES lines are left. */
function blocks(bytes: readonly (readonly number[])[], size: number): number[][] {
  const count = Math.ceil(bytes.length / size);
  const sums = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  bytes.forEach((row, from) =>
    row.forEach((value, to) => {
      sums[Math.floor(from / size)]![Math.floor(to / size)]! += value;
    }),
  );
  return sums;
}

function squares(bytes: readonly (readonly number[])[], sums: readonly (readonly number[])[], size: number): string {
  const shade = shadesOf(sums.flat());
  const side = Math.floor(SQUARES / sums.length);
  const [left, top] = [44, 34];
  const name = (block: number): string => {
    const last = Math.min(bytes.length, (block + 1) * size) - 1;
    return size === 1 ? String(block) : `${block * size}-${last}`;
  };
  const every = Math.ceil(28 / side);
  const axis = sums.flatMap((_, block) => {
    if (block % every !== 0) return [];
    const middle = block * side + side / 2;
    const text = escaped(String(block * size));
    return [
      element('text', { class: 'axis', x: left + middle, y: top - 6, 'text-anchor': 'middle' }, text),
      element('text', { class: 'axis', x: left - 6, y: top + middle + 4, 'text-anchor': 'end' }, text),
    ];
  });
  const cells = sums.flatMap((row, from) =>
    row.map((value, to) => {
      const style = `--share:${shade(value)}`;
      const box = [left + to * side, top + from * side, side - 1, side - 1] as const;
      return rectangle(box, { class: 'cell', style }, `${name(from)} to ${name(to)}: ${bytesText(value)}`);
    }),
  );
  const length = left + sums.length * side;
  const described = 'Matrix of bytes over links';
  const svg = element(
    'svg',
    { width: length, height: top + sums.length * side, role: 'img', 'aria-label': described },
    element('text', { class: 'axis', x: left, y: 12 }, 'to device'),
    element('text', { class: 'axis', x: 0, y: top - 6 }, 'from'),
    ...axis,
    ...cells,
  );
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': described }, svg);
}

/** The ten busiest links as a table, for those who cannot read squares. */
function busiest(bytes: readonly (readonly number[])[]): string {
  const all = bytes.flatMap((row, from) => row.map((value, to) => ({ from, to, value })));
  const most = all.sort((a, b) => b.value - a.value || a.from - b.from || a.to - b.to).slice(0, 10);
  const rows = most.map(({ from, to, value }) => [`${from} to ${to}`, bytesText(value)]);
  return textTable('The busiest links', ['link', 'bytes'], rows, [0]);
}

/** The section of links; nothing for a single device. */
export function linksSection({ links, devices }: ReportData): string {
  if (devices.length < 2) return '';
  const title = element('h2', { id: 'links' }, 'Traffic over links');
  if (links.totalBytes === 0) {
    const none = element('p', { class: 'quiet' }, 'Nothing was sent from device to device yet.');
    return element('section', { 'aria-labelledby': 'links' }, title, none);
  }
  const isSmall = devices.length <= MOST_NUMBERS;
  const size = isSmall ? 1 : Math.ceil(devices.length / MOST_SQUARES);
  const fields = blocks(links.bytes, size);
  const sent = fields.flat().filter((value) => value > 0);
  const range = [Math.min(...sent), Math.max(...sent)].map(bytesText).join(' (faint) to ');
  const how =
    `${bytesText(links.totalBytes)} of ids, pooled rows and gradients in all. The more was sent, the stronger is the ` +
    `blue of a field: from ${range}. A field without blue: nothing was sent.`;
  return element(
    'section',
    { 'aria-labelledby': 'links' },
    title,
    element('p', { class: 'quiet' }, escaped(how)),
    isSmall ? numbers(links.bytes, links.ids) : squares(links.bytes, fields, size) + busiest(links.bytes),
  );
}
