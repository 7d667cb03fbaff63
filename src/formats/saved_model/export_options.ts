/** The options of an export. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import type { SignatureArgs } from './signatures.js';

/** How ragged features enter: as two inputs each, or as RaggedTensors. */
export type RaggedForm = 'components' | 'composite';

export interface SavedModelOptions {
  /** Signatures beside `serving_default`, or in its place. */
  signatures?: Readonly<Record<string, SignatureArgs>> | undefined;
  /** Default: ragged features come padded, as the model takes them. */
  ragged?: RaggedForm | null | undefined;
  /** Whether pooled lookups use the op `EmbeddingBag`, whose library must then be loaded first. Default false. */
  customOps?: boolean | undefined;
  /** Whether the optimizer's state is saved too, so that training goes on here. Default false. */
  includeOptimizer?: boolean | undefined;
  /** Whether a SavedModel that is there already is replaced. Default false. */
  overwrite?: boolean | undefined;
}

export interface CheckedOptions {
  readonly signatures: unknown;
  readonly ragged: RaggedForm | null;
  readonly customOps: boolean;
  readonly includeOptimizer: boolean;
  readonly overwrite: boolean;
}

const FIELDS = ['signatures', 'ragged', 'customOps', 'includeOptimizer', 'overwrite'] as const;
const RAGGED_FORMS: readonly RaggedForm[] = ['components', 'composite'];

function checkFlag(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw new ArgumentTypeError(name, 'a boolean', value);
}

function checkRagged(value: unknown): RaggedForm | null {
  if (value === undefined || value === null) return null;
  const expected = `one of ${RAGGED_FORMS.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('ragged', expected, value);
  const found = RAGGED_FORMS.find((form) => form === value);
  if (found === undefined) throw new ValueError('ragged', expected, value);
  return found;
}

export function checkExportOptions(options: unknown): CheckedOptions {
  const given = readOptions<SavedModelOptions>(options ?? {}, FIELDS, 'options');
  return {
    signatures: given.signatures,
    ragged: checkRagged(given.ragged),
    customOps: checkFlag(given.customOps, 'customOps'),
    includeOptimizer: checkFlag(given.includeOptimizer, 'includeOptimizer'),
    overwrite: checkFlag(given.overwrite, 'overwrite'),
  };
}
