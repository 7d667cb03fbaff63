import type { Message, Result } from './messages.js';
import { SpecReporter } from './spec_reporter.js';

function result(status: string, fullName = 'a spec', ...messages: string[]): Message {
  const failedExpectations = messages.map((message) => ({ message }));
  return { kind: 'ends', result: { fullName, status, failedExpectations } satisfies Result };
}

const TAKEN: Message = { kind: 'taken' };
const done = (status: string): Message => ({ kind: 'done', status });

describe('SpecReporter', () => {
  let text: string;
  let reporter: SpecReporter;
  beforeEach(() => {
    text = '';
    reporter = new SpecReporter((more) => (text += more));
  });
  const hear = (file: string, ...messages: Message[]): void => messages.forEach((each) => reporter.hear(file, each));

  it('keeps files apart that run at the same time', () => {
    hear('a', TAKEN);
    hear('b', TAKEN, result('passed'));
    hear('a', result('passed'), result('pending', 'waits'));
    hear('b', result('failed', 'breaks', 'expected 1'), done('failed'));
    hear('a', done('passed'));
    expect(reporter.end()).toBe(1);
    expect(text).toMatch(/^b {2}1 passed, 1 FAILED {2}\(\d+\.\d s\)\na {2}1 passed, 1 skipped {2}\(/);
    expect(text).toContain('skipped: waits\n\nFAILED: breaks\n  expected 1\n');
    expect(text).toMatch(
      /the slowest of 2 files[^\n]*\n( +\d+\.\d s {2}[ab]\n){2}\d+\.\d s\n2 passed, 1 failed, 1 skipped\n$/,
    );
  });

  it('counts what fails outside of specs, also after the end of the file', () => {
    hear('a', TAKEN, result('passed'), { kind: 'failed', name: 'afterAll', expectations: [{ message: 'is left' }] });
    hear('a', done('failed'), { kind: 'failed', name: 'late', expectations: [{ message: 'a rejection' }] });
    expect(reporter.end()).toBe(1);
    expect(text).toContain('FAILED: afterAll\n  is left\n');
    expect(text).toContain('FAILED: late\n  a rejection\n');
    expect(text).toMatch(/\n1 passed, 2 failed\n$/);
  });

  it('calls a run no success of which only a part ran, or nothing', () => {
    hear('a', TAKEN, result('passed'), done('incomplete'));
    hear('b', TAKEN, result('passed'), done('passed'));
    expect(reporter.end()).toBe(1);
    expect(text).toContain('the run ended as incomplete\n');
    text = '';
    expect(new SpecReporter((more) => (text += more)).end()).toBe(1);
    expect(text).toMatch(/^nothing ran\n.*\n0 passed, 0 failed\n$/);
  });

  it('says nothing of files of which no spec was asked for', () => {
    hear('a', TAKEN, done('passed'));
    hear('b', TAKEN, result('passed'), done('passed'));
    expect(reporter.end()).toBe(0);
    expect(text).toMatch(/^b {2}1 passed {2}\(\d+\.\d s\)\n\d+\.\d s\n1 passed, 0 failed\n$/);
  });
});
