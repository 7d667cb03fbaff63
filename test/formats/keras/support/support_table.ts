/**
 * The table of docs/keras_table.md, by the tables of fields that files are read and written by.
 * `node --import ./custom-ops/typescript/register.mjs test/formats/keras/support/support_table.ts` writes it anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import { toCamelCase } from '../../../../src/base/camel_case.js';
import { isOwnClass } from '../../../../src/formats/keras/import/own_layers.js';
import { REFUSED } from '../../../../src/formats/keras/import/make_layer.js';
import { ACTIVATIONS } from '../../../../src/formats/keras/import/stock_config.js';
import { layerFor, STOCK_LAYERS, WITHOUT_EFFECT } from '../../../../src/formats/keras/stock_layers.js';
import { WRITTEN_ACTIVATIONS } from '../../../../src/formats/saved_model/layers/activations.js';
import { WRITTEN_OPERATIONS } from '../../../../src/formats/saved_model/layers/operations.js';
import { emitterOf } from '../../../../src/formats/saved_model/layers/registry.js';
import { KERAS_KINDS } from '../../../../src/layers/keras/keras_layers.js';
import { OPERATIONS } from '../../../../src/layers/operations/operation.js';
import { INITIALIZER_CLASSES } from '../../../../src/tables/initializers.js';
import * as emb from '../../../../src/node.js';
import { ROOT } from '../../../helpers/project.js';

export const DOCUMENT = join(ROOT, 'docs', 'keras_table.md');

interface Names {
  readonly [kind: string]: readonly string[] | Readonly<Record<string, readonly string[]>>;
}

type Row = readonly [
  kind: string,
  name: string,
  loaded: string,
  trains: string,
  keras: string,
  savedModel: string,
  note: string,
];

const NO = 'refused';
const names = (): Names => JSON.parse(readFileSync(join(ROOT, 'test', 'goldens', 'keras_names.json'), 'utf8')) as Names;

/** Layers of models themselves, and those that are operations here. */
const MODELS: readonly string[] = ['InputLayer', 'Subtract'];
/** Columns of the pipeline. */
const STRINGS: readonly string[] = ['HashedCrossing', 'StringLookup', 'TextVectorization'];
const WITHOUT_WEIGHTS: readonly string[] = [...STRINGS, 'InputLayer', 'CategoryEncoding', 'Discretization', 'Hashing', 'IntegerLookup', 'Normalization']; // prettier-ignore

/** Why a layer has none here. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(Random|AugMix|AutoContrast|Contrast|CutMix|Equalization|MaxNumBounding|MixUp|RandAugment|Solarization)/, 'images are augmented before they enter a model'], // prettier-ignore
  [/^(FlaxLayer|JaxLayer|TFSMLayer|TorchModuleWrapper)$/, 'its code is of another library'],
  [/^(GRUCell|LSTMCell|SimpleRNNCell|RNN|StackedRNNCells)$/, 'write GRU, LSTM or SimpleRNN'],
  [/^(Pipeline|Wrapper)$/, 'it holds other layers: write these'],
];

/** Settings that must have one value, those aside that have it anyway. */
function limits(name: string): string {
  const fixed = Object.entries(layerFor(name, {})?.fixed ?? STOCK_LAYERS.get(name)?.fixed ?? {});
  const told = fixed.filter(([field]) => !WITHOUT_EFFECT.has(field) && !KERAS_KINDS.has(name));
  return told.map(([field, values]) => `\`${field}\`: ${JSON.stringify(values[0])}`).join(', ');
}

function layerRow(name: string): Row {
  const isLoaded = isOwnClass(name) || STOCK_LAYERS.has(name) || MODELS.includes(name);
  if (STRINGS.includes(name)) return ['layer', name, 'pipeline', 'no weights', NO, NO, 'of inputs of strings'];
  if (!isLoaded) {
    const why = Object.hasOwn(REFUSED, name) ? REFUSED[name] : REASONS.find(([names]) => names.test(name))?.[1];
    return ['layer', name, NO, '', '', '', why ?? 'no layer here computes it'];
  }
  const kind = KERAS_KINDS.get(name);
  const [stock, own] = [name, `TfjsEmbeddings>${name}`].map((each) => emitterOf(each) !== null) as [boolean, boolean];
  // Where tfjs has a layer of the name, it is taken for the settings that it knows.
  const isWritten = kind === undefined ? stock || own : own;
  const isPartly = !isWritten && stock && kind?.isNeeded !== undefined;
  const savedModel = isWritten || MODELS.includes(name) ? 'yes' : isPartly ? 'usual settings' : NO;
  const trains = WITHOUT_WEIGHTS.includes(name) ? 'no weights' : 'yes';
  return ['layer', name, 'yes', trains, 'yes', savedModel, kind === undefined ? limits(name) : ''];
}

const has = (known: readonly string[], name: string): boolean => known.includes(name);

function activationRow(name: string): Row {
  const here = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name]! : null;
  if (here === null) return ['activation', name, NO, '', '', '', 'it needs arguments, or gives another shape'];
  const written = name === 'hard_sigmoid' ? 'kerasHardSigmoid' : here;
  return ['activation', name, 'yes', 'yes', 'yes', has(WRITTEN_ACTIVATIONS, written) ? 'yes' : NO, here === name ? '' : `\`${written}\` here`]; // prettier-ignore
}

