import * as emb from 'tfjs-embeddings';
import { itKnowsOtherCopies } from '../base/known_copies.js';

const { PartitionedCsrFormatTensor, ...others } = emb.tpu;

describe('classes of emb.tpu', () => {
  const classes = Object.entries(others).filter(([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name));

  it('are many', () => {
    expect(classes.length).toBeGreaterThan(12);
  });

  itKnowsOtherCopies({
    ...Object.fromEntries(classes.map(([name, cls]) => [`tpu.${name}`, cls])),
    'tpu.Optimizer': Object.getPrototypeOf(emb.tpu.SGD),
    PartitionedCsrFormatTensor,
  });
});
