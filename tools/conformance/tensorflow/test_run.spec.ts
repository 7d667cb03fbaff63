// runner: python
import { fileURLToPath } from 'node:url';
import {
  PYTHON_TIMEOUT_MS,
  pythonWithTensorFlow,
  type Python,
} from '../../../test/backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../../test/helpers/backends.js';
import { reportOf, unknownInList } from './report.js';
import { runTestFiles, type CaseLine } from './test_run.js';

const SAMPLE = fileURLToPath(new URL('sample_cases.py', import.meta.url));

describe('cases of TensorFlow, run against this package', () => {
  let python: Python | string;
  let lines: CaseLine[];

  beforeAll(async () => {
    python = pythonWithTensorFlow();
    if (typeof python === 'string') return;
    lines = await runTestFiles(python, { tree: '/nowhere', files: [SAMPLE], behaviour: 'v2', texts: [] });
  }, PYTHON_TIMEOUT_MS);

  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  it('pass, fail, are refused or ask nothing', () => {
    const found = lines.map(({ name, status }) => [/\.(test_\w+) \(v2\)$/.exec(name)?.[1] ?? name, status]);
    expect(Object.fromEntries(found)).toEqual({
      test_values: 'passed',
      test_ragged: 'passed',
      test_casts: 'passed',
      test_sparse_cores: 'passed',
      test_error_of_the_class: 'passed',
      test_error_of_another_class: 'failed',
      test_no_error: 'failed',
      test_wrong_value: 'failed',
      test_refused: 'refused',
      test_asks_nothing: 'reaches nothing',
      test_skipped: 'skipped',
    });
  });

  it('tell what differs with the words of the package', () => {
    const messageOf = (test: string): string => lines.find(({ name }) => name.includes(test))!.message;
    expect(messageOf('test_error_of_another_class')).toContain('[tfjs-embeddings] ValueError: `index`');
    expect(messageOf('test_refused')).toContain('float64');
  });
});

describe('the report of cases of TensorFlow', () => {
  const lines = (['passed', 'failed', 'failed', 'failed', 'refused', 'skipped', 'reaches nothing'] as const).map(
    (status, i) => ({ name: `case${i}`, file: 'a_test.py', status, message: `m${i}`, seconds: 0 }),
  );

  it('counts what was run to an end, and tells why the rest was not', () => {
    const meant = [
      { suite: 'arrays', spec: 'case1', reason: 'meant' },
      { suite: 'other', spec: 'case2', reason: 'of another suite' },
    ];
    const listed = [{ cases: ['case3'], error: 'm3', reason: 'no checkpoints here' }];
    const report = reportOf('tensor arrays', lines, meant, listed);
    expect(report).toEqual({
      suite: 'tensor arrays',
      cases: 3,
      passed: 1,
      failures: [{ name: 'case2', message: 'm2' }],
      deliberate: { case1: 'meant' },
      notRun: [
        { what: 'case3', reason: 'no checkpoints here' },
        { what: 'case4', reason: 'm4' },
        { what: 'case5', reason: 'TensorFlow skips it: m5' },
        { what: 'case6', reason: 'it asks this package nothing' },
      ],
    });
  });

  it('tells of listed cases that fail otherwise, pass or are not there', () => {
    const reason = 'no checkpoints here';
    const byName = [{ cases: ['case0', 'case1', 'case'], error: 'm2', reason }];
    expect(reportOf('arrays', lines.slice(0, 2), [], byName).failures).toEqual([
      { name: 'case0', message: 'no longer fails (passed), but stands in not_run.json' },
      { name: 'case1', message: 'fails otherwise than with "m2":\nm1' },
    ]);
    const onFile = { file: 'b_test.py', reason };
    const names = (files: string[]): string[] =>
      unknownInList([...byName, onFile], lines, files).map(({ name }) => name);
    expect(names([])).toEqual(['case', 'b_test.py']);
    expect(names(['b_test.py'])).toEqual(['case']);
  });
});
