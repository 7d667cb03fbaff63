/** The rules by themselves: complete, and the same as those of the C core. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { hyperOf, readSettings, fieldsOf } from '../../src/rules/optimizer_settings.js';
import { COMMON_FIELDS, DEFAULTS, LIMITS, type RuleConfig, type RuleField } from '../../src/rules/fields.js';
import { HYPER_FIELDS, NEUTRAL_HYPER, packHyper, unpackHyper, type Hyper } from '../../src/rules/hyper.js';
import {
  OPTIMIZER_NAMES,
  RULES,
  UPDATES,
  UPDATE_NAMES,
  SLOT_NAMES,
  couplesColumns,
  opNames,
  slotArguments,
  slotShapes,
  stepsIdleRows,
  updateOf,
  type OptimizerName,
} from '../../src/rules/rules.js';
import { power, quotient } from '../../src/rules/update_rule.js';
import { ROOT } from '../helpers/project.js';
import { Random } from '../helpers/random.js';

/** Those whose rows may count their own steps. */
const BY_ROW = (['adam', 'adamW'] as const).map((name) => [name, true] as const);

describe('update rules', () => {
  it('are those of the C core, in its order, with its slots', () => {
    const header = readFileSync(join(ROOT, 'custom-ops', 'kernels', 'embedding.h'), 'utf8');
    const [, list] = /#define TE_EACH_OPTIMIZER\(X\)((?:.*\\\n)+.*)\n/.exec(header)!;
    const inC = [...list!.matchAll(/X\(\w+, "(\w+)", (\d), (\d), (\d)\)/g)].map(([, ...each]) => each);
    const ours = UPDATE_NAMES.map((name) => {
      const { slots, rowSlots = 0, movesIdleRows = false } = UPDATES[name];
      return [opNames('')[name], ...[slots.length, rowSlots, movesIdleRows].map((each) => String(Number(each)))];
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

  it('have the defaults that RuleConfig tells, or those of their own', () => {
    const source = readFileSync(join(ROOT, 'src', 'rules', 'fields.ts'), 'utf8');
    const told = [...source.matchAll(/Default(?:, as null)?: ([^\n]*?)\. \*\/\n {2}(\w+)\?:/g)];
    expect(told.length).toBe(25);
    for (const [, text, field] of told) {
      const [general, ...special] = text!.split('; ');
      const value = /^(?:adam )?([^\s,]+)/.exec(general!)![1]!;
      // As another field.
      if (value === 'as') continue;
      expect(String(DEFAULTS[field as RuleField]))
        .withContext(field!)
        .toBe(String(JSON.parse(value)));
      for (const each of special) {
        const own = /^adagradMomentum (\d\S*?)(,|$)/.exec(each);
        if (own !== null) expect(RULES.adagradMomentum.defaults![field as RuleField]).toEqual(Number(own[1]));
      }
    }
    expect(Object.values(DEFAULTS).filter((each) => each === null).length).toBe(6);
  });

  it('have the limits that their texts tell', () => {
    const limits = [LIMITS, ...OPTIMIZER_NAMES.map((name) => RULES[name].limits ?? {})].flatMap((each) =>
      Object.values(each),
    );
    for (const { expected, holds } of limits) {
      const [, sign, bound] = /^a finite number(?: (>|>=|<=) (\d))?$/.exec(expected) ?? [];
      const isIn = (value: number): boolean => {
        if (expected === 'a number in [0, 1]') return value >= 0 && value <= 1;
        if (expected === 'a number in [0, 1)') return value >= 0 && value < 1;
        if (!Number.isFinite(value)) return false;
        if (sign === '>') return value > Number(bound);
        if (sign === '>=') return value >= Number(bound);
        return sign === undefined || value <= Number(bound);
      };
      expect(expected).toMatch(/^a (finite number( (>|>=|<=) 0)?|number in \[0, 1[\])])$/);
      for (const value of [-Infinity, -2, -1e-9, 0, 1e-9, 0.5, 1, 1.5, 1e30, Infinity, NaN])
        expect(holds(value)).withContext(`${expected}: ${value}`).toBe(isIn(value));
    }
  });

  it('have slots of one number per element, or per row', () => {
    for (const name of UPDATE_NAMES) {
      const counts = name.endsWith('ByRow');
      const last = name === 'rowWiseAdagrad' || counts ? [7] : [7, 3];
      const shapes = slotShapes(name, [7, 3]);
      expect(shapes.at(-1) ?? last).toEqual(last);
      for (const shape of shapes.slice(0, -1)) expect(shape).toEqual([7, 3]);
      expect(couplesColumns(name)).toBe(last.length === 1);
      expect(SLOT_NAMES[name].includes('steps')).toBe(counts);
    }
    expect([slotArguments([], 0), slotArguments([1], 0), slotArguments([1, 2, 3, 4], 0)]).toEqual([
      [0, 0, 0, 0],
      [1, 0, 0, 0],
      [1, 2, 3, 4],
    ]);
  });

  it('step rows without ids where they move and are not lazy', () => {
    const moving = (lazy: number): string[] =>
      UPDATE_NAMES.filter((name) => stepsIdleRows(name, { ...NEUTRAL_HYPER, lazy }));
    expect(moving(0).join(' ')).toBe(
      'adagradMomentum adam rmsprop rmspropMomentum rmspropCentered rmspropCenteredMomentum momentum amsgrad ' +
        'adamByRow adamWByRow amsgradByRow',
    );
    expect(moving(1)).toEqual([]);
    for (const limit of [{ clipWeightMin: -1 }, { clipWeightMax: 1 }, { constraint: 1 }, { constraint: 2 }]) {
      for (const name of UPDATE_NAMES) {
        expect(stepsIdleRows(name, { ...NEUTRAL_HYPER, ...limit, lazy: 0 })).toBeTrue();
        expect(stepsIdleRows(name, { ...NEUTRAL_HYPER, ...limit })).toBeFalse();
      }
    }
  });

  it('run the update that their settings name', () => {
    const runs = (name: OptimizerName, config: RuleConfig, byRow = false): string =>
      updateOf({ optimizerName: name, settings: readSettings(name, config) }, byRow);
    for (const name of OPTIMIZER_NAMES.filter((each) => !each.startsWith('adam'))) {
      expect(runs(name, {}, true)).toBe(runs(name, {}));
    }
    expect(runs('adam', { biasCorrection: false }, true)).toBe('adam');
    expect([{}, { momentum: 0.5 }, { nesterov: true }].map((config) => runs('sgd', config))).toEqual([
      ...['sgd', 'momentum', 'sgd'],
    ]);
    for (const name of ['adam', 'adamW'] as const) {
      expect([runs(name, {}), runs(name, { amsgrad: true })]).toEqual(['adam', 'amsgrad']);
      const byRow = [{}, { amsgrad: true }].map((config) => runs(name, config, true));
      expect(byRow).toEqual([`${name}ByRow`, 'amsgradByRow']);
    }
    const both = { centered: true, momentum: 0.5 };
    expect([{}, { momentum: 0.5 }, { centered: true }, both].map((config) => runs('rmsprop', config))).toEqual([
      ...['rmsprop', 'rmspropMomentum', 'rmspropCentered', 'rmspropCenteredMomentum'],
    ]);
    for (const name of ['adagrad', 'rowWiseAdagrad', 'adagradMomentum', 'ftrl'] as const)
      expect(runs(name, {})).toBe(name);
  });

  it('count the fields that they read, once', () => {
    const common =
      'clipValue clipNorm globalClipNorm clipWeightMin clipWeightMax weightDecay multiplyWeightDecayByLearningRate';
    expect([...COMMON_FIELDS]).toEqual(common.split(' ') as (typeof COMMON_FIELDS)[number][]);
    const read = Object.fromEntries(OPTIMIZER_NAMES.map((name) => [name, RULES[name].fields.join(' ')]));
    expect(read).toEqual({
      sgd: 'momentum nesterov lazy',
      adagrad: 'initialAccumulatorValue epsilon',
      rowWiseAdagrad: 'initialAccumulatorValue epsilon',
      adagradMomentum: 'initialAccumulatorValue momentum useNesterov exponent beta2 epsilon lazy',
      adam: 'beta1 beta2 epsilon biasCorrection amsgrad sumInsideSqrt lazy',
      ftrl: 'initialAccumulatorValue learningRatePower l1 l2 beta multiplyLinearByLearningRate',
      adamW: 'beta1 beta2 epsilon amsgrad lazy',
      rmsprop: 'rho momentum epsilon centered lazy',
    });
  });

  it('name their classes, slots and rates, and the optimizers of Keras that are the same', () => {
    const told = OPTIMIZER_NAMES.map((name) => {
      const { className, slots, learningRate = 0.01, keras } = RULES[name];
      const same = Object.entries(keras?.fields ?? {}).map(([theirs, ours]) =>
        theirs === ours ? ours : `${theirs}=${ours}`,
      );
      return `${className} [${slots.join(' ')}] ${learningRate} ${keras?.className ?? 'none'} [${same.join(' ')}]`;
    });
    expect(told).toEqual([
      'SGD [] 0.01 SGD [momentum nesterov]',
      'Adagrad [accumulators] 0.01 Adagrad [initialAccumulatorValue epsilon]',
      'RowWiseAdagrad [accumulators] 0.01 none []',
      'AdagradMomentum [accumulators momenta] 0.001 none []',
      'Adam [momenta velocities] 0.001 Adam [beta1 beta2 epsilon amsgrad]',
      'Ftrl [accumulators linears] 0.001 Ftrl [learningRatePower initialAccumulatorValue ' +
        'l1RegularizationStrength=l1 l2RegularizationStrength=l2 beta]',
      'AdamW [momenta velocities] 0.001 AdamW [beta1 beta2 epsilon amsgrad]',
      'RMSprop [velocities] 0.001 RMSprop [rho momentum epsilon centered]',
    ]);
  });

  it('name the stock optimizer that steps dense variables', () => {
    const settings = { ...DEFAULTS, momentum: 0.7, useNesterov: true, initialAccumulatorValue: 0.3, beta1: 0.8 };
    const dense = OPTIMIZER_NAMES.map((name) => {
      const optimizer = RULES[name].dense(tf.train, { ...settings, ...(name === 'sgd' && { momentum: 0 }) }, 0.25);
      if (optimizer === null) return null;
      const config = optimizer.getConfig();
      optimizer.dispose();
      return [optimizer.getClassName(), config];
    });
    const adagrad = ['Adagrad', { learningRate: 0.25, initialAccumulatorValue: 0.3 }];
    expect(dense).toEqual([
      ['SGD', { learningRate: 0.25 }],
      adagrad,
      adagrad,
      ['Momentum', { learningRate: 0.25, momentum: 0.7, useNesterov: true }],
      ['Adam', { learningRate: 0.25, beta1: 0.8, beta2: 0.999, epsilon: 1e-7 }],
      adagrad,
      null,
      null,
    ]);
    expect(RULES.sgd.dense(tf.train, settings, 0.25)).toBeNull();
    expect(RULES.adam.dense(tf.train, { ...settings, amsgrad: true }, 0.25)).toBeNull();
  });

  it('pack numbers in the order of the contract, and unpack them', () => {
    const hyper = Object.fromEntries(HYPER_FIELDS.map((field, i) => [field, i + 0.5])) as Hyper;
    const packed = packHyper(hyper);
    expect([...packed]).toEqual(HYPER_FIELDS.map((_, i) => i + 0.5));
    expect(unpackHyper(packed)).toEqual(hyper);
    expect(unpackHyper([1])).toEqual({ ...unpackHyper([]), learningRate: 1 });
    expect(Object.values(unpackHyper([])).every(Number.isNaN)).toBeTrue();
  });

  it('leave rows as they are with neutral numbers', () => {
    const random = new Random(3);
    for (const name of UPDATE_NAMES) {
      const slots = UPDATES[name].slots.map(() => random.floats(4, 0.1, 1));
      const row = [0.5, -1, 0.25, 2];
      // Which step of a row it is tells nothing where all squares count alike.
      const hyper = name.endsWith('ByRow') ? { ...NEUTRAL_HYPER, beta2: 0.5 } : NEUTRAL_HYPER;
      UPDATES[name].stepRow(row, slots, 0, [1, -1, 0.5, 0], hyper);
      expect(row).withContext(name).toEqual([0.5, -1, 0.25, 2]);
    }
    const off = Object.entries(NEUTRAL_HYPER).filter(([, value]) => value !== 0);
    expect(Object.fromEntries(off)).toEqual({
      exponent: 2,
      beta2: 1,
      correction1: 1,
      correction2: 1,
      lazy: 1,
      learningRatePower: -0.5,
      clipGradientMin: -Infinity,
      clipGradientMax: Infinity,
      clipWeightMin: -Infinity,
      clipWeightMax: Infinity,
      constraintRate: 1,
    });
  });

  it('divide by 0 to 0, and raise to powers as pow does', () => {
    expect([quotient(3, 0), quotient(3, 2), quotient(0, 0)]).toEqual([0, 1.5, 0]);
    tf.tidy(() => {
      for (const exponent of [0.5, 1, 0.3, 2]) {
        const base = tf.tensor2d([[4, 9]]);
        const pow = spyOn(base, 'pow').and.callThrough();
        const found = power(base, exponent);
        expect(found === base).toBe(exponent === 1);
        expect(pow.calls.count()).toBe(exponent === 0.5 || exponent === 1 ? 0 : 1);
        [...found.dataSync()].forEach((each, i) => expect(each).toBeCloseTo([4, 9][i]! ** exponent, 4));
      }
    });
  });

  /** Settings by which a rule takes every one of its ways. */
  function settingsOf(name: OptimizerName, random: Random): RuleConfig {
    const drawn: RuleConfig = {
      initialAccumulatorValue: 0.1,
      momentum: random.pick([0, 0.3, 0.9]),
      nesterov: random.chance(0.5),
      rho: 0.5 + 0.4 * random.next(),
      centered: random.chance(0.5),
      amsgrad: random.chance(0.5),
      useNesterov: random.chance(0.5),
      exponent: random.pick([1, 2, 3]),
      beta1: 0.5 + 0.4 * random.next(),
      beta2: random.pick(name === 'adagradMomentum' ? [1, 0.9] : [0.9, 0.999]),
      epsilon: random.pick([1e-7, 0.1]),
      biasCorrection: random.chance(0.5),
      sumInsideSqrt: random.chance(0.5),
      learningRatePower: random.pick([-1, -0.5, -0.3, 0]),
      l1: random.pick([0, 0.5]),
      l2: random.pick([0, 0.4]),
      beta: random.pick([0, 0.6]),
      multiplyLinearByLearningRate: random.chance(0.5),
    };
    const fields = new Set<string>(RULES[name].fields);
    return Object.fromEntries(Object.entries(drawn).filter(([field]) => fields.has(field)));
  }

  for (const [name, byRow] of [...OPTIMIZER_NAMES.map((each) => [each, false] as const), ...BY_ROW]) {
    it(`step rows by stock ops as the reference does: ${name}${byRow ? ' by row' : ''}`, () => {
      const random = new Random(11);
      const [rows, dim] = [5, 3];
      for (let step = 1; step <= 24; step++) {
        const table = random.floats(rows * dim, -1, 1);
        const gradient = random.floats(rows * dim, -2, 2);
        const settings = { learningRate: step % 8 === 0 ? 0 : 0.3, ...settingsOf(name, random) };
        const read = readSettings(name, settings);
        const optimizer = updateOf({ optimizerName: name, settings: read }, byRow);
        const { stepRow, stepRows } = UPDATES[optimizer];
        const widths = slotShapes(optimizer, [rows, dim]).map(([, columns = 1]) => columns);
        const slots = widths.map((columns, i) => {
          const drawn = random.floats(rows * columns, 0.1, 1);
          return SLOT_NAMES[optimizer][i] === 'steps' ? drawn.map((each) => Math.floor(each * 90)) : drawn;
        });
        // An element that no gradient has reached yet.
        for (const each of [gradient, ...slots]) each[0] = 0;
        const hyper = hyperOf(name, read, step, null, undefined, byRow);
        const found = tf.tidy(() => {
          const matrix = (values: Float32Array, width: number): tf.Tensor2D => tf.tensor2d(values, [rows, width]);
          const before = { table: matrix(table, dim), slots: slots.map((each, i) => matrix(each, widths[i]!)) };
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
          each.forEach((value, at) =>
            expect(Math.abs(found[i]![at]! - value))
              .withContext(JSON.stringify(settings))
              .toBeLessThan(5e-5 * (1 + Math.abs(value))),
          );
        });
      }
    });
  }
});
