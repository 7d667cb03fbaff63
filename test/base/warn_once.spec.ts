/** Warnings: once per process and key, also those of unknown keys of configs. */
import { sayUnknownKey } from '../../src/base/unknown_key.js';
import { warnOnce } from '../../src/base/warn_once.js';
import { warningsOf } from '../helpers/warnings.js';

describe('Warnings', () => {
  it('are given once per text, or per key', () => {
    const said = warningsOf(() => {
      for (const text of ['one', 'two', 'one']) warnOnce(text);
      for (const text of ['three', 'four']) warnOnce(text, 'a key');
      warnOnce('five', 'one');
    });
    expect(said).toEqual(['tfjs-embeddings: one', 'tfjs-embeddings: two', 'tfjs-embeddings: three']);
  });

  it('say which key is not known, and what was meant where a name is close', () => {
    const said = warningsOf(() => {
      sayUnknownKey('maskZeros', 'a layer', ['combiner', 'maskZero']);
      sayUnknownKey('useGpu', 'an optimizer', ['combiner', 'maskZero']);
    });
    const text = (key: string, owner: string): string =>
      `tfjs-embeddings: the key ${key} in the config of ${owner} is not known and has no effect.`;
    expect(said).toEqual([`${text('maskZeros', 'a layer')} Did you mean maskZero?`, text('useGpu', 'an optimizer')]);
  });
});
