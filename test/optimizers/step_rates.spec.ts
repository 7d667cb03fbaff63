/** Rates of the step in progress. */
import { StepRates } from '../../src/optimizers/step_gradients.js';

describe('StepRates', () => {
  it('asks a function once per step, and again where there is another one', () => {
    const rates = new StepRates();
    let asked = 0;
    const settings: { learningRate: number | ((step: number) => number) } = { learningRate: (step) => step + ++asked };
    const other = { learningRate: (step: number) => 10 * step };
    expect([rates.of(settings, 3), rates.of(settings, 3), rates.of(other, 3)]).toEqual([4, 4, 30]);
    rates.forget();
    expect(rates.of(settings, 4)).toBe(6);
    settings.learningRate = 0.5;
    expect(rates.of(settings, 4)).toBe(0.5);
    expect(asked).toBe(2);
  });
});
