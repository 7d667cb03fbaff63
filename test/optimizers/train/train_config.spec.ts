/** What the factories and classes of `emb.train` say of fields that they do not have. */
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';

describe('fields of emb.train', () => {
  const make = (name: emb.OptimizerName, config: object) => () => emb.train[name](config as never);

  it('that other optimizers have are told with their owners, and with nobody else', () => {
    expectError(make('ftrl', { momentum: 0.9 }), 'ValueError', 'momentum');
    expect(make('ftrl', { momentum: 0.9 })).toThrowError(
      / momentum is a field of emb\.train\.sgd, adagradMomentum, rmsprop\./,
    );
    expect(make('adagrad', { beta1: 0.9 })).toThrowError(/ beta1 is a field of emb\.train\.adam, adamW\./);
    expect(make('adam', { initialAccumulatorValue: 1 })).toThrowError(
      / initialAccumulatorValue is a field of emb\.train\.adagrad, rowWiseAdagrad, adagradMomentum, ftrl\./,
    );
  });

  it('that nobody has are told without owners', () => {
    expectError(make('sgd', { wings: 2 }), 'ValueError', 'wings');
    expect(make('sgd', { wings: 2 })).not.toThrowError(/is a field of/);
  });

  it('must be in an object, whoever makes the optimizer', () => {
    const Sgd = emb.train.sgd().constructor as new (config: unknown) => unknown;
    for (const config of [null, 0.1, 'adam']) expectError(() => new Sgd(config), 'TypeError', 'config');
  });
});
