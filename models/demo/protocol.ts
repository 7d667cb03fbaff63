/** What the page and its worker say to each other: plain data. */

/** How a column is read. */
export type Kind = 'category' | 'list' | 'number' | 'ignored';

export interface Column {
  readonly name: string;
  /** What the file says that it holds, or its first rows fit. */
  readonly found: string;
  readonly kind: Kind;
  /** Cells of the first rows. */
  readonly examples: readonly string[];
}

/** What data were understood as, and what is suggested. */
export interface Understood {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly choices: Choices;
}

/** What the visitor chooses of the data. */
export interface Choices {
  readonly kinds: Readonly<Record<string, Kind>>;
  /** The column whose values are recommended. */
  readonly item: string;
  /** The column to predict; null: each row is something that was chosen. */
  readonly label: string | null;
}

export interface Settings {
  readonly backend: Backend;
  readonly dim: number;
  readonly learningRate: number;
  readonly batch: number;
  readonly epochs: number;
}

export type Backend = 'cpu' | 'wasm' | 'webgl';

/** What is predicted: a chance, a number, or the next item. */
export type Task = 'chance' | 'number' | 'choice';

/** A column in the trained model. */
export interface Feature {
  readonly name: string;
  /** Of the model, which takes fewer names than files do. */
  readonly input: string;
  readonly kind: Exclude<Kind, 'ignored'>;
  /** Whether its values are texts, not whole numbers. */
  readonly isText: boolean;
  /** Known values, the commonest first, at most so many as a list can show. */
  readonly values: readonly string[];
}

/** What a model is asked for. */
export interface Schema {
  readonly task: Task;
  readonly item: string;
  readonly label: string | null;
  /** What a chance is the chance of. */
  readonly positive: string | null;
  readonly features: readonly Feature[];
}

export interface Point {
  readonly step: number;
  readonly loss: number;
}

/** A training, as curves show it. */
export interface Run {
  readonly id: number;
  readonly name: string;
  readonly losses: readonly Point[];
  /** Of rows that are held back, after each epoch. */
  readonly held: readonly Point[];
  /** Its last score on rows that are held back. */
  readonly score: { readonly name: string; readonly value: number } | null;
  readonly state: 'training' | 'paused' | 'done';
  readonly epoch: number;
  readonly epochs: number;
  /** Of the epoch, from 0 to 1. */
  readonly progress: number;
  readonly step: number;
  readonly stepsPerSecond: number;
}

export interface Neighbour {
  readonly id: number;
  readonly name: string;
  readonly score: number;
}

export interface Projection {
  readonly column: string;
  /** Ids of the table, in the order of the points. */
  readonly ids: readonly number[];
  readonly names: readonly string[];
  /** Group of each point, such as a shelf; empty: there are none. */
  readonly groups: readonly string[];
  /** x and y of each point, from -1 to 1. */
  readonly places: Float32Array;
  /** Values that the table has; some of them are left out of large ones. */
  readonly total: number;
}

/** What an earlier visit left. */
export interface Kept {
  readonly understood: Understood | null;
  readonly runs: readonly Run[];
  readonly schema: Schema | null;
  readonly settings: Settings | null;
  /** The file of a model that was loaded. */
  readonly name?: string | undefined;
}

/** How far something is, from 0 to 1; null where that is not known. */
export type Progress = (what: string, done: number | null) => void;

/** What the worker does; calls answer in turn, `pause` at once. */
export interface Engine {
  start(): Promise<Kept>;
  /** Those that this browser has. */
  backends(): Promise<readonly Backend[]>;
  useMadeUp(): Promise<Understood>;
  useFile(file: File): Promise<Understood>;
  /** Trains from the start. Resolves when it has ended or was paused. */
  train(choices: Choices, settings: Settings, onRun: (run: Run, schema: Schema) => void, say: Progress): Promise<void>;
  goOn(onRun: (run: Run, schema: Schema) => void, say: Progress): Promise<void>;
  pause(): Promise<void>;
  forgetRuns(): Promise<void>;
  project(column: string, say: Progress): Promise<Projection>;
  neighbours(column: string, id: number): Promise<readonly Neighbour[]>;
  recommend(values: Readonly<Record<string, string>>, count: number): Promise<readonly Neighbour[]>;
  download(): Promise<Blob>;
  load(file: File): Promise<Schema>;
  forgetAll(): Promise<void>;
}
