/** Bars of load and memory, one line for each device, with the numbers beside them. */
import type { ReportData, ReportDevice } from '../report_data.js';
import { bytesText, countText, ratioText } from '../../base/units.js';
import { element, escaped, legend, rectangle, round, textTable } from './html.js';

const WIDTH = 260;
const HEIGHT = 16;

function line(at: number, className: string, title: string): string {
  const x = round(Math.min(WIDTH - 1, Math.max(1, at)));
  const tip = element('title', {}, escaped(title));
  return element('line', { class: className, x1: x, x2: x, y1: 0, y2: HEIGHT }, tip);
}

interface Segment {
  readonly className: string;
  readonly value: number;
  readonly title: string;
}

/** Segments one after the other on a track that ends at `most`. */
function stacked(segments: readonly Segment[], most: number, marks: string, described: string): { raw: string } {
  let x = 0;
  const bars = segments.map(({ className, value, title }) => {
    const width = most === 0 ? 0 : (WIDTH * value) / most;
    const bar = value === 0 ? '' : rectangle([x, 1, Math.max(width, 1), HEIGHT - 2], { class: className }, title);
    x += width;
    return bar;
  });
  const track = rectangle([0, 1, WIDTH, HEIGHT - 2], { class: 'track', rx: 2 });
  const svg = element(
    'svg',
    {
      class: 'bars',
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': described,
    },
    track,
    ...bars,
    marks,
  );
  return { raw: svg };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function loadTable(devices: readonly ReportDevice[]): string {
  const mostElements = Math.max(...devices.map(({ elements }) => elements));
  const mostBytes = Math.max(...devices.map(({ bytesIn, bytesOut }) => bytesIn + bytesOut));
  const [meanElements, meanBytes] = [
    mean(devices.map(({ elements }) => elements)),
    mean(devices.map(({ bytesIn, bytesOut }) => bytesIn + bytesOut)),
  ];
  const rows = devices.map(({ device, ids, uniqueIds, elements, bytesIn, bytesOut, ofMean }) => {
    const read = `device ${device}: ${countText(elements)} elements read, ${ratioText(ofMean.elements)} of the mean`;
    const sent = `device ${device} sent ${bytesText(bytesOut)}`;
    const received = `device ${device} received ${bytesText(bytesIn)}`;
    const elementMark = line((WIDTH * meanElements) / (mostElements || 1), 'mark', `mean ${countText(meanElements)}`);
    const byteMark = line((WIDTH * meanBytes) / (mostBytes || 1), 'mark', `mean ${bytesText(meanBytes)}`);
    return [
      String(device),
      countText(ids),
      countText(uniqueIds),
      countText(elements),
      ratioText(ofMean.elements),
      stacked([{ className: 'bar', value: elements, title: read }], mostElements, elementMark, read),
      bytesText(bytesOut),
      bytesText(bytesIn),
      stacked(
        [
          { className: 'bar', value: bytesOut, title: sent },
          { className: 'second', value: bytesIn, title: received },
        ],
        mostBytes,
        byteMark,
        `${sent}, ${received}`,
      ),
    ];
  });
  const head = [
    'device',
    'ids',
    'unique',
    'elements',
    'of mean',
    'elements read',
    'sent',
    'received',
    'sent, received',
  ];
  return textTable('Load of each device', head, rows, [5, 8]);
}

/** The section of ids, elements and bytes. */
export function loadSection({ devices, counted }: ReportData): string {
  const content = [element('h2', { id: 'load' }, 'Load of the devices')];
  if (counted.lookUps === 0 && counted.updates === 0) {
    content.push(element('p', { class: 'quiet' }, 'Nothing was looked up or updated yet.'));
  } else {
    const meaning = 'Elements are ids times the width of the rows read. The line marks the mean of all devices.';
    content.push(element('p', { class: 'quiet' }, escaped(meaning)));
    content.push(
      legend([
        ['bar', 'elements read, bytes sent'],
        ['second', 'bytes received'],
      ]),
    );
    content.push(loadTable(devices));
  }
  return element('section', { 'aria-labelledby': 'load' }, ...content);
}

/** The section of memory by kind. */
export function memorySection({ devices }: ReportData): string {
  const used = devices.map(({ memory }) => memory.tables + memory.slots + memory.exchange);
  const capacity = devices.map(({ memory }) => memory.capacity ?? 0);
  const most = Math.max(...used, ...devices.map(({ memory }) => memory.peak));
  // A limit far beyond what is used would leave no bars to see.
  const limit = Math.max(...capacity);
  const isNear = limit > 0 && limit <= 4 * most;
  const end = isNear ? Math.max(most, limit) : most;
  const rows = devices.map(({ device, memory }) => {
    const { tables, slots, exchange, host, peak } = memory;
    const part = (kind: string, bytes: number): string => `device ${device}: ${bytesText(bytes)} of ${kind}`;
    const marks = [
      line((WIDTH * peak) / (end || 1), 'mark', `peak ${bytesText(peak)}`),
      isNear && memory.capacity !== null
        ? line((WIDTH * memory.capacity) / end, 'limit', `limit ${bytesText(memory.capacity)}`)
        : '',
    ].join('');
    const segments = [
      { className: 'tables', value: tables, title: part('tables', tables) },
      { className: 'slots', value: slots, title: part('slots', slots) },
      { className: 'exchange', value: exchange, title: part('exchange', exchange) },
    ];
    const described = `device ${device}: tables ${bytesText(tables)}, slots ${bytesText(slots)}`;
    return [
      String(device),
      stacked(segments, end, marks, described),
      ...[tables, slots, exchange, host, peak].map(bytesText),
      memory.capacity === null ? 'none' : bytesText(memory.capacity),
    ];
  });
  const head = ['device', 'memory', 'tables', 'slots', 'exchange', 'in host', 'peak', 'limit'];
  const far = limit > 0 && !isNear ? ` The limit, ${bytesText(limit)} for a device, lies beyond the bars.` : '';
  const how = `Exchange is the largest of a call so far. The line marks the peak of all three${isNear ? ', the red one the limit' : ''}.${far}`;
  const keys: (readonly [string, string])[] = [
    ['tables', 'tables'],
    ['slots', 'slots of optimizers'],
    ['exchange', 'exchange'],
  ];
  return element(
    'section',
    { 'aria-labelledby': 'memory' },
    element('h2', { id: 'memory' }, 'Memory of the devices'),
    element('p', { class: 'quiet' }, escaped(how)),
    legend(keys),
    textTable('Memory of each device', head, rows, [1]),
  );
}
