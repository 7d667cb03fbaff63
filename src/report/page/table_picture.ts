/** The picture of a table: a rectangle, cut as the plan cuts it. */
import { shortName, whereText, type ReportShard, type ReportTable } from '../report_data.js';
import { bytesText, countText, wholeText } from '../../base/units.js';
import { breakable, deviceHue, element, escaped, rectangle, round } from './html.js';

/** Room that a number needs to be read. */
const LABEL_WIDTH = 12;
const LABEL_HEIGHT = 12;
const SHEET = 5;
const MOST_SHEETS = 5;

export interface Scale {
  readonly card: number;
  readonly width: number;
  readonly height: number;
  readonly mostColumns: number;
  readonly mostRows: number;
  readonly devices: number;
}

type Box = readonly [x: number, y: number, width: number, height: number];

export function scaleOf(tables: readonly ReportTable[], devices: number): Scale {
  const [card, width, height] =
    tables.length <= 6 ? [240, 220, 150] : tables.length <= 24 ? [166, 150, 110] : [140, 120, 98];
  const mostColumns = Math.max(...tables.map(({ columns }) => columns));
  const mostRows = Math.max(...tables.map(({ rows }) => rows));
  return { card, width, height, mostColumns, mostRows, devices };
}

/** Width by columns, height by the logarithm of rows; at least what the numbers in it need. */
function sizeOf(table: ReportTable, scale: Scale): [width: number, height: number] {
  const byColumns = (scale.width * table.columns) / scale.mostColumns;
  const byRows = (scale.height * Math.log(table.rows + 1)) / Math.log(scale.mostRows + 1);
  const pieces = table.shards.length;
  const least: [number, number] = [26, 16];
  if (table.kind === 'columns') least[0] = Math.max(least[0], pieces * LABEL_WIDTH);
  if (table.kind === 'rows') least[1] = Math.max(least[1], pieces * LABEL_HEIGHT);
  return [Math.min(scale.width, Math.max(byColumns, least[0])), Math.min(scale.height, Math.max(byRows, least[1]))];
}

function rowsText({ rows, columns }: ReportShard, table: ReportTable): string {
  const cut = columns[1] - columns[0] < table.columns;
  const columnText = cut ? `columns ${columns[0]}..${columns[1]} of ${table.columns}` : `all ${table.columns} columns`;
  if (rows.step > 1) return `rows with id mod ${rows.step} = ${rows.first} (${wholeText(rows.count)}), ${columnText}`;
  if (rows.count === table.rows) return `all ${wholeText(rows.count)} rows, ${columnText}`;
  return `rows ${wholeText(rows.first)}..${wholeText(rows.first + rows.count)}, ${columnText}`;
}

/** What a shard is, for tooltips. */
function shardText(shard: ReportShard, table: ReportTable): string {
  const slots = shard.slotBytes === 0 ? '' : `, slots ${bytesText(shard.slotBytes)}`;
  const host = shard.inHost ? ', in the memory of the host' : '';
  return `${table.name} on device ${shard.device}: ${rowsText(shard, table)}, ${bytesText(shard.bytes)}${slots}${host}`;
}

function label(text: string, [x, y, width, height]: Box): string {
  if (width < LABEL_WIDTH * 0.6 * Math.max(1, text.length * 0.9) || height < LABEL_HEIGHT - 1) return '';
  return element('text', { class: 'piece-label', x: round(x + width / 2), y: round(y + height / 2) }, escaped(text));
}

function piece(shard: ReportShard, table: ReportTable, box: Box, { devices }: Scale, withLabel = true): string {
  const style = `--h:${deviceHue(shard.device, devices)}`;
  const parts = [rectangle(box, { class: 'piece', style }, shardText(shard, table))];
  if (shard.inHost) parts.push(rectangle(box, { class: 'hatch' }));
  if (withLabel) parts.push(label(String(shard.device), box));
  return parts.join('');
}

