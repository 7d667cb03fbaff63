/** Sizes that run over, in ops that are called with tensors without elements. */
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { describeTensorFlow } from './tensorflow_backend.js';

interface Outcome {
  readonly result?: unknown;
  readonly kind?: string;
  readonly argument?: string;
  readonly message?: string;
}

describeTensorFlow('sizes that run over', () => {
  it('end in an error that names the argument', () => {
    const program = fileURLToPath(new URL('./sizes_program.ts', import.meta.url));
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...WITH_SOURCES, program], {
      encoding: 'utf8',
    });
    expect([status, signal]).withContext(stderr).toEqual([0, null]);
    const outcomes = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, Outcome>;
    const pooled = 'expected pooled rows that fit into memory, received pooled rows of shape';
    for (const [name, argument, text] of [
      ['product beyond 2^63', 'table', `${pooled} [524288, 35184372088832]`],
      ['product beyond 2^63, weighted', 'table', `${pooled} [524288, 35184372088832]`],
      ['product beyond 2^63, maxNorm', 'table', `${pooled} [524288, 35184372088832]`],
      ['bytes beyond 2^63', 'table', `${pooled} [131072, 35184372088832]`],
      [
        'rows beyond 2^62',
        'rows',
        'expected at most 144115188075855871 rows of 16 columns, received 4611686018427387904',
      ],
      [
        'workspace beyond memory',
        'values',
        'expected a batch whose workspace fits into memory, received one that needs 42',
      ],
    ] as const) {
      const { kind, argument: named, message } = outcomes[name]!;
      expect(kind).withContext(name).toBe('ValueError');
      expect(named).withContext(name).toBe(argument);
      expect(message).withContext(name).toContain(text);
    }
    expect(outcomes['as much as nothing']).toEqual({ result: [0, 2 ** 45] });
  }, 60_000);
});
