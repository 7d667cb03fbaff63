/** The rules by themselves: complete, and the same as those of the C core. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { hyperOf, readSettings, fieldsOf } from '../../src/lookup/training/optimizer_settings.js';
import { DEFAULTS, LIMITS, type RuleField } from '../../src/rules/fields.js';
import { OPTIMIZER_NAMES, RULES, UPDATES, UPDATE_NAMES, opNames } from '../../src/rules/rules.js';
import { ROOT } from '../helpers/project.js';
import { Random } from '../helpers/random.js';

describe('update rules', () => {
  it('are those of the C core, in its order, with its slots', () => {
    const header = readFileSync(join(ROOT, 'custom-ops', 'kernels', 'embedding.h'), 'utf8');
    const [, list] = /#define TE_EACH_OPTIMIZER\(X\)((?:.*\\\n)+.*)\n/.exec(header)!;
    const inC = [...list!.matchAll(/X\(\w+, "(\w+)", (\d), (\d), (\d)\)/g)].map(([, ...each]) => each);
    const ours = UPDATE_NAMES.map((name) => {
      const { slots, isPerRow = false, movesIdleRows = false } = UPDATES[name];
      return [opNames('')[name], ...[slots.length, isPerRow, movesIdleRows].map((each) => String(Number(each)))];
    });
    expect(inC).toEqual(ours);
  });

  it('read fields that have a default, and a limit where they are numbers', () => {
    for (const name of OPTIMIZER_NAMES) {
      for (const field of fieldsOf(name)) {
        if (field === 'learningRate' || field === 'clipValue') continue;
        expect(Object.hasOwn(DEFAULTS, field)).withContext(`${name} ${field}`).toBeTrue();
        const isFlag = typeof DEFAULTS[field] === 'boolean';
        expect(LIMITS[field] !== undefined)
          .withContext(`${name} ${field}`)
          .toBe(!isFlag);
      }
    }
  });

  it('hold for their own defaults', () => {
    for (const name of OPTIMIZER_NAMES) {
      const { defaults = {}, limits = {} } = RULES[name];
      for (const field of Object.keys(limits) as RuleField[]) {
        const value = defaults[field] ?? DEFAULTS[field];
        expect(limits[field]!.holds(value as number))
          .withContext(`${name} ${field}`)
          .toBeTrue();
      }
    }
  });

  for (const name of OPTIMIZER_NAMES) {
    it(`step rows by stock ops as the reference does: ${name}`, () => {
      const random = new Random(11);
      const [rows, dim] = [5, 3];
      const { slots: names, isPerRow = false, stepRow, stepRows } = RULES[name];
      const slotWidth = isPerRow ? 1 : dim;
      for (const step of [1, 4]) {
        const table = random.floats(rows * dim, -1, 1);
        const gradient = random.floats(rows * dim, -2, 2);
        const slots = names.map(() => random.floats(rows * slotWidth, 0.1, 1));
        const hyper = hyperOf(name, readSettings(name, { learningRate: 0.3 }), step, null);
        const found = tf.tidy(() => {
          const matrix = (values: Float32Array, width: number): tf.Tensor2D => tf.tensor2d(values, [rows, width]);
          const before = { table: matrix(table, dim), slots: slots.map((each) => matrix(each, slotWidth)) };
          const after = stepRows(tf, before, matrix(gradient, dim), hyper);
          return [after.table, ...after.slots].map((each) => Float32Array.from(each.dataSync()));
        });
        const wanted = table.slice();
        for (let id = 0; id < rows; id++) {
          const part = <T extends Float32Array>(of: T): number[] => [...of.subarray(id * dim, (id + 1) * dim)];
          const row = part(wanted);
          stepRow(row, slots, id, part(gradient), hyper);
          wanted.set(row, id * dim);
        }
        [wanted, ...slots].forEach((each, i) => {
          each.forEach((value, at) => expect(found[i]![at]!).toBeCloseTo(value, 5));
        });
      }
    });
  }
});
