import { compareNames } from './spec_names.js';

const spec = (file: string, name: string) => ({ file, name });

describe('compareNames', () => {
  it('tells specs that are gone, new, or in another file', () => {
    const before = [spec('a', 'stays'), spec('a', 'moves'), spec('b', 'goes')];
    const now = [spec('b', 'moves'), spec('a', 'stays'), spec('a', 'comes')];
    expect(compareNames(before, now)).toEqual({
      gone: [spec('b', 'goes')],
      added: [spec('a', 'comes')],
      moved: [{ from: 'a', to: 'b', name: 'moves' }],
    });
  });

  it('counts each of several specs of one name', () => {
    const before = [spec('a', 'same'), spec('a', 'same'), spec('b', 'same')];
    expect(compareNames(before, [spec('a', 'same'), spec('c', 'same')])).toEqual({
      gone: [spec('b', 'same')],
      added: [],
      moved: [{ from: 'a', to: 'c', name: 'same' }],
    });
    expect(compareNames(before, before)).toEqual({ gone: [], added: [], moved: [] });
  });
});
