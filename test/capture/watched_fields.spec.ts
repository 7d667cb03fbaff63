/** Which changes of what a captured step reached are told, and by which name. */
import { WatchedFields } from '../../src/capture/watched_fields.js';

describe('WatchedFields', () => {
  let watched: WatchedFields;
  beforeEach(() => (watched = new WatchedFields()));

  it('names fields by their object where that has a name', () => {
    const [named, bare] = [{ rate: 1 }, { slot: 1 }];
    watched.addObject(named, ['rate'], () => false, 'an optimizer');
    watched.addObject(bare, ['slot'], null);
    expect(watched.changed()).toBeNull();
    bare.slot = 2;
    expect(watched.changed()).toBe('slot');
    named.rate = 2;
    expect(watched.changed()).toBe('the rate of an optimizer');
    [named.rate, bare.slot] = [1, 1];
    expect(watched.changed()).toBeNull();
    Object.setPrototypeOf(bare, {});
    expect(watched.changed()).toBe('the class of an object');
    Object.setPrototypeOf(named, {});
    expect(watched.changed()).toBe('the class of an optimizer');
  });

  it('tells fields that come and go, but for those aside, in any order', () => {
    const holder: Record<string, number> = { rate: 1, history: 2 };
    const isAside = (field: string): boolean => field.startsWith('h');
    watched.addObject(holder, ['rate'], isAside);
    holder['hidden'] = holder['history']!;
    expect(watched.changed()).toBeNull();
    delete holder['history'];
    expect(watched.changed()).toBeNull();
    delete holder['rate'];
    holder['rate'] = 1;
    expect(watched.changed()).toBeNull();
    Object.defineProperty(holder, 'apply', { value: 1, configurable: true });
    expect(watched.changed()).toBe('the fields of an object');
    delete holder['apply'];
    expect(watched.changed()).toBeNull();
    delete holder['rate'];
    holder['other'] = 1;
    expect(watched.changed()).toBe('rate');
  });

  it('lets all other fields come and go where none is told', () => {
    const holder: Record<string, number> = { rate: 1, other: 1 };
    watched.addObject(holder, ['rate'], null);
    holder['more'] = 2;
    delete holder['other'];
    expect(watched.changed()).toBeNull();
  });

  it('lets lists grow that are open, and no others', () => {
    const [open, closed] = [
      [1, 2],
      [1, 2],
    ];
    watched.addList(open, 'open', true);
    watched.addList(closed, 'closed');
    open.push(3);
    expect(watched.changed()).toBeNull();
    open[1] = 4;
    expect(watched.changed()).toBe('open');
    open[1] = 2;
    closed.push(3);
    expect(watched.changed()).toBe('closed');
    closed.length = 1;
    expect(watched.changed()).toBe('closed');
    closed.push(2);
    open.length = 1;
    expect(watched.changed()).toBe('open');
    open.length = 2;
    expect(watched.changed()).toBe('open');
    open[1] = 2;
    expect(watched.changed()).toBeNull();
    Object.setPrototypeOf(open, Object.create(Array.prototype) as object);
    expect(watched.changed()).toBe('open');
  });

  it('tells elements of sets that come, go or give way to others', () => {
    const names = new Set<unknown>(['a', 'b']);
    watched.addSet(names, 'names');
    expect(watched.changed()).toBeNull();
    names.add('c');
    expect(watched.changed()).toBe('names');
    names.delete('a');
    expect(watched.changed()).toBe('names');
    names.delete('c');
    names.add('a');
    expect(watched.changed()).toBeNull();
  });

  it('reads fields anew, those of a class too', () => {
    class Holder {
      number = NaN;
      get twice(): number {
        return 2 * this.number;
      }
    }
    const holder = new Holder();
    watched.addField('it', holder, 'number');
    expect(watched.changed()).toBeNull();
    holder.number = 1;
    expect(watched.changed()).toBe('it');
    watched = new WatchedFields();
    watched.addField('twice it', holder, 'twice');
    holder.number = 1.5;
    expect(watched.changed()).toBe('twice it');
  });

  it('asks anew for what is an answer, and tells zeros apart', () => {
    let answer: unknown = NaN;
    watched.addAnswer('it', () => answer);
    expect(watched.changed()).toBeNull();
    answer = 0;
    expect(watched.changed()).toBe('it');
    watched = new WatchedFields();
    watched.addAnswer('it', () => answer);
    answer = -0;
    expect(watched.changed()).toBe('it');
  });
});
