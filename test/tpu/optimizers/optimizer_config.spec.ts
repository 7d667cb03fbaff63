/** Optimizers from the names and configs that files hold. */
import * as emb from 'tfjs-embeddings';
import { optimizerConfig, optimizerFromConfig } from '../../../src/tpu/optimizers/optimizer_config.js';
import { expectError } from '../../helpers/errors.js';

function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

describe('Configs of optimizers', () => {
  it('give the optimizer that they were made of', () => {
    const optimizer = new emb.tpu.Adam({ learningRate: 0.25, beta1: 0.5 });
    const config = optimizerConfig(optimizer)!;
    expect(config.className).toBe('Adam');
    expect(optimizerFromConfig(config)!.equals(optimizer)).toBeTrue();
    expect(optimizerFromConfig(optimizer)).toBe(optimizer);
    expect(optimizerFromConfig({ class_name: 'SGD' })!.getClassName()).toBe('SGD');
    for (const none of [null, undefined]) expect(optimizerFromConfig(none)).toBeNull();
    expect(optimizerConfig(null)).toBeNull();
  });

  it('of an unknown name are refused, with the name that may be meant', () => {
    const of = (className: string): (() => unknown) => () => optimizerFromConfig({ className, config: {} }, 'optimizers.a'); // prettier-ignore
    expectError(of('Adagard'), 'ValueError', 'optimizers.a.className', 'Adagard');
    expect(failureOf(of('Adagard'))).toContain('Did you mean Adagrad?');
    expect(failureOf(of('Quicksilver'))).not.toContain('Did you mean');
  });
});
