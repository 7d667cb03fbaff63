/** What `npm run bench -- --rivals` may be told. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const PARTS = ['kernels', 'models', 'devices', 'busy'] as const;

export const HELP = `npm run bench -- --rivals PYTHON [options]

Measures our kernels and training steps beside the limits of the memory and beside torch, FBGEMM, Keras and stock tfjs.
All take turns in one run; a number is the median over the rounds of how many times as long as ours the peer took in
that round. Before a peer is timed, what it computes is compared with our reference. Prints Markdown.

  --rivals PYTHON  an interpreter with torch, fbgemm-gpu-cpu, tensorflow-cpu and keras-rs, or with some of them; may be
                   given several times: each rival is taken from the first one that has it. Those that none has are
                   listed as missing
  --quick          a sample that takes a few minutes
  --full           every combination, and models of further sizes: many hours
  --part NAME      this part alone: ${PARTS.join(', ')}; may be given several times
  --only TEXT      only cases whose name holds TEXT; may be given several times
  --peer NAME      only this one beside ours, as its column is called; may be given several times
  --rounds N       turns of each peer (7)
  --turn MS        a turn lasts about so long (60)
  --pairs FILE     trains BPR on these pairs too: a line for each user, the user's number and then those of the items
  --out FILE       writes the report there too
  --help           this text

Tables have 1,000,000 rows at most, and 512 MB; a case that the free memory has no room for is left out, and named.
`;

export interface Given {
  readonly rivals: string[];
  readonly isQuick: boolean;
  readonly isFull: boolean;
  readonly parts: readonly string[];
  /** No text: every case. */
  readonly only: readonly string[];
  /** No name: every peer. */
  readonly peers: readonly string[];
  readonly rounds: number;
  readonly turnMs: number;
  readonly out: string | undefined;
  readonly pairs: string | undefined;
}

function positive(text: string, name: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new Error(`--${name}: a number above 0, not ${text}`);
  return number;
}

/** What the options ask for; null: help. */
export function readOptions(args: readonly string[]): Given | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rivals: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      part: { type: 'string', multiple: true, default: [...PARTS] },
      only: { type: 'string', multiple: true, default: [] },
      peer: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '7' },
      turn: { type: 'string', default: '60' },
      out: { type: 'string' },
      pairs: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const unknown = values.part.find((part) => !(PARTS as readonly string[]).includes(part));
  if (unknown !== undefined) throw new Error(`--part: one of ${PARTS.join(', ')}, not ${unknown}`);
  const rounds = positive(values.rounds, 'rounds');
  if (!Number.isInteger(rounds)) throw new Error(`--rounds: a whole number, not ${values.rounds}`);
  return {
    rivals: values.rivals,
    isQuick: values.quick,
    isFull: values.full,
    parts: values.part,
    only: values.only,
    peers: values.peer,
    rounds,
    turnMs: positive(values.turn, 'turn'),
    out: values.out,
    pairs: values.pairs,
  };
}

/** Throws for what would come to light only after minutes: a Python that does not run, files that are not there. */
export function checkPrograms({ rivals, pairs, out }: Given): void {
  for (const python of rivals) {
    const { error, status } = spawnSync(python, ['-c', ''], { stdio: 'ignore' });
    if (status !== 0) throw new Error(`--rivals: a Python that runs, not ${python} (${error?.message ?? 'it failed'})`);
  }
  if (pairs !== undefined && !existsSync(pairs)) throw new Error(`--pairs: a file, not ${pairs}`);
  if (out !== undefined && !existsSync(dirname(resolve(out)))) {
    throw new Error(`--out: a file in a folder that is there, not ${out}`);
  }
}