function operationRow(name: string, module: string): Row {
  const isKnown = has(OPERATIONS, name);
  const kind = `operation of \`${module}\``;
  return isKnown
    ? [kind, name, 'yes', 'yes', 'yes', has(WRITTEN_OPERATIONS, name) ? 'yes' : NO, '']
    : [kind, name, NO, '', '', '', 'no operation here computes it'];
}

/** Other spellings here. */
const LOSSES: Readonly<Record<string, string>> = {
  CosineSimilarity: 'cosineProximity',
  KLDivergence: 'kullbackLeiblerDivergence',
  LogCosh: 'logcosh',
};
const METRICS: Readonly<Record<string, string>> = {
  AUC: 'auc',
  CosineSimilarity: 'cosine',
  MeanAbsoluteError: 'mae',
  MeanAbsolutePercentageError: 'mape',
  MeanSquaredError: 'mse',
};

/** A name that a model can be compiled with; null where there is none. */
function compiles(field: 'loss' | 'metrics', name: string): string | null {
  const ids = emb.layers.embedding({ inputDim: 2, outputDim: 1, combiner: 'sum', inputShape: [1] });
  const model = tf.sequential({ layers: [ids] });
  const spellings = field === 'loss' ? LOSSES : METRICS;
  const here = spellings[name] ?? name.charAt(0).toLowerCase() + toCamelCase(name).slice(1);
  try {
    model.compile({ optimizer: 'sgd', loss: field === 'loss' ? here : 'meanSquaredError', metrics: field === 'metrics' ? [here] : [] }); // prettier-ignore
    return here;
  } catch {
    return null;
  } finally {
    model.dispose();
  }
}

function compiledRow(kind: 'loss' | 'metric', name: string): Row {
  const here = compiles(kind === 'loss' ? 'loss' : 'metrics', name);
  const note = here === null ? 'give a function to `compile`' : `\`compile({${kind === 'loss' ? `loss: '${here}'` : `metrics: ['${here}']`}})\``; // prettier-ignore
  return [kind, name, 'not read', here === null ? 'no' : 'yes', 'not written', 'not written', note];
}

function optimizerRow(name: string): Row {
  const key = { Adam: 'adam', AdamW: 'adamW', RMSprop: 'rmsprop', SGD: 'sgd' }[name] ?? name.toLowerCase();
  const [own, stock] = [Object.hasOwn(emb.train, key), Object.hasOwn(tf.train, key)];
  const note = own ? `\`emb.train.${key}\`` : stock ? `\`tf.train.${key}\`` : 'none here';
  return ['optimizer', name, 'not read', own || stock ? 'yes' : 'no', 'not written', own ? 'yes' : 'not written', note];
}

const SPELLINGS: Readonly<Record<string, string>> = { LecunNormal: 'LeCunNormal', LecunUniform: 'LeCunUniform', OrthogonalInitializer: 'Orthogonal', IdentityInitializer: 'Identity' }; // prettier-ignore

function objectRow(kind: string, name: string, known: readonly string[]): Row {
  const isKnown = has(known, SPELLINGS[name] ?? name);
  return isKnown ? [kind, name, 'yes', 'yes', 'yes', 'not written', ''] : [kind, name, NO, '', '', '', 'none here'];
}

/** Files of ONNX hold what SavedModels do, but for digits that are hashed as texts, and states of optimizers. */
function onnxOf(kind: string, name: string, savedModel: string): string {
  if (kind === 'layer' && name === 'Hashing') return NO;
  return kind === 'optimizer' ? 'not written' : savedModel;
}

/** All rows, as the document has them. */
export function supportTable(): string[][] {
  const all = names();
  const list = (kind: string): readonly string[] => all[kind] as readonly string[];
  const operations = Object.entries(all['operations'] as Readonly<Record<string, readonly string[]>>);
  const rows: Row[] = [
    ...list('layers').map(layerRow),
    ...list('activations').map(activationRow),
    ...list('initializers').map((name) => objectRow('initializer', name, INITIALIZER_CLASSES)),
    ...list('regularizers').map((name) => objectRow('regularizer', name, ['L1', 'L2', 'L1L2'])),
    ...list('constraints').map((name) =>
      objectRow('constraint', name, ['MaxNorm', 'MinMaxNorm', 'NonNeg', 'UnitNorm']),
    ),
    ...list('losses').map((name) => compiledRow('loss', name)),
    ...list('metrics').map((name) => compiledRow('metric', name)),
    ...list('optimizers').map(optimizerRow),
    ...operations.flatMap(([module, own]) => own.map((name) => operationRow(name, module))),
  ];
  return rows.map(([kind, name, loaded, trains, keras, savedModel, note]) => {
    return [kind, `\`${name}\``, loaded, trains, keras, savedModel, onnxOf(kind, name, savedModel), note];
  });
}

/** The rows of the table in the document, without its head. */
export function documentedTable(): string[][] {
  const rows = readFileSync(DOCUMENT, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const HEAD = ['kind', 'of Keras', 'loaded', 'trains', '.keras', 'SavedModel', 'ONNX', 'note'];

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  await tf.setBackend('cpu');
  const [before] = readFileSync(DOCUMENT, 'utf8').split('\n|') as [string];
  const rows = [HEAD, HEAD.map(() => '---'), ...supportTable()];
  writeFileSync(DOCUMENT, `${before.trimEnd()}\n\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
}
