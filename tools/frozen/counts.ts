/** How often the sources ask what they should not have to: each count by a pattern that is printed beside it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sources } from '../../test/check/house.mjs';

interface Question {
  readonly what: string;
  readonly pattern: RegExp;
  /** Files counted in place of places. */
  readonly ofFiles?: true;
  /** Folders that may ask. */
  readonly except?: readonly string[];
  readonly most: number;
}

const QUESTIONS: readonly Question[] = [
  {
    what: 'questions about storage outside codecs/',
    pattern: /packedForm\(|'words' in|\.?storage (?:===|!==) '|packed (?:===|!==) null|wordsPerRow|PACKED_STORAGES/g,
    except: ['src/codecs/'],
    most: 0,
  },
  {
    what: 'WeakMaps keyed by a variable or tensor of tables',
    pattern: /WeakMap<tf\.(?:Variable|Tensor|TensorInfo)\b/g,
    // Handles of resources in graphs are no tables.
    except: ['src/tfjs/', 'src/capture/', 'src/formats/graph_models/'],
    most: 1,
  },
  { what: 'currentBackend()', pattern: /\bcurrentBackend\(\)/g, most: 15 },
  { what: 'files that name tf.Variable', pattern: /\btf\.Variable\b/, ofFiles: true, most: 30 },
];

/** Texts that set-up makes. */
const GENERATED = /\/(kernels_wasm|worker_source)\.ts$/;

/** One line for each count. */
export function countLines(root: string): string[] {
  const paths = sources('src').filter((path) => path.endsWith('.ts') && !GENERATED.test(path));
  const texts = paths.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  return QUESTIONS.map(({ what, pattern, ofFiles, except = [], most }) => {
    const asked = texts
      .filter(([path]) => !except.some((folder) => path.startsWith(folder)))
      .map(([, text]) => (ofFiles ? Number(pattern.test(text)) : [...text.matchAll(pattern)].length));
    const count = asked.reduce((sum, each) => sum + each, 0);
    return `${what}: ${count}; at most ${most}: ${count <= most ? 'met' : 'not met'}; by ${String(pattern)}`;
  });
}
