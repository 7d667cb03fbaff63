// What the package wraps is snapshot with it, before anything else is.
import 'tfjs-embeddings/node';
import { KnownClasses, takeClasses } from '../../../src/capture/known/known_classes.js';

type Holder = Record<PropertyKey, unknown>;

interface Classes {
  readonly Base: { readonly prototype: object };
  readonly Middle: { readonly prototype: object };
  readonly Leaf: { readonly prototype: object };
}

function classes(): Classes {
  class Base {
    static shared(): number {
      return 1;
    }
    static counter = 0;
    get size(): number {
      return 1;
    }
    call(): number {
      return 1;
    }
    save(): void {}
  }
  class Middle extends Base {
    override get size(): number {
      return super.size + 1;
    }
  }
  class Leaf extends Middle {
    override call(): number {
      return super.call() + 1;
    }
  }
  return { Base, Middle, Leaf };
}

const two = (): number => 2;
const getter = { get: two, configurable: true };

/** What is done to the classes, and the field that is named for it; null: no step sees it. */
const CHANGES: Record<string, [change: (all: Classes) => unknown, named: string | null]> = {
  nothing: [() => undefined, null],
  'a method of the class': [({ Leaf }) => ((Leaf.prototype as Holder)['call'] = two), 'call'],
  'a method of its base, which it calls': [({ Base }) => ((Base.prototype as Holder)['call'] = two), 'call'],
  'a method before that of its base': [({ Middle }) => ((Middle.prototype as Holder)['call'] = two), 'call'],
  'a getter of its base': [({ Base }) => Object.defineProperty(Base.prototype, 'size', getter), 'size'],
  'a getter between': [({ Middle }) => Object.defineProperty(Middle.prototype, 'size', getter), 'size'],
  'a getter before that of its base': [({ Leaf }) => Object.defineProperty(Leaf.prototype, 'size', getter), 'size'],
  'a number before a getter': [({ Leaf }) => Object.defineProperty(Leaf.prototype, 'size', { value: 1 }), 'size'],
  'a getter that is gone': [({ Middle }) => delete (Middle.prototype as Holder)['size'], 'size'],
  'a static function': [({ Base }) => ((Base as unknown as Holder)['shared'] = two), 'shared'],
  'a static function before that of its base': [({ Leaf }) => ((Leaf as unknown as Holder)['shared'] = two), 'shared'],
  'a static number': [({ Base }) => ((Base as unknown as Holder)['counter'] = 1), null],
  'how it is saved': [({ Base }) => ((Base.prototype as Holder)['save'] = two), null],
};

/** What saves, loads, shows, disposes of and trains what steps: no step calls it. */
const AROUND = [
  ...['setWeights', 'getWeights', 'loadWeights', 'save', 'summary', 'dispose', 'disposeWeights', 'disposeInternal'],
  ...['getConfig', 'toJSON', 'updatedConfig', 'fromConfig', 'countParams', 'print', 'toString', 'addWeight'],
  ...['fit', 'fitDataset', 'fitLoop', 'evaluate', 'evaluateDataset', 'predict', 'predictOnBatch', 'trainOnBatch'],
];

describe('Known classes', () => {
  for (const name of AROUND) {
    it(`do not mind another ${name}`, () => {
      const all = classes();
      const holders = [all.Base, all.Base.prototype] as unknown as Holder[];
      const put = (): void => holders.forEach((holder) => (holder[name] = (): number => 1));
      put();
      takeClasses([all.Leaf]);
      put();
      expect(new KnownClasses().add(all.Leaf.prototype).changed()).toBeNull();
    });
  }

  for (const [what, [change, named]] of Object.entries(CHANGES)) {
    it(`see ${what}`, () => {
      const all = classes();
      takeClasses([all.Leaf]);
      const known = new KnownClasses().add(all.Leaf.prototype);
      expect(known.changed()).toBeNull();
      change(all);
      expect(known.changed()?.field ?? null).toBe(named);
    });
  }
});
