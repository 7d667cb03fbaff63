/** Jasmine as every run of the specs has it: specs in the order written, with seeded luck, and no reporter of its own. */
import { createRequire } from 'node:module';
import { SeededRandom } from './seeded_random.js';

export interface Loader {
  load(path: string): Promise<void>;
}

export interface Jasmine {
  readonly env: Omit<jasmine.Env, 'configure' | 'execute'> & {
    configure(options: object): void;
    /** Forgets the specs of the files before. */
    parallelReset(): void;
    execute(): Promise<{ overallStatus: string; failedExpectations: { message: string }[] }>;
  };
  exitOnCompletion: boolean;
  clearReporters(): void;
  addReporter(reporter: object): void;
  execute(files: string[]): Promise<{ overallStatus: string }>;
}

const TIMEOUT_MS = 120_000;

/** Defines `describe` and the others as globals. `loader` imports one spec file. */
export function startJasmine(projectBaseDir: string, loader: Loader): Jasmine {
  const require = createRequire(import.meta.url);
  const Runner = require('jasmine') as new (options: { projectBaseDir: string; loader: Loader }) => Jasmine;
  const runner = new Runner({ projectBaseDir, loader });
  runner.exitOnCompletion = false;
  runner.clearReporters();
  runner.addReporter(new SeededRandom());
  runner.env.configure({ random: false, failSpecWithNoExpectations: true });
  jasmine.DEFAULT_TIMEOUT_INTERVAL = TIMEOUT_MS;
  return runner;
}

/** Every spec also fails where an error of the package, made in it, does not read as a whole. */
export function expectWholeErrors(): void {
  // Loaded when specs begin: sources that are changed load only when what they call is there.
  let expectAllWhole: () => void;
  beforeAll(async () => {
    ({ expectAllWhole } = await import('../helpers/errors.js'));
  });
  afterEach(() => expectAllWhole());
}

/** The specs of a suite, at any depth. */
export function specIds(suite: { children: unknown[] }): string[] {
  return suite.children.flatMap((child) => {
    const node = child as { id: string; children?: unknown[] };
    return node.children === undefined ? [node.id] : specIds({ children: node.children });
  });
}
