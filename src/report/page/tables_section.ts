/** Where tables live: a card for each, or, where there are many, for all that are alike. */
import { commonPath, type ReportData } from '../report_data.js';
import { groupName, groupWhereText, tableGroups, type TableGroup } from '../table_groups.js';
import { bytesText, counted, wholeText } from '../../base/units.js';
import { breakable, deviceHue, element, escaped, legend, rectangle } from './html.js';
import { scaleOf, shardPieces, tableCard, usedText, type Scale } from './table_picture.js';

/** More tables than these are drawn by groups. */
const MOST_SINGLE = 40;
const MOST_CARDS = 60;
const MOST_TILES = 96;
const MOST_LEGEND = 32;
const TILE = { width: 26, height: 18, gap: 2, inRow: 8 };

function deviceLegend(devices: number, withHost: boolean): string {
  const shown = Math.min(devices, MOST_LEGEND);
  const items = Array.from({ length: shown }, (_, device) => {
    const style = `--h:${deviceHue(device, devices)}`;
    const swatch = rectangle([0, 0, 12, 12], { class: 'piece', style, rx: 2 });
    return element('li', {}, element('svg', { width: 12, height: 12, 'aria-hidden': 'true' }, swatch), ` ${device}`);
  });
  const more = shown < devices ? [element('li', {}, `and ${counted(devices - shown, 'more device')}`)] : [];
  const host = withHost ? legend([['hatch', 'hatched: in the memory of the host']]) : '';
  return element('ul', { class: 'legend' }, element('li', {}, 'Device:'), ...items, ...more) + host;
}

/** The pattern of what lies in the host's memory; once for a page. */
export const HATCH = element(
  'svg',
  { width: 0, height: 0, style: 'position:absolute', 'aria-hidden': 'true' },
  element(
    'defs',
    {},
    element(
      'pattern',
      { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      element('line', { class: 'hatch-line', x1: 0, y1: 0, x2: 0, y2: 6 }),
    ),
  ),
);

/** Tables that are alike as tiles, each cut as the plan cuts it. */
function groupCard(group: TableGroup, scale: Scale, path: string): string {
  const { tables, bytes, slotBytes } = group;
  const [first] = tables;
  if (tables.length === 1) return tableCard(first!, scale, path);
  const { width, height, gap, inRow } = TILE;
  const shown = tables.slice(0, MOST_TILES);
  const tiles = shown.map((table, tile) => {
    const [x, y] = [(tile % inRow) * (width + gap), Math.floor(tile / inRow) * (height + gap)];
    return element('g', { transform: `translate(${x} ${y})` }, shardPieces(table, width, height, scale));
  });
  const name = groupName(group);
  const where = groupWhereText(group, 1);
  const [across, down] = [inRow * (width + gap), Math.ceil(shown.length / inRow) * (height + gap)];
  const frame = { width: across, height: down, viewBox: `0 0 ${across} ${down}` };
  const svg = element('svg', { ...frame, role: 'img', 'aria-label': `${name}: ${where}` }, ...tiles);
  const rest = tables.length - shown.length;
  const size = `${counted(tables.length, 'table')} of ${wholeText(first!.rows)} x ${first!.columns}`;
  const slots = slotBytes === 0 ? '' : ` + ${bytesText(slotBytes)} slots`;
  const lines = [
    element('span', { class: 'name' }, breakable(groupName(group, path))),
    element('span', {}, escaped(`${size}${rest > 0 ? `, ${shown.length} drawn` : ''}`)),
    element('span', {}, escaped(`${bytesText(bytes)}${slots} together`)),
    element('span', {}, escaped(where)),
    element('span', {}, escaped(usedText(group))),
  ];
  return element('figure', {}, svg, element('figcaption', {}, ...lines));
}

function explanation(isFolded: boolean, left: number): string {
  const what = isFolded
    ? 'Tables of one size that are cut alike are tiles of one card, in the order in which they were made. Elsewhere width '
    : 'Width ';
  const rest = left === 0 ? '' : ` ${counted(left, isFolded ? 'smaller card' : 'smaller table')} not drawn.`;
  return (
    `${what}is to scale in columns, height in the logarithm of rows; what is too small for its labels is drawn larger. ` +
    `Inside a table shards are to scale, and their numbers are devices. Largest first.${rest}`
  );
}

/** The section with the cards, the largest first. */
export function tablesSection({ tables, machine }: ReportData): string {
  const title = element('h2', { id: 'tables' }, 'Where the tables live');
  if (tables.length === 0) return element('section', {}, title, element('p', {}, 'No tables are on the devices.'));
  const isFolded = tables.length > MOST_SINGLE;
  const groups = tableGroups(tables, isFolded).sort((a, b) => b.bytes + b.slotBytes - a.bytes - a.slotBytes);
  const shown = groups.slice(0, MOST_CARDS);
  const scale = { ...scaleOf(tables, machine.devices), ...(isFolded ? { card: 240, width: 220, height: 110 } : {}) };
  const withHost = tables.some(({ shards }) => shards.some(({ inHost }) => inHost));
  const path = commonPath(tables);
  const cards = shown.map((group) => groupCard(group, scale, path));
  return element(
    'section',
    { 'aria-labelledby': 'tables' },
    title,
    element('p', { class: 'quiet' }, escaped(explanation(isFolded, groups.length - shown.length))),
    deviceLegend(machine.devices, withHost),
    element('div', { class: 'cards', style: `--card:${scale.card}px` }, ...cards),
  );
}
