/** The options of an export. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { checkBoolean } from '../../base/layer_arguments.js';
import { checkChoice, readOptions } from '../../base/options.js';

/** The types that ids have where they come in. */
export type OnnxIds = 'int32' | 'int64';
/** What open tables are asked for: keys, or the numbers of their rows. */
export type OnnxKeys = 'rows' | 'embedded';

export interface OnnxOptions {
  /** The version of the set of ops, 18 to 21. Default 18. */
  opset?: number | undefined;
  /** The type of ids that come in. Default 'int32': runtimes on a GPU cut numbers of 64 bits. */
  ids?: OnnxIds | undefined;
  /** Whether keys of open tables are in the graph, frozen, or row numbers come in their place. Default 'embedded'. */
  keys?: OnnxKeys | undefined;
  /** Default null: ragged features come padded, as the model takes them. 'components': as values and row splits. */
  ragged?: 'components' | null | undefined;
  /** Whether large values lie in a file beside, `file` + '.data'. Default: where the file would be larger than 2 GB. */
  externalData?: boolean | null | undefined;
}

export interface CheckedOptions {
  readonly opset: number;
  readonly ids: OnnxIds;
  readonly keys: OnnxKeys;
  readonly ragged: 'components' | null;
  readonly externalData: boolean | null;
}

const FIELDS = ['opset', 'ids', 'keys', 'ragged', 'externalData'] as const;
/** The versions of messages that sets of ops came with. */
export const IR_VERSIONS: Readonly<Record<number, number>> = { 18: 8, 19: 9, 20: 9, 21: 10 };

function checkOpset(value: unknown): number {
  const expected = `one of ${Object.keys(IR_VERSIONS).join(', ')}`;
  if (typeof value !== 'number') throw new ArgumentTypeError('opset', expected, value);
  if (!Object.hasOwn(IR_VERSIONS, value)) throw new ValueError('opset', expected, value);
  return value;
}

export function checkOnnxOptions(options: unknown): CheckedOptions {
  const given = readOptions<OnnxOptions>(options ?? {}, FIELDS, 'options');
  const { externalData, ragged } = given;
  return {
    opset: checkOpset(given.opset ?? 18),
    ids: checkChoice(given.ids ?? 'int32', 'ids', ['int32', 'int64']),
    keys: checkChoice(given.keys ?? 'embedded', 'keys', ['rows', 'embedded']),
    ragged:
      ragged === undefined || ragged === null ? null : checkChoice<'components'>(ragged, 'ragged', ['components']),
    externalData:
      externalData === undefined || externalData === null ? null : checkBoolean(externalData, 'externalData', false),
  };
}
