/** Which spec files reach which blocks of the sources; gathered once for each spec file, and kept. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CACHE } from '../sandbox.js';
import { nearness } from '../nearness.js';
import { blocksOf, type Block } from './blocks.js';

export interface SpecReach {
  /** Of the text of the spec file, when it was gathered. */
  readonly hash: string;
  readonly seconds: number;
  /** Keys of blocks, by source. */
  readonly reached: Readonly<Record<string, readonly string[]>>;
}

/** A spec file of which nobody recorded how long it takes. */
const QUICK_SECONDS = 2;

export class ReachMap {
  private readonly path: string;
  private specs: Record<string, SpecReach>;
  /** Noted here, and not yet kept. */
  private fresh: Record<string, SpecReach> = {};
  /** What `npm test` recorded of the spec files that take long. */
  private readonly recorded: Readonly<Record<string, number>>;
  private readonly blocks = new Map<string, Block[]>();

  constructor(private readonly root: string) {
    this.path = join(root, CACHE, 'reach.json');
    this.specs = this.kept();
    const recorded = readFileSync(join(root, 'test', 'runner', 'seconds.json'), 'utf8');
    this.recorded = JSON.parse(recorded) as Record<string, number>;
  }

  private kept(): Record<string, SpecReach> {
    return existsSync(this.path) ? (JSON.parse(readFileSync(this.path, 'utf8')) as Record<string, SpecReach>) : {};
  }

  hashOf(spec: string): string {
    return createHash('sha256')
      .update(readFileSync(join(this.root, spec)))
      .digest('hex')
      .slice(0, 16);
  }

  /** Those of some spec files that were not gathered as they are now. */
  missing(specs: readonly string[]): string[] {
    return specs.filter((spec) => this.specs[spec]?.hash !== this.hashOf(spec));
  }

  note(spec: string, seconds: number, reached: SpecReach['reached']): void {
    this.fresh[spec] = this.specs[spec] = { hash: this.hashOf(spec), seconds, reached };
  }

  /** Keeps what was noted, beside what another process kept meanwhile. */
  save(): void {
    this.specs = { ...this.kept(), ...this.fresh };
    this.fresh = {};
    mkdirSync(dirname(this.path), { recursive: true });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(this.specs));
    renameSync(draft, this.path);
  }

  secondsOf(spec: string): number {
    return this.specs[spec]?.seconds ?? this.recorded[spec] ?? QUICK_SECONDS;
  }

  /** Whether it was gathered which spec files reach a source. */
  knows(source: string): boolean {
    return Object.values(this.specs).some(({ reached }) => reached[source] !== undefined);
  }

  /** The spec files that reach a place of a source, or the nearest block around it that any reaches; the best first. */
  specsFor(source: string, from: number, to: number): string[] {
    const known = Object.entries(this.specs).filter(
      ([spec, { reached }]) => reached[source] !== undefined && existsSync(join(this.root, spec)),
    );
    for (const { key } of this.around(source, from, to)) {
      const specs = known.filter(([, { reached }]) => reached[source]!.includes(key)).map(([spec]) => spec);
      if (specs.length > 0) return this.inOrder(source, specs);
    }
    return this.inOrder(
      source,
      known.map(([spec]) => spec),
    );
  }

  /** Innermost first. */
  private around(source: string, from: number, to: number): Block[] {
    const blocks = this.blocks.get(source) ?? blocksOf(readFileSync(join(this.root, source), 'utf8'));
    this.blocks.set(source, blocks);
    return blocks.filter((block) => block.from <= from && to <= block.to).reverse();
  }

  private inOrder(source: string, specs: readonly string[]): string[] {
    const cost = (spec: string): number => (this.secondsOf(spec) + 0.1) / (1 + nearness(source, spec)) ** 2;
    return [...specs].sort((a, b) => cost(a) - cost(b) || (a < b ? -1 : 1));
  }
}
