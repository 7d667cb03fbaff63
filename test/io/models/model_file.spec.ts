/** Models loaded from files that nobody vouches for. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadModel } from '../../../src/io/models/model_file.js';
import { HOSTILE_MODELS } from '../../../tools/attack/hostile/models.js';
import { Random } from '../../helpers/random.js';
import { watchDisk } from './watched_disk.js';
import { loadNumber, numberedArtifacts, saveNumber } from './numbered_model.js';

interface Facts {
  readonly name: string;
  readonly message: string;
  readonly argument?: string;
}

describe('a model loaded from a file', () => {
  let parent = '';
  let folder = '';

  beforeEach(async () => {
    await tf.setBackend('cpu');
    parent = mkdtempSync(join(tmpdir(), 'models-'));
    folder = join(parent, 'model');
  });

  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  async function errorOf(loading: Promise<unknown>): Promise<Facts> {
    return loading.then(
      () => ({ name: 'nothing thrown', message: '' }),
      (error: Facts) => error,
    );
  }

  describe('that was spoilt', () => {
    beforeEach(async () => {
      const table = emb.layers.embedding({ inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2] });
      const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 })] });
      await model.save(`file://${folder}`);
      model.dispose();
    });

    it('by nothing at all loads', async () => {
      const before = tf.memory().numTensors;
      (await tf.loadLayersModel(`file://${folder}/model.json`)).dispose();
      expect(tf.memory().numTensors).toBe(before);
    });

    for (const { kind, says, spoil } of HOSTILE_MODELS) {
      it(`by ${kind} is refused`, async () => {
        spoil(folder, new Random(1));
        const before = tf.memory().numTensors;
        const { name, message, argument } = await errorOf(tf.loadLayersModel(`file://${folder}/model.json`));
        expect(name)
          .withContext(message)
          .toMatch(/Error$/);
        expect(name).withContext(message).not.toBe('RangeError');
        if (says === null) return;
        expect(name)
          .withContext(message)
          .toMatch(/^(Value|Runtime)Error$/);
        expect(argument).withContext(message).toBe('path');
        expect(message).toMatch(says);
        expect(message).toContain(`${basename(parent)}/model/`);
        // State of an optimizer that tfjs has decoded is out of reach when the weights of the model fail.
        const lost = kind === 'a weight of the optimizer' ? 1 : 0;
        expect(tf.memory().numTensors)
          .withContext('tensors left')
          .toBe(before + lost);
      });
    }
  });

  it('may lie behind links and in folders of its own', async () => {
    await saveNumber(join(parent, 'real'), 7, 1500);
    symlinkSync(join(parent, 'real'), folder);
    expect(await loadNumber(folder)).toBe(7);
    symlinkSync(join(folder, 'model.json'), join(parent, 'model.json'));
    await expectAsync(loadModel(join(parent, 'model.json'))).toBeRejectedWithError(
      emb.ValueError,
      /a file that exists/,
    );
    const { weightData, weightSpecs, modelTopology } = numberedArtifacts(8);
    mkdirSync(join(parent, 'deep', 'weights'), { recursive: true });
    const [first, second] = weightData as ArrayBuffer[];
    writeFileSync(join(parent, 'deep', 'weights', 'a.bin'), Buffer.from(first!));
    writeFileSync(join(parent, 'deep', 'b.bin'), Buffer.from(second!));
    symlinkSync('../b.bin', join(parent, 'deep', 'weights', 'b.bin'));
    const [a, b] = weightSpecs!;
    const weightsManifest = [
      { paths: ['weights/a.bin'], weights: [a] },
      { paths: ['./weights/b.bin'], weights: [b] },
    ];
    writeFileSync(join(parent, 'deep', 'model.json'), JSON.stringify({ modelTopology, weightsManifest }));
    expect(await loadNumber(join(parent, 'deep'))).toBe(8);
  });

  it('may have weights of any kind that tfjs writes, and none', async () => {
    mkdirSync(folder);
    const strings = [5, 0, 0, 0, ...Buffer.from('gröx'), 0, 0, 0, 0];
    const weights = [
      { name: 'strings', shape: [2], dtype: 'string' },
      { name: 'halves', shape: [3], dtype: 'float32', quantization: { dtype: 'float16', original_dtype: 'float32' } },
      { name: 'bytes', shape: [2], dtype: 'int32', quantization: { dtype: 'uint8', min: 1, scale: 2 } },
      { name: 'flags', shape: [1, 1], dtype: 'bool' },
      { name: 'waves', shape: [1], dtype: 'complex64' },
      { name: 'scalar', shape: [], dtype: 'int32' },
    ];
    const bytes = Buffer.concat([Buffer.from(strings), Buffer.alloc(6 + 2 + 1 + 8 + 4)]);
    writeFileSync(join(folder, 'w.bin'), bytes);
    const write = (weightsManifest?: object): void => {
      const text = JSON.stringify({ modelTopology: {}, format: 'x', weightsManifest, signature: { a: 1 } });
      writeFileSync(join(folder, 'model.json'), text);
    };
    write([{ paths: ['w.bin'], weights }]);
    const artifacts = await loadModel(join(folder, 'model.json'));
    expect(artifacts.weightSpecs as object).toEqual(weights);
    expect(Buffer.from(artifacts.weightData as ArrayBuffer).equals(bytes)).toBeTrue();
    expect(artifacts.signature).toEqual({ a: 1 });
    for (const length of [4, 6, 200, 2 ** 32 - 1]) {
      bytes.writeUInt32LE(length, 0);
      writeFileSync(join(folder, 'w.bin'), bytes);
      await expectAsync(loadModel(join(folder, 'model.json'))).toBeRejectedWithError(/as long as their strings/);
    }
    write();
    expect('weightData' in (await loadModel(join(folder, 'model.json')))).toBeFalse();
  });

  it('is refused where its weights change while they are read', async () => {
    await saveNumber(folder, 1);
    const weights = join(
      folder,
      readdirSync(folder).find((name) => name.startsWith('weights-'))!,
    );
    const change = (size: number, ahead: string): Promise<number> => {
      truncateSync(weights, 4000);
      let seen = 0;
      return watchDisk(
        ({ name }) => {
          // The text is opened and read first, and weights are opened to be measured.
          if (name === ahead && ++seen === (ahead === 'open' ? 3 : 2)) truncateSync(weights, size);
        },
        () => loadNumber(folder),
      );
    };
    for (const size of [3999, 4001]) {
      const refused = new RegExp(`4000 bytes in weights-.*it holds ${size}`);
      await expectAsync(change(size, 'open')).toBeRejectedWithError(emb.ValueError, refused);
    }
    const refused = /4000 bytes, received .*weights-.*has become shorter/;
    await expectAsync(change(3999, 'read')).toBeRejectedWithError(emb.ValueError, refused);
  });

  it('is told by its first fault, even where it is gone by then', async () => {
    await saveNumber(folder, 1);
    for (const name of readdirSync(folder).filter((each) => each !== 'model.json')) rmSync(join(folder, name));
    const loading = watchDisk(
      ({ name, number }) => {
        if (name === 'realpath' && number > 0) rmSync(join(folder, 'model.json'), { force: true });
      },
      () => loadNumber(folder),
    );
    await expectAsync(loading).toBeRejectedWithError(emb.ValueError, /a file that exists, received .* names "weights-/);
  });

  it('is the one of another process that saves meanwhile', async () => {
    await saveNumber(folder, 1);
    const text = join(parent, 'old');
    cpSync(folder, text, { recursive: true });
    await saveNumber(folder, 2);
    renameSync(join(text, 'model.json'), join(folder, 'model.json'));
    let hasSaved = false;
    const loading = watchDisk(
      async ({ name, number }) => {
        if (hasSaved || name !== 'realpath' || number === 0) return;
        hasSaved = true;
        await saveNumber(folder, 3);
      },
      () => loadNumber(folder),
    );
    expect(await loading).toBe(3);
    expect(hasSaved).toBeTrue();
  });
});
