/** What lies where in a file of ONNX: options, values in a file beside, streams, what is loaded again. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Model } from '../../../src/base/protobuf/onnx_messages.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectRejection } from '../../helpers/errors.js';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { ROOT } from '../../helpers/project.js';
import { largestDifference, namesOf, plain } from '../saved_model/exports.js';
import { temporaryFolder, TOLERANCE } from './model_suite.js';
import { nodeRuntime, runOnce } from './runtimes.js';

function towerModel(rows = 500): { model: tf.LayersModel; inputs: tf.Tensor[] } {
  const user = tf.input({ shape: [1], dtype: 'int32', name: 'user-id' });
  const seen = tf.input({ shape: [4], dtype: 'int32', name: 'seen' });
  const users = emb.layers.embedding({ inputDim: rows, outputDim: 16, combiner: 'sum', name: 'users' });
  const items = emb.layers.raggedEmbedding({ inputDim: 50, outputDim: 16, combiner: 'mean', name: 'items' });
  const dot = tf.layers.dot({ axes: 1, name: 'score' });
  const outputs = dot.apply([users.apply(user), items.apply(seen)] as tf.SymbolicTensor[]) as tf.SymbolicTensor;
  const inputs = [
    tf.tensor2d([[3], [499]], [2, 1], 'int32'),
    tf.tensor2d(
      [
        [1, 2, -1, -1],
        [-1, -1, -1, -1],
      ],
      [2, 4],
      'int32',
    ),
  ];
  return { model: tf.model({ inputs: [user, seen], outputs }), inputs };
}

describe('files of ONNX', () => {
  const folder = temporaryFolder('files');
  const path = (name: string): string => join(folder(), name);

  it('hold typed inputs and outputs by the names of layers', async () => {
    const { model, inputs } = towerModel();
    await emb.onnx.export(model, path('typed.onnx'), { ids: 'int64', opset: 19, ragged: 'components' });
    const { irVersion, opsetImport, graph } = Model.decode(await readFile(path('typed.onnx')));
    expect([irVersion, opsetImport.map(({ domain, version }) => [domain, version])]).toEqual([9, [['', 19]]]);
    expect(graph!.input!.map(({ name, type }) => [name, type!.tensorType.elemType])).toEqual([
      ['user_id', 7],
      ['seen_values', 7],
      ['seen_row_splits', 7],
    ]);
    expect(graph!.output!.map(({ name }) => name)).toEqual(['score']);
    const ragged = emb.RaggedTensor.fromRows([[1, 2], []]);
    expect(await emb.onnx.check(path('typed.onnx'), model, [inputs[0]!, ragged])).toBeLessThan(1e-5);
    model.dispose();
    tf.dispose(inputs);
  });

  it('hold large values in a file beside, and run and load from there', async () => {
    const { model, inputs } = towerModel();
    const expected = model.predict(inputs) as tf.Tensor;
    const file = path('beside.onnx');
    await emb.onnx.export(model, file, { externalData: true });
    expect((await stat(`${file}.data`)).size).toBeGreaterThan(500 * 16 * 4);
    expect((await stat(file)).size).toBeLessThan(8000);
    const runtime = await nodeRuntime();
    const session = await runtime.InferenceSession.create(file, { logSeverityLevel: 3 });
    const names = namesOf(model.inputs);
    const given = Object.fromEntries(inputs.map((input, i) => [names[i]!, plain(input)]));
    const { score } = await runOnce(runtime, session, given);
    expect(largestDifference(score!, Array.from(expected.dataSync()))).toBeLessThanOrEqual(TOLERANCE);
    await session.release();
    expect(await emb.onnx.check(file, model, inputs)).toBeLessThan(1e-5);
    const loaded = await emb.onnx.load(file);
    const again = loaded.predict(inputs) as tf.Tensor;
    expect(Array.from(again.dataSync())).toEqual(Array.from(expected.dataSync()));
    const { 'users/embeddings': users, ...more } = await emb.weights.readOnnx(file, { names: ['users/embeddings'] });
    expect(Object.keys(more)).toEqual([]);
    expect(users!.arraySync()).toEqual(model.getLayer('users').getWeights()[0]!.arraySync());
    model.dispose();
    loaded.dispose();
    tf.dispose([inputs, expected, again, users!]);
  });

  it('go into a stream, but for values beside', async () => {
    const { model, inputs } = towerModel();
    const chunks: Uint8Array[] = [];
    const stream = (): WritableStream<Uint8Array> => new WritableStream({ write: (chunk) => void chunks.push(chunk) });
    await emb.onnx.export(model, stream());
    await emb.onnx.export(model, path('same.onnx'));
    expect(Buffer.concat(chunks).equals(await readFile(path('same.onnx')))).toBeTrue();
    const loaded = await emb.onnx.load(new Uint8Array(Buffer.concat(chunks)));
    expect(loaded.layers.map(({ name }) => name)).toEqual(model.layers.map(({ name }) => name));
    await expectRejection(() => emb.onnx.export(model, stream(), { externalData: true }), 'ValueError', 'file');
    loaded.dispose();
    model.dispose();
    tf.dispose(inputs);
  });

  it('are whole or not there', async () => {
    const { model, inputs } = towerModel();
    await writeFile(path('kept.onnx'), 'before');
    const lstm = tf.sequential({ layers: [tf.layers.lstm({ units: 2, stateful: true, batchInputShape: [2, 3, 4] })] });
    await expectRejection(() => emb.onnx.export(lstm, path('kept.onnx')), 'ValueError', 'model');
    expect(await readFile(path('kept.onnx'), 'utf8')).toBe('before');
    await expectRejection(() => emb.onnx.export(model, path('none/kept.onnx')), 'RuntimeError', 'path');
    expect(existsSync(path('none'))).toBeFalse();
    lstm.dispose();
    model.dispose();
    tf.dispose(inputs);
  });

  it('refuse what is no option', async () => {
    const { model, inputs } = towerModel();
    const cases: [unknown, string, string][] = [
      [{ opset: 17 }, 'ValueError', 'opset'],
      [{ opset: '18' }, 'TypeError', 'opset'],
      [{ ids: 'int16' }, 'ValueError', 'ids'],
      [{ keys: 1 }, 'TypeError', 'keys'],
      [{ ragged: 'composite' }, 'ValueError', 'ragged'],
      [{ externalData: 'yes' }, 'TypeError', 'externalData'],
      [{ id: 'int32' }, 'ValueError', 'options'],
    ];
    for (const [options, kind, argument] of cases) {
      const run = emb.onnx.export(model, path('options.onnx'), options as never);
      await expectRejection(() => run, kind as 'ValueError', argument === 'options' ? 'id' : argument);
    }
    await expectRejection(() => emb.onnx.export({} as never, path('options.onnx')), 'TypeError', 'model');
    await expectRejection(() => emb.onnx.export(model, '' as never), 'ValueError', 'file');
    model.dispose();
    tf.dispose(inputs);
  });

  it('are refused where others wrote them, or changed them', async () => {
    const { model, inputs } = towerModel();
    await emb.onnx.export(model, path('whole.onnx'));
    const bytes = await readFile(path('whole.onnx'));
    const message = Model.decode(bytes);
    await expectRejection(() => emb.onnx.load(Model.encode({ ...message, metadataProps: [] })), 'ValueError', 'source');
    // A number of a table.
    const value = Buffer.from(
      Float32Array.from(model.getLayer('items').getWeights()[0]!.dataSync().slice(0, 4)).buffer,
    );
    const at = bytes.indexOf(value);
    expect(at).toBeGreaterThan(0);
    bytes[at]! ^= 1;
    await expectAsync(emb.onnx.load(new Uint8Array(bytes))).toBeRejectedWithError(/checksum/);
    await expectRejection(() => emb.onnx.load(5 as never), 'TypeError', 'source');
    model.dispose();
    tf.dispose(inputs);
  });

  it('are compared by a package that must be installed, which the error names', () => {
    const hidden = `
      import { register } from 'node:module';
      const hook = 'export function resolve(name, context, next) {' +
        'if (name === "onnxruntime-node") throw new Error("Cannot find package");' +
        'return next(name, context); }';
      register('data:text/javascript,' + encodeURIComponent(hook));
      const tf = await import('@tensorflow/tfjs');
      const emb = await import('tfjs-embeddings/node');
      const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2, combiner: 'sum', inputShape: [1] });
      const error = await emb.onnx.check('none.onnx', tf.sequential({ layers: [layer] }), []).catch((each) => each);
      console.log(error.name + ': ' + error.message);`;
    const args = [...WITH_SOURCES, '--input-type=module', '-e', hidden];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    const error = stdout.trim().split('\n').at(-1)!;
    expect(error)
      .withContext(stderr)
      .toMatch(/^RuntimeError: `check`: expected the package onnxruntime-node/);
    expect(error).toContain('npm install --ignore-scripts onnxruntime-node');
  });

  it('are compared with a model that differs', async () => {
    const { model, inputs } = towerModel();
    const file = path('compared.onnx');
    await emb.onnx.export(model, file);
    expect(await emb.onnx.check(file, model, inputs)).toBeLessThan(1e-6);
    expect(await emb.onnx.check(file, model, { 'user-id': inputs[0]!, seen: inputs[1]! })).toBeLessThan(1e-6);
    const [users] = model.getLayer('users').getWeights();
    model.getLayer('users').setWeights([users!.add(10)]);
    expect(await emb.onnx.check(file, model, inputs)).toBeGreaterThan(0.01);
    await expectRejection(() => emb.onnx.check(file, model, inputs.slice(1)), 'ValueError', 'inputs');
    await expectRejection(() => emb.onnx.check(file, model, { seen: inputs[1]! }), 'ValueError', 'inputs');
    await expectRejection(() => emb.onnx.check(5 as never, model, inputs), 'TypeError', 'file');
    model.dispose();
    tf.dispose(inputs);
  });
});

describeForBackends(
  'files of ONNX from any backend',
  () => {
    const folder = temporaryFolder('backends', false);

    it('predict what is predicted there, with weights that are where the backend has them', async () => {
      const { model, inputs } = towerModel();
      const file = join(folder(), 'here.onnx');
      await emb.onnx.export(model, file);
      expect(await emb.onnx.check(file, model, inputs)).toBeLessThan(1e-5);
      const loaded = await emb.onnx.load(file);
      expect(await emb.onnx.check(file, loaded, inputs)).toBeLessThan(1e-5);
      loaded.dispose();
      model.dispose();
      tf.dispose(inputs);
    });
  },
  ['tensorflow', 'wasm'],
);
