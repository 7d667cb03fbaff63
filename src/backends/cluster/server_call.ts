/** One call of a server: what it is fed, what comes back, and what runs there. */
import type { FetchTarget, SessionRun } from '../native/addon.js';

type FedArray = SessionRun[2][number];
type FetchedArray = FetchTarget | readonly string[];

export class ServerCall {
  private readonly feeds: string[] = [];
  private readonly values: FedArray[] = [];
  private readonly shapes: number[] = [];
  private readonly halves: number[] = [];
  private readonly fetches: string[] = [];
  private readonly targets: string[] = [];
  private readonly takers: ((values: FetchedArray, shape: Int32Array) => void)[] = [];
  /** Where results are written. */
  readonly into: (FetchTarget | null)[] = [];
  private readonly halved: boolean[] = [];
  private readonly ends: (() => void)[] = [];
  /** The node of the step of each table that is stepped, by the node of its values. */
  readonly steps = new Map<string, string>();
  /** Whether it says which tables it expects. */
  isGuarded = false;
  /** Bytes of what is fed. */
  sent = 0;
  /** Bytes of what is fetched, as far as that is known before. */
  private expected = 0;

  /** Bytes that go over the link, as far as they are known. */
  get size(): number {
    return this.sent + this.expected;
  }

  /** Whether a server has nothing to do for it. */
  get isEmpty(): boolean {
    return this.fetches.length === 0 && this.targets.length === 0;
  }

  /** Feeds a place of the graph; `half`: float32 values travel as float16. */
  feed(place: string, values: FedArray, shape: readonly number[], half = false): void {
    this.feeds.push(place);
    this.values.push(values);
    this.shapes.push(shape.length, ...shape);
    this.halves.push(half ? 1 : 0);
    this.sent += bytesOf(values) / (half ? 2 : 1);
  }

  /**
   * Fetches a place; `take` gets what came, which lies in `into` where that is given. `half`: it travels as float16, and
   * is float32 here.
   */
  fetch<A extends FetchedArray>(
    place: string,
    take: (values: A, shape: Int32Array) => void,
    into: FetchTarget | null = null,
    half = false,
  ): void {
    this.fetches.push(place);
    this.takers.push(take as (values: FetchedArray, shape: Int32Array) => void);
    this.into.push(into);
    this.halved.push(half);
    if (into !== null) this.expected += half ? into.byteLength / 2 : into.byteLength;
  }

  /** Runs when all that was fetched has been taken. */
  after(end: () => void): void {
    this.ends.push(end);
  }

  target(name: string): void {
    this.targets.push(name);
  }

  /** As the addon takes it. */
  run(options: Uint8Array): SessionRun {
    const lines = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('');
    return [
      options,
      lines(this.feeds),
      this.values,
      Int32Array.from(this.shapes),
      Uint8Array.from(this.halves),
      lines(this.fetches),
      lines(this.targets),
    ];
  }

  /** Hands over what came; returns its bytes on the link. */
  take(values: readonly FetchedArray[], shapes: readonly Int32Array[]): number {
    let bytes = 0;
    this.takers.forEach((take, i) => {
      const value = values[i]!;
      bytes += bytesOf(value) / (this.halved[i]! ? 2 : 1);
      take(value, shapes[i]!);
    });
    for (const end of this.ends) end();
    return bytes;
  }
}

function bytesOf(values: FetchedArray): number {
  if ('byteLength' in values) return values.byteLength;
  return values.reduce((sum, each) => sum + each.length, 0);
}
