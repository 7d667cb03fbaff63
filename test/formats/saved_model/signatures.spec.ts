// runner: python
/** Signatures of exports, beside and in place of `serving_default`, and how ragged inputs enter them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { SavedModel, type SignatureMessage } from '../../../src/formats/saved_model/wire/saved_model_messages.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectRejection } from '../../helpers/errors.js';
import { Exports, expectSameOutputs } from './exports.js';

/** Two features, an inner layer that can be asked for, and two outputs. */
function makeModel(): tf.LayersModel {
  const [seen, age] = [
    tf.input({ shape: [3], dtype: 'int32', name: 'seen-ids' }),
    tf.input({ shape: [2], name: 'age' }),
  ];
  const pooled = emb.layers
    .raggedEmbedding({ inputDim: 9, outputDim: 4, combiner: 'sum', name: 'movies', seed: 1 })
    .apply(seen) as unknown as tf.SymbolicTensor;
  const wide = tf.layers
    .dense({ units: 2, name: 'wide', kernelInitializer: tf.initializers.glorotNormal({ seed: 2 }) })
    .apply(age) as tf.SymbolicTensor;
  const joined = tf.layers.concatenate({ name: 'joined' }).apply([pooled, wide]) as tf.SymbolicTensor;
  const score = tf.layers
    .dense({ units: 1, name: 'score', kernelInitializer: tf.initializers.glorotNormal({ seed: 3 }) })
    .apply(joined) as tf.SymbolicTensor;
  return tf.model({ inputs: [seen, age], outputs: [score, wide] });
}

const SIGNATURES: NonNullable<emb.SavedModelOptions['signatures']> = {
  vectors: { inputs: { history: 'seen-ids' }, outputs: { vector: 'movies' } },
  wide_only: { outputs: { logits: 'wide' } },
  all: { inputs: { years: 'age', history: 'seen-ids' }, outputs: { score: 'score', both: 'joined' } },
};

function namesIn({ inputs = {}, outputs = {} }: SignatureMessage): [inputs: string[], outputs: string[]] {
  return [Object.keys(inputs).sort(), Object.keys(outputs).sort()];
}

/** The signatures of an export, without those that only restore. */
function signaturesOf(directory: string): Record<string, [string[], string[]]> {
  const saved = SavedModel.decode(new Uint8Array(readFileSync(join(directory, 'saved_model.pb'))));
  const named = Object.entries(saved.metaGraphs![0]!.signatures ?? {}).filter(([name]) => !name.startsWith('__'));
  return Object.fromEntries(named.map(([name, signature]) => [name, namesIn(signature)]));
}

