/** What users promise of their functions: comparisons find where it does not hold. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';
import { describeSteps } from '../training.js';

type Captured = emb.CapturedFunction<unknown[], unknown>;

describeSteps('Functions of users', () => {
  describe('whose numbers change without emb.live', () => {
    let warned: string[];
    beforeEach(() => {
      warned = [];
      spyOn(console, 'warn').and.callFake((text: string) => void warned.push(text));
    });

    function growing(options?: emb.CaptureOptions): {
      call: Captured;
      setFactor(to: number): void;
      at(): number[];
      end(): void;
    } {
      let factor = 1;
      const seen: number[] = [];
      const x = tf.scalar(1);
      const call = emb.capture((given: unknown) => tf.mul(given as tf.Tensor, factor), options);
      return {
        call,
        setFactor: (to) => (factor = to),
        at() {
          const result = call(x) as tf.Tensor;
          seen.push(result.dataSync()[0]!);
          result.dispose();
          return seen;
        },
        end() {
          x.dispose();
          call.dispose();
        },
      };
    }

    it('are told at the next comparison, with the call since which they may be others', () => {
      const { call, setFactor, at, end } = growing();
      for (let i = 0; i < 5; i++) at();
      setFactor(2);
      for (let i = 5; i < 16; i++) at();
      // Calls 6 to 10 were replayed, the 11th is compared.
      expect(warned.length).toBe(1);
      expect(warned[0]).toMatch(/comparison at step 11 found that .+; since step 6 it may have given other numbers/);
      expect(call.info.captured).toBeFalse();
      end();
    });

    it('give right numbers from then on', () => {
      const { setFactor, at, end } = growing();
      for (let i = 0; i < 5; i++) at();
      setFactor(2);
      let seen: number[] = [];
      for (let i = 5; i < 16; i++) seen = at();
      expect(seen.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
      expect(seen.slice(10)).toEqual([2, 2, 2, 2, 2, 2]);
      end();
    });

    it('are told at once where each call is compared, and by verify', () => {
      const always = growing({ check: 'always' });
      for (let i = 0; i < 5; i++) always.at();
      always.setFactor(2);
      expect(always.at().at(-1)).toBe(2);
      expect(warned[0]).toMatch(/step 6 found/);
      for (let i = 6; i < 16; i++) always.at();
      const verified = growing();
      for (let i = 0; i < 5; i++) verified.at();
      expect(verified.call.verify()).toBeTrue();
      verified.setFactor(2);
      expect(verified.call.verify()).toBeFalse();
      expect(verified.at().at(-1)).toBe(2);
      for (let i = 6; i < 16; i++) verified.at();
      expect(warned.length).toBe(2);
      always.end();
      verified.end();
    });

    it('are told hundreds of calls later, where they are compared next', () => {
      const { setFactor, at, end } = growing();
      for (let i = 0; i < 600; i++) at();
      setFactor(2);
      for (let i = 600; i < 1001; i++) at();
      expect(warned.length).toBe(1);
      expect(warned[0]).toMatch(/comparison at step 669 found.+since step 521/);
      end();
    });

    it('are errors with onlyCaptured', () => {
      const { call, setFactor, at, end } = growing({ onlyCaptured: true });
      for (let i = 0; i < 5; i++) at();
      setFactor(2);
      expectError(() => call.verify(), 'RuntimeError', 'onlyCaptured', /since step 6/);
      expectError(() => at(), 'RuntimeError', 'onlyCaptured', /since step 6/);
      end();
    });
  });
});
