/** A report as one page: no scripts, nothing from elsewhere. */
import { shortName, whereText, type ReportData } from '../report_data.js';
import { countedText, machineText, machineTitle, planText } from '../report_text.js';
import { bytesText, counted, countText, ratioText, wholeText } from '../../base/units.js';
import { clusterSection } from './cluster_section.js';
import { loadSection, memorySection } from './device_bars.js';
import { breakable, element, escaped, textTable } from './html.js';
import { linksSection } from './link_matrix.js';
import { predictionSection } from './prediction_section.js';
import { STYLE } from './style.js';
import { HATCH, tablesSection } from './tables_section.js';
import {
  SPARSE_CORE_NOTE,
  STACK_HEAD,
  STEP_HEAD,
  stackCells,
  stepCells,
  type ReportSparseCores,
} from '../sparse_cores.js';

function sparseCoreSection({ stacks, predictions }: ReportSparseCores): string {
  return element(
    'section',
    {},
    element('h2', {}, 'SparseCores'),
    textTable('Ids, buffers and minibatches by stack', STACK_HEAD, stacks.map(stackCells), [], [0]),
    textTable('A training step on each TPU generation', STEP_HEAD, predictions.map(stepCells), [], [0]),
    element('p', { class: 'quiet' }, escaped(SPARSE_CORE_NOTE)),
  );
}

function tile(name: string, value: string, more: string): string {
  const small = element('small', {}, escaped(more));
  return element('div', {}, element('dt', {}, escaped(name)), element('dd', {}, escaped(value), small));
}

function tiles({ machine, tables, links, balance, counted: counts }: ReportData): string {
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  const slots = tables.reduce((sum, table) => sum + table.slotBytes, 0);
  const shown = [
    tile(
      'Devices',
      String(machine.devices),
      `${counted(machine.chips, 'chip')} x ${counted(machine.coresPerChip, 'core')}`,
    ),
    tile('Tables', wholeText(tables.length), `${bytesText(bytes)} and ${bytesText(slots)} of slots`),
    tile(
      'Exchanged',
      bytesText(links.totalBytes),
      `in ${counted(counts.lookUps, 'lookup call')}, ${counted(counts.updates, 'update')}`,
    ),
    tile(
      'Busiest device',
      `${ratioText(balance.elements)} x mean`,
      `elements; bytes ${ratioText(balance.bytes)}, memory ${ratioText(balance.memory)}`,
    ),
  ];
  return element('dl', { class: 'tiles' }, ...shown);
}

function plansText({ plans }: ReportData): string {
  return plans
    .map((plan) => {
      const lines = plan.notes.map((note) => element('li', {}, escaped(note)));
      const text = escaped(`: ${planText(plan)}`);
      const head = element('p', {}, 'Plan of layer ', element('strong', {}, breakable(plan.name)), text);
      return head + (lines.length === 0 ? '' : element('ul', { class: 'plain quiet' }, ...lines));
    })
    .join('');
}

/** All tables in words and numbers. */
function tableList({ tables }: ReportData): string {
  if (tables.length === 0) return '';
  const rows = tables.map((table, number) => [
    String(number),
    { raw: breakable(shortName(table.name)) },
    wholeText(table.rows),
    String(table.columns),
    bytesText(table.bytes),
    table.slots.map(({ name, columns }) => (columns === table.columns ? name : `${name} (${columns})`)).join(', ') ||
      'none',
    bytesText(table.slotBytes),
    countText(table.ids),
    bytesText(table.linkBytes),
    whereText(table, 16),
  ]);
  const head = ['table', 'name', 'rows', 'columns', 'bytes', 'slots', 'slot bytes', 'ids', 'sent', 'where'];
  const list = textTable('All tables, in the order in which they were made', head, rows, [5], [1, 9]);
  const summary = element('summary', {}, escaped(`All ${counted(tables.length, 'table')} in numbers`));
  return element('section', {}, element('details', tables.length <= 12 ? { open: 'open' } : {}, summary, list));
}

/** The page. */
export function reportPage(data: ReportData): string {
  const { machine, prediction, cluster } = data;
  const because =
    machine.inlineBecause === null
      ? ''
      : element('p', { class: 'quiet' }, escaped(`In line because ${machine.inlineBecause}`));
  const header = element(
    'header',
    {},
    element('h1', {}, escaped(machineTitle(data))),
    element('p', { class: 'quiet' }, escaped(machineText(data)), '.<br/>', escaped(countedText(data)), '.'),
    because,
    plansText(data),
    tiles(data),
  );
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('title', {}, escaped(machineTitle(data))),
    `<style>${STYLE}</style>`,
  );
  const main = element(
    'main',
    {},
    header,
    tablesSection(data),
    loadSection(data),
    memorySection(data),
    linksSection(data),
    data.sparseCores === null ? '' : sparseCoreSection(data.sparseCores),
    prediction === null ? '' : predictionSection(prediction),
    cluster === null ? '' : clusterSection(cluster),
    tableList(data),
  );
  return `<!doctype html>\n${element('html', { lang: 'en' }, head, element('body', {}, HATCH, main))}\n`;
}
