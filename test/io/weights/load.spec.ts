/** Arrays that do not fit the weights of a model. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';

/** A file in memory. */
async function fileOf(tables: Readonly<Record<string, tf.Tensor>>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const file = new WritableStream<Uint8Array>({
    write: (chunk) => {
      chunks.push(chunk.slice());
    },
  });
  await emb.weights.writeSafetensors(file, tables);
  tf.dispose(tables as tf.TensorContainer);
  return new Uint8Array(Buffer.concat(chunks));
}

describe('arrays for a model', () => {
  let model: tf.Sequential;

  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  beforeEach(() => {
    const users = emb.layers.embedding({ name: 'users', inputDim: 5, outputDim: 3, combiner: 'sum', inputShape: [2] });
    model = tf.sequential({ layers: [users, tf.layers.dense({ name: 'head', units: 2 })] });
  });

  afterEach(() => void model.dispose());

  async function expectRefused(
    run: () => Promise<unknown>,
    name: 'TypeError' | 'ValueError',
    argument: string,
    received: string,
  ): Promise<Error> {
    const error = (await run().then(
      () => null,
      (thrown: unknown) => thrown,
    )) as Error;
    expectError(() => { throw error; }, name, argument, received); // prettier-ignore
    return error;
  }

  it('go where their names say, with names: null as without', async () => {
    for (const options of [{}, { names: null }, { names: undefined }]) {
      const bytes = await fileOf({ users: tf.fill([5, 3], 2), 'head/bias': tf.ones([2]) });
      expect(await emb.weights.load(model, bytes, options as never)).toEqual(['users/embeddings', 'head/bias']);
    }
    expect(Array.from(model.getWeights()[0]!.dataSync())).toEqual(new Array<number>(15).fill(2));
  });

  it('are not taken under the name of a layer that has several weights', async () => {
    const bytes = await fileOf({ head: tf.ones([3, 2]) });
    const error = await expectRefused(() => emb.weights.load(model, bytes), 'ValueError', 'source', 'head');
    expect(error.message).toContain('head/kernel');
    expect(error.message).not.toContain('…');
  });

  it('that are transposed are told so, others are not', async () => {
    const turned = await fileOf({ users: tf.ones([3, 5]) });
    const other = await fileOf({ users: tf.ones([3, 4]) });
    const told = await expectRefused(() => emb.weights.load(model, turned), 'ValueError', 'source', '[3, 5]');
    expect(told.message).toContain('transposed');
    const plain = await expectRefused(() => emb.weights.load(model, other), 'ValueError', 'source', '[3, 4]');
    expect(plain.message).not.toContain('transposed');
  });

  it('need a model, and a file that has a name', async () => {
    const bytes = await fileOf({ users: tf.ones([5, 3]) });
    await expectRefused(() => emb.weights.load({} as never, bytes), 'TypeError', 'model', '');
    await expectRefused(() => emb.weights.writeSafetensors('', {}), 'ValueError', 'file', '""');
  });

  it('leave the model as it was where one of them does not fit', async () => {
    const before = Array.from(model.getWeights()[0]!.dataSync());
    const bytes = await fileOf({ users: tf.ones([5, 3]), 'head/bias': tf.ones([3]) });
    await expectRefused(() => emb.weights.load(model, bytes), 'ValueError', 'source', '[3]');
    expect(Array.from(model.getWeights()[0]!.dataSync())).toEqual(before);
  });

  it('go to the weight that is named, either way round, and by array first where both ways are possible', async () => {
    const users = (): number => model.getWeights()[0]!.dataSync()[0]!;
    const loadUsers = async (tables: Record<string, tf.Tensor>, names: Record<string, string>): Promise<number> => {
      expect(await emb.weights.load(model, await fileOf(tables), { names })).toEqual(['users/embeddings']);
      return users();
    };
    // The array is called as the layer is, or as its weight.
    expect(await loadUsers({ users: tf.fill([5, 3], 1) }, { users: 'users/embeddings' })).toBe(1);
    expect(await loadUsers({ users: tf.fill([5, 3], 2) }, { 'users/embeddings': 'users' })).toBe(2);
    expect(await loadUsers({ 'users/embeddings': tf.fill([5, 3], 3) }, { users: 'users/embeddings' })).toBe(3);
    const both = (): Record<string, tf.Tensor> => {
      return { users: tf.fill([5, 3], 4), 'users/embeddings': tf.fill([5, 3], 5) };
    };
    expect(await loadUsers(both(), { users: 'users/embeddings' })).toBe(4);
    expect(await loadUsers(both(), { 'users/embeddings': 'users' })).toBe(5);
  });

  it('are looked for under the name that is not of the other side', async () => {
    const bytes = await fileOf({ table: tf.ones([5, 3]) });
    const refused = (names: Record<string, string>, received: string): Promise<Error> =>
      expectRefused(() => emb.weights.load(model, bytes, { names }), 'ValueError', 'names', received);
    for (const names of [{ table: 'usrs' }, { usrs: 'table' }]) {
      expect((await refused(names, 'usrs')).message).toContain('a weight of the model');
    }
    for (const names of [{ tabel: 'users' }, { users: 'tabel' }]) {
      expect((await refused(names, 'tabel')).message).toContain('an array of the file');
    }
    expect((await refused({ nothing: 'nowhere' }, 'nowhere')).message).toContain('a weight of the model');
  });
});
