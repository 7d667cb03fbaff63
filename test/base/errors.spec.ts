/** Messages of errors: one template for all, or a sentence of their own. */
import { ValueError, described } from '../../src/base/errors.js';
import * as emb from '../../src/index.js';

describe('The message of an error', () => {
  it('names argument, what was expected, what came and what to do', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1'), 'Add an axis.');
    expect(error.message).toBe('`ids`: expected rank 2, received rank 1. Add an axis.');
  });

  it('may be a sentence of its own; the facts stay fields', () => {
    const error = new ValueError('ids', 'rank 2', described('rank 1', '`ids` lack an axis.'));
    expect(error.message).toBe('`ids` lack an axis.');
    const { argument, expected, received } = error;
    expect({ argument, expected, received }).toEqual({ argument: 'ids', expected: 'rank 2', received: 'rank 1' });
  });

  it('says where a setting of a shared table belongs, also within a list', () => {
    const table = emb.embeddingTable({ inputDim: 3, outputDim: 2 });
    const given = { table, seed: 1 } as unknown as emb.RaggedEmbeddingArgs;
    const belongs = (argument: string): string =>
      `\`${argument}\` cannot be set together with \`table\`; pass it to emb.embeddingTable().`;
    expect(() => emb.layers.raggedEmbedding(given)).toThrowError(ValueError, belongs('seed'));
    const listed = { embeddings: [given] } as unknown as Parameters<typeof emb.layers.distributedEmbedding>[0];
    expect(() => emb.layers.distributedEmbedding(listed)).toThrowError(ValueError, belongs('embeddings[0].seed'));
  });

  it('says which of row splits fall', () => {
    expect(() => emb.RaggedTensor.fromRowSplits([1, 2, 3], [0, 2, 1, 3])).toThrowError(
      ValueError,
      '`rowSplits` must be non-decreasing: 1 after 2 at position 2.',
    );
  });
});
