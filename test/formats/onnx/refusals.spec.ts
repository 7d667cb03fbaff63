/** What the docs say is refused is refused, by the name of its layer. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { HashingLayer } from '../../../src/layers/preprocessing/hashing_layer.js';
import { expectRejection } from '../../helpers/errors.js';
import { temporaryFolder } from './model_suite.js';

function keyed(args: Partial<emb.OpenTableArgs>): tf.LayersModel {
  const table = emb.openTable({ outputDim: 2, capacity: 9, ...args });
  const input = emb.input({ shape: [2], dtype: table.keyKind, name: 'keys' });
  const layer = emb.layers.embedding({ table, combiner: 'mean', name: 'refused' } as never);
  return tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
}

interface Made {
  readonly model: tf.LayersModel;
  readonly options?: emb.OnnxOptions;
  readonly error: RegExp;
  readonly close?: () => void;
}

const MADE: Readonly<Record<string, () => Made | Promise<Made>>> = {
  '`Hashing`': () => {
    const input = tf.input({ shape: [2], dtype: 'int32' });
    const hashed = new HashingLayer({ numBins: 5, name: 'refused' }).apply(input) as tf.SymbolicTensor;
    return { model: tf.model({ inputs: input, outputs: hashed }), error: /op AsString ONNX lacks/ };
  },
  'strings without texts': () => ({ model: keyed({ keys: 'string' }), error: /no texts of its keys/ }),
  'strings that share rows': () => ({
    model: keyed({ keys: 'string', keepTexts: true, unknown: { shared: 3 } }),
    error: /hash of their texts/,
  }),
  'rows of several hashes': () => ({
    model: keyed({ unknown: { shared: 3, hashes: 2 } }),
    options: { keys: 'rows' },
    error: /sums of 2 rows/,
  }),
  'disk tables': async () => {
    const folder = mkdtempSync(join(tmpdir(), 'onnx-disk-'));
    const table = await emb.diskTable.create({ file: join(folder, 'rows.safetensors'), rows: 9, outputDim: 2 });
    const close = (): void => {
      table.close();
      rmSync(folder, { recursive: true, force: true });
    };
    const layer = emb.layers.embedding({ table, combiner: 'mean', inputShape: [2], name: 'refused' } as never);
    return { model: tf.sequential({ layers: [layer] }), error: /none of the model, as that of a disk table/, close };
  },
  'images without a size': () => {
    const input = tf.input({ shape: [null, null, 1] });
    const layer = tf.layers.resizing({ height: 2, width: 2, interpolation: 'nearest', name: 'refused' });
    const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
    return { model, error: /no known size/ };
  },
};

describe('what ONNX does not take', () => {
  const folder = temporaryFolder('refused');

  it('is what docs/onnx.md lists', () => {
    const docs = readFileSync(new URL('../../../docs/onnx.md', import.meta.url), 'utf8');
    const [, table] = /## What is refused\n[^|]*\|[^\n]*\n\|[^\n]*\n([^]*)$/.exec(docs)!;
    const named = table!
      .trim()
      .split('\n')
      .map((line) => line.split('|')[1]!.trim());
    expect(named).toEqual(Object.keys(MADE));
  });

  for (const [title, make] of Object.entries(MADE)) {
    it(`is refused by the name of the layer: ${title}`, async () => {
      const { model, options = {}, error, close } = await make();
      const run = (): Promise<void> => emb.onnx.export(model, join(folder(), 'refused.onnx'), options);
      await expectRejection(run, 'ValueError', 'model', 'layer refused');
      await expectAsync(run()).toBeRejectedWithError(error);
      model.dispose();
      close?.();
    });
  }
});
