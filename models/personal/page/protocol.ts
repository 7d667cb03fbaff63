/** What the page and its worker say to each other. */

export interface Item {
  readonly id: number;
  readonly name: string;
}

export interface Opened {
  readonly count: number;
  readonly dim: number;
  /** What an earlier visit has chosen. */
  readonly chosen: readonly Item[];
}

export interface Answer {
  readonly best: readonly (Item & { readonly score: number })[];
  /** What folding in and finding took together. */
  readonly ms: number;
}

export interface PersonalEngine {
  open(): Promise<Opened>;
  /** Items whose names hold a text. */
  find(text: string, count: number): Promise<readonly Item[]>;
  /** Keeps what was chosen in this browser. */
  choose(ids: readonly number[]): Promise<readonly Item[]>;
  recommend(ids: readonly number[], count: number): Promise<Answer>;
}