describe('signatures of a SavedModel', () => {
  let folder: string;
  let model: tf.LayersModel;
  let tensors = 0;

  beforeEach(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    tensors = tf.memory().numTensors;
    folder = mkdtempSync(join(tmpdir(), 'signatures-'));
    model = makeModel();
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
    model.dispose();
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('are serving_default with all inputs and outputs, and those that are asked for', async () => {
    await emb.savedModel.export(model, join(folder, 'plain'));
    const all = [
      ['age', 'seen_ids'],
      ['score', 'wide'],
    ] as [string[], string[]];
    expect(signaturesOf(join(folder, 'plain'))).toEqual({ serving_default: all });
    await emb.savedModel.export(model, join(folder, 'more'), { signatures: SIGNATURES });
    expect(signaturesOf(join(folder, 'more'))).toEqual({
      serving_default: all,
      vectors: [['history'], ['vector']],
      wide_only: [['age'], ['logits']],
      all: [
        ['history', 'years'],
        ['both', 'score'],
      ],
    });
  });

  it('goes into a folder that a path or a file:// URL names; other URLs are refused', async () => {
    const url = `file://${folder}/by URL`;
    await emb.savedModel.export(model, url);
    expect(Object.keys(signaturesOf(join(folder, 'by URL')))).toEqual(['serving_default']);
    const loaded = (await emb.savedModel.load(url)) as tf.LayersModel;
    expect(loaded.inputNames).toEqual(model.inputNames);
    loaded.dispose();
    for (const other of ['https://example.org/model', 'file://', '']) {
      await expectRejection(() => emb.savedModel.export(model, other), 'ValueError', 'directory', other);
      await expectRejection(() => emb.savedModel.load(other), 'ValueError', 'directory', other);
    }
  });

  it('may replace serving_default, and take RaggedTensors by their parts', async () => {
    const only = { serving_default: { outputs: { score: 'score' } } };
    await emb.savedModel.export(model, join(folder, 'replaced'), { signatures: only });
    expect(signaturesOf(join(folder, 'replaced'))).toEqual({ serving_default: [['age', 'seen_ids'], ['score']] });
    await emb.savedModel.export(model, join(folder, 'parts'), { signatures: SIGNATURES, ragged: 'components' });
    expect(signaturesOf(join(folder, 'parts'))['vectors']).toEqual([
      ['history_row_splits', 'history_values'],
      ['vector'],
    ]);
    expect(signaturesOf(join(folder, 'parts'))['wide_only']).toEqual([['age'], ['logits']]);
    await emb.savedModel.export(model, join(folder, 'composite'), { signatures: SIGNATURES, ragged: 'composite' });
    expect(signaturesOf(join(folder, 'composite'))['all']).toEqual([
      ['history', 'history_1', 'years'],
      ['both', 'score'],
    ]);
  });

  it('give every node and function a name of its own that TensorFlow takes, whatever they are called', async () => {
    const first = tf.input({ shape: [3], dtype: 'int32', name: '1st' });
    const pooled = emb.layers.raggedEmbedding({ inputDim: 9, outputDim: 2, combiner: 'sum', name: 'a' }).apply(first);
    const numbered = tf.model({ inputs: first, outputs: pooled as unknown as tf.SymbolicTensor });
    const signatures = {
      a: { inputs: { b_c: '1st' } },
      a_b: { inputs: { c: '1st' } },
      saver: { inputs: { filename: '1st' } },
      call: {},
      _hidden: { inputs: { _ids: '1st' } },
    };
    for (const ragged of [undefined, 'composite'] as const) {
      const directory = join(folder, ragged ?? 'padded');
      await emb.savedModel.export(numbered, directory, { signatures, ...(ragged === undefined ? {} : { ragged }) });
      const saved = SavedModel.decode(new Uint8Array(readFileSync(join(directory, 'saved_model.pb'))));
      const { node: nodes = [], library } = saved.metaGraphs![0]!.graph!;
      const functions = library!.function!;
      const lists = [
        nodes.map(({ name }) => name!),
        functions.map(({ signature }) => signature!.name!),
        ...functions.map(({ signature, node = [] }) =>
          [...(signature!.inputArg ?? []), ...node].map(({ name }) => name!),
        ),
      ];
      for (const names of lists) {
        expect(new Set(names).size).withContext(names.join()).toBe(names.length);
        expect(names.filter((name) => !/^(__inference_|[A-Za-z0-9.])[\w./-]*$/.test(name))).toEqual([]);
      }
    }
    expect(signaturesOf(join(folder, 'padded'))['serving_default']).toEqual([['_1st'], ['a']]);
    numbered.dispose();
  });

  it('give names that Python keeps for itself another end', async () => {
    const inputs = ['self', 'lambda', 'cls'].map((name) => tf.input({ shape: [2], name }));
    const joined = tf.model({ inputs, outputs: tf.layers.add({ name: 'sum' }).apply(inputs) as tf.SymbolicTensor });
    await emb.savedModel.export(joined, join(folder, 'kept'));
    expect(signaturesOf(join(folder, 'kept'))['serving_default']).toEqual([['cls', 'lambda_', 'self_'], ['sum']]);
    joined.dispose();
  });

  it(
    'answer in Python what the layers give here',
    async () => {
      const python = pythonWithTensorFlow();
      if (typeof python === 'string') return skipOrFail(python);
      const exports = new Exports();
      try {
        const [seen, age] = [
          tf.tensor2d([3, 7, -1, 5, -1, -1], [2, 3], 'int32'),
          tf.tensor2d([0.5, -1, 2, 0.25], [2, 2]),
        ];
        const inner = ['movies', 'joined'].map((name) => model.getLayer(name).output as tf.SymbolicTensor);
        const asked = tf.model({ inputs: model.inputs, outputs: [...model.outputs, ...inner] });
        const found = asked.predict([seen, age]) as tf.Tensor[];
        const [score, wide, vector, both] = found.map((each) => Array.from(each.dataSync()));
        const expected: Readonly<Record<string, Record<string, number[]>>> = {
          vectors: { vector: vector! },
          wide_only: { logits: wide! },
          all: { score: score!, both: both! },
          _hidden: { _vector: vector! },
        };
        const given: Readonly<Record<string, tf.NamedTensorMap>> = {
          vectors: { history: seen },
          wide_only: { age },
          all: { years: age, history: seen },
          _hidden: { _history: seen },
        };
        const _hidden = { inputs: { _history: 'seen-ids' }, outputs: { _vector: 'movies' } };
        const signatures = { ...SIGNATURES, _hidden };
        for (const signature of Object.keys(expected)) {
          await exports.add(signature, model, given[signature]!, { signatures }, { signature });
        }
        // A layer of Keras calls a signature of one input, without the name of the input.
        for (const signature of ['vectors', 'wide_only']) {
          const call = { signature, keras: true };
          await exports.add(`${signature} in Keras`, model, given[signature]!, { signatures }, call);
        }
        exports.run(python);
        for (const [signature, values] of Object.entries(expected)) {
          expectSameOutputs(exports.result(signature), values, 1e-6); // of 1 + |value|
        }
        for (const signature of ['vectors', 'wide_only']) {
          expectSameOutputs(exports.result(`${signature} in Keras`), expected[signature]!, 1e-6);
        }
        tf.dispose([seen, age, found]);
      } finally {
        exports.remove();
      }
    },
    PYTHON_TIMEOUT_MS,
  );

  it('must have names for Python, layers of the model, and all inputs that outputs depend on', async () => {
    const refuse = async (signatures: unknown, type: 'ValueError' | 'TypeError', message: RegExp): Promise<void> => {
      const options = { signatures: signatures as never };
      const error = await emb.savedModel
        .export(model, join(folder, 'refused'), options)
        .catch((thrown: Error) => thrown);
      expect((error as Error | undefined)?.name)
        .withContext(String(message))
        .toBe(type);
      expect((error as Error | undefined)?.message).toMatch(message);
    };
    await refuse({ 'not-a-name': {} }, 'ValueError', /`signatures`.*not-a-name/);
    await refuse({ '': {} }, 'ValueError', /`signatures`.*letters/);
    await refuse({ more: { inputs: { '': 'seen-ids' } } }, 'ValueError', /`signatures\.more\.inputs`.*letters/);
    await refuse({ more: { inputs: { self: 'seen-ids' } } }, 'ValueError', /`signatures\.more\.inputs`.*self/);
    await refuse({ more: { outputs: { 'not-one': 'score' } } }, 'ValueError', /`signatures\.more\.outputs`.*not-one/);
    await refuse(
      { more: { outputs: { x: 'scores' } } },
      'ValueError',
      /`signatures\.more\.outputs`.*Did you mean score\?/,
    );
    await refuse({ more: { outputs: {} } }, 'ValueError', /`signatures\.more\.outputs`.*at least one output/);
    await refuse({ more: { inputs: { years: 'age' } } }, 'ValueError', /`signatures\.more\.inputs`.*seen-ids too/);
    await refuse({ more: { inputs: { years: 'score' } } }, 'ValueError', /`signatures\.more\.inputs`.*seen-ids, age/);
    await refuse({ more: { outputs: { x: 7 } } }, 'TypeError', /`signatures\.more\.outputs\.x`.*7/);
    await refuse({ more: { outputs: ['score'] } }, 'TypeError', /`signatures\.more\.outputs`/);
    await refuse({ more: { output: {} } }, 'ValueError', /^`signatures\.more\.output`.*Did you mean outputs\?/);
    await refuse([], 'TypeError', /`signatures`/);
    await refuse('all', 'TypeError', /`signatures`.*all/);
  });
});
