/** The predicted step: a bar of its parts, the phases with their bytes, and what it rests on. */
import { FIGURE_MEANINGS, FIGURE_NAMES, GENERATIONS, type FigureName } from '../generations.js';
import type { Prediction } from '../prediction.js';
import { NO_LATENCY, fitText, orUnknown, predictionTitle, stepParts } from '../report_text.js';
import { bytesText, wholeText } from '../../base/units.js';
import { element, escaped, legend, rectangle, textTable } from './html.js';

const WIDTH = 1000;

function figureText(name: FigureName, value: number | null): string {
  if (value === null) return 'not published';
  if (name === 'hbmBytes') return `${bytesText(value)} (${(value / 2 ** 30).toFixed(1)} GiB)`;
  return name === 'hbmBandwidth' || name === 'linkBandwidth' ? `${bytesText(value)}/s` : wholeText(value);
}

function figuresTable(generation: string): string {
  const rows = FIGURE_NAMES.map((name) => {
    const { value, source, note } = GENERATIONS[generation]![name];
    const link = element('a', { href: source.url, rel: 'noreferrer' }, escaped(source.title));
    const meaning = FIGURE_MEANINGS[name].replace(/ in bytes( per second)?$/, '');
    return [meaning, figureText(name, value), { raw: link + (note === undefined ? '' : escaped(`: ${note}`)) }];
  });
  return textTable(`Published figures of TPU ${generation}`, ['figure', 'value', 'where'], rows, [], [0, 2]);
}

function partsBar(prediction: Prediction): string {
  const parts = stepParts(prediction);
  const step = prediction.stepSeconds;
  if (step === null || step === 0) return '';
  let x = 0;
  const bars = parts.map(([name, seconds], part) => {
    const width = (WIDTH * (seconds ?? 0)) / step;
    const share = ((100 * (seconds ?? 0)) / step).toFixed(1);
    const title = `${name}: ${orUnknown(seconds)}, ${share} % of the step`;
    const bar = width === 0 ? '' : rectangle([x, 0, Math.max(width - 1.5, 0.5), 26], { class: `phase${part}` }, title);
    x += width;
    return bar;
  });
  const described = parts.map(([name, seconds]) => `${name} ${orUnknown(seconds)}`).join(', ');
  const frame = { viewBox: `0 0 ${WIDTH} 26`, width: '100%', height: 26, preserveAspectRatio: 'none' };
  const keys = parts.map(([name, seconds], part) => [`phase${part}`, `${name} ${orUnknown(seconds)}`] as const);
  return element('svg', { ...frame, role: 'img', 'aria-label': described }, ...bars) + legend(keys);
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const lines = items.map((item) => element('li', {}, escaped(item)));
  return element('h3', {}, title) + element('ul', { class: 'plain' }, ...lines);
}

/** The section of the prediction. */
export function predictionSection(prediction: Prediction): string {
  const { phases, doesNotFit, assumptions, lacking, generation } = prediction;
  const rows = phases.map(({ name, bound, seconds, bytes, totalBytes, busiest }) => [
    name,
    orUnknown(seconds),
    bytesText(bytes),
    bytesText(totalBytes),
    `${bound === 'memory' ? 'device' : 'chip'} ${busiest}`,
    bound,
  ]);
  const head = ['phase', 'at least', 'bytes of the busiest', 'bytes of all', 'busiest', 'waits for'];
  const what = `The embedding part of one training step: lookup, exchange and update. ${NO_LATENCY}`;
  const fits = element('p', { class: doesNotFit.length > 0 ? 'warn' : 'quiet' }, escaped(fitText(prediction)));
  const lacks = doesNotFit.map(({ device, bytesWanted, bytesThere }) => [
    String(device),
    bytesText(bytesWanted),
    bytesText(bytesThere),
  ]);
  return element(
    'section',
    { 'aria-labelledby': 'prediction' },
    element('h2', { id: 'prediction' }, escaped(`Prediction for ${predictionTitle(prediction)}`)),
    element('p', { class: 'quiet' }, escaped(what)),
    partsBar(prediction),
    fits,
    textTable('Phases of the step, one after the other', head, rows, [0, 4, 5]),
    lacks.length === 0 ? '' : textTable('Devices with too little memory', ['device', 'wants', 'has'], lacks),
    list('Assumed', assumptions),
    list('Lacking', lacking),
    element('details', {}, element('summary', {}, 'Figures and where they are published'), figuresTable(generation)),
  );
}
