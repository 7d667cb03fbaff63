/** What the recorder writes down of ops, and what it refuses. */
import * as tf from '@tensorflow/tfjs';
import { live } from '../../src/backends/recordings.js';
import { asNodeBackend } from '../../src/backends/tensorflow/node_backend.js';
import { STEP_OPS } from '../../src/backends/tensorflow/step_kernels.js';
import { loadAddon } from '../../src/backends/native/addon.js';
import { record } from '../../src/capture/recorder.js';
import { difference, type Recording } from '../../src/capture/recording.js';
import { whyUnsound } from '../../src/capture/sound.js';
import { StepGraph } from '../../src/capture/step_graph.js';
import type { StepData } from '../../src/tfjs/training/step_runner.js';
import { describeForBackends } from '../helpers/backends.js';

describeForBackends(
  'record',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    const recordingOf = (data: StepData, step: () => tf.Tensor[]): Recording =>
      tf.tidy(() => {
        let recording: Recording | null = null;
        const { results } = record(asNodeBackend(tf.backend()), data, () => step() as tf.Scalar[]);
        // A batch may come back as a result.
        tf.dispose(results.filter((result) => !data.includes(result)));
        recording = record(asNodeBackend(tf.backend()), data, () => step() as tf.Scalar[]).recording;
        return [recording] as never;
      })[0] as unknown as Recording;

    /** The recording of a step on one batch [1, 2, 3], with a variable [4, 5, 6]. */
    const recorded = (step: (x: tf.Tensor1D, w: tf.Variable) => tf.Tensor[]): Recording => {
      const w = tf.tidy(() => tf.variable(tf.tensor1d([4, 5, 6])));
      const x = tf.tensor1d([1, 2, 3]);
      try {
        return recordingOf([x], () => step(x, w));
      } finally {
        tf.dispose([x, w]);
      }
    };

    it('keeps what an op makes of constants in its place, unless it is large', () => {
      for (const [length, isKept] of [
        [2 ** 18, true],
        [2 ** 18 + 1, false],
      ] as const) {
        const { ops, constants } = recorded((x) => [x.sum().add(tf.neg(tf.zeros([length])).sum())]);
        expect(ops.some(({ name }) => name === 'Neg')).toBe(!isKept);
        expect(constants.some(({ values }) => (values as Float32Array).length === length)).toBeTrue();
      }
    });

    it('names data, variables, live numbers and constants, and the ops that take them', () => {
      let rate = 2;
      const { ops, feeds, constants, results, problem } = recorded((x, w) => {
        const rates = tf.tensor1d(
          live(() => Float32Array.of(rate++)),
          'float32',
        );
        return [
          x
            .mul(w)
            .mul(rates)
            .add(tf.tensor1d([7])),
        ];
      });
      expect(problem).toBeNull();
      expect(feeds.map(({ kind }) => kind)).toEqual(['data', 'live', 'variable']);
      expect(constants.map(({ values }) => Array.from(values as Float32Array))).toEqual([[7]]);
      expect(ops.length).toBe(3);
      expect(ops[0]!.inputs).toEqual([feeds[0]!.name, feeds[2]!.name]);
      expect(ops[2]!.inputs).toEqual(['op1', constants[0]!.name]);
      expect(results).toEqual(['op2']);
    });

    it('refuses reads of what ops made, of batches and of variables, and not of constants', () => {
      expect(recorded((x) => [x.mul(tf.scalar(2).dataSync()[0]!)]).problem).toBeNull();
      expect(recorded((x) => [x.mul(x.dataSync()[0]!)]).problem).toMatch(/JavaScript reads/);
      expect(recorded((x, w) => [x.mul(w.dataSync()[0]!)]).problem).toMatch(/JavaScript reads/);
      expect(recorded((x) => [x.mul(x.square().dataSync()[0]!)]).problem).toMatch(/JavaScript reads/);
    });

    it('refuses stock ops on rows whose number the ids decide', () => {
      const touched = (): tf.Tensor1D => STEP_OPS.touchedRows([tf.tensor1d([1, 1, 0], 'int32')], 3);
      expect(recorded(() => [STEP_OPS.singleSplits(touched())]).problem).toBeNull();
      expect(recorded(() => [tf.concat([touched(), touched()])]).problem).toBeNull();
      expect(recorded(() => [touched().toFloat().sum()]).problem).toMatch(/^Cast takes .* number changes from step/);
      expect(recorded(() => [touched().add(1)]).problem).toMatch(/^Cast takes/);
      expect(recorded(() => [touched().mul(touched())]).problem).toMatch(/^Mul takes/);
      expect(recorded(() => [STEP_OPS.singleSplits(touched()).max()]).problem).toMatch(/^Max takes/);
      expect(recorded(() => [touched().square().mul(tf.scalar(2, 'int32')).sum()]).problem).toBeNull();
    });

    it('knows what variables are given, and refuses reads of what was stepped', () => {
      const given = recorded((x, w) => (w.assign(tf.tensor1d([1, 2, 3])), [x.mul(w)]));
      expect(given.problem).toBeNull();
      expect(given.feeds.map(({ kind }) => kind)).toEqual(['data']);
      expect(given.rebound.map(({ place }) => place)).toEqual([given.constants[0]!.name]);
      const hyper = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
      const step = (x: tf.Tensor, w: tf.Variable): void => {
        STEP_OPS.denseApply({
          optimizer: 'sgd',
          variables: [w],
          slots: [],
          powers: [],
          gradients: [x.square()],
          hyper,
        });
      };
      expect(recorded((x, w) => (step(x, w), [x.square()])).problem).toBeNull();
      expect(recorded((x, w) => (step(x, w), [x.mul(w)])).problem).toMatch(/reads a variable after it was stepped/);
    });

    it('tells what differs between two steps', () => {
      let calls = 0;
      const of = (f: (x: tf.Tensor1D, w: tf.Variable) => tf.Tensor[]): Recording => recorded(f);
      const plain = of((x) => [x.square()]);
      expect(
        difference(
          plain,
          of((x) => [x.square()]),
        ),
      ).toBeNull();
      expect(
        difference(
          plain,
          of((x) => [x.neg()]),
        ),
      ).toMatch(/other ops .*Neg/);
      expect(
        difference(
          plain,
          of((x) => [x.square(), x.square()]),
        ),
      ).toMatch(/other ops/);
      const counted = (): Recording => of((x) => [x.add(tf.scalar(Math.floor(calls++ / 2)))]);
      expect(difference(counted(), counted())).toMatch(/JavaScript gives Add\w* other numbers/);
      expect(
        difference(
          of((x, w) => [x.mul(w)]),
          of((x, w) => [x.mul(w)]),
        ),
      ).toMatch(/other ops|other variables/);
    });

    it('finds tensors that may lie in the memory of a variable that is stepped', () => {
      const hyper = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
      const stepBy = (gradient: tf.Tensor, w: tf.Variable): void =>
        STEP_OPS.denseApply({ optimizer: 'sgd', variables: [w], slots: [], powers: [], gradients: [gradient], hyper });
      expect(whyUnsound(recorded((x, w) => (stepBy(x.mul(w), w), [x.square()])))).toBeNull();
      expect(whyUnsound(recorded((x, w) => (stepBy(w, w), [x.square()])))).toMatch(/takes a tensor that may lie in/);
      const view = whyUnsound(
        recorded((x, w) => {
          const same = w.reshape([3]);
          stepBy(x, w);
          return [same];
        }),
      );
      expect(view).toMatch(/result may lie/);
      expect(whyUnsound(recorded((x) => [x]))).toMatch(/result may lie/);
      // Two ops that write one variable have no order in a graph.
      const twice = recorded((x, w) => (stepBy(x.mul(2), w), stepBy(x.mul(3), w), [x.square()]));
      expect(twice.problem).toBeNull();
      expect(whyUnsound(twice)).toBe('it steps a variable twice');
    });

    it('becomes a graph that takes new batches, live numbers and values of variables, and steps in place', () => {
      const w = tf.tidy(() => tf.variable(tf.tensor1d([4, 5, 6])));
      let rate = 1;
      const step = (x: tf.Tensor1D): tf.Tensor[] => {
        const hyper = live(() => Float32Array.of(rate, 0, 0, 0, 0, 0, 0, 0));
        const loss = x.mul(w).sum();
        STEP_OPS.denseApply({ optimizer: 'sgd', variables: [w], slots: [], powers: [], gradients: [x.mul(1)], hyper });
        return [loss];
      };
      const x = tf.tensor1d([1, 0, 0]);
      const recording = recordingOf([x], () => step(x));
      expect(Array.from(w.dataSync())).toEqual([2, 5, 6]);
      const graph = new StepGraph(loadAddon(), recording);
      const other = tf.tensor1d([0, 1, 2]);
      rate = 0.5;
      const before = w.clone();
      const [loss] = graph.run([other]);
      expect(loss!.dataSync()[0]).toBe(17);
      expect(Array.from(w.dataSync())).toEqual([2, 4.5, 5]);
      expect(Array.from(before.dataSync())).withContext('a snapshot').toEqual([2, 5, 6]);
      graph.release();
      expect(() => graph.run([other])).toThrowError(/graph/);
      tf.dispose([x, other, w, before, loss!]);
    });
  },
  ['tensorflow'],
);