function columnPieces(table: ReportTable, width: number, height: number, scale: Scale): string {
  return table.shards
    .map((shard) => {
      const [start, end] = shard.columns;
      const x = (width * start) / table.columns;
      return piece(shard, table, [x, 0, (width * (end - start)) / table.columns, height], scale);
    })
    .join('');
}

function rowPieces(table: ReportTable, width: number, height: number, scale: Scale): string {
  return table.shards
    .map((shard) => {
      const y = (height * shard.rows.first) / table.rows;
      return piece(shard, table, [0, y, width, (height * shard.rows.count) / table.rows], scale);
    })
    .join('');
}

/** Rows that are dealt out one by one: the first rounds of the deal stand for all. */
function dealtPieces(table: ReportTable, width: number, height: number, scale: Scale): string {
  const { step } = table.shards[0]!.rows;
  const rounds = Math.max(1, Math.min(3, Math.floor(height / (step * 5)), Math.ceil(table.rows / step)));
  const stripe = height / (rounds * step);
  return table.shards
    .map((shard) =>
      Array.from({ length: rounds }, (_, round) => {
        const y = (round * step + shard.rows.first) * stripe;
        return piece(shard, table, [0, y, width, stripe], scale);
      }).join(''),
    )
    .join('');
}

/** Sheets one behind the other; the first device's in front. */
function copiedSheets(table: ReportTable, width: number, height: number, scale: Scale): string {
  const shown = table.shards.slice(0, MOST_SHEETS);
  const sheets = shown.map((shard, place) => {
    const box: Box = [place * SHEET, (shown.length - 1 - place) * SHEET, width, height];
    return piece(shard, table, box, scale, false);
  });
  const front: Box = [0, (shown.length - 1) * SHEET, width, height];
  return sheets.reverse().join('') + label(`x${table.shards.length}`, front);
}

/** The shards of a table in a box at the origin. */
export function shardPieces(table: ReportTable, width: number, height: number, scale: Scale): string {
  if (table.kind === 'columns') return columnPieces(table, width, height, scale);
  if (table.kind === 'replicated') return copiedSheets(table, width, height, scale);
  return (table.shards[0]?.rows.step ?? 1) > 1
    ? dealtPieces(table, width, height, scale)
    : rowPieces(table, width, height, scale);
}

function picture(table: ReportTable, scale: Scale): string {
  let [width, height] = sizeOf(table, scale);
  const behind = table.kind === 'replicated' ? (Math.min(MOST_SHEETS, table.shards.length) - 1) * SHEET : 0;
  [width, height] = [Math.min(width, scale.width - behind), Math.min(height, scale.height - behind)];
  const content = shardPieces(table, width, height, scale);
  const [across, down] = [round(width + behind), round(height + behind)];
  const frame = { width: across, height: down, viewBox: `0 0 ${across} ${down}` };
  const described = `${table.name}: ${whereText(table, 8)}`;
  return element('svg', { ...frame, role: 'img', 'aria-label': described }, content);
}

/** What was looked up, and sent for it. */
export function usedText({ ids, linkBytes }: Pick<ReportTable, 'ids' | 'linkBytes'>): string {
  return ids === 0 && linkBytes === 0 ? 'not looked up' : `${countText(ids)} ids, ${bytesText(linkBytes)} sent`;
}

/** A table with its name, of which `path` is left out. */
export function tableCard(table: ReportTable, scale: Scale, path: string): string {
  const slots = table.slotBytes === 0 ? '' : ` + ${bytesText(table.slotBytes)} slots`;
  const where = whereText(table, scale.card > 200 ? 3 : 1);
  const lines = [
    element('span', { class: 'name' }, breakable(shortName(table.name).slice(path.length))),
    element('span', {}, escaped(`${wholeText(table.rows)} x ${table.columns}`)),
    element('span', {}, escaped(`${bytesText(table.bytes)}${slots}`)),
    element('span', { title: whereText(table, 16) }, escaped(where)),
    element('span', {}, escaped(usedText(table))),
  ];
  return element('figure', {}, picture(table, scale), element('figcaption', {}, ...lines));
}
