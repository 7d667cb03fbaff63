import * as fs from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { fromPlatform, nodeBuiltin, platform, setPlatform } from '../../src/base/platform.js';
import { writeNpy } from '../../src/io/npy_writer.js';
import { expectRejection } from '../helpers/errors.js';
import { replacePlatform } from '../helpers/platform.js';

describe('the platform', () => {
  const before = { ...platform() };

  afterEach(() => replacePlatform(before));

  it('is what the Node entry set, also when another build sets it again', () => {
    setPlatform({ openFile: () => fail('the file of another build') as never });
    expect(platform()).toEqual(before);
    expect(Object.keys(before)).toEqual(
      jasmine.arrayContaining(['require', 'openFile', 'writeFile', 'makeFolder', 'loadSavedModel']),
    );
  });

  it('gives its parts, or says in a RuntimeError what needs Node and what does not', () => {
    expect(fromPlatform('openFile', 'file', 'The file a')).toBe(before.openFile!);
    replacePlatform({ openFile: undefined });
    expect(() => fromPlatform('openFile', 'file', 'The file a', 'Bytes work everywhere.')).toThrowMatching((error) => {
      expect(error).toBeInstanceOf(emb.RuntimeError);
      expect(error.argument).toBe('file');
      expect(error.message).toBe("The file a needs Node: import 'tfjs-embeddings/node'. Bytes work everywhere.");
      return true;
    });
  });

  it('is asked for by all that needs files', async () => {
    replacePlatform({ writeFile: undefined, makeFolder: undefined, loadSavedModel: undefined });
    await expectRejection(() => writeNpy('a.npy', [0], []), 'RuntimeError', 'path', 'The file a.npy');
    await expectRejection(() => emb.savedModel.load('b'), 'RuntimeError', 'savedModel.load', 'savedModel.load()');
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1] })] });
    await expectRejection(() => emb.savedModel.export(model, 'c'), 'RuntimeError', 'directory', 'The folder c');
    model.dispose();
  });

  it('gives modules of Node, through `require` where Node has no function for that', () => {
    expect(nodeBuiltin<typeof fs>('node:fs')!.readFileSync).toBe(fs.readFileSync);
    const { getBuiltinModule } = process;
    try {
      Object.assign(process, { getBuiltinModule: undefined });
      expect(nodeBuiltin<typeof fs>('node:fs')!.readFileSync).toBe(fs.readFileSync);
      replacePlatform({ require: undefined });
      expect(nodeBuiltin('node:fs')).toBeNull();
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
  });
});
