/** Objects of options: hints for what was misspelt, and for what was given by position. */
import { readOptions } from '../../src/base/options.js';
import { expectError } from '../helpers/errors.js';

const KNOWN = ['learningRate', 'beta1', 'lazy', 'inputDim', 'useNesterov', 'l1'] as const;

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

function messageAbout(field: string): string {
  return messageOf(() => readOptions({ [field]: 1 }, KNOWN as never));
}

describe('options', () => {
  for (const [given, meant] of [
    ['lerningRate', 'learningRate'],
    ['learnignRate', 'learningRate'],
    ['learning_rate', 'learningRate'],
    ['LEARNINGRAT', 'learningRate'],
    ['beta', 'beta1'],
    ['lasy', 'lazy'],
    ['imput_dim', 'inputDim'],
    ['nesterov', 'useNesterov'],
  ]) {
    it(`say what was probably meant by ${given}`, () => {
      expect(messageAbout(given!)).toContain(`Did you mean ${meant}?`);
      expectError(() => readOptions({ [given!]: 1 }, KNOWN as never), 'ValueError', given!);
    });
  }

  for (const field of ['momentum', 'x', 'l', 'rate', 'outputs']) {
    it(`guess nothing for ${field}, which is like none of them`, () => {
      expect(messageAbout(field)).not.toContain('Did you mean');
    });
  }

  it('say how a call is written when something else came', () => {
    const usage = 'emb.layers.embedding({inputDim: 10})';
    expect(messageOf(() => readOptions(10, KNOWN as never, 'args', usage))).toContain(`Write ${usage}.`);
    expectError(() => readOptions(10, KNOWN as never, 'args', usage), 'TypeError', 'args', '10');
    expect(messageOf(() => readOptions({ lasy: 1 }, KNOWN as never, 'args', usage))).not.toContain('Write');
    expect(messageOf(() => readOptions(10, KNOWN as never))).not.toContain('Write');
  });

  it('are read once each, wherever they lie', () => {
    class Settings {
      beta1 = 0.5;
      get lazy(): boolean {
        return true;
      }
    }
    expect(readOptions(new Settings(), KNOWN as never)).toEqual({ beta1: 0.5, lazy: true });
    let reads = 0;
    const hidden = Object.defineProperties(
      { beta1: undefined, learningRate: null },
      {
        lazy: { value: false },
        note: { value: 'not counted' },
        l1: { get: () => ++reads, enumerable: true },
      },
    );
    expect(readOptions(hidden, KNOWN as never)).toEqual({ learningRate: null, lazy: false, l1: 1 } as never);
    expect(reads).toBe(1);
    expect(readOptions({ other: null, another: undefined }, KNOWN as never)).toEqual({});
    expect(readOptions(Object.create({ l1: 2 }) as object, KNOWN as never)).toEqual({ l1: 2 } as never);
  });
});
